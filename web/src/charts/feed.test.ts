import '../testing/page.ts';
import { test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { effect, signal } from '@preact/signals';
import type { Column, Columns } from '../source/columns.ts';
import { SourceError, type ColumnQuery } from '../source/source.ts';
import { RunState } from '../state/run.ts';
import type { Line } from './catalog.ts';
import { ChartFeed } from './feed.ts';
import type { LoadOptions } from './loader.ts';

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });
const line = (series: number, name: string) => ({ series, metric: { name, labels: {} }, label: name, devices: [] }) as unknown as Line;
const column = (series: number, name: string | null, time: number[]): Column =>
  ({ series, reading: '', unit: '', name, time: Float64Array.from(time), mean: Float64Array.from(time), min: null, max: null, smooth: null, weight: null });

interface Asked {
  query: ColumnQuery;
  options: LoadOptions;
  give(columns?: Partial<Columns>): void;
  fail(error: unknown): void;
}

/** A chart of a live run; `asked` are its requests, each answered by the test. */
function liveFeed() {
  const run = new RunState('a');
  const asked: Asked[] = [];
  run.loader.load = (query, options = {}) => new Promise((resolve, reject) => {
    const plain: Columns = { from_s: query.from, to_s: query.to, window_s: null, duration_s: query.to, columns: query.series.map((series) => column(series, null, [query.from, query.to])) };
    asked.push({ query, options, give: (columns) => resolve({ ...plain, ...columns }), fail: reject });
  });
  run.view.duration.value = 20;
  run.live.value = 'live';
  run.now.value = { duration_s: 20, status: 'running', samples: 200, steps: null, missed: 0 };
  const feed = new ChartFeed(run, signal(true));
  feed.want([line(3, 'm')], 1000);
  return { run, feed, asked };
}

/** As a chart follows its run. */
const follow = (run: RunState, feed: ChartFeed) => effect(() => { feed.awaits(run.view.shown.value); });

async function loaded() {
  const live = liveFeed();
  live.asked[0]?.give();
  await pause(0);
  follow(live.run, live.feed);
  return live;
}

test('a failed part of a live run is asked for again with the next news, not at once', async () => {
  const { run, feed, asked } = await loaded();
  run.view.grow(21);
  equal(asked.length, 2);
  for (let i = 1; i < asked.length && i < 10; i++) {
    asked[i]?.fail(new SourceError('busy', 503));
    await pause(0);
  }
  equal(asked.length, 2);
  equal(feed.error.value, 'busy');
  run.view.grow(22);
  equal(asked.length, 3);
  asked[2]?.give();
  await pause(0);
  equal(feed.error.value, null);
  equal(feed.columns.value?.to_s, 22);
});

test('what comes while a part is loaded is asked for after it', async () => {
  const { run, feed, asked } = await loaded();
  run.view.grow(21);
  run.view.grow(22);
  equal(asked.length, 2);
  asked[1]?.give();
  await pause(0);
  equal(asked.length, 3);
  asked[2]?.give();
  await pause(0);
  equal(feed.columns.value?.to_s, 22);
  equal(asked.length, 3);
});

test('a new series of a live run is asked for once per news', async () => {
  const { run, asked } = await loaded();
  let reloads = 0;
  run.reloadInfo = async () => { reloads += 1; };
  run.view.grow(21);
  for (let i = 1; i < asked.length && i < 10; i++) {
    asked[i]?.give({ columns: [column(3, 'another', [21])] });
    await pause(0);
  }
  deepEqual([asked.length, reloads], [2, 1]);
});

test('an older reply does not replace what a newer range asked for', async () => {
  const { run, feed, asked } = await loaded();
  run.view.setRange(5, 10);
  await pause(80);
  run.view.setRange(6, 11);
  await pause(80);
  equal(asked.length, 3);
  asked[2]?.give();
  await pause(0);
  asked[1]?.give();
  await pause(0);
  deepEqual([feed.columns.value?.from_s, feed.columns.value?.to_s], [6, 11]);
  equal(asked.length, 3);
});

test('an older failure says nothing of the newer range', async () => {
  const { run, feed, asked } = await loaded();
  run.view.setRange(5, 10);
  await pause(80);
  run.view.setRange(6, 11);
  await pause(80);
  asked[2]?.give();
  asked[1]?.fail(new SourceError('busy', 503));
  await pause(0);
  equal(feed.error.value, null);
});

test('statistics are those of the last selection', async () => {
  const { run, feed, asked } = await loaded();
  run.view.selection.value = { from: 1, to: 2 };
  await pause(80);
  run.view.selection.value = { from: 3, to: 4 };
  await pause(80);
  equal(asked.length, 3);
  asked[2]?.give({ columns: [column(3, null, [3.5])] });
  await pause(0);
  asked[1]?.give({ columns: [column(3, null, [1.5])] });
  await pause(0);
  equal(feed.statistics.value?.get(3)?.mean, 3.5);
  run.view.selection.value = { from: 5, to: 6 };
  await pause(80);
  run.view.selection.value = null;
  asked[3]?.give();
  await pause(0);
  equal(feed.statistics.value, null);
});

test('only what the run brought is drawn without haste; what the user changed is not', async () => {
  const { run, asked } = await loaded();
  run.view.smooth.value = 5;
  await pause(80);
  equal(asked[1]?.options.isNews, false);
  asked[1]?.give();
  await pause(0);
  run.view.grow(25); // smoothed lines are loaded as a whole
  await pause(80);
  equal(asked[2]?.options.isNews, true);
  asked[2]?.give();
  await pause(0);
  run.view.setRange(5, 10);
  run.view.showWhole();
  await pause(80);
  equal(asked[3]?.options.isNews ?? false, false);
});

test('windows that became too fine are loaded as a whole, once', async () => {
  const { run, feed, asked } = await loaded();
  run.view.grow(21);
  asked[1]?.give({ window_s: 0.5 });
  await pause(80);
  equal(asked.length, 3);
  asked[2]?.give();
  await pause(80);
  equal(asked.length, 3);
  equal(feed.columns.value?.to_s, 21);
});

test('series that got other numbers stay as they are drawn', async () => {
  const { feed, asked } = await loaded();
  feed.want([line(4, 'm')], 1000);
  await pause(80);
  equal(asked.length, 1);
  deepEqual(feed.columns.value?.columns.map((one) => one.series), [4]);
  feed.want([line(4, 'm'), line(5, 'n')], 1000);
  await pause(80);
  deepEqual(asked[1]?.query.series, [4, 5]);
});

