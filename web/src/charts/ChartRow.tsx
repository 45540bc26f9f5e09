// One chart with its title, legend and menu; drawn when it comes into view.
import { effect, useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { source } from '../source/current.ts';
import type { RunState } from '../state/run.ts';
import { bytes, isDark } from '../state/settings.ts';
import { integer } from '../format/number.ts';
import { clock, duration } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import type { Chart, Line } from './catalog.ts';
import { drawnOf, interruptions } from './data.ts';
import { decorate } from './decorate.ts';
import { ChartFeed } from './feed.ts';
import { ChartMenu } from './ChartMenu.tsx';
import { DataTable } from './DataTable.tsx';
import { Legend } from './Legend.tsx';
import { strokeOf } from './palette.ts';
import { Plot, stepIncrements, timeIncrements } from './plot.ts';
import { Tooltip } from './Tooltip.tsx';
import { moveCursorByKey } from './cursorKeys.ts';

const shortHeight = 120;
const tallHeight = 320;
export const linesAtFirst = 3;
const linesAtMost = 32;

/** The lines that are drawn: without hidden devices, the largest three unless all are asked for. */
export function shownLines(chart: Chart, hidden: ReadonlySet<string>, isAll: boolean): Line[] {
  const allowed = chart.lines.filter((line) => !line.devices.some((device) => hidden.has(device)));
  return allowed.slice(0, isAll ? linesAtMost : linesAtFirst);
}

/** Whether the element is near the viewport. */
function useNear(element: { current: HTMLElement | null }): ReadonlySignal<boolean> {
  const near = useSignal(false);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => {
      near.value = entries[entries.length - 1]?.isIntersecting ?? false;
    }, { rootMargin: '300px' });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return near;
}

interface Props {
  chart: Chart;
  run: RunState;
}

/** Charts that are not near the viewport stay as they are until they come near. */
function usePlot(host: { current: HTMLElement | null }, { chart, run, isTall, isNear }: BodyProps, feed: ChartFeed, lines: ReadonlySignal<Line[]>): void {
  useEffect(() => effect(() => {
    // Theme, units, axis or lines decide how the plot looks: it is created again.
    const dark = isDark.value;
    const unit = bytes.value;
    const isStep = run.view.stepAxis.value;
    const shown = lines.value;
    const element = host.current;
    if (!element) return undefined;
    const { view } = run;
    const plot = new Plot(element, {
      strokes: shown.map((line) => strokeOf(chart.lines.indexOf(line), dark)),
      isFull: chart.isFull,
      fromZero: chart.fromZero,
      height: isTall.peek() ? tallHeight : shortHeight,
      xIncrements: isStep ? stepIncrements : timeIncrements,
      xText: (x, step) => (isStep ? integer(x) : clock(x, step)),
      yText: (y) => formatValue(y, chart.unit, chart.metric, unit),
      onCursor: (x) => { view.cursor.value = x === null ? null : view.toTime(x); },
      onSelect: (from, to) => { view.selection.value = { from: view.toTime(from), to: view.toTime(to) }; },
      onReset: () => { view.showWhole(); },
      onZoom: (x, factor) => view.zoom(factor, view.toTime(x)),
      onPan: (share) => view.pan(share),
      decorate: (uplot) => decorate(uplot, run.marks.peek(), (time) => view.toX(time)),
    });
    const stops = [
      watchSize(element, plot, isTall),
      effect(() => { if (!isNear.value) return; const { from, to } = view.shown.value; plot.setRange(view.toX(from), view.toX(to)); }),
      effect(() => { if (isNear.value) drawColumns(plot, chart, run, feed, shown); }),
      effect(() => { if (!isNear.value) return; const time = view.cursor.value; plot.setCursor(time === null ? null : view.toX(time)); }),
      effect(() => {
        if (!isNear.value) return;
        const span = (range: { from: number; to: number } | null): [number, number] | null => (range ? [view.toX(range.from), view.toX(range.to)] : null);
        plot.setBands(span(view.selection.value), span(view.mark.value));
      }),
    ];
    return () => {
      for (const stop of stops) stop();
      plot.destroy();
    };
  }), [chart]);
}

function drawColumns(plot: Plot, chart: Chart, run: RunState, feed: ChartFeed, lines: Line[]): void {
  const columns = feed.columns.value;
  const marks = run.marks.value;
  if (!columns) return;
  plot.setData(drawnOf(columns, lines.map((line) => line.series), chart.isIrregular, interruptions(chart, marks), (time) => run.view.toX(time)));
}

