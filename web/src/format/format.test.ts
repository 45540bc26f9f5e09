import { test } from 'node:test';
import { equal } from 'node:assert/strict';
import { integer, percent, plain, prefixed, probability, ratio, share, times } from './number.ts';
import { overheadText } from './overhead.ts';
import { clock, duration, parseTime, relative } from './time.ts';
import { axisValue, countedWords, unitWords, value } from './unit.ts';
import { commandLine, confidenceWord, labelValues, outcomeWords, seriesName, verdictWords } from './words.ts';

const same = (text: string, wanted: string) => equal(text.replaceAll(' ', ' '), wanted);

test('overhead of a job below a second is CPU time, not a ratio', () => {
  same(overheadText({ cpu_ratio: 4.44, cpu_s: 0.0115 }, 0.0026), '11.5 ms of CPU time');
  same(overheadText({ cpu_ratio: 0.004, cpu_s: 0.004 }, 1), '0.4 % of one processor');
  same(overheadText({ cpu_ratio: null, cpu_s: null }, 0.5), '– of one processor');
});

test('numbers have three digits and separated thousands', () => {
  same(plain(0), '0');
  same(plain(3.14159), '3.14');
  same(plain(1234567), '1,234,567');
  same(plain(-0.00012345), '−0.000123');
  same(plain(1.5e-9), '1.50e−9');
  same(plain(null), '–');
  same(plain(Number.NaN), '–');
  same(integer(1999.6), '2,000');
});

test('shares are percentages', () => {
  same(percent(0.62), '62 %');
  same(percent(0.0625), '6.3 %');
  same(percent(0.0042), '0.42 %');
  same(percent(1), '100 %');
  same(percent(undefined), '–');
});

test('ratios have a cross', () => {
  same(times(1.4159), '1.42×');
  same(times(1), '1.00×');
  same(times(123.4), '123×');
  same(times(0.284), '0.28×');
  same(times(0.00116), '0.0012×');
  same(times(0), '0×');
  same(times(null), '–');
  same(`${ratio(0.000783)} ${ratio(0.3)} ${ratio(3.385)}`, '0.00078 0.30 3.38');
});

test('what is small is not shown as 0, nor with more digits than it is worth', () => {
  same(share(0.0000882), '<0.1 %');
  same(share(-0.0002), '<0.1 %');
  same(share(0), '0 %');
  same(share(0.5), '50 %');
  same(share(null), '–');
  same(probability(1.9e-122), '<0.001');
  same(probability(0.0231), '0.023');
  same(probability(null), '–');
});

test('bytes have decimal or binary prefixes', () => {
  same(value(412e6, 'By/s'), '412 MB/s');
  same(value(1024 ** 3, 'By', '', 'binary'), '1 GiB');
  same(value(999_700, 'By'), '1 MB');
  same(prefixed(12, 'B', 1000), '12 B');
  same(value(0, 'By'), '0 B');
});

test('units are words', () => {
  same(value(61.25, 'Cel'), '61.3 °C');
  same(value(0.25, 's/s', 'system.pressure.time'), '25 %');
  same(value(0.4123456, '1', 'train.loss'), '0.4123');
  same(value(0.9, '1', 'train.accuracy'), '90 %');
  same(value(1500, '{operation}/s'), '1,500 operations/s');
  same(value(0.00646, 's'), '6.46 ms');
  same(value(1400, 'W'), '1.4 kW');
  same(value(1.41e9, 'Hz'), '1.41 GHz');
  same(unitWords('{switch}/s'), 'switches/s');
  same(value(1, '{process}'), '1 process');
});

test('words of counted things are said once, not at each number of an axis', () => {
  same(axisValue(1500, '{operation}/s'), '1,500/s');
  same(axisValue(2e6, '{switch}/s'), '2 M/s');
  same(axisValue(1, '{process}'), '1');
  same(axisValue(7, 'parcels/s', 'counter.post'), '7/s');
  same(axisValue(1400, 'W'), '1.4 kW');
  same(axisValue(0.25, '1', 'job.cpu.utilization'), '25 %');
  equal(countedWords(['{operation}/s', '{operation}/s']), 'operations/s');
  equal(countedWords(['{process}', '{thread}']), '');
  equal(countedWords(['By/s']), '');
  equal(countedWords([]), '');
});

test('durations are written as people write them', () => {
  same(duration(0.00646), '6.46 ms');
  same(duration(724), '12 min 4 s');
  same(duration(59.97), '1 min');
  same(duration(7200), '2 h');
  same(duration(3599.9), '1 h');
  same(duration(200_000), '2 d 8 h');
  same(duration(0.9999), '1 s');
  same(duration(null), '–');
});

test('a clock has as many decimals as its step', () => {
  same(clock(724), '12:04');
  same(clock(4.25, 0.25), '0:04.3');
  same(clock(4.25, 0.01), '0:04.25');
  same(clock(59.999, 0.1), '1:00.0');
  same(clock(3723), '1:02:03');
});

test('typed times are read', () => {
  equal(parseTime('90', 0), 90);
  equal(parseTime('1:30', 0), 90);
  equal(parseTime('1:00:01.5', 0), 3601.5);
  equal(parseTime('12 min 4 s', 0), 724);
  equal(parseTime('1h20m', 0), 4800);
  equal(parseTime('25 %', 200), 50);
  equal(parseTime('soon', 200), null);
  equal(parseTime('3 parsecs', 200), null);
});

test('the outcome of a job is said however it ended', () => {
  equal(outcomeWords({ exit_code: 3, signal: null, ended_by: 'exit' }), 'exit code 3');
  equal(outcomeWords({ exit_code: null, signal: 9, ended_by: 'signal' }), 'killed by signal 9');
  equal(outcomeWords({ exit_code: null, signal: 15, ended_by: 'time_limit' }), 'stopped by --for');
  equal(outcomeWords({ exit_code: 127, signal: null, ended_by: 'not_started' }), 'did not start (exit code 127)');
  equal(outcomeWords({ exit_code: null, signal: null, ended_by: 'detached' }), 'still running when the recording ended');
  equal(outcomeWords({ exit_code: null, signal: null, ended_by: 'unknown' }), '');
});

test('starts are relative', () => {
  const now = Date.parse('2026-11-16T12:00:00Z');
  same(relative('2026-11-16T11:57:00Z', now), '3 min ago');
  same(relative('2026-11-14T11:57:00Z', now), '2 d ago');
  same(relative(null, now), '–');
});

test('names are words', () => {
  equal(verdictWords('gpu_memory_bound'), 'GPU-memory-bound');
  equal(verdictWords('throttled'), 'throttled');
  equal(verdictWords('unknown'), 'cannot tell');
  equal(confidenceWord(0.88), 'likely');
  equal(seriesName('a.b', { x: '1', y: '2' }), 'a.b{x=1;y=2}');
  equal(labelValues({ gpu: '0', source: 'pipe' }), 'GPU 0');
  equal(commandLine(['python', 'my train.py', "it's"]), "python 'my train.py' 'it'\\''s'");
});
