// One plot of the comparison: the same series of several runs over an aligned x.
import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Chart } from '../charts/catalog.ts';
import { breaksOf, type Drawn, type Values } from '../charts/data.ts';
import { strokeOf } from '../charts/palette.ts';
import { Plot, stepIncrements, timeIncrements } from '../charts/plot.ts';
import type { Column, Columns } from '../source/columns.ts';
import { isAbort } from '../source/source.ts';
import { bytes, isDark } from '../state/settings.ts';
import { interpolate } from '../state/view.ts';
import { integer } from '../format/number.ts';
import { clock, wallClock } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import { messageOf } from '../state/run.ts';
import type { Align, CompareState, ComparedRun } from './state.ts';

export interface CompareLine {
  run: ComparedRun;
  index: number;
  series: number;
}

const startOf = (run: ComparedRun) => Date.parse(run.head?.run.started ?? '') / 1000;

/** Seconds of a run to the shared x, and back. */
function toX(align: Align, run: ComparedRun, time: number): number {
  if (align === 'wall') return startOf(run) + time;
  if (align === 'step') return run.steps ? interpolate(run.steps.time, run.steps.step, time) : NaN;
  return time;
}

function toTime(align: Align, run: ComparedRun, x: number): number {
  if (align === 'wall') return x - startOf(run);
  if (align === 'step') return run.steps ? interpolate(run.steps.step, run.steps.time, x) : x;
  return x;
}

/** The x of everything: from the first begin to the last end. */
export function wholeOf(state: CompareState, lines: readonly CompareLine[]): [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (const { run } of lines) {
    const first = toX(state.align.value, run, 0);
    const last = toX(state.align.value, run, run.info?.run.duration_s ?? 1);
    if (Number.isFinite(first)) from = Math.min(from, first);
    if (Number.isFinite(last)) to = Math.max(to, last);
  }
  return from < to ? [from, to] : [0, 1];
}

/** Lines with their own times on one x. */
function joined(lines: { x: number[]; column: Column; breaks: number[] }[]): Drawn {
  const all = new Set<number>();
  for (const { x, breaks } of lines) {
    for (const value of x) if (Number.isFinite(value)) all.add(value);
    for (const value of breaks) if (Number.isFinite(value)) all.add(value);
  }
  const xs = Float64Array.from(all).sort();
  const at = new Map<number, number>();
  xs.forEach((value, index) => at.set(value, index));
  const drawn = lines.map(({ x, column, breaks }) => {
    const place = (values: Float64Array | null): Values | null => {
      if (!values) return null;
      const placed: Values = new Array<undefined>(xs.length).fill(undefined);
      x.forEach((value, index) => { const where = at.get(value); if (where !== undefined) placed[where] = values[index]; });
      for (const value of breaks) { const where = at.get(value); if (where !== undefined && placed[where] === undefined) placed[where] = null; }
      return placed;
    };
    return { value: place(column.mean) ?? [], min: place(column.min), max: place(column.max), smooth: null };
  });
  return { x: Array.from(xs), lines: drawn };
}

const highest = (columns: (Columns | null)[]) => {
  let most = -Infinity;
  for (const one of columns) for (const column of one?.columns ?? []) for (const value of column.max ?? column.mean) most = Math.max(most, value);
  return most;
};

interface Props {
  state: CompareState;
  chart: Chart;
  lines: CompareLine[];
  /** All lines of the component: they share the y axis. */
  group: CompareLine[];
}

export function ComparePlot({ state, chart, lines, group }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const loaded = useSignal<(Columns | null)[]>([]);
  const problem = useSignal<string | null>(null);
  const isSeen = useSignal(false);
  useEffect(() => {
    if (!host.current) return undefined;
    const observer = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) isSeen.value = true; }, { rootMargin: '300px' });
    observer.observe(host.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => effect(() => {
    if (!isSeen.value) return;
    const [from, to] = rangeOf(state, group);
    const points = Math.min(2000, Math.max(100, Math.ceil((host.current?.clientWidth ?? 600) / 50) * 50));
    void Promise.all(group.map(async ({ run, series }) => {
      const whole = run.info?.run.duration_s ?? 1;
      const first = Math.max(0, Math.min(whole, toTime(state.align.value, run, from)));
      const last = Math.max(0, Math.min(whole, toTime(state.align.value, run, to)));
      if (!(last > first)) return null;
      return state.loader(run.id).load({ series: [series], from: first, to: last, points, smooth: 0 });
    })).then((columns) => { loaded.value = columns; problem.value = null; }, (error) => { if (!isAbort(error)) problem.value = messageOf(error); });
  }), [group.map((line) => line.run.id + line.series).join()]);
  usePlot(host, { state, chart, lines, group }, loaded);
  return <div class="plot" ref={host} role="img" aria-label={`${chart.title} of ${lines.map((line) => state.names.value.get(line.run.id)).join(', ')}`}>{problem.value && <p class="chart-error">{problem.value}</p>}</div>;
}

const rangeOf = (state: CompareState, lines: CompareLine[]): [number, number] => (state.range.value ? [state.range.value.from, state.range.value.to] : wholeOf(state, lines));

function usePlot(host: { current: HTMLDivElement | null }, { state, chart, lines, group }: Props, loaded: { value: (Columns | null)[] }): void {
  useEffect(() => effect(() => {
    const element = host.current;
    if (!element) return undefined;
    const dark = isDark.value;
    const unit = bytes.value;
    const align = state.align.value;
    const xText = (x: number, step: number) => (align === 'step' ? integer(x) : align === 'wall' ? wallClock(x, false) : clock(x, step));
    const move = (from: number, to: number) => { state.range.value = { from, to }; };
    const plot = new Plot(element, {
      strokes: lines.map((line) => strokeOf(line.index, dark)), isFull: chart.isFull, fromZero: chart.fromZero, height: 160,
      yMax: () => (chart.fromZero ? highest(loaded.value) : null),
      xIncrements: align === 'step' ? stepIncrements : timeIncrements, xText, yText: (y) => formatValue(y, chart.unit, chart.metric, unit),
      onCursor: (x) => { state.cursor.value = x; }, onSelect: move, onReset: () => { state.range.value = null; },
      onZoom: (x, factor) => { const [from, to] = rangeOf(state, group); move(x - (x - from) * factor, x + (to - x) * factor); },
      onPan: (share) => { const [from, to] = rangeOf(state, group); move(from + (to - from) * share, to + (to - from) * share); },
    });
    const observer = new ResizeObserver(() => plot.resize(element.clientWidth, 160));
    observer.observe(element);
    const stops = [
      effect(() => plot.setRange(...rangeOf(state, group))),
      effect(() => {
        const columns = loaded.value;
        if (columns.length === 0) return;
        plot.setData(joined(lines.map((line) => {
          const one = columns[group.indexOf(line)];
          const column = one?.columns[0] ?? { series: 0, reading: '', unit: '', name: null, time: new Float64Array(0), mean: new Float64Array(0), min: null, max: null, smooth: null, weight: null };
          const x = Array.from(column.time, (time) => toX(align, line.run, time));
          return { x, column, breaks: breaksOf(column, one?.window_s ?? null, chart.isIrregular, line.run.info?.sampling.gaps ?? []).map((time) => toX(align, line.run, time)) };
        })));
      }),
      effect(() => plot.setCursor(state.cursor.value)),
    ];
    return () => {
      for (const stop of stops) stop();
      observer.disconnect();
      plot.destroy();
    };
  }), [group.map((line) => line.run.id + line.series).join(), lines.length]);
}
