// Okabe–Ito colours, ordered for contrast on each background, and dashes so that hue is never the only difference.
const light = ['#0072b2', '#d55e00', '#009e73', '#b5498a', '#b87a00', '#2a8fc7', '#4d4d4d', '#8a7d00'];
const dark = ['#56b4e9', '#e69f00', '#2bc596', '#e08fc0', '#f0e442', '#f0804a', '#cfcfcf', '#6aa6e8'];
const dashes = [[], [6, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 2], [8, 2, 2, 2, 2, 2]];

export interface Stroke {
  color: string;
  dash: number[];
}

export function strokeOf(index: number, isDark: boolean): Stroke {
  const colors = isDark ? dark : light;
  const color = colors[index % colors.length] ?? '#888888';
  // Eight colours with solid lines first would differ by hue alone: every second line is dashed.
  return { color, dash: dashes[(index + Math.floor(index / colors.length)) % dashes.length] ?? [] };
}

const parts: [RegExp, number][] = [
  [/input/, 1], [/compute|gpu|device/, 0], [/host|rest/, 5], [/checkpoint/, 3], [/evaluation|validation/, 2], [/communicat/, 4], [/transfer/, 7],
];

/** Parts of the step keep their colour on every page; what is not known is grey. */
export function partColor(part: string, isDark: boolean): string {
  const found = parts.find(([pattern]) => pattern.test(part));
  if (!found) return isDark ? '#8b929c' : '#767d87';
  return strokeOf(found[1], isDark).color;
}

/** The same text has the same tone everywhere: one of --tone-0 to --tone-3. */
export function toneOf(text: string): number {
  let sum = 0;
  for (const sign of text) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 997;
  return sum % 4;
}

/** A colour with an opacity, for areas. */
export function faded(color: string, opacity: number): string {
  return color + Math.round(opacity * 255).toString(16).padStart(2, '0');
}

const cssColors = new Map<string, string>();

/** A colour of the theme. To answer, the browser computes the style of all that changed since it drew last: each is asked for once. */
export function cssColor(name: string): string {
  const key = `${document.documentElement.dataset['theme'] ?? ''} ${name}`;
  const known = cssColors.get(key);
  if (known !== undefined) return known;
  const color = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  if (color !== '') cssColors.set(key, color);
  return color;
}
