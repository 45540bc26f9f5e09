import '../testing/page.ts';
import { mock, test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { source } from '../source/current.ts';
import type { RunListing, RunRow } from '../source/types.ts';
import { details, loadDetails, now, outdate, outdated, watchRuns } from './runs.ts';

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });
const listing = (id: string, status: string) => ({ id, status }) as RunListing;
const row = (id: string, steps: number) => ({ id, steps }) as RunRow;

test('what becomes outdated while it is asked for is asked for again', async () => {
  const give: ((rows: RunRow[]) => void)[] = [];
  source.rows = () => new Promise((resolve) => { give.push(resolve); });
  outdate([], [listing('a', 'running')]);
  const first = loadDetails(['a']);
  outdate([listing('a', 'running')], [listing('a', 'ended')]); // a reply from before the end is on its way
  give[0]?.([row('a', 5)]);
  await first;
  equal(details.value.get('a')?.steps, 5);
  const second = loadDetails(['a']);
  equal(give.length, 2);
  give[1]?.([row('a', 9)]);
  await second;
  equal(details.value.get('a')?.steps, 9);
  void loadDetails(['a']);
  equal(give.length, 2);
});

test('what could not be loaded is outdated again with the next list, not at once', async () => {
  source.rows = async () => [row('b', 1)];
  await loadDetails(['b']);
  outdate([], [listing('b', 'running')]);
  source.rows = async () => { throw new Error('busy'); };
  await loadDetails(['b']);
  deepEqual([...outdated.value], []); // the table asks for what is outdated as soon as it is
  outdate([], []);
  deepEqual([...outdated.value], ['b']);
  equal(details.value.get('b')?.steps, 1);
});

test('the time of the table goes on although the list is the same', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1e12 });
  source.runs = async () => [];
  const stop = watchRuns();
  const before = now.value;
  mock.timers.tick(60_000);
  ok(now.value >= before + 60_000);
  stop();
  mock.timers.tick(60_000);
  ok(now.value < before + 120_000);
  mock.timers.reset();
  await pause(0);
});
