import { test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { Spread } from './spread.ts';

/** Each item takes so many ms of the frame in which it is drawn. */
function drawn(cost: number) {
  let now = 0;
  let inFrame = 0;
  const frames: number[] = [];
  const spread = new Spread(async () => {
    now += Math.max(1, inFrame * cost);
    frames.push(inFrame);
    inFrame = 0;
  }, () => now);
  return { spread, frames, become: (ms: number) => { cost = ms; }, draw: () => { inFrame += 1; }, wait: (ms: number) => { now += ms; }, now: () => now };
}

const hundred = Array.from({ length: 100 }, (_one, index) => index);

test('no frame of many slow charts is long', async () => {
  const { spread, frames, draw } = drawn(5);
  await spread.run(hundred, draw);
  equal(frames.reduce((sum, one) => sum + one, 0), 100);
  ok(Math.max(...frames) * 5 <= 50, frames.join());
});

test('quick charts are drawn together; when they become slow, a few at a time', async () => {
  const quick = drawn(0.01);
  await quick.spread.run(hundred, quick.draw);
  deepEqual(quick.frames, [8, 16, 32, 44]);
  quick.become(5);
  await quick.spread.run(hundred, quick.draw);
  deepEqual(quick.frames.slice(4, 8), [64, 32, 4]);
  await quick.spread.run(hundred, quick.draw);
  ok(quick.frames.slice(7).includes(8), quick.frames.join());
});

test('after drawing it rests, so that drawing is a tenth of the time', async () => {
  const { spread, draw, wait, now } = drawn(5);
  equal(spread.isResting, false);
  const done = spread.run(hundred, draw);
  equal(spread.isResting, true);
  await done;
  const took = now();
  wait(8.9 * took);
  equal(spread.isResting, true);
  wait(0.2 * took);
  equal(spread.isResting, false);
});

test('however slow it is, it does not rest for long', async () => {
  const { spread, draw, wait } = drawn(1000);
  await spread.run(hundred, draw);
  wait(10_001);
  equal(spread.isResting, false);
});

test('what is asked for while it draws comes after it, also if that fails', async () => {
  const { spread } = drawn(1);
  const order: string[] = [];
  const first = spread.run(['a', 'b'], (item) => { order.push(item); if (item === 'b') throw new Error('b'); });
  const second = spread.run(['c'], (item) => { order.push(item); });
  await first.catch(() => order.push('failed'));
  await second;
  deepEqual(order.join(), 'a,b,failed,c');
});
