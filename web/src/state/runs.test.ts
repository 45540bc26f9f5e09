import '../testing/page.ts';
import { mock, test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { source } from '../source/current.ts';
import type { RunListing, RunRow } from '../source/types.ts';
import { compareLink, details, loadDetails, now, outdate, outdated, watchRuns } from './runs.ts';

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

test('of the ranks of a job the first is compared with another run; the ranks of one job with each other', () => {
  const rank = (job: string, number: number) => ({ id: `${job}${number}`, started: `2026-01-0${job}T00:00:0${3 - number}Z`, group: { job, rank: number, world_size: 3 }, repeat: null }) as RunListing;
  const ranks = ['1', '2'].flatMap((job) => [0, 1, 2].map((number) => rank(job, number)));
  const single = { id: 'single', started: '2026-01-03T00:00:00Z', group: null, repeat: null } as RunListing;
  const link = (...ids: string[]) => compareLink([...ranks, single], new Set(ids));
  equal(link('10', '11', '12', '20', '21', '22'), '#/compare?a=10&b=20');
  equal(link('single', '11', '12'), '#/compare?a=11&b=single');
  equal(link('10', '12'), '#/compare?a=12&b=10'); // the older one first
});
