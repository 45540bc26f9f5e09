// A chart as an SVG file: text, axes, lines and min–max bands.
import type { Column } from '../source/columns.ts';

export interface SvgChart {
  title: string;
  from: number;
  to: number;
  isFull: boolean;
  fromZero: boolean;
  xText: (value: number, step: number) => string;
  yText: (value: number) => string;
  colors: { background: string; text: string; grid: string };
  lines: { name: string; color: string; dash: number[]; x: number[]; column: Column }[];
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
  chart.lines.forEach(({ name, color, dash, x, column }, index) => {
    const { min, max } = column;
    if (min && max) {
      const upper = x.map((value, i) => `${px(value)},${py(max[i] ?? 0)}`);
      const lower = x.map((value, i) => `${px(value)},${py(min[i] ?? 0)}`).reverse();
      parts.push(`<polygon clip-path="url(#area)" fill="${color}" fill-opacity="0.25" points="${[...upper, ...lower].join(' ')}"/>`);
    }
    const points = x.map((value, i) => `${px(value)},${py(column.mean[i] ?? 0)}`).join(' ');
    const y = height + 10 + index * 16;
    const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
    parts.push(`<polyline clip-path="url(#area)" fill="none" stroke="${color}" stroke-width="1.5"${dashes} points="${points}"/>`);
    parts.push(`<line x1="${left}" x2="${left + 22}" y1="${y}" y2="${y}" stroke="${color}" stroke-width="2"${dashes}/><text x="${left + 30}" y="${y + 4}">${escapeXml(name)}</text>`);
  });
  parts.push('</svg>');
  return parts.join('\n');
}
