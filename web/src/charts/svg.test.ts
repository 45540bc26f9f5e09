import { test } from 'node:test';
import { deepEqual, equal, ok } from 'node:assert/strict';
import { chartSvg, partsOf, type SvgChart } from './svg.ts';

test('a line is interrupted at each break, and where it has no place', () => {
  deepEqual(partsOf([0, 1, 2, 3], []), [[0, 4]]);
  deepEqual(partsOf([0, 1, 2, 3], [1.5]), [[0, 2], [2, 4]]);
  deepEqual(partsOf([0, 1, 2, 3], [0.2, 0.5, 2.5]), [[0, 1], [1, 3], [3, 4]]);
  deepEqual(partsOf([NaN, 1, NaN, 3], []), [[1, 2], [3, 4]]);
  deepEqual(partsOf([], []), []);
});

const column = { series: 1, reading: 'level', unit: '1', name: null, time: Float64Array.of(0, 1, 5, 6), mean: Float64Array.of(1, 2, 3, 4), min: null, max: null, smooth: null, weight: null };
const chart: SvgChart = {
  title: 'a <b>', from: 0, to: 6, isFull: false, fromZero: true, xText: String, yText: String, colors: { background: '#fff', text: '#000', grid: '#ccc' },
  lines: [{ name: '"x"', color: '#123456', dash: [], x: [0, 1, 5, 6], column, breaks: [3] }],
};

test('a gap is a gap in the picture, and names are text', () => {
  const svg = chartSvg(chart);
  equal(svg.match(/<polyline/g)?.length, 2);
  ok(svg.includes('a &#60;b&#62;') && !svg.includes('<b>'));
});

test('a smoothed line is drawn over the raw one', () => {
  const lines = [{ ...(chart.lines[0] ?? fail()), breaks: [], column: { ...column, smooth: Float64Array.of(2, 2, 3, 3) } }];
  equal(chartSvg({ ...chart, lines }).match(/<polyline/g)?.length, 2);
});

function fail(): never {
  throw new Error('no line');
}
