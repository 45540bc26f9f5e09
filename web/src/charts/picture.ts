// Files of what is no chart: bars, areas and distributions, with their numbers.
import type { MenuItem } from '../parts/Menu.tsx';
import { quoted } from './csv.ts';
import { save, savePng } from './download.ts';
import { cssColor, hatches, hatchInk, hatchOpacity, type Fill, type Stroke } from './palette.ts';
import { escapeXml } from './svg.ts';

export interface Picture {
  title: string;
  width: number;
  height: number;
  body: string;
  legend: { name: string; look: Fill | Stroke }[];
}

type Cell = string | number | null | undefined;

export interface Download {
  /** Of the files, without the ending. */
  name: string;
  picture: () => Picture;
  /** The first row names the columns. */
  table: () => Cell[][];
  json: () => unknown;
}

const edge = 16;
const head = 40;

export function areaSvg({ color, hatch }: Fill, x: number, y: number, width: number, height: number): string {
  const place = `x="${x.toFixed(2)}" y="${y}" width="${Math.max(0, width).toFixed(2)}" height="${height}"`;
  return `<rect ${place} fill="${color}"/>${hatch > 0 ? `<rect ${place} fill="url(#hatch-${hatch})"/>` : ''}`;
}

export const textSvg = (text: string, x: number, y: number) => `<text x="${x.toFixed(2)}" y="${y}">${escapeXml(text)}</text>`;

function lookSvg(look: Fill | Stroke, y: number): string {
  if ('hatch' in look) return areaSvg(look, edge, y - 11, 18, 12);
  return `<line x1="${edge}" x2="${edge + 18}" y1="${y - 5}" y2="${y - 5}" stroke="${look.color}" stroke-width="2" stroke-dasharray="${look.dash.join(' ')}"/>`;
}

export function pictureSvg({ title, width, height, body, legend }: Picture): string {
  const patterns = hatches.map((path, index) => (path === '' ? '' : `<pattern id="hatch-${index}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="${path}" stroke="${hatchInk}" stroke-opacity="${hatchOpacity}" stroke-width="1.5" fill="none"/></pattern>`));
  const below = head + height + 22;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 2 * edge}" height="${below + 18 * legend.length}" font-family="system-ui, sans-serif" font-size="12" fill="${cssColor('--text')}">`,
    `<defs>${patterns.join('')}</defs><rect width="100%" height="100%" fill="${cssColor('--page')}"/>`,
    `<text x="${edge}" y="24" font-size="14" font-weight="600">${escapeXml(title)}</text>`,
    `<g transform="translate(${edge} ${head})">${body}</g>`,
    ...legend.map(({ name, look }, index) => lookSvg(look, below + 18 * index) + textSvg(name, edge + 26, below + 18 * index)),
    '</svg>',
  ].join('\n');
}

/** A drawing of the page as it is seen: a file has no style sheet. */
export function copyOf(drawing: SVGSVGElement): { body: string; width: number; height: number } {
  const { width, height } = drawing.getBoundingClientRect();
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const copies = [...copy.querySelectorAll<SVGElement>('*')];
  drawing.querySelectorAll('*').forEach((one, index) => {
    const { fill, stroke } = getComputedStyle(one);
    copies[index]?.setAttribute('fill', fill.replaceAll('"', ''));
    copies[index]?.setAttribute('stroke', stroke);
  });
  copy.setAttribute('width', String(Math.round(width)));
  copy.setAttribute('height', String(Math.round(height)));
  copy.removeAttribute('class');
  return { body: new XMLSerializer().serializeToString(copy), width: Math.round(width), height: Math.round(height) };
}

export const tableCsv = (rows: readonly Cell[][]) => rows.map((row) => row.map((cell) => (typeof cell === 'string' ? quoted(cell) : (cell ?? ''))).join(',')).join('\r\n') + '\r\n';

export const downloads = ({ name, picture, table, json }: Download): MenuItem[] => [
  { text: 'Download PNG', act: () => savePng(`${name}.png`, pictureSvg(picture())) },
  { text: 'Download SVG', act: () => save(`${name}.svg`, pictureSvg(picture()), 'image/svg+xml') },
  { text: 'Download CSV', act: () => save(`${name}.csv`, tableCsv(table()), 'text/csv') },
  { text: 'Download JSON', act: () => save(`${name}.json`, JSON.stringify(json(), null, 1), 'application/json') },
];
