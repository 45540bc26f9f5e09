// One plot of the comparison: the same series of several runs over an aligned x.
import { effect, type ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Chart } from '../charts/catalog.ts';
import { breaksOf, interruptions, joined } from '../charts/data.ts';
import { decorate } from '../charts/decorate.ts';
import { strokeOf } from '../charts/palette.ts';
import { Plot, stepIncrements, timeIncrements } from '../charts/plot.ts';
import type { Column } from '../source/columns.ts';
import type { DrawnMarks } from '../source/types.ts';
import { bytes, isDark } from '../state/settings.ts';
import { integer } from '../format/number.ts';
import { clock, wallClock } from '../format/time.ts';
import { axisValue } from '../format/unit.ts';
import { shownRange, toX, type Align } from './align.ts';
import type { CompareLine } from './charts.ts';
import { extremes, type LoadedLine } from './feed.ts';
import type { ComparedRun, CompareState } from './state.ts';

export const xTextOf = (align: Align) => (x: number, step: number): string => (align === 'step' ? integer(x) : align === 'wall' ? wallClock(x, false) : clock(x, step));

const height = 160;

interface Props {
  state: CompareState;
  chart: Chart;
  lines: CompareLine[];
  /** All lines of the chart: they share the y axis. */
  loaded: ReadonlySignal<LoadedLine[] | null>;
}

/** What interrupts lines of a run. */
function marksOf(run: ComparedRun): DrawnMarks {
  return run.marks ?? { gaps: run.info?.sampling.gaps ?? [], pauses: [], phases: [], events: [] };
}

/** The values of a line on the shared x, and where it is interrupted. */
export function placed(align: Align, chart: Chart, { line, columns, column }: LoadedLine): { x: number[]; column: Column; breaks: number[] } {
  const breaks = breaksOf(column, columns.window_s, chart.isIrregular, interruptions(line, marksOf(line.run)));
  return { column, x: Array.from(column.time, (time) => toX(align, line.run, time)), breaks: breaks.map((time) => toX(align, line.run, time)) };
}

export function ComparePlot({ state, chart, lines, loaded }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const names = lines.map((line) => state.names.value.get(line.run.id)).join(', ');
  useEffect(() => effect(() => {
    if (host.current) return draw(host.current, state, chart, lines, loaded);
    return undefined;
  }), [chart.id, chart.metric, chart.unit, lines.map((line) => `${line.run.id} ${line.name} ${line.index}`).join()]);
  return <div class="plot" ref={host} tabIndex={0} role="group" aria-label={`${chart.title} of ${names}: arrow keys move the cursor`} onKeyDown={(event) => state.moveCursorByKey(event)} onPointerLeave={() => { state.cursor.value = null; }} />;
}

/** Draws until it is told to stop. */
function draw(element: HTMLElement, state: CompareState, chart: Chart, lines: CompareLine[], loaded: ReadonlySignal<LoadedLine[] | null>): () => void {
  const align = state.align.value;
  const dark = isDark.value;
  const unit = bytes.value;
  const only = () => (lines.length === 1 ? state.runs.peek().find((run) => run.id === lines[0]?.run.id) : undefined);
  const plot = new Plot(element, {
    strokes: lines.map((line) => strokeOf(line.index, dark)), isFull: chart.isFull, fromZero: chart.fromZero, height,
    yShared: () => extremes(loaded.peek()),
    xIncrements: align === 'step' ? stepIncrements : timeIncrements, xText: xTextOf(align), yText: (y) => axisValue(y, chart.unit, chart.metric, unit),
    onCursor: (x) => { state.cursor.value = x; }, onSelect: (from, to) => state.setRange(from, to), onReset: () => { state.range.value = null; },
    onZoom: (x, factor) => state.zoom(factor, x), onPan: (share) => state.pan(share),
    // Those of several runs over each other would not tell whose they are.
    decorate: (uplot) => {
      const run = only();
      if (run) decorate(uplot, marksOf(run), (time) => toX(align, run, time));
    },
  });
  const observer = new ResizeObserver(() => plot.resize(element.clientWidth, height));
  observer.observe(element);
  const stops = [
    effect(() => plot.setRange(...shownRange(state))),
    effect(() => {
      const all = loaded.value;
      if (!all) return;
      const order = lines.map((line) => all.find((one) => one.line.run.id === line.run.id));
      plot.setData(joined(order.map((one) => (one ? placed(align, chart, one) : null))));
    }),
    effect(() => plot.setCursor(state.cursor.value)),
  ];
  return () => {
    for (const stop of stops) stop();
    observer.disconnect();
    plot.destroy();
  };
}
