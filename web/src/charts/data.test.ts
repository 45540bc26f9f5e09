import { test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { breaksOf, drawnOf, joined, statisticsOf } from './data.ts';
import type { Column } from '../source/columns.ts';

const column = (series: number, time: number[], mean: number[]): Column => ({
  series, reading: 'rate', unit: 'By/s', name: null, time: Float64Array.from(time), mean: Float64Array.from(mean), min: null, max: null, smooth: null, weight: null,
});

test('lines of different times share one x and do not interrupt each other', () => {
  const columns = { from_s: 0, to_s: 3, window_s: null, duration_s: 3, columns: [column(1, [0, 1, 2], [5, 6, 7]), column(2, [0.5, 1], [1, 2])] };
  const drawn = drawnOf(columns, [2, 1], false, () => [], null);
  deepEqual([...drawn.x], [0, 0.5, 1, 2]);
  deepEqual(drawn.lines[0]?.value, [undefined, 1, 2, undefined]);
  deepEqual(drawn.lines[1]?.value, [5, undefined, 6, 7]);
});

test('lines with the same times are drawn as they were loaded', () => {
  const first = column(1, [0, 1, 2], [5, 6, 7]);
  const second = { ...column(2, [0, 1, 2], [1, 2, 3]), min: Float64Array.of(0, 1, 2), max: Float64Array.of(2, 3, 4) };
  const columns = { from_s: 0, to_s: 3, window_s: 1, duration_s: 3, columns: [first, second] };
  const drawn = drawnOf(columns, [2, 1], false, () => [], (time) => 10 * time);
  deepEqual(drawn.x, Float64Array.of(0, 10, 20));
  equal(drawn.lines[0]?.max, second.max);
  equal(drawn.lines[1]?.value, first.mean);
  deepEqual(drawnOf(columns, [2, 1, 3], false, () => [], null).lines[2]?.value, [undefined, undefined, undefined]);
});

test('a line is interrupted where three samples are missing and in a gap', () => {
  deepEqual(breaksOf(column(1, [0, 1, 2, 6, 7], [0, 0, 0, 0, 0]), null, false, []), [4]);
  deepEqual(breaksOf(column(1, [0, 1, 2, 6, 7], [0, 0, 0, 0, 0]), null, true, []), []);
  deepEqual(breaksOf(column(1, [0, 1, 2], [0, 0, 0]), null, true, [{ from_s: 1.2, to_s: 1.8 }]), [1.5]);
  deepEqual(breaksOf(column(1, [0, 1, 2], [0, 0, 0]), null, false, [{ from_s: 5, to_s: 6 }]), []);
});

test('gaps that leave no window empty do not interrupt a line of windows', () => {
  const gaps = [1, 2, 3].map((second) => ({ from_s: second - 0.1, to_s: second + 0.1 }));
  deepEqual(breaksOf(column(1, [0.5, 1.5, 2.5, 3.5], [0, 0, 0, 0]), 1, true, gaps), []);
  deepEqual(breaksOf(column(1, [0.5, 1.5, 3.5], [0, 0, 0]), 1, true, [{ from_s: 1.6, to_s: 3.2 }]), [2.5]);
});

test('an interruption reaches from value to value although another line has places between', () => {
  const gaps = [{ from_s: 1.2, to_s: 4.8 }];
  const columns = { from_s: 0, to_s: 6, window_s: null, duration_s: 6, columns: [column(1, [0, 1, 5, 6], [1, 1, 1, 1]), column(2, [2, 4], [2, 2])] };
  const drawn = drawnOf(columns, [1, 2], true, (series) => (series === 1 ? gaps : []), null);
  deepEqual([...drawn.x], [0, 1, 2, 3, 4, 5, 6]);
  deepEqual(drawn.lines[0]?.value, [1, 1, null, null, null, 1, 1]);
  const both = joined([{ x: [0, 1, 5, 6], column: column(1, [0, 1, 5, 6], [1, 1, 1, 1]), breaks: [3] }, { x: [2, 4], column: column(2, [2, 4], [2, 2]), breaks: [] }]);
  deepEqual(both.lines[0]?.value, [1, 1, null, null, null, 1, 1]);
  deepEqual(both.lines[1]?.value, [undefined, undefined, 2, undefined, 2, undefined, undefined]);
});

test('a value that is not a number interrupts', () => {
  const columns = { from_s: 0, to_s: 3, window_s: null, duration_s: 3, columns: [column(1, [0, 1, 2], [5, Number.NaN, 7])] };
  deepEqual(drawnOf(columns, [1], false, () => [], null).lines[0]?.value, [5, null, 7]);
});

const weighted = (one: Column, weight: number[]): Column => ({ ...one, weight: Float64Array.from(weight) });

test('statistics of a selection are those of its values', () => {
  const inside = weighted(column(1, [0, 1, 2], [2, 4, 8]), [1, 1, 1]);
  deepEqual(statisticsOf(inside, 0.5, 1.5), { mean: 4, max: 4, total: 4, known_s: 1 });
  deepEqual(statisticsOf({ ...inside, reading: 'level', unit: 'By', max: Float64Array.of(9, 5, 8) }, 0, 1), { mean: 3, max: 9, total: null, known_s: null });
  equal(statisticsOf(inside, 5, 6), null);
});

test('windows count by the number of their values', () => {
  const steps = { ...weighted(column(1, [5, 15], [0.1, 2]), [100, 1]), reading: 'level', unit: 's' };
  const found = statisticsOf(steps, 0, 20);
  equal(found?.mean, 12 / 101);
  equal(found?.total, 12);
});

test('nothing is added for a gap', () => {
  deepEqual(statisticsOf(weighted(column(1, [0.5, 9.5], [100, 300]), [1, 1]), 0, 10), { mean: 200, max: 300, total: 400, known_s: 2 });
});

test('there is no total where weights are not known', () => {
  equal(statisticsOf(column(1, [0, 1], [2, 4]), 0, 10)?.total, null);
});
