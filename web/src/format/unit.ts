// A value with its unit: UCUM units of the API become what people write.
import { isNumber, percent, plain, prefixed, scientific, unknown } from './number.ts';
import { duration } from './time.ts';

export type Bytes = 'decimal' | 'binary';

/** What is drawn: shares are percentages, seconds per second are shares of time. */
export function shownUnit(unit: string): string {
  if (unit === 's/s') return '1';
  return unit;
}

const space = ' ';
const symbols: Record<string, string> = { W: 'W', J: 'J', Hz: 'Hz', 'J/s': 'W', V: 'V', A: 'A', 'bit/s': 'bit/s', 'J/{step}': 'J/step' };

/** `metric` distinguishes a share (unit 1) from a plain number such as a loss. */
export function value(number: number | null | undefined, unit: string, metric = '', bytes: Bytes = 'decimal'): string {
  if (!isNumber(number)) return unknown;
  const base = bytes === 'binary' ? 1024 : 1000;
  const shown = shownUnit(unit);
  if (shown === '1') return isShare(metric) ? percent(number) : plain(number, 4);
  if (shown === 's') return duration(number);
  if (shown === 'By') return prefixed(number, 'B', base);
  if (shown === 'By/s') return prefixed(number, 'B/s', base);
  if (shown === 'By/{step}') return prefixed(number, 'B/step', base);
  if (shown === 'Cel') return plain(number) + space + '°C';
  const symbol = symbols[shown];
  if (symbol) return scientific(number, symbol);
  return counted(number, shown);
}

const plainCount = (number: number) => (Math.abs(number) >= 1e6 ? prefixed(number, '', 1000).trim() : plain(number));

/** {step}, {item}/s, {operation}/s: a number of things, and per what. */
function counted(number: number, unit: string): string {
  const words = number === 1 ? unit.replace(/[{}]/g, '') : unitWords(unit);
  return words === '' ? plainCount(number) : plainCount(number) + space + words;
}

const measures = new Set(['1', 's', 's/s', 'By', 'By/s', 'By/{step}', 'Cel', ...Object.keys(symbols)]);
const isCounted = (unit: string) => !measures.has(unit);

/** At an axis there is no place for long words: what is counted is said once, by `countedWords`. */
export function axisValue(number: number, unit: string, metric = '', bytes: Bytes = 'decimal'): string {
  if (!isCounted(unit)) return value(number, unit, metric, bytes);
  return plainCount(number) + (unit.endsWith('/s') ? '/s' : '');
}

/** What an axis counts; '' where its numbers have their unit, or count several things. */
export function countedWords(units: readonly string[]): string {
  const [first] = units;
  return first !== undefined && isCounted(first) && units.every((unit) => unit === first) ? unitWords(first) : '';
}

const plurals: Record<string, string> = { process: 'processes', switch: 'switches', miss: 'misses', reference: 'references' };

/** "{operation}/s" becomes "operations/s". */
export function unitWords(unit: string): string {
  if (unit === '1') return '';
  return unit.replace(/\{(\w+)\}(\/?)/g, (_all, word: string, slash: string, at: number) =>
    (at === 0 ? (plurals[word] ?? (word === 'rpm' ? 'rpm' : word + 's')) : word) + slash);
}

/** Unit 1 is a share unless the metric is one that has no whole. */
export function isShare(metric: string): boolean {
  return !/^(train\.loss|counter\.|perf\.|hw\.gpu\.performance_state|hw\.gpu\.pcie|hw\.gpu\.throttle$|loss)/.test(metric);
}

