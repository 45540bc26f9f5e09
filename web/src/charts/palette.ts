// Okabe–Ito colours, the same hue in both themes, and dashes or hatches so that hue is never the only difference.
const light = ['#0072b2', '#d55e00', '#009e73', '#b5498a', '#b87a00', '#2a8fc7', '#4d4d4d', '#8a7d00'];
const dark = ['#4ba6e8', '#f0804a', '#2bc596', '#e08fc0', '#e6ac2e', '#8fd0f5', '#cfcfcf', '#d8cf5a'];
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

/** An area: one colour that is seen on both backgrounds, and a hatch; 0 is none. */
export interface Fill {
  color: string;
  hatch: number;
}

/** What is drawn over the colour, in squares of 8. */
export const hatches = ['', 'M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2', 'M2,0 v8', 'M0,2 h8', 'M-1,7 l2,2 M0,0 l8,8 M7,-1 l2,2', 'M2,0 v8 M0,2 h8', 'M0,0 l8,8 M0,8 l8,-8', 'M1,2 h2 M5,6 h2', 'M4,1 v6 M1,4 h6'];
export const hatchInk = '#ffffff';
export const hatchOpacity = 0.45;

// As in the pictures of `report`, but no colour is so light that white hides it.
const parts: [RegExp, Fill][] = [
  [/input/, { color: '#d55e00', hatch: 1 }], [/device|gpu/, { color: '#009e73', hatch: 2 }], [/host|compute|rest/, { color: '#0072b2', hatch: 0 }],
  [/checkpoint/, { color: '#b5498a', hatch: 3 }], [/evaluation|validation/, { color: '#b87a00', hatch: 5 }],
  [/communicat/, { color: '#2f8fc9', hatch: 4 }], [/transfer/, { color: '#8a7d00', hatch: 6 }], [/unexplained|unknown/, { color: '#7d848e', hatch: 7 }],
];

/** Parts of the step look alike on every page and in both themes; what is not known is grey. */
export function partFill(part: string): Fill {
  return parts.find(([pattern]) => pattern.test(part))?.[1] ?? { color: '#7d848e', hatch: 8 };
}

/** The area of a run among others: in the colour of its lines. */
export function runFill(index: number, isDark: boolean): Fill {
  return { color: strokeOf(index, isDark).color, hatch: index % hatches.length };
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
