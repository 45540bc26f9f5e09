import { test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { spanOf, toTime, toX, wholeOf } from './align.ts';
import type { ComparedRun } from './state.ts';

const run = (started: string, duration_s: number, steps: ComparedRun['steps'] = null) => ({
  id: started, side: 'a', head: { run: { started } }, info: { run: { duration_s } }, steps, files: [], problem: null,
}) as unknown as ComparedRun;

const first = run('1970-01-01T00:00:10Z', 5, { time: [1, 3], step: [0, 20] });
const second = run('1970-01-01T00:01:00Z', 8);

test('runs are aligned by time since their start, wall clock or step', () => {
  equal(toX('relative', first, 2), 2);
  equal(toX('wall', first, 2), 12);
  equal(toX('step', first, 2), 10);
  for (const align of ['relative', 'wall', 'step'] as const) equal(toTime(align, first, toX(align, first, 2)), 2);
});

test('a run without steps has no place on a step axis', () => {
  ok(Number.isNaN(toX('step', second, 2)) && Number.isNaN(toTime('step', second, 2)));
});

test('the axis reaches from the first begin to the last end of all runs', () => {
  deepEqual(wholeOf('relative', [first, second]), [0, 8]);
  deepEqual(wholeOf('wall', [first, second]), [10, 68]);
  deepEqual(wholeOf('step', [first, second]), [0, 20]);
  deepEqual(wholeOf('step', [second]), [0, 1]);
});

test('what a run has in the shown range; what follows the last step belongs to it', () => {
  deepEqual(spanOf('relative', { from: 2, to: 7 }, first), { from: 2, to: 5 });
  equal(spanOf('relative', { from: 6, to: 7 }, first), null);
  deepEqual(spanOf('wall', { from: 0, to: 12 }, first), { from: 0, to: 2 });
  deepEqual(spanOf('step', null, first), { from: 0, to: 5 });
  deepEqual(spanOf('step', { from: 10, to: 20 }, first), { from: 2, to: 5 });
  deepEqual(spanOf('step', { from: 0, to: 10 }, first), { from: 1, to: 2 });
  equal(spanOf('step', null, second), null);
});
