import { test } from 'node:test';
import { deepEqual, equal, throws } from 'node:assert/strict';
import { appendColumn, decodeColumns, lowerBound, nextPart, sliceColumn } from './columns.ts';

function encode(header: object, arrays: number[][]): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((8 + text.length) % 8 !== 0) text += ' ';
  const numbers = arrays.flat();
  const buffer = new ArrayBuffer(8 + text.length + numbers.length * 8);
  const bytes = new Uint8Array(buffer);
  bytes.set(new TextEncoder().encode('TSC1'));
  new DataView(buffer).setUint32(4, text.length, true);
  bytes.set(new TextEncoder().encode(text), 8);
  numbers.forEach((value, index) => new DataView(buffer).setFloat64(8 + text.length + index * 8, value, true));
  return buffer;
}

const header = {
  from_s: 0, to_s: 4, window_s: 1, duration_s: 4,
  columns: [
    { series: 3, reading: 'level', unit: 'By', count: 3, arrays: ['time', 'mean', 'min', 'max', 'smooth'] },
    { series: 7, reading: 'rate', unit: '1', count: 2, arrays: ['time', 'value'] },
  ],
};
const arrays = [[0.5, 1.5, 3.5], [1, 2, 3], [0, 1, 2], [4, 5, 9], [1.5, 2, 2.5], [1, 2], [7, 8]];

test('windows and samples are decoded', () => {
  const decoded = decodeColumns(encode(header, arrays));
  equal(decoded.columns.length, 2);
  deepEqual([...(decoded.columns[0]?.max ?? [])], [4, 5, 9]);
  deepEqual([...(decoded.columns[0]?.smooth ?? [])], [1.5, 2, 2.5]);
  deepEqual([...(decoded.columns[1]?.mean ?? [])], [7, 8]);
  equal(decoded.columns[1]?.min, null);
});

test('malformed columns are refused', () => {
  const buffer = encode(header, arrays);
  throws(() => decodeColumns(buffer.slice(0, 6)), /malformed/);
  throws(() => decodeColumns(buffer.slice(0, buffer.byteLength - 8)), /too short/);
  new DataView(buffer).setUint32(4, 0xfffffff8, true);
  throws(() => decodeColumns(buffer), /header length/);
});

test('a slice has a neighbour on each side', () => {
  const column = decodeColumns(encode(header, arrays)).columns[0];
  if (!column) throw new Error('no column');
  deepEqual([...sliceColumn(column, 1, 2).time], [0.5, 1.5, 3.5]);
  deepEqual([...sliceColumn(column, 1.6, 2).time], [1.5, 3.5]);
  equal(lowerBound([1, 2, 3], 2), 1);
});

test('newer values replace those from their first time on', () => {
  const column = decodeColumns(encode(header, arrays)).columns[0];
  if (!column) throw new Error('no column');
  const newer = { ...column, time: Float64Array.of(3.5, 4.5), mean: Float64Array.of(30, 40), min: Float64Array.of(30, 40), max: Float64Array.of(30, 40), smooth: null };
  const joined = appendColumn(column, newer);
  deepEqual([...joined.time], [0.5, 1.5, 3.5, 4.5]);
  deepEqual([...joined.mean], [1, 2, 30, 40]);
  equal(joined.smooth, null);
});

test('a live chart asks again for what slow sources store late', () => {
  deepEqual(nextPart(0, 60, 61, null), { from: 50, to: 61, points: 4000 });
  deepEqual(nextPart(55, 60, 61, null), { from: 55, to: 61, points: 4000 });
  equal(nextPart(0, 60, 60, null), null);
  deepEqual(nextPart(0, 60, 61.5, 1), { from: 50, to: 61, points: 11 });
  equal(nextPart(0, 60, 60.9, 1), null, 'no window is complete');
  deepEqual(nextPart(0, 60, 75.1, 15), { from: 45, to: 75, points: 2 });
  deepEqual(nextPart(58, 60, 63, 1), { from: 58, to: 63, points: 5 }, 'from the beginning on');
});
