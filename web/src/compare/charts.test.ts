import { test } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { chartsOf } from '../charts/catalog.ts';
import type { Info } from '../source/types.ts';
import { compareCharts } from './charts.ts';
import type { ComparedRun } from './state.ts';

const metric = (name: string, labels: Record<string, string>, mean: number) => ({ name, labels, unit: 'By', kind: 'counter', status: 'ok', reason: null, remedy: null, samples: 9, mean, rate: mean });
const run = (id: string, metrics: object[]) => ({ id, charts: chartsOf({ metrics, steps: null } as unknown as Info) }) as unknown as ComparedRun;
const read = { device: 'sda', direction: 'read' };
const write = { device: 'sda', direction: 'write' };
const runs = [
  run('one', [metric('system.disk.io', write, 1), metric('system.disk.io', read, 9)]),
  run('two', [metric('system.disk.io', read, 2), metric('system.disk.io', write, 8)]),
  run('three', [metric('train.loss', { source: 'pipe' }, 1)]),
  run('four', [metric('train.loss', { source: 'output' }, 1)]),
];
const drawn = (chosen: [string, string][]) => compareCharts(runs, new Map(chosen)).filter(({ chart }) => chart.lines.length > 0)
  .map(({ chart, label, lines }) => [chart.id, label, ...lines.map(({ run: { id }, series, index }) => `${id} ${series} ${index}`)]);

test('a chart has the same series of every run: the largest of the first, or the chosen one', () => {
  const loss = ['loss', 'loss', 'three 0 2', 'four 0 3'];
  deepEqual(drawn([]), [['disk', 'sda read', 'one 1 0', 'two 0 1'], loss]);
  deepEqual(drawn([['disk', 'system.disk.io{device=sda;direction=write}']]), [['disk', 'sda write', 'one 0 0', 'two 1 1'], loss]);
  deepEqual(drawn([['disk', 'no such series']])[0]?.[1], 'sda read');
});

test('what is hidden is drawn of no run', () => {
  const of = (...hidden: string[]) => compareCharts(runs, new Map(), new Set(hidden)).map(({ label }) => label);
  deepEqual(of('direction:read'), ['sda write', 'loss']);
  deepEqual(of('device:sda'), ['loss']);
});
