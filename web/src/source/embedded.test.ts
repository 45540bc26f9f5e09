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

test('a report without a comparison begins with its run', () => {
  deepEqual(report({}).comparisons, []);
  equal(report({}).start, '#/run/r1');
});
