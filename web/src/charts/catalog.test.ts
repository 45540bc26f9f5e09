import { test } from 'node:test';
import { deepEqual, equal, notEqual } from 'node:assert/strict';
import type { Info } from '../source/types.ts';
import { chartsOf, keepCharts } from './catalog.ts';

const metric = (name: string, direction: string, rate: number) => ({ name, labels: { direction }, unit: 'By', kind: 'counter', status: 'ok', reason: null, remedy: null, samples: 9, mean: rate, rate });
const charts = (...metrics: object[]) => chartsOf({ metrics, steps: null } as unknown as Info);
const read = metric('system.disk.io', 'read', 9);
const write = metric('system.disk.io', 'write', 1);
const sent = metric('system.network.io', 'sent', 1);
const before = charts(read, write, sent);
const chart = (all: typeof before, id: string) => all.find((one) => one.id === id);
const lines = (all: typeof before) => chart(all, 'disk')?.lines.map((line) => `${line.series} ${line.label}`);

test('charts stay as they are while only averages change', () => {
  equal(keepCharts(before, charts(read, { ...write, rate: 99 }, sent)), before);
});

test('a new series replaces only its own chart', () => {
  const now = keepCharts(before, charts(read, write, sent, metric('system.network.io', 'received', 1)));
  equal(chart(now, 'disk'), chart(before, 'disk'));
  notEqual(chart(now, 'network'), chart(before, 'network'));
});

test('a chart whose series have other numbers keeps their order', () => {
  const now = keepCharts(before, charts(metric('job.io.bytes', 'read', 1), read, { ...write, rate: 99 }, sent));
  deepEqual([lines(before), lines(now)], [['0 read', '1 write'], ['1 read', '2 write']]);
});

test('losses of the training stop in its pauses, those of evaluations do not', () => {
  const loss = (set: string) => ({ ...metric('train.loss', 'x', 1), kind: 'gauge', labels: { set } });
  const all = chart(charts(loss('train'), loss('test')), 'loss')?.lines;
  deepEqual(all?.map((line) => [line.metric.labels['set'], line.stopsInPauses]).sort(), [['test', false], ['train', true]]);
});