function watchSize(element: HTMLElement, plot: Plot, isTall: ReadonlySignal<boolean>): () => void {
  const fit = () => plot.resize(element.clientWidth, isTall.value ? tallHeight : shortHeight);
  const observer = new ResizeObserver(fit);
  observer.observe(element);
  const stop = effect(fit);
  return () => {
    observer.disconnect();
    stop();
  };
}

function Title({ chart, run, isTall }: Props & { isTall: boolean }) {
  return (
    <h3>
      <button class="title" aria-expanded={isTall} title={isTall ? 'Make this chart small' : 'Make this chart tall'} onClick={() => run.view.toggle('tall', chart.id)}>{chart.title}</button>
    </h3>
  );
}

export function ChartRow({ chart, run }: Props) {
  const frame = useRef<HTMLElement>(null);
  const near = useNear(frame);
  const seen = useRef(false);
  seen.current ||= near.value;
  const isTall = useComputed(() => run.view.tall.value.has(chart.id));
  return (
    <figure class={`chart ${isTall.value ? 'tall' : ''}`} id={`chart-${chart.id}`} ref={frame}>
      {seen.current ? <ChartBody key={chart.lines.map((line) => line.series).join()} chart={chart} run={run} isTall={isTall} isNear={near} />
        : <figcaption><Title chart={chart} run={run} isTall={isTall.value} /></figcaption>}
    </figure>
  );
}

interface BodyProps extends Props {
  isTall: ReadonlySignal<boolean>;
  isNear: ReadonlySignal<boolean>;
}

function ChartBody({ chart, run, isTall, isNear }: BodyProps) {
  const tableOpen = useSignal(false);
  const host = useRef<HTMLDivElement>(null);
  const isAll = useSignal(false);
  const feed = useMemo(() => new ChartFeed(run, isNear), [run]);
  useEffect(() => () => feed.close(), [feed]);
  const lines = useComputed(() => shownLines(chart, run.view.hidden.value, isAll.value));
  const left = useComputed(() => chart.lines.filter((line) => !line.devices.some((device) => run.view.hidden.value.has(device))).length - lines.value.length);
  const isOver = useSignal(false);
  useEffect(() => effect(() => {
    const width = host.current?.clientWidth ?? 600;
    feed.want(lines.value, width - 80);
  }), [feed, chart]);
  usePlot(host, { chart, run, isTall, isNear }, feed, lines);
  const note = useComputed(() => noteOf(feed, run, host.current?.clientWidth ?? 0));
  return (
    <>
      <figcaption>
        <Title chart={chart} run={run} isTall={isTall.value} />
        <span class="note">{note}</span>
        <ChartMenu chart={chart} run={run} feed={feed} lines={lines} host={host} onTable={() => { tableOpen.value = !tableOpen.value; }} isTableOpen={tableOpen.value} />
      </figcaption>
      <div class="chart-body">
        <div class="plot" ref={host} tabIndex={0} role="group" aria-label={`${chart.title}: arrow keys move the cursor`} onKeyDown={(event) => moveCursorByKey(event, run)}
          onPointerEnter={() => { isOver.value = true; }} onPointerLeave={() => { isOver.value = false; run.view.cursor.value = null; }}>
          {isOver.value && <Tooltip chart={chart} run={run} feed={feed} lines={lines} />}
          {feed.columns.value && !feed.error.value && feed.columns.value.columns.every((column) => column.time.length === 0) && <p class="no-values muted">{source.isReport ? 'no values here in this report' : 'no values in this range'}</p>}
          {feed.error.value && <p class="chart-error" role="alert">{feed.error.value}</p>}
        </div>
        <Legend chart={chart} run={run} feed={feed} lines={lines} left={left} isAll={isAll} isNear={isNear} />
      </div>
      {tableOpen.value && <DataTable chart={chart} run={run} feed={feed} lines={lines} />}
    </>
  );
}

function noteOf(feed: ChartFeed, run: RunState, width: number): string {
  const columns = feed.columns.value;
  if (!columns || columns.window_s === null) return '';
  const { from, to } = run.view.shown.value;
  const pixel = (to - from) / Math.max(1, width - 78);
  const smooth = run.view.smooth.value > 0;
  return `1 px = ${duration(Math.max(pixel, 1e-9))}, ${smooth ? 'means drawn' : 'min–max drawn'}`;
}
