// Columns of several series become what uPlot draws: one sorted x, one array per line.
// undefined: the line has no point at this x; null: the line is interrupted here.
import { lowerBound, type Column, type Columns } from '../source/columns.ts';
import type { DrawnMarks, Span } from '../source/types.ts';

export type Values = (number | null | undefined)[] | Float64Array;

export interface Drawn {
  x: number[] | Float64Array;
  /** Per line: the value, and where windows were drawn min and max, and the smoothed line. */
  lines: { value: Values; min: Values | null; max: Values | null; smooth: Values | null }[];
}

function medianSpacing(times: Float64Array): number {
  const spacings: number[] = [];
  const step = Math.max(1, Math.floor(times.length / 200));
  for (let i = 1; i < times.length; i += step) spacings.push((times[i] ?? 0) - (times[i - 1] ?? 0));
  spacings.sort((a, b) => a - b);
  return spacings[spacings.length >> 1] ?? 0;
}

/** Where nothing was recorded, and of a line that stops with the training its pauses. */
export function interruptions(line: { stopsInPauses: boolean }, marks: DrawnMarks | null): Span[] {
  // A pause for input, or an unexplained one, is one long step: its point belongs to the line.
  const pauses = line.stopsInPauses ? (marks?.pauses ?? []).filter((pause) => !/^(unexplained|input)/.test(pause.reason ?? pause.kind ?? '')) : [];
  return [...(marks?.gaps ?? []), ...pauses].sort((a, b) => a.from_s - b.from_s);
}

/**
 * Times at which a line is interrupted: where three or more samples are missing, and in gaps of the recording. One that is shorter than
 * a window leaves no window empty: with one in each there would be no line.
 */
export function breaksOf(column: Column, window: number | null, isIrregular: boolean, gaps: readonly Span[]): number[] {
  const times = column.time;
  const limit = isIrregular ? Infinity : 3 * Math.max(medianSpacing(times), window ?? 0) * 1.01;
  const breaks: number[] = [];
  let gap = 0;
  for (let i = 1; i < times.length; i++) {
    const before = times[i - 1] ?? 0;
    const after = times[i] ?? 0;
    while (gap < gaps.length && (gaps[gap]?.to_s ?? 0) <= before) gap += 1;
    const isGap = gap < gaps.length && (gaps[gap]?.from_s ?? Infinity) < after && (gaps[gap]?.to_s ?? 0) > before;
    const isEmptyBetween = window === null || after - before > 1.5 * window;
    if (after - before > limit || (isGap && isEmptyBetween)) breaks.push((before + after) / 2);
  }
  return breaks;
}

/** An interruption reaches from the value before it to the value after it, whatever places other lines have between them. */
function interrupt(placed: (number | null | undefined)[], index: number | undefined): void {
  if (index === undefined) return;
  placed[index] = null;
  for (let i = index - 1; i >= 0 && placed[i] === undefined; i--) placed[i] = null;
  for (let i = index + 1; i < placed.length && placed[i] === undefined; i++) placed[i] = null;
}

function place(at: Map<number, number>, size: number, times: Float64Array, values: Float64Array | null, breaks: number[]): Values | null {
  if (values === null) return null;
  const placed: (number | null | undefined)[] = new Array<undefined>(size).fill(undefined);
  for (let i = 0; i < times.length; i++) {
    const index = at.get(times[i] ?? NaN);
    const value = values[i] ?? NaN;
    if (index !== undefined) placed[index] = Number.isFinite(value) ? value : null;
  }
  for (const time of breaks) interrupt(placed, at.get(time));
  return placed;
}

function isSame(a: Float64Array, b: Float64Array): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function areFinite(values: Float64Array | null): boolean {
  for (let i = 0; i < (values?.length ?? 0); i++) if (!Number.isFinite(values?.[i])) return false;
  return true;
}

/** Most charts: each line has a value at each of the same times. They are drawn as they were loaded. */
function asLoaded(columns: readonly Column[], order: readonly number[], breaks: ReadonlyMap<number, number[]>, toX: ((time: number) => number) | null): Drawn | null {
  const times = columns[0]?.time;
  if (!times) return null;
  const isPlain = (column: Column) => breaks.get(column.series)?.length === 0 && isSame(column.time, times)
    && areFinite(column.mean) && areFinite(column.min) && areFinite(column.max) && areFinite(column.smooth);
  if (!order.every((series) => columns.some((column) => column.series === series)) || !columns.every(isPlain)) return null;
  const lines = order.flatMap((series) => columns.filter((column) => column.series === series).map(({ mean, min, max, smooth }) => ({ value: mean, min, max, smooth })));
  return { x: toX ? times.map(toX) : times, lines };
}

