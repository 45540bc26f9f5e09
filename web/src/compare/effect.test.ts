import { test } from 'node:test';
import { equal, ok } from 'node:assert/strict';
import { effectSize, effectText } from './effect.ts';

const none = { difference_low: null, difference_high: null, ratio: null, low: null, high: null };
const temperature = { ...none, unit: 'Cel', a: 61.6, b: 81.6, difference: 20, difference_low: 17.7, difference_high: 22.4 };
const doubled = { ...none, unit: 'W', a: 1, b: 2, difference: 1, ratio: 2, low: 1.9, high: 2.1 };

test('an effect is a ratio, or degrees', () => {
  equal(effectText(doubled), '2.00× [1.90, 2.10]');
  equal(effectText(temperature).replaceAll(' ', ' '), '+20 °C [17.7, 22.4]');
  equal(effectText({ ...temperature, difference_low: null }).replaceAll(' ', ' '), '+20 °C');
  equal(effectText({ ...none, unit: 'Cel', a: 1, b: null, difference: null }), '–');
});

test('a few degrees are less than twice the power', () => {
  ok(effectSize(temperature) > 0);
  ok(effectSize(temperature) < effectSize(doubled));
  equal(effectSize({ ...none, unit: 'W', a: 0, b: 1, difference: 1 }), Number.MAX_VALUE);
});
