import { deepEqual, equal, rejects } from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedSource, type ReportDocument } from './embedded.ts';

const runs = Object.fromEntries(['r1', 'r2', 'r3'].map((id) => [id, { run: { id, name: `run ${id}` } }]));
const compared = (b: string) => ({ a: ['r1'], b: [b], document: { why: `r1 and ${b}` } });
const report = (more: object) => new EmbeddedSource({ version: 1, runs, compare: null, ...more } as unknown as ReportDocument);

test('a report of three runs has both comparisons, and draws the other run beside them', async () => {
  const source = report({ compare: compared('r2'), more_comparisons: [compared('r3')] });
  deepEqual(source.comparisons, [
    { text: 'run r1 and run r2', link: '#/compare?a=r1&b=r2&more=r3' },
    { text: 'run r1 and run r3', link: '#/compare?a=r1&b=r3&more=r2' },
  ]);
  equal(source.start, '#/compare?a=r1&b=r2&more=r3');
  equal((await source.compare(['r1'], ['r3'])).why, 'r1 and r3');
  await rejects(source.compare(['r2'], ['r3']), /no comparison of these runs/);
});

test('no line of an output without times is that of the cursor', async () => {
  const lines = [{ time_s: null, text: 'one' }];
  const withOutput = (times: string, line: object) => report({ runs: { r1: { ...runs['r1'], output: { lines: [line], at: null, more_before: false, more_after: false, times } } } });
  equal((await withOutput('unknown', lines[0] ?? {}).output('r1', 3)).at, null);
  equal((await withOutput('estimated', { time_s: 1, text: 'one' }).output('r1', 3)).at, 0);
  equal((await withOutput('read', { time_s: 1, text: 'one' }).output('r1', 3)).at, 0);
});

test('a report without a comparison begins with its run', () => {
  deepEqual(report({}).comparisons, []);
  equal(report({}).start, '#/run/r1');
});
