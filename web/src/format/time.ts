// Durations and points in time, as text and back.
import { integer, isNumber, plain, unknown } from './number.ts';

const space = ' ';

/** 950 µs, 6.46 ms, 12.4 s, 12 min 4 s, 3 h 20 min, 2 d 4 h. */
export function duration(seconds: number | null | undefined): string {
  if (!isNumber(seconds)) return unknown;
  if (seconds < 0) return '−' + duration(-seconds);
  if (seconds === 0) return '0' + space + 's';
  if (seconds < 1e-6) return plain(seconds * 1e9) + space + 'ns';
  if (seconds < 0.9995e-3) return plain(seconds * 1e6) + space + 'µs';
  if (seconds < 0.9995) return plain(seconds * 1e3) + space + 'ms';
  if (seconds < 59.95) return plain(seconds) + space + 's';
  const whole = Math.round(seconds);
  if (whole < 3600) return twoParts(Math.floor(whole / 60), 'min', whole % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) return twoParts(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(seconds / 3600);
  return twoParts(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function twoParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const first = integer(large) + space + largeUnit;
  return small === 0 ? first : first + ' ' + small + space + smallUnit;
}

/** Elapsed time as a clock, with as many decimals as `step` needs: 0:04.250, 12:04, 1:02:03. */
export function clock(seconds: number | null | undefined, step = 1): string {
  if (!isNumber(seconds)) return unknown;
  if (seconds < 0) return '−' + clock(-seconds, step);
  const decimals = step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
  const factor = 10 ** decimals;
  const units = Math.round(seconds * factor);
  const whole = Math.floor(units / factor);
  const fraction = decimals === 0 ? '' : '.' + String(units % factor).padStart(decimals, '0');
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const tail = two(whole % 60) + fraction;
  return hours > 0 ? `${hours}:${two(minutes)}:${tail}` : `${minutes}:${tail}`;
}

const unitSeconds: Record<string, number> = {
  ms: 1e-3, s: 1, sec: 1, m: 60, min: 60, h: 3600, d: 86400,
};

/** Reads what a person types: 90, 90s, 1:30, 12 min 4 s, 1h20m, 25%. Nothing if it is none of these. */
export function parseTime(text: string, whole: number): number | null {
  const typed = text.trim().toLowerCase().replace(',', '.');
  const share = /^(\d+(?:\.\d+)?)\s*%$/.exec(typed);
  if (share) return (Number(share[1]) / 100) * whole;
  const colons = /^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$/.exec(typed);
  if (colons) return Number(colons[1] ?? 0) * 3600 + Number(colons[2]) * 60 + Number(colons[3]);
  if (/^\d+(\.\d+)?$/.test(typed)) return Number(typed);
  if (!/^(\d+(\.\d+)?\s*[a-z]+\s*)+$/.test(typed)) return null;
  let sum = 0;
  for (const part of typed.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/g)) {
    const factor = unitSeconds[part[2] ?? ''];
    if (factor === undefined) return null;
    sum += Number(part[1]) * factor;
  }
  return sum;
}

/** "3 min ago", "2 h ago", "5 d ago". */
export function relative(instant: string | null, now: number): string {
  const then = instant === null ? NaN : Date.parse(instant);
  if (!Number.isFinite(then)) return unknown;
  const seconds = (now - then) / 1000;
  if (seconds < 60) return seconds < -60 ? absolute(instant) : 'now';
  const [value, unit] = seconds < 3600 ? [seconds / 60, 'min'] : seconds < 86400 ? [seconds / 3600, 'h'] : [seconds / 86400, 'd'];
  return Math.floor(value) + space + unit + ' ago';
}

/** 2026-11-16 22:39:48, in the reader's time zone. */
export function absolute(instant: string | null): string {
  const then = instant === null ? NaN : Date.parse(instant);
  return Number.isFinite(then) ? wallClock(then / 1000, true) : unknown;
}

export function wallClock(epochSeconds: number, withDate: boolean): string {
  const date = new Date(epochSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (!withDate) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}
