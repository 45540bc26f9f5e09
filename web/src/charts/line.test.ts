import { test } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { offsetsOf } from './line.ts';

test('lines beside each other are as wide as one, without gaps', () => {
  deepEqual(offsetsOf(1), [[0, 0]]);
  deepEqual(offsetsOf(1.5), [[0, 0], [0.5, 0], [0, 0.5]]);
  deepEqual(offsetsOf(3), [[0, 0], [1, 0], [0, 1], [2, 0], [0, 2]]);
});
