// One uPlot: lines with their min–max bands over a shared x. It reports the pointer and draws what it is given.
import uPlot from 'uplot';
import { bandPaths, noPaths } from './band.ts';
import type { Drawn } from './data.ts';
import { linePaths } from './line.ts';
import { cssColor, faded, type Stroke } from './palette.ts';

export interface PlotOptions {
  strokes: Stroke[];
  isFull: boolean;
  fromZero: boolean;
  /** Smallest and largest value of all charts that share the y axis. */
  yShared?: () => [number, number] | null;
  height: number;
  xIncrements: number[];
  xText: (value: number, step: number) => string;
  yText: (value: number) => string;
  onCursor: (x: number | null) => void;
  onSelect: (from: number, to: number) => void;
  onReset: () => void;
  onZoom: (x: number, factor: number) => void;
  /** By a share of the shown range. */
  onPan: (share: number) => void;
  /** Gaps, pauses and events behind the lines. */
  decorate?: (plot: uPlot) => void;
}

export const leftAxis = 68;
const rightPadding = 22; // half of the time at the end of the axis
/** What of the width of a chart is not its plot. */
export const besidePlot = leftAxis + rightPadding;
const bottomAxis = 22;
const font = '11px system-ui, sans-serif';

export const timeIncrements = [
  1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
  7200, 14400, 21600, 43200, 86400, 172800, 604800, 2592000,
];
export const stepIncrements = [1, 2, 5].flatMap((first) => Array.from({ length: 10 }, (_one, power) => first * 10 ** power)).sort((a, b) => a - b);

/** Points that no line reaches are drawn where the others are too dense to be. */
function isolatedPoints(plot: uPlot, series: number, isShown: boolean): number[] | null {
  if (isShown) return null;
  const values = plot.data[series] ?? [];
  if (values instanceof Float64Array) return values.length === 1 ? [0] : null; // a value at every x
  const found: number[] = [];
  let isAfterGap = true; // nothing was drawn since the last interruption
  let last = -1;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === undefined) continue;
    if (values[i] === null) {
      if (last >= 0 && isAfterGap) found.push(last);
      isAfterGap = true;
      last = -1;
    } else {
      isAfterGap = last < 0;
      last = i;
    }
  }
  if (last >= 0 && isAfterGap) found.push(last);
  return found.length > 0 ? found : null;
}

export class Plot {
  readonly element: HTMLElement;
  #options: PlotOptions;
  #plot: uPlot | null = null;
  #shape = '';
  #width = 0;
  #height: number;
  #range: [number, number] = [0, 1];
  #bands: { selection: [number, number] | null; mark: [number, number] | null } = { selection: null, mark: null };
  /** Of the mark and of the selection, once there was one. */
  #bandElements: (HTMLElement | undefined)[] = [];
  /** The pointer moves this chart's own cursor. */
  #hasPointer = false;

  constructor(element: HTMLElement, options: PlotOptions) {
    this.element = element;
    this.#options = options;
    this.#height = options.height;
  }

  get uplot(): uPlot | null {
    return this.#plot;
  }

  destroy(): void {
    this.#plot?.destroy();
    this.#plot = null;
  }

  resize(width: number, height: number): void {
    if (width === this.#width && height === this.#height) return;
    this.#width = width;
    this.#height = height;
    this.#plot?.setSize({ width, height });
    this.#placeBands();
  }

  setRange(from: number, to: number): void {
    this.#range = [from, to > from ? to : from + 1e-6];
    this.#plot?.setScale('x', { min: this.#range[0], max: this.#range[1] });
    this.#placeBands();
  }

  setData(drawn: Drawn): void {
    const data: uPlot.AlignedData = [drawn.x];
    const shape: string[] = [];
    for (const line of drawn.lines) {
      const withBand = line.min !== null && line.max !== null && line.smooth === null;
      shape.push(line.smooth ? 's' : withBand ? 'b' : 'v');
      data.push(line.value);
      if (withBand && line.min && line.max) data.push(line.max, line.min);
      if (line.smooth) data.push(line.smooth);
    }
    if (this.#plot === null || shape.join('') !== this.#shape) this.#create(shape, data);
    else {
      this.#plot.setData(data, false);
      this.#plot.setScale('x', { min: this.#range[0], max: this.#range[1] });
    }
  }

  setCursor(x: number | null): void {
    const plot = this.#plot;
    if (!plot || this.#hasPointer) return;
    const left = x === null ? -10 : plot.valToPos(x, 'x');
    plot.setCursor({ left, top: x === null ? -10 : 0 }, false);
  }

  setBands(selection: [number, number] | null, mark: [number, number] | null): void {
    this.#bands = { selection, mark };
    this.#placeBands();
  }

  redraw(): void {
    this.#plot?.redraw(false);
  }

  #placeBands(): void {
    const [from, to] = this.#range;
    [this.#bands.mark, this.#bands.selection].forEach((span, index) => {
      const element = this.#bandElements[index] ?? (span && this.#createBand(index));
      if (!element) return;
      element.hidden = span === null || span[1] < from || span[0] > to;
      if (span === null) return;
      const left = Math.max(0, (span[0] - from) / (to - from));
      const right = Math.min(1, (span[1] - from) / (to - from));
      element.style.left = `${left * 100}%`;
      element.style.width = `max(2px, ${(right - left) * 100}%)`;
    });
  }

  #createBand(index: number): HTMLElement | undefined {
    if (!this.#plot) return undefined;
    const element = document.createElement('div');
    element.className = index === 0 ? 'mark-band' : 'selection-band';
    this.#bandElements[index] = element;
    this.#plot.over.append(element);
    return element;
  }

  #series(shape: string[]): { series: uPlot.Series[]; isValue: boolean[] } {
    const series: uPlot.Series[] = [{}];
    const isValue = [false];
    shape.forEach((kind, index) => {
      const { color, dash } = this.#options.strokes[index] ?? { color: '#888888', dash: [] };
      const raw: uPlot.Series = { stroke: kind === 's' ? faded(color, 0.35) : color, width: kind === 's' ? 1 : 1.5, paths: linePaths, points: { size: 4, fill: color, space: 12, filter: isolatedPoints } };
      if (kind !== 's' && dash.length > 0) raw.dash = dash;
      series.push(raw);
      isValue.push(kind !== 's');
      if (kind === 'b') {
        const edges: uPlot.Series = { stroke: faded(color, 0.5), width: 0.5, fill: faded(color, 0.28), points: { show: false } };
        series.push({ ...edges, paths: bandPaths }, { ...edges, paths: noPaths });
        isValue.push(false, false);
      }
      if (kind === 's') {
        series.push({ stroke: color, width: 2, paths: linePaths, points: { show: false }, ...(dash.length > 0 ? { dash } : {}) });
        isValue.push(true);
      }
    });
    return { series, isValue };
  }