/** `gaps`: what interrupts a series; `toX`: where x is not the time. */
export function drawnOf(columns: Columns, order: readonly number[], isIrregular: boolean, gaps: (series: number) => readonly Span[], toX: ((time: number) => number) | null): Drawn {
  const bySeries = new Map(columns.columns.map((column) => [column.series, column]));
  const breaks = new Map(columns.columns.map((column) => [column.series, breaksOf(column, columns.window_s, isIrregular, gaps(column.series))]));
  const plain = asLoaded(columns.columns, order, breaks, toX);
  if (plain) return plain;
  const all = new Set<number>();
  for (const column of columns.columns) {
    for (const time of column.time) all.add(time);
    for (const time of breaks.get(column.series) ?? []) all.add(time);
  }
  const times = Float64Array.from(all).sort();
  const at = new Map<number, number>();
  times.forEach((time, index) => at.set(time, index));
  const lines = order.map((series) => {
    const column = bySeries.get(series);
    const none: Values = new Array<undefined>(times.length).fill(undefined);
    if (!column) return { value: none, min: null, max: null, smooth: null };
    const put = (values: Float64Array | null) => place(at, times.length, column.time, values, breaks.get(series) ?? []);
    return { value: put(column.mean) ?? none, min: put(column.min), max: put(column.max), smooth: put(column.smooth) };
  });
  return { x: toX ? Array.from(times, toX) : times, lines };
}

/** Lines that have their own x, on one; a line may have no values. */
export function joined(lines: readonly ({ x: readonly number[]; column: Column; breaks: readonly number[] } | null)[]): Drawn {
  const all = new Set<number>();
  for (const line of lines) {
    for (const value of line?.x ?? []) if (Number.isFinite(value)) all.add(value);
    for (const value of line?.breaks ?? []) if (Number.isFinite(value)) all.add(value);
  }
  const xs = Float64Array.from(all).sort();
  const at = new Map<number, number>();
  xs.forEach((value, index) => at.set(value, index));
  const drawn = lines.map((line) => {
    const place = (values: Float64Array | null | undefined): Values | null => {
      if (!line || !values) return null;
      const placed: (number | null | undefined)[] = new Array<undefined>(xs.length).fill(undefined);
      line.x.forEach((value, index) => { const where = at.get(value); if (where !== undefined) placed[where] = values[index]; });
      for (const value of line.breaks) { const where = at.get(value); if (where !== undefined && placed[where] === undefined) interrupt(placed, where); }
      return placed;
    };
    const { mean, min, max, smooth } = line?.column ?? {};
    return { value: place(mean) ?? new Array<undefined>(xs.length).fill(undefined), min: place(min), max: place(max), smooth: place(smooth) };
  });
  return { x: Array.from(xs), lines: drawn };
}

export interface Statistics {
  mean: number;
  max: number;
  /** What a rate adds up to in the time that was recorded; of reported durations, their sum. */
  total: number | null;
  /** Of a rate: seconds of the selection that were recorded. */
  known_s: number | null;
}

/** Means by their weights: windows have different numbers of values, and none in a gap. */
export function statisticsOf(column: Column, from: number, to: number): Statistics | null {
  let sum = 0;
  let weights = 0;
  let max = -Infinity;
  const highest = column.max ?? column.mean;
  for (let i = lowerBound(column.time, from); i < column.mean.length && (column.time[i] ?? Infinity) <= to; i++) {
    const weight = column.weight?.[i] ?? 1;
    sum += weight * (column.mean[i] ?? 0);
    weights += weight;
    max = Math.max(max, highest[i] ?? -Infinity);
  }
  if (!(weights > 0)) return null;
  const isRate = column.reading === 'rate';
  const hasTotal = column.weight !== null && (isRate || column.unit === 's');
  return { mean: sum / weights, max, total: hasTotal ? sum : null, known_s: isRate && column.weight ? weights : null };
}
