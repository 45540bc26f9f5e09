import '../testing/page.ts';
import { test } from 'node:test';
import { equal, notEqual, ok } from 'node:assert/strict';
import { hatches, partFill, runFill, strokeOf } from './palette.ts';

const parts = ['input wait', 'host work', 'device compute', 'checkpoint', 'evaluation', 'communication', 'transfer', 'unexplained', 'start-up'];

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('parts of the time are told apart without their colour, and are seen in both themes', () => {
  const looks = parts.map((part) => partFill(part).hatch);
  equal(new Set(looks).size, parts.length);
  ok(looks.every((hatch) => hatch < hatches.length));
  for (const part of parts) {
    const own = luminance(partFill(part).color);
    ok(1.05 / (own + 0.05) >= 3, `${part} on white`);
    ok((own + 0.05) / (luminance('#1c2026') + 0.05) >= 3, `${part} on the dark panel`);
  }
});

test('bars of runs beside each other differ by more than their colour', () => {
  for (const index of [0, 1, 2, 3]) notEqual(runFill(index, false).hatch, runFill(index + 1, false).hatch);
});

const hue = (color: string) => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (Math.atan2(Math.sqrt(3) * (green - blue), 2 * red - green - blue) * 180) / Math.PI;
};

test('a line keeps its hue in both themes', () => {
  for (const index of [0, 1, 2, 3, 4, 5, 7]) {
    const apart = Math.abs(hue(strokeOf(index, false).color) - hue(strokeOf(index, true).color));
    ok(Math.min(apart, 360 - apart) < 25, `${index}: ${apart}`);
  }
});
