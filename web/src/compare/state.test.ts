import '../testing/page.ts';
import { mock, test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { source } from '../source/current.ts';
import { SourceError, type LiveListener } from '../source/source.ts';
import type { Comparison, Info, RunHead } from '../source/types.ts';
import { CompareState } from './state.ts';

const settle = async () => { for (let i = 0; i < 20; i++) await Promise.resolve(); };

/** Two live runs are compared; `run` replies when the page asks why it was refused. */
async function openLive(run: () => Promise<RunHead>) {
  const head = (id: string) => ({ run: { id, name: id, status: 'running', duration_s: 10 } }) as RunHead;
  const followed: string[] = [];
  const listeners: LiveListener[] = [];
  source.run = async (id) => head(id);
  source.info = async () => ({ run: { status: 'running', duration_s: 10 }, metrics: [] }) as unknown as Info;
  source.steps = async () => { throw new Error('none'); };
  source.files = async () => [];
  source.distribution = async () => [];
  source.compare = async () => ({}) as Comparison;
  source.live = (id, listener) => { followed.push(id); listeners.push(listener); return () => undefined; };
  const state = new CompareState();
  state.open(new URLSearchParams('a=one&b=two'));
  await settle();
  source.run = run;
  return { state, followed, listeners, live: () => state.runs.value.map((one) => state.liveOf(one)) };
}

test('a comparison that was refused because the server has too much to do asks again', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { state, followed, listeners, live } = await openLive(async () => { throw new SourceError('busy', 503); });
  deepEqual(followed, ['one']);
  listeners[0]?.lost(true);
  await settle();
  deepEqual(live(), ['lost', 'lost']);
  mock.timers.tick(5_000);
  deepEqual(followed, ['one', 'one']);
  listeners[1]?.now({ duration_s: 11, status: 'running', samples: 1, missed: 0, steps: 1 });
  deepEqual(live(), ['live', 'live']);
  state.close();
  mock.timers.reset();
});

test('a comparison follows another run where the server refuses for good', async () => {
  const { state, followed, listeners, live } = await openLive(async () => { throw new SourceError('no run has this id', 404); });
  listeners[0]?.lost(true);
  await settle();
  deepEqual(followed, ['one', 'two']);
  equal(live()[0], 'lost');
  state.close();
});
