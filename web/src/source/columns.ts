// TSC1: "TSC1", uint32 length, JSON header padded to 8 bytes, then float64 arrays (little-endian).
export interface Column {
  series: number;
  reading: string;
  unit: string;
  /** metric{k=v;k=v}: which series it really is, where a live run got new ones. */
  name: string | null;
  time: Float64Array;
  /** The value itself, or the mean of each window. */
  mean: Float64Array;
  min: Float64Array | null;
  max: Float64Array | null;
  smooth: Float64Array | null;
  /** What each value is the mean of, if it was asked for: a number of values, of a rate seconds. */
  weight: Float64Array | null;
}

export interface Columns {
  from_s: number;
  to_s: number;
  /** Width of a window; null for samples as they were taken. */
  window_s: number | null;
  duration_s: number;
  columns: Column[];
}

interface Header {
  from_s: number;
  to_s: number;
  window_s: number | null;
  duration_s: number;
  columns: { series: number; reading: string; unit: string; name?: string; count: number; arrays: string[] }[];
}

const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

export function decodeColumns(buffer: ArrayBuffer): Columns {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 4)) !== 'TSC1') throw new Error('malformed columns: not TSC1');
  const length = new DataView(buffer).getUint32(4, true);
  if ((8 + length) % 8 !== 0 || 8 + length > bytes.length) throw new Error('malformed columns: header length');
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as Header;
  let at = 8 + length;
  const next = (count: number): Float64Array => {
    if (at + count * 8 > bytes.length) throw new Error('malformed columns: too short');
    const array = littleEndian ? new Float64Array(buffer, at, count) : swapped(buffer, at, count);
    at += count * 8;
    return array;
  };
  const columns = header.columns.map((column): Column => {
    const arrays = new Map<string, Float64Array>();
    for (const name of column.arrays) arrays.set(name.replace(/^\+/, ''), next(column.count));
    const empty = new Float64Array(0);
    return {
      series: column.series,
      reading: column.reading,
      unit: column.unit,
      name: column.name ?? null,
      time: arrays.get('time') ?? empty,
      mean: arrays.get('mean') ?? arrays.get('value') ?? empty,
      min: arrays.get('min') ?? null,
      max: arrays.get('max') ?? null,
      smooth: arrays.get('smooth') ?? null,
      weight: arrays.get('weight') ?? null,
    };
  });
  return { from_s: header.from_s, to_s: header.to_s, window_s: header.window_s, duration_s: header.duration_s, columns };
}

function swapped(buffer: ArrayBuffer, at: number, count: number): Float64Array {
  const view = new DataView(buffer, at, count * 8);
  return Float64Array.from({ length: count }, (_value, index) => view.getFloat64(index * 8, true));
}

/** First index whose time is not below `time`. */
export function lowerBound(times: ArrayLike<number>, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? Infinity) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a column between two times, and one point on each side so that lines reach the edge. */
export function sliceColumn(column: Column, from: number, to: number): Column {
  const first = Math.max(0, lowerBound(column.time, from) - 1);
  const last = Math.min(column.time.length, lowerBound(column.time, to) + 1);
  const cut = (array: Float64Array | null) => (array === null ? null : array.subarray(first, last));
  return { ...column, time: column.time.subarray(first, last), mean: column.mean.subarray(first, last), min: cut(column.min), max: cut(column.max), smooth: cut(column.smooth), weight: cut(column.weight) };
}

/** A column with newer values appended; values of `older` at or after the first new time are replaced. */
export function appendColumn(older: Column, newer: Column): Column {
  if (newer.time.length === 0) return older;
  const kept = lowerBound(older.time, (newer.time[0] ?? 0) - 1e-9);
  const join = (a: Float64Array | null, b: Float64Array | null): Float64Array | null => {
    if (a === null || b === null) return null;
    const joined = new Float64Array(kept + b.length);
    joined.set(a.subarray(0, kept));
    joined.set(b, kept);
    return joined;
  };
  const empty = new Float64Array(0);
  return {
    ...older,
    time: join(older.time, newer.time) ?? empty,
    mean: join(older.mean, newer.mean) ?? empty,
    min: join(older.min, newer.min),
    max: join(older.max, newer.max),
    smooth: join(older.smooth, newer.smooth),
    weight: join(older.weight, newer.weight),
  };
}

/** Slow sources are stored late, and a rate is known when its interval is over: what was loaded of so many seconds before the end comes again. */
export const lateSeconds = 10;

/**
 * What a live chart that begins at `first` and was loaded up to `loaded` asks for to reach `end`: on the grid of its windows,
 * and at least one more of them. null: there is nothing new yet.
 */
export function nextPart(first: number, loaded: number, end: number, window: number | null): { from: number; to: number; points: number } | null {
  if (end <= loaded) return null;
  if (window === null) return { from: Math.max(first, loaded - lateSeconds), to: end, points: 4000 };
  const known = Math.min(Math.ceil(lateSeconds / window), Math.max(0, Math.floor((loaded - first) / window + 1e-6)));
  const from = loaded - known * window;
  const points = Math.floor((end - from) / window + 1e-6);
  // The server takes at least two.
  return points < 2 || points <= known ? null : { from, to: from + points * window, points };
}
