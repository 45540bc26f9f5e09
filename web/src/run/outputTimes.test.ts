import { equal, match } from 'node:assert/strict';
import { test } from 'node:test';
import type { Output } from '../source/types.ts';
import { saidOfTimes } from './outputTimes.ts';

const lines = (times: (number | null)[]) => times.map((time_s) => ({ time_s, text: 'a line' }));
const output = (more: Partial<Output>): Output => ({ lines: lines([1, 2, 3]), at: 1, more_before: false, more_after: false, times: 'read', within_s: 0.1, late: null, ...more });
const said = (more: Partial<Output>) => saidOfTimes(output(more)).text;

test('the panel says what the times of its lines are worth', () => {
  equal(said({}), 'follows the cursor');
  equal(said({ times: 'unknown', at: null, within_s: null }), 'times are unknown');
  equal(said({ times: 'estimated', within_s: null }), 'times are estimated');
  equal(said({ within_s: 0.4 }), 'times are exact to 400 ms');
  equal(said({ within_s: null }), 'times are incomplete');
  equal(said({ late: 'no inotify' }), 'lines may be older than their time');
  match(saidOfTimes(output({ late: 'no inotify' })).title ?? '', /no inotify/);
});

test('many lines that were read together are no steady output', () => {
  const many: number[] = Array(40).fill(7);
  equal(said({ lines: lines([1, ...many]), at: 40 }), '40 lines were read together');
  equal(said({ lines: lines(many), at: 39 }), '40 or more lines were read together');
  equal(said({ lines: lines([1, ...many]), at: 0 }), 'follows the cursor');
  equal(said({ lines: lines([null, 1, 1]), at: null }), 'follows the cursor');
});
