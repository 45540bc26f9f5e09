// One chart with its title, legend and menu; drawn when it comes into view.
import { computed, effect, useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { source } from '../source/current.ts';
import type { RunState } from '../state/run.ts';
import { bytes, isDark } from '../state/settings.ts';
import { integer } from '../format/number.ts';
import { clock, duration } from '../format/time.ts';
import { axisValue, countedWords } from '../format/unit.ts';
import { seriesName } from '../format/words.ts';
import { drawnUnit, linesWithout, type Chart, type Line } from './catalog.ts';
import { drawnOf, interruptions } from './data.ts';
import { decorate } from './decorate.ts';
import { ChartFeed } from './feed.ts';
import { ChartMenu } from './ChartMenu.tsx';
import { DataTable } from './DataTable.tsx';
import { watchNear, watchWidth } from './layout.ts';
import { Legend } from './Legend.tsx';
import { strokeOf } from './palette.ts';
import { besidePlot, Plot, stepIncrements, timeIncrements } from './plot.ts';
import { Tooltip } from './Tooltip.tsx';
import { moveCursorByKey } from './cursorKeys.ts';

const shortHeight = 120;
const tallHeight = 320;
export const linesAtFirst = 3;
const linesAtMost = 32;

/** The lines that are drawn: without hidden devices, the largest three unless all are asked for. */
export function shownLines(chart: Chart, hidden: ReadonlySet<string>, isAll: boolean): Line[] {
  return linesWithout(chart, hidden).slice(0, isAll ? linesAtMost : linesAtFirst);
}

interface Props {
  chart: Chart;
  run: RunState;
}

interface Place {
  isNear: Signal<boolean>;
  /** It has been near: only then the rest of the chart is made. */
  wasNear: Signal<boolean>;
  /** 0 until it is known. */
  width: Signal<number>;
}

/** Where the plot is. Its data are asked for before the rest of the chart is made, so that they come meanwhile. */
function usePlace(host: { current: HTMLElement | null }, chart: Chart, feed: ChartFeed, lines: ReadonlySignal<Line[]>, { isNear, wasNear, width }: Place): void {
  useLayoutEffect(() => {
    if (!host.current) return undefined;
    const stops = [
      watchNear(host.current, (near, wide) => {
        isNear.value = near;
        if (!near) return;
        wasNear.value = true;
        width.value = wide;
        feed.want(lines.peek(), wide);
      }),
      watchWidth(host.current, (wide) => { width.value = wide; }),
      effect(() => { if (wasNear.value && width.value > 0) feed.want(lines.value, width.value); }),
    ];
    return () => { for (const stop of stops) stop(); };
  }, [feed, chart]);
}

/** Charts that are not near the viewport stay as they are until they come near. */
function usePlot(host: { current: HTMLElement | null }, { chart, run, isTall }: BodyProps, { isNear, wasNear, width }: Place, feed: ChartFeed, lines: ReadonlySignal<Line[]>): void {
  useLayoutEffect(() => effect(() => {
    if (!wasNear.value) return undefined;
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
      yText: (y) => axisValue(y, chart.unit, chart.metric, unit),
      onCursor: (x) => { view.cursor.value = x === null ? null : view.toTime(x); },
      onSelect: (from, to) => { view.selection.value = { from: view.toTime(from), to: view.toTime(to) }; },
      onReset: () => { view.showWhole(); },
      onZoom: (x, factor) => view.zoom(factor, view.toTime(x)),
      onPan: (share) => view.pan(share),
      decorate: (uplot) => decorate(uplot, run.marks.peek(), (time) => view.toX(time)),
    });
    const stops = [
      effect(() => plot.resize(width.value, isTall.value ? tallHeight : shortHeight)),
      effect(() => {
        if (!isNear.value) return;
        const range = view.shown.value;
        // What is new of a live run is on its way: the range moves on with it, so that both are drawn at once.
        if (!feed.awaits(range)) plot.setRange(view.toX(range.from), view.toX(range.to));
      }),
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
  const marks = run.drawnMarks.value;
  if (!columns) return;
  const toX = run.view.stepAxis.value ? (time: number) => run.view.toX(time) : null;
  plot.setData(drawnOf(columns, lines.map((line) => line.series), chart.isIrregular, (series) => interruptions(lines.find((line) => line.series === series) ?? { stopsInPauses: false }, marks), toX));
}

function Title({ chart, run, isTall }: Props & { isTall: boolean }) {
  return (
    <h3>
      <button class="title" aria-expanded={isTall} title={isTall ? 'Make this chart small' : 'Make this chart tall'} onClick={() => run.view.toggle('tall', chart.id)}>{chart.title}</button>
    </h3>
  );
}

/** What its axis counts, where that is not written at each of its numbers. */
export function Unit({ chart }: { chart: Chart }) {
  const words = countedWords(chart.lines.map((line) => drawnUnit(line.metric)));
  return words === '' ? null : <span class="unit">{words}</span>;
}

export function ChartRow({ chart, run }: Props) {
  const isTall = useComputed(() => run.view.tall.value.has(chart.id));
  return (
    <figure class={`chart ${isTall.value ? 'tall' : ''}`} id={`chart-${chart.id}`}>
      <ChartBody key={chart.lines.map((line) => seriesName(line.metric.name, line.metric.labels)).join('\n')} chart={chart} run={run} isTall={isTall} />
    </figure>
  );
}

interface BodyProps extends Props {
  isTall: ReadonlySignal<boolean>;
}

function ChartBody({ chart, run, isTall }: BodyProps) {
  const tableOpen = useSignal(false);
  const host = useRef<HTMLDivElement>(null);
  const isAll = useSignal(false);
  const place: Place = { isNear: useSignal(false), wasNear: useSignal(false), width: useSignal(0) };
  const feed = useMemo(() => new ChartFeed(run, place.isNear), [run]);
  useEffect(() => () => feed.close(), [feed]);
  // Of a live run the chart may be another one with the same lines: their numbers have moved.
  const lines = useMemo(() => computed(() => shownLines(chart, run.view.hidden.value, isAll.value)), [chart]);
  const left = useMemo(() => computed(() => linesWithout(chart, run.view.hidden.value).length - lines.value.length), [chart]);
  const isOver = useSignal(false);
  usePlace(host, chart, feed, lines, place);
  usePlot(host, { chart, run, isTall }, place, feed, lines);
  const note = useComputed(() => noteOf(feed, run, place.width.value));
  const isEmpty = useComputed(() => feed.error.value === null && feed.columns.value !== null && feed.columns.value.columns.every((column) => column.time.length === 0));
  const isMade = place.wasNear.value;
  return (
    <>
      <figcaption>
        <Title chart={chart} run={run} isTall={isTall.value} />
        <Unit chart={chart} />
        {isMade && <span class="note">{note}</span>}
        {isMade && <ChartMenu chart={chart} run={run} feed={feed} lines={lines} host={host} onTable={() => { tableOpen.value = !tableOpen.value; }} isTableOpen={tableOpen.value} />}
      </figcaption>
      <div class="chart-body">
        <div class="plot" ref={host} tabIndex={0} role="group" aria-label={`${chart.title}: arrow keys move the cursor`} onKeyDown={(event) => moveCursorByKey(event, run)}
          onPointerEnter={() => { isOver.value = true; }} onPointerLeave={() => { isOver.value = false; run.view.cursor.value = null; }}>
          {isOver.value && <Tooltip chart={chart} run={run} feed={feed} lines={lines} />}
          {isEmpty.value && <p class="no-values muted">{source.isReport ? 'no values here in this report' : 'no values in this range'}</p>}
          {feed.error.value && <p class="chart-error" role="alert">{feed.error.value}</p>}
        </div>
        {isMade && <Legend chart={chart} run={run} feed={feed} lines={lines} left={left} isAll={isAll} isNear={place.isNear} />}
      </div>
      {tableOpen.value && <DataTable chart={chart} run={run} feed={feed} lines={lines} />}
    </>
  );
}

function noteOf(feed: ChartFeed, run: RunState, width: number): string {
  const columns = feed.columns.value;
  if (!columns || columns.window_s === null) return '';
  const { from, to } = run.view.shown.value;
  const pixel = (to - from) / Math.max(1, width - besidePlot);
  // A report has windows of the whole run, and what is shown of a long one may have few.
  const width_s = columns.window_s > 1.5 * pixel ? `windows of ${duration(columns.window_s)}` : `1 px = ${duration(Math.max(pixel, 1e-9))}`;
  return `${width_s}, ${run.view.smooth.value > 0 ? 'means drawn' : 'min–max drawn'}`;
}
