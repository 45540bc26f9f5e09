import { test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { openRows, parseSearch, placeOf, rowsOf, tagsOf } from './rows.ts';
import type { RunListing, RunRow } from '../source/types.ts';

const run = (id: string, more: Partial<RunListing> = {}): RunListing => ({
  id, name: null, note: null, tags: {}, group: null, repeat: null, host: null, started: `2026-01-01T00:00:${id.slice(-2)}Z`, duration_s: 1, command: ['python', 'train.py'],
  exit_code: 0, verdict: null, steps: null, status: 'ended', problem: null, ...more,
});

const found = (typed: string, runs: RunListing[]) => runs.filter(parseSearch(typed).test).map((one) => one.id);
const runs = [run('a01', { name: 'ResNet', tags: { lr: '0.1' }, host: 'node7' }), run('a02', { tags: { lr: '0.10' }, verdict: 'input_bound' }), run('a03', { status: 'running', command: ['./a b'] })];

test('search takes words, tags, fields and regular expressions', () => {
  deepEqual(found('', runs), ['a01', 'a02', 'a03']);
  deepEqual(found('resnet', runs), ['a01']);
  deepEqual(found('tag:lr=0.1', runs), ['a01']);
  deepEqual(found('tag:lr', runs), ['a01', 'a02']);
  deepEqual(found('status:running', runs), ['a03']);
  deepEqual(found('/res.et|input_/', runs), ['a01', 'a02']);
  deepEqual(found('/a b/ status:running', runs), ['a03']);
  deepEqual(found('lr resnet', runs), ['a01']);
  deepEqual(found('host:node7', runs), ['a01']);
  deepEqual(found('node', runs), ['a01']);
});

test('a job that failed is told from one that ended well', () => {
  const some = [run('a01'), run('a02', { exit_code: 3, ended_by: 'exit' }), run('a03', { exit_code: null, signal: 9, ended_by: 'signal' }),
    run('a04', { exit_code: null, ended_by: 'unknown' }), run('a05', { exit_code: null, signal: 15, ended_by: 'time_limit' }), run('a06', { status: 'damaged', exit_code: null }),
    run('a07', { exit_code: 127, ended_by: 'not_started' })];
  deepEqual(found('status:failed', some), ['a02', 'a03', 'a07']);
  deepEqual(found('status:ended', some), ['a01', 'a02', 'a03', 'a04', 'a05', 'a07']);
  deepEqual(found('status:damaged', some), ['a06']);
});

test('a regular expression that is not one is reported', () => {
  ok(parseSearch('/(/').problem);
  equal(parseSearch('/a/').problem, null);
});

test('ranks and repeats are one row that opens', () => {
  const ranks = [1, 0].map((rank) => run(`b0${rank}`, { group: { job: 'slurm-1', rank, world_size: 2 } }));
  const rows = rowsOf([...ranks, run('c01')], parseSearch(''), { by: 'started', isDescending: true });
  deepEqual(rows.map((row) => row.kind), ['run', 'ranks']);
  deepEqual(rows[1]?.members.map((member) => member.id), ['b00', 'b01']);
  equal(openRows(rows, new Set()).length, 2);
  deepEqual(openRows(rows, new Set(['ranks slurm-1'])).map((row) => row.run.id), ['c01', 'b00', 'b00', 'b01']);
});

test('ranks of unknown jobs are not taken for one job', () => {
  const ranks = [0, 1].map((rank) => run(`b0${rank}`, { group: { job: null, rank, world_size: 2 } }));
  deepEqual(rowsOf(ranks, parseSearch(''), { by: 'started', isDescending: true }).map((row) => row.kind), ['run', 'run']);
});

test('unknown values are last in both directions', () => {
  const some = [run('d01', { steps: 5 }), run('d02'), run('d03', { steps: 9 })];
  const order = (isDescending: boolean) => rowsOf(some, parseSearch(''), { by: 'steps', isDescending }).map((row) => row.run.id);
  deepEqual(order(true), ['d03', 'd01', 'd02']);
  deepEqual(order(false), ['d01', 'd03', 'd02']);
});

test('10,000 runs are searched and ordered within a second', () => {
  const many = Array.from({ length: 10_000 }, (_one, index) => run(`e${String(index).padStart(5, '0')}`, { name: `run ${index % 97}` }));
  const begin = performance.now();
  equal(rowsOf(many, parseSearch('/run 1/'), { by: 'name', isDescending: false }).length > 0, true);
  ok(performance.now() - begin < 1000);
});

test('a run that is being recorded is ordered by how far it is', () => {
  const some = [run('f01', { steps: 5, duration_s: 50 }), run('f02', { status: 'running', duration_s: null }), run('f03', { steps: 9, duration_s: 9 })];
  const known = new Map([['f02', { id: 'f02', steps: 7, duration_s: 70 } as RunRow]]);
  const order = (by: 'steps' | 'duration') => rowsOf(some, parseSearch(''), { by, isDescending: true }, known).map((row) => row.run.id);
  deepEqual(order('steps'), ['f03', 'f02', 'f01']);
  deepEqual(order('duration'), ['f02', 'f01', 'f03']);
});

test('runs are ordered by their speed, their last loss and their tags; what is unknown comes last', () => {
  const some = [run('g01', { tags: { lr: '0.2' } }), run('g02'), run('g03', { tags: { lr: '0.1' } })];
  const row = (id: string, steps_per_s: number, loss: (number | null)[]) => [id, { id, steps_per_s, loss } as unknown as RunRow] as const;
  const known = new Map([row('g01', 5, [9, 1, null]), row('g03', 50, [3, 2])]);
  const order = (by: 'speed' | 'loss' | 'tags', isDescending: boolean) => rowsOf(some, parseSearch(''), { by, isDescending }, known).map((one) => one.run.id).join();
  deepEqual([order('speed', true), order('speed', false)], ['g03,g01,g02', 'g01,g03,g02']);
  deepEqual([order('loss', true), order('loss', false)], ['g03,g01,g02', 'g01,g03,g02']);
  deepEqual([order('tags', true), order('tags', false)], ['g01,g03,g02', 'g03,g01,g02']);
});

test('a group has the tags that all of it have', () => {
  const members = [run('h01', { tags: { lr: '0.1', repeat: '1/2' } }), run('h02', { tags: { lr: '0.1', repeat: '2/2' } })];
  deepEqual(tagsOf(members[0] ?? run('h01'), members), ['lr=0.1']);
  deepEqual(tagsOf(members[1] ?? run('h02')), ['lr=0.1', 'repeat=2/2']);
});

test('the current row stays the same one when others come, and its place when it goes', () => {
  const rows = (...ids: string[]) => ids.map((id) => ({ key: id, run: run(id), members: [], kind: 'run' as const }));
  equal(placeOf(rows('new', 'a', 'b'), 'a', 0), 1);
  equal(placeOf(rows('new', 'b'), 'a', 1), 1);
  equal(placeOf(rows('b'), 'a', 3), 0);
  equal(placeOf([], 'a', 3), 0);
});