  #yRange(low: number | null, high: number | null): [number, number] {
    const { isFull, fromZero, yShared } = this.#options;
    const [lowest, highest] = yShared?.() ?? [Infinity, -Infinity];
    const top = Math.max(high ?? -Infinity, highest);
    if (isFull) return [0, Math.max(1, top)];
    const least = Math.min(low ?? Infinity, lowest);
    if (!Number.isFinite(top) || !Number.isFinite(least)) return [0, 1];
    const bottom = fromZero ? Math.min(0, least) : least;
    if (top === bottom) return top === 0 ? [0, 1] : [Math.min(0, bottom), top * 1.2 || 1];
    const space = (top - bottom) * 0.06;
    return [bottom === 0 ? 0 : bottom - space, top + space];
  }

  #create(shape: string[], data: uPlot.AlignedData): void {
    this.#plot?.destroy();
    this.#shape = shape.join('');
    const { series, isValue } = this.#series(shape);
    const grid = { stroke: cssColor('--grid'), width: 1 };
    const axis = { stroke: cssColor('--muted'), font, grid, ticks: { show: false } };
    const options = this.#options;
    const plot = new uPlot({
      width: Math.max(this.#width, 50),
      height: this.#height,
      padding: [6, rightPadding, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { size: (_self, index) => (isValue[index] ? 7 : 0) },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => { options.onReset(); return null; },
          mousedown: (self, _target, handler) => (event) => {
            if (event.shiftKey) this.#dragPan(self, event);
            else handler(event);
            return null;
          },
        },
      },
      scales: { x: { time: false, range: () => this.#range }, y: { range: (_self, low, high) => this.#yRange(low, high) } },
      axes: [
        { ...axis, size: bottomAxis, space: 70, incrs: options.xIncrements, values: (_self, splits, _index, _space, step) => splits.map((split) => options.xText(split, step)) },
        { ...axis, size: leftAxis, space: 26, values: (_self, splits) => splits.map((split) => options.yText(split)) },
      ],
      series,
      hooks: {
        ready: [(self) => { if (this.#plot === self) this.element.append(self.root); }],
        drawClear: options.decorate ? [options.decorate] : [],
        setCursor: [(self) => {
          if (!this.#hasPointer) return;
          const left = self.cursor.left ?? -1;
          options.onCursor(left < 0 ? null : self.posToVal(left, 'x'));
        }],
        setSelect: [(self) => {
          const { left, width } = self.select;
          if (width < 4) return;
          options.onSelect(self.posToVal(left, 'x'), self.posToVal(left + width, 'x'));
          self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        }],
      },
    // Drawn before it is in the page: to write on a canvas of the page, the browser computes the style of what changed in it.
    }, data, (_self, init) => init());
    this.#plot = plot;
    this.#bandElements = [];
    plot.over.addEventListener('pointerenter', () => { this.#hasPointer = true; });
    plot.over.addEventListener('pointerleave', () => { this.#hasPointer = false; });
    plot.over.addEventListener('wheel', (event) => this.#wheel(plot, event), { passive: false });
    this.#placeBands();
  }

  #wheel(plot: uPlot, event: WheelEvent): void {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    if (!event.ctrlKey && !event.metaKey && !isSideways) return;
    event.preventDefault();
    if (isSideways && !event.ctrlKey) this.#options.onPan((event.deltaX || event.deltaY) / plot.over.clientWidth);
    else this.#options.onZoom(plot.posToVal(event.offsetX, 'x'), event.deltaY > 0 ? 1.25 : 0.8);
  }

  #dragPan(plot: uPlot, start: MouseEvent): void {
    let last = start.clientX;
    const move = (event: MouseEvent) => {
      this.#options.onPan((last - event.clientX) / plot.over.clientWidth);
      last = event.clientX;
    };
    const end = () => {
      removeEventListener('mousemove', move);
      removeEventListener('mouseup', end);
    };
    addEventListener('mousemove', move);
    addEventListener('mouseup', end);
  }
}
