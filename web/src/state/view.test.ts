import '../testing/page.ts';
import { test } from 'node:test';
import { deepEqual, equal } from 'node:assert/strict';
import { TimeView } from './view.ts';

function viewOf(duration: number, address = ''): TimeView {
  const view = new TimeView();
  view.duration.value = duration;
  view.read(new URLSearchParams(address));
  return view;
}

test('who follows again sees the end of the run', () => {
  const view = viewOf(100);
  view.setRange(10, 20);
  view.grow(101);
  deepEqual(view.shown.value, { from: 10, to: 20 });
  view.setFollow(true);
  deepEqual(view.shown.value, { from: 91, to: 101 });
  view.grow(103);
  deepEqual(view.shown.value, { from: 93, to: 103 });
});

test('an address that follows a live run opens at its end', () => {
  const view = viewOf(100, 'from=10&to=20&follow=1');
  view.grow(100);
  deepEqual(view.shown.value, { from: 90, to: 100 });
});

test('the whole run stands still when it is not followed, and is whole again', () => {
  const view = viewOf(100);
  view.setFollow(false);
  view.grow(101);
  deepEqual(view.shown.value, { from: 0, to: 100 });
  view.setFollow(true);
  view.grow(102);
  deepEqual(view.shown.value, { from: 0, to: 102 });
  equal(view.range.value, null);
});
