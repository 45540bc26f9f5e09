import { test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { times } from '../format/number.ts';
import { axisOf } from './axis.ts';

test('the marks of a ratio are numbers that people read at a glance', () => {
  deepEqual(axisOf(3.34, 3.85).marks.map(times), ['0.20×', '0.50×', '1.00×', '2.00×', '5.00×']);
  deepEqual(axisOf(0.82, 2.82).marks.map(times), ['0.33×', '0.67×', '1.00×', '1.50×', '3.00×']);
  deepEqual(axisOf(11.3, 12.3).marks.map(times), ['0.033×', '0.20×', '1.00×', '5.00×', '30.0×'.replace('.0', '')]);
  deepEqual(axisOf(0.98, 1.01).marks.map(times), ['0.95×', '0.98×', '1.00×', '1.02×', '1.05×']);
});

test('the axis contains the interval and is symmetric', () => {
  for (const [low, high] of [[0.2, 0.3], [0.9, 1.4], [0.001, 0.002], [90, 400]] as const) {
    const { limit, marks } = axisOf(low, high);
    ok(limit >= high && 1 / limit <= low);
    equal(marks[2], 1);
    for (const mark of marks) ok(marks.some((other) => Math.abs(mark * other - 1) < 1e-9));
  }
});

test('an interval from 0 on has the widest axis', () => equal(axisOf(0, 2).limit, 1e6));
