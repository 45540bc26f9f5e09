import '../testing/page.ts';
import { test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { source } from '../source/current.ts';
import { SourceError, type LiveListener } from '../source/source.ts';
import type { Diagnosis, Finding, Info, LiveNow, Marks, RunHead } from '../source/types.ts';
import { chooseFinding } from '../keys/run.ts';
import { RunState } from './run.ts';

const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });
const info = (duration_s: number) => ({ run: { duration_s }, metrics: [] }) as unknown as Info;
const now = (duration_s: number): LiveNow => ({ duration_s, status: 'running', samples: 1, missed: 0, steps: 1 });

/** Requests for one document, each answered by the test. */
function replies<T>() {
  const asked: { give: (value: T) => void; fail: (error: unknown) => void }[] = [];
  return { asked, ask: () => new Promise<T>((give, fail) => { asked.push({ give, fail }); }) };
}

/** A live run that is open; `infos` are the requests for its metrics after the first. */
async function openLive(marks = (): Marks => ({ phases: [], pauses: [], events: [], gaps: [], parts: null })) {
  const run = new RunState('a');
  const infos = replies<Info>();
  let listener: LiveListener | undefined;
  source.run = async () => ({ run: { id: 'a', status: 'running', duration_s: 10 } }) as RunHead;
  source.diagnosis = async () => ({ findings: [] }) as unknown as Diagnosis;
  source.marks = async () => marks();
  source.steps = async () => { throw new Error('none'); };
  source.info = infos.ask;
  source.live = (_id, one) => { listener = one; return () => undefined; };
  const opened = run.open(new URLSearchParams());
  infos.asked[0]?.give(info(10));
  await opened;
  infos.asked.length = 0;
  return { run, infos: infos.asked, listener: listener as LiveListener };
}

test('charts that find a new series at the same time share a request', async () => {
  const { run, infos } = await openLive();
  const both = [run.reloadInfo(), run.reloadInfo()];
  equal(infos.length, 1);
  infos[0]?.give(info(11));
  await Promise.all(both);
  void run.reloadInfo();
  equal(infos.length, 2);
});

test('an error goes when what failed has come', async () => {
  const { run, infos } = await openLive();
  const first = run.reloadInfo();
  infos[0]?.fail(new SourceError('busy', 503));
  await first;
  equal(run.error.value, 'busy');
  const second = run.reloadInfo();
  infos[1]?.give(info(11));
  await second;
  equal(run.error.value, null);
});

test('a live run is not read again while it is being read', async () => {
  const { infos, listener } = await openLive();
  const clock = performance.now;
  let ms = clock.call(performance);
  performance.now = () => (ms += 600_000);
  try {
    for (let i = 0; i < 5; i++) {
      listener.now(now(10 + i));
      await pause(0);
    }
    equal(infos.length, 1);
    infos[0]?.give(info(15));
    await pause(0);
    listener.now(now(16));
    equal(infos.length, 2);
  } finally {
    performance.now = clock;
  }
});

test('charts of a live run are not drawn again for every short phase', async () => {
  const phases: Marks['phases'] = [];
  const { run, infos, listener } = await openLive(() => ({ phases: [...phases], pauses: [], events: [], gaps: [], parts: null }));
  const before = run.drawnMarks.value;
  const add = async (name: string, from_s: number, to_s: number) => {
    phases.push({ name, from_s, to_s });
    listener.ended(now(10)); // it is read again
    run.live.value = 'live';
    infos.at(-1)?.give(info(10));
    await pause(0);
  };
  await add('input', 1, 1.05);
  equal(run.marks.value?.phases.length, 1);
  equal(run.drawnMarks.value, before);
  await add('evaluation', 2, 3);
  deepEqual(run.drawnMarks.value?.phases.map((phase) => phase.name), ['evaluation']);
});

test('the chosen finding stays the same one when others are found', () => {
  const run = new RunState('a');
  const finding = (id: string, from_s: number, to_s: number) => ({ id, from_s, to_s }) as Finding;
  const found = (...findings: Finding[]) => { run.diagnosis.value = { findings } as Diagnosis; };
  found(finding('input', 0, 5), finding('swap', 2, 3));
  chooseFinding(run, 1);
  deepEqual(run.view.selection.value, { from: 2, to: 3 });
  equal(run.chosenIndex.value, 1);
  found(finding('swap', 2, 4), finding('input', 0, 6), finding('swap', 5, 6)); // it goes on, and another one comes
  equal(run.chosenIndex.value, 0);
  found(finding('input', 0, 7));
  equal(run.chosenIndex.value, null);
});

test('the address of a live run shows the same when the run has ended', async () => {
  const { run } = await openLive();
  run.close();
  source.run = async () => ({ run: { id: 'a', status: 'ended', duration_s: 100 } }) as RunHead;
  source.info = async () => info(100);
  const later = new RunState('a');
  await later.open(new URLSearchParams('from=10&to=20&follow=1'));
  deepEqual(later.view.shown.value, { from: 10, to: 20 });
});

test('a report of a run that was not over is not live', async () => {
  source.run = async () => ({ run: { id: 'a', status: 'running', duration_s: 10 } }) as RunHead;
  source.info = async () => info(10);
  Object.defineProperty(source, 'isReport', { value: true, configurable: true });
  const run = new RunState('a');
  await run.open(new URLSearchParams());
  Object.defineProperty(source, 'isReport', { value: false, configurable: true });
  equal(run.live.value, 'written');
});
