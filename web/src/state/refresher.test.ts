import { test } from 'node:test';
import { equal } from 'node:assert/strict';
import { pauseAfter } from './refresher.ts';

test('the pause grows with the run and with what a read takes, from 2 s to a minute', () => {
  equal(pauseAfter(null, 0), 2);
  equal(pauseAfter(50, 0.1), 5);
  equal(pauseAfter(1000, 0.1), 10);
  equal(pauseAfter(50, 1.5), 15);
  equal(pauseAfter(50, 100), 60);
});
