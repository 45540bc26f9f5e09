import { test } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { outline } from './band.ts';

class Recorded {
  text = '';
  moveTo(x: number, y: number): void { this.text += `M${x},${y}`; }
  lineTo(x: number, y: number): void { this.text += `L${x},${y}`; }
  closePath(): void { this.text += 'Z'; }
}

function drawn(highs: (number | null | undefined)[], lows: (number | null | undefined)[], last = highs.length - 1): string[] {
  const [stroke, fill] = [new Recorded(), new Recorded()];
  outline(stroke, fill, highs.map((_high, index) => index), highs, lows, [0, last], (x) => 10 * x, (y) => -y);
  return [stroke.text, fill.text];
}

test('a band has two edges and the area between them', () => {
  deepEqual(drawn([5, 9, 6], [1, 2, 3]), ['M0,-5L10,-9L20,-6M20,-3L10,-2L0,-1', 'M0,-5L10,-9L20,-6L20,-3L10,-2L0,-1Z']);
  deepEqual(drawn([5, 9, 6], [1, 2, 3], 1), ['M0,-5L10,-9M10,-2L0,-1', 'M0,-5L10,-9L10,-2L0,-1Z']);
});

test('a band is interrupted as its line is', () => {
  deepEqual(drawn([5, null, 6], [1, null, 3]), ['M0,-5M0,-1M20,-6M20,-3', 'M0,-5L0,-1ZM20,-6L20,-3Z']);
  deepEqual(drawn([5, undefined, 6], [1, undefined, 3])[1], 'M0,-5L20,-6L20,-3L0,-1Z');
  deepEqual(drawn([null], [null]), ['', '']);
});
