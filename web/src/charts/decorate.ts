// What lies behind the lines of every chart: gaps hatched, pauses shaded, phases in their tone, events as ticks.
import type uPlot from 'uplot';
import type { DrawnMarks, Marks } from '../source/types.ts';
import { cssColor, toneOf } from './palette.ts';

const narrowest = 6; // CSS pixels: phases of every step would be stripes

interface Tile {
  color: string;
  ratio: number;
  canvas: HTMLCanvasElement;
}

let lastTile: Tile | null = null;

function drawTile(color: string, ratio: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  const size = Math.round(8 * ratio);
  canvas.width = canvas.height = size;
  const draw = canvas.getContext('2d');
  if (!draw) return canvas;
  draw.strokeStyle = color;
  draw.lineWidth = ratio;
  draw.beginPath();
  draw.moveTo(0, size);
  draw.lineTo(size, 0);
  draw.stroke();
  return canvas;
}

/** All charts share the tile: they are drawn again with every event of a live run. */
function hatch(context: CanvasRenderingContext2D, color: string): CanvasPattern | null {
  if (lastTile?.color !== color || lastTile.ratio !== devicePixelRatio) lastTile = { color, ratio: devicePixelRatio, canvas: drawTile(color, devicePixelRatio) };
  return context.createPattern(lastTile.canvas, 'repeat');
}

export function decorate(plot: uPlot, marks: DrawnMarks | null, toX: (time: number) => number): void {
  if (!marks) return;
  const { ctx: context, bbox } = plot;
  const { min = 0, max = 1 } = plot.scales['x'] ?? {};
  const at = (time: number) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, plot.valToPos(toX(time), 'x', true)));
  const isSeen = (from: number, to: number) => toX(to) >= (min ?? 0) && toX(from) <= (max ?? 1);
  context.save();
  context.fillStyle = cssColor('--pause');
  for (const pause of marks.pauses) {
    if (isSeen(pause.from_s, pause.to_s)) context.fillRect(at(pause.from_s), bbox.top, Math.max(1, at(pause.to_s) - at(pause.from_s)), bbox.height);
  }
  // After the pauses, which phases explain.
  for (const phase of marks.phases) {
    if (!isSeen(phase.from_s, phase.to_s) || plot.valToPos(toX(phase.to_s), 'x') - plot.valToPos(toX(phase.from_s), 'x') < narrowest) continue;
    context.fillStyle = cssColor(`--tone-${toneOf(phase.name ?? 'phase')}`);
    context.fillRect(at(phase.from_s), bbox.top, at(phase.to_s) - at(phase.from_s), bbox.height);
  }
  const pattern = marks.gaps.length > 0 ? hatch(context, cssColor('--muted')) : null;
  if (pattern) context.fillStyle = pattern;
  for (const gap of marks.gaps) {
    if (isSeen(gap.from_s, gap.to_s)) context.fillRect(at(gap.from_s), bbox.top, Math.max(2, at(gap.to_s) - at(gap.from_s)), bbox.height);
  }
  context.fillStyle = cssColor('--event');
  for (const event of marks.events) {
    if (isSeen(event.time_s, event.time_s)) context.fillRect(at(event.time_s), bbox.top, Math.max(1, devicePixelRatio), 6 * devicePixelRatio);
  }
  context.restore();
}

/** What is at a time, for the tooltip. */
export function marksAt(marks: Marks | null, time: number, reach: number): string[] {
  if (!marks) return [];
  const inside = (span: { from_s: number; to_s: number }) => span.from_s <= time && time <= span.to_s;
  return [
    ...marks.gaps.filter(inside).map((gap) => `gap: ${gap.reason ?? 'reason unknown'}`),
    ...marks.pauses.filter(inside).map((pause) => `pause${pause.reason ?? pause.kind ? `: ${pause.reason ?? pause.kind}` : ''}`),
    ...marks.phases.filter(inside).slice(0, 3).map((phase) => `phase: ${phase.name ?? ''}`),
    ...marks.events.filter((event) => Math.abs(event.time_s - time) <= reach).slice(0, 3).map((event) => `${event.kind}: ${event.text}`),
  ];
}
