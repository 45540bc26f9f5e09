import { test } from 'node:test';
import { equal } from 'node:assert/strict';
import { csvOf, quoted } from './csv.ts';
import { comparisonCsv } from '../compare/csv.ts';
import type { Metric } from '../source/types.ts';

const metric = { name: 'a"b', labels: { x: '1,2', y: '3' }, unit: '1' } as unknown as Metric;
const line = { series: 1, label: '', metric, devices: [], stopsInPauses: false };
const column = { series: 1, reading: 'level', unit: '1', name: null, time: Float64Array.of(0.5), mean: Float64Array.of(2), min: null, max: null, smooth: null, weight: null };

test('names are quoted where they must be', () => {
  equal(quoted('a,b'), '"a,b"');
  equal(quoted('a"b'), '"a""b"');
  equal(quoted('ab'), 'ab');
});

test('samples have a value, windows have mean, min and max', () => {
  equal(csvOf({ from_s: 0, to_s: 1, window_s: null, duration_s: 1, columns: [column] }, [line]), 'time_s,metric,labels,value\r\n0.5,"a""b","x=1,2;y=3",2\r\n');
  const window = { ...column, min: Float64Array.of(1), max: Float64Array.of(3) };
  equal(csvOf({ from_s: 0, to_s: 1, window_s: 1, duration_s: 1, columns: [window] }, [line]), 'time_s,metric,labels,mean,min,max\r\n0.5,"a""b","x=1,2;y=3",2,1,3\r\n');
});

test('unknown numbers of a comparison are empty', () => {
  const compared = { name: 'm', labels: {}, unit: 's', a: 1, b: 2, difference: 1, ratio: null, low: null, high: null, p_adjusted: null, verdict: 'cannot_tell' };
  equal(comparisonCsv([compared]).split('\r\n')[1], 'm,,s,1,2,1,,,,,cannot_tell');
});
