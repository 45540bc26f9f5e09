// A chart as an SVG file: text, axes, lines and min–max bands.
import type { Column } from '../source/columns.ts';

export interface SvgLine {
  name: string;
  color: string;
  dash: number[];
  x: number[];
  column: Column;
  /** Between these and the next value the line is interrupted. */
  breaks: number[];
}

export interface SvgChart {
  title: string;
  from: number;
  to: number;
  isFull: boolean;
  fromZero: boolean;
  xText: (value: number, step: number) => string;
  yText: (value: number) => string;
  colors: { background: string; text: string; grid: string };
  lines: SvgLine[];
}

const width = 800;
const height = 300;
const left = 76;
const right = 14;
const top = 34;
const bottom = 28;

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, '�');
}

/** Round numbers between two bounds, about `count` of them. */
export function ticks(low: number, high: number, count: number): { at: number[]; step: number } {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? power * 10;
  const at: number[] = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) at.push(i * step);
  return { at, step };
}

function bounds(chart: SvgChart): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const { x, column } of chart.lines) {
    x.forEach((value, index) => {
      if (value < chart.from || value > chart.to) return;
      low = Math.min(low, (column.min ?? column.mean)[index] ?? Infinity);
      high = Math.max(high, (column.max ?? column.mean)[index] ?? -Infinity);
    });
  }
  if (!Number.isFinite(low)) return [0, 1];
  if (chart.isFull) return [0, Math.max(1, high)];
  if (chart.fromZero) low = Math.min(0, low);
  return high > low ? [low, high + (high - low) * 0.05] : [low, low + 1];
}

/** First and past-the-end places of what is drawn without interruption. */
export function partsOf(x: readonly number[], breaks: readonly number[]): [number, number][] {
  const found: [number, number][] = [];
  let first = 0;
  let next = 0;
  for (let i = 0; i < x.length; i++) {
    let isBroken = !Number.isFinite(x[i]);
    for (; next < breaks.length && (breaks[next] ?? Infinity) <= (x[i] ?? 0); next++) isBroken = true;
    if (!isBroken) continue;
    if (i > first) found.push([first, i]);
    first = Number.isFinite(x[i]) ? i : i + 1;
  }
  if (x.length > first) found.push([first, x.length]);
  return found;
}

type Place = (value: number) => string;

function pointsOf(x: readonly number[], values: Float64Array, from: number, to: number, px: Place, py: Place): string[] {
  return x.slice(from, to).map((value, index) => `${px(value)},${py(values[from + index] ?? 0)}`);
}

export function chartSvg(chart: SvgChart): string {
  const [low, high] = bounds(chart);
  const px = (x: number) => (left + ((x - chart.from) / (chart.to - chart.from)) * (width - left - right)).toFixed(1);
  const py = (y: number) => (top + (1 - (y - low) / (high - low)) * (height - top - bottom)).toFixed(1);
  const { text, grid, background } = chart.colors;
  const legendHeight = chart.lines.length * 16 + 8;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + legendHeight}" font-family="system-ui, sans-serif" font-size="12" fill="${text}">`,
    `<rect width="100%" height="100%" fill="${background}"/>`,
    `<text x="${left}" y="20" font-size="14" font-weight="600">${escapeXml(chart.title)}</text>`,
    `<clipPath id="area"><rect x="${left}" y="${top}" width="${width - left - right}" height="${height - top - bottom}"/></clipPath>`,
  ];
  for (const y of ticks(low, high, 4).at) {
    parts.push(`<line x1="${left}" x2="${width - right}" y1="${py(y)}" y2="${py(y)}" stroke="${grid}"/>`, `<text x="${left - 8}" y="${py(y)}" dy="4" text-anchor="end">${escapeXml(chart.yText(y))}</text>`);
  }
  const xs = ticks(chart.from, chart.to, 7);
  for (const x of xs.at) parts.push(`<text x="${px(x)}" y="${height - 8}" text-anchor="middle">${escapeXml(chart.xText(x, xs.step))}</text>`);
  chart.lines.forEach((line, index) => {
    const { color, column } = line;
    const dashes = line.dash.length > 0 ? ` stroke-dasharray="${line.dash.join(' ')}"` : '';
    const draw = (values: Float64Array, [from, to]: [number, number], style: string) =>
      parts.push(`<polyline clip-path="url(#area)" fill="none" stroke="${color}" ${style} points="${pointsOf(line.x, values, from, to, px, py).join(' ')}"/>`);
    for (const part of partsOf(line.x, line.breaks)) {
      const { min, max, smooth } = column;
      if (min && max && !smooth) {
        const outline = [...pointsOf(line.x, max, ...part, px, py), ...pointsOf(line.x, min, ...part, px, py).reverse()];
        parts.push(`<polygon clip-path="url(#area)" fill="${color}" fill-opacity="0.25" points="${outline.join(' ')}"/>`);
      }
      draw(column.mean, part, smooth ? 'stroke-opacity="0.35"' : `stroke-width="1.5"${dashes}`);
      if (smooth) draw(smooth, part, `stroke-width="2"${dashes}`);
    }
    const y = height + 10 + index * 16;
    parts.push(`<line x1="${left}" x2="${left + 22}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2"${dashes}/><text x="${left + 30}" y="${y + 4}">${escapeXml(line.name)}</text>`);
  });
  parts.push('</svg>');
  return parts.join('\n');
}
