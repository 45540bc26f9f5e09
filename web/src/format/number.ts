// Numbers as people write them: at most three significant digits, thousands separated, a narrow no-break
// space before the unit. Unknown is "–", never 0.
export const unknown = '–';
const space = ' ';

export function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** 3 significant digits without an exponent where people would not write one. */
export function plain(value: number | null | undefined, digits = 3): string {
  if (!isNumber(value)) return unknown;
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-6) return exponent(value, digits);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  const rounded = decimals === 0 ? Math.round(value) : Number(value.toFixed(Math.min(decimals, 9)));
  const text = String(Math.abs(rounded));
  const [whole = '', fraction] = text.includes('e') ? Math.abs(rounded).toFixed(9).replace(/0+$/, '').split('.') : text.split('.');
  return (rounded < 0 ? '−' : '') + thousands(whole) + (fraction ? '.' + fraction : '');
}

function exponent(value: number, digits: number): string {
  const [mantissa = '', power = ''] = value.toExponential(digits - 1).split('e');
  return `${mantissa.replace('-', '−')}e${power.replace('+', '').replace('-', '−')}`;
}

function thousands(whole: string): string {
  return whole.length > 3 ? whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : whole;
}

export function integer(value: number | null | undefined): string {
  if (!isNumber(value)) return unknown;
  return (value < 0 ? '−' : '') + thousands(String(Math.abs(Math.round(value))));
}

/** 62 %, 6.2 %, 0.62 %. */
export function percent(share: number | null | undefined): string {
  if (!isNumber(share)) return unknown;
  const value = share * 100;
  const size = Math.abs(value);
  const text = size >= 10 ? integer(value) : size >= 1 ? plain(Number(value.toFixed(1))) : plain(value, 2);
  return text + space + '%';
}

/** Of a whole, in a list of its parts: what is there is never 0. */
export function share(part: number | null | undefined): string {
  return isNumber(part) && part !== 0 && Math.abs(part) < 0.001 ? '<0.1' + space + '%' : percent(part);
}

/** A part may also make up for others: −43 %. Less than half a per cent says nothing more. */
export function shareOfDifference(part: number | null | undefined): string {
  return isNumber(part) && part !== 0 && Math.abs(part) < 0.005 ? '<0.5' + space + '%' : isNumber(part) ? integer(part * 100) + space + '%' : unknown;
}

/** 1.42; two decimals below 10, as many as matter above and below 0.1. */
export function ratio(value: number | null | undefined): string {
  if (!isNumber(value)) return unknown;
  return Math.abs(value) >= 0.095 && value < 10 ? value.toFixed(2) : plain(value, value < 1 ? 2 : 3);
}

/** 1.42×. */
export function times(value: number | null | undefined): string {
  return isNumber(value) ? ratio(value) + '×' : unknown;
}

/** Of a test: below a thousandth its size says nothing more. */
export function probability(p: number | null | undefined): string {
  return isNumber(p) && p < 0.001 ? '<0.001' : plain(p, 2);
}

const decimalPrefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const binaryPrefixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** 412 M + unit; small values are left alone. */
export function prefixed(value: number, unit: string, base: 1000 | 1024): string {
  if (value === 0) return '0' + space + unit;
  const prefixes = base === 1024 ? binaryPrefixes : decimalPrefixes;
  let step = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log(Math.abs(value)) / Math.log(base) + 1e-9)));
  // 999.7 is written as 1.00 of the next prefix, not as 1,000.
  if (Math.abs(value) / base ** step >= base * 0.9995 && step < prefixes.length - 1) step += 1;
  return plain(value / base ** step) + space + (prefixes[step] ?? '') + unit;
}

/** 412 W, 1.2 kW; below 1 with milli and micro. */
export function scientific(value: number, unit: string): string {
  const size = Math.abs(value);
  if (size === 0 || size >= 1) return prefixed(value, unit, 1000);
  if (size >= 1e-3) return plain(value * 1e3) + space + 'm' + unit;
  if (size >= 1e-6) return plain(value * 1e6) + space + 'µ' + unit;
  return plain(value * 1e9) + space + 'n' + unit;
}
