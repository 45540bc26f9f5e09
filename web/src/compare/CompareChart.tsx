// One component of all runs: overlaid, or beside each other with a shared y axis; with its values, table and files.
import { effect, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Unit } from '../charts/ChartRow.tsx';
import { Swatch } from '../charts/Legend.tsx';
import { reachOf, valueAt } from '../charts/values.ts';
import { Menu } from '../parts/Menu.tsx';
import { bytes } from '../state/settings.ts';
import { duration } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import { shownRange, toTime } from './align.ts';
import type { CompareChart, CompareLine } from './charts.ts';
import { ComparePlot, xTextOf } from './ComparePlot.tsx';
import { saveComparedCsv, saveComparedJson, saveComparedPng, saveComparedSvg } from './download.ts';
import { CompareFeed, type LoadedLine } from './feed.ts';
import type { CompareState } from './state.ts';

const tableRows = 24;

interface Props {
  state: CompareState;
  compared: CompareChart;
}

function useFeed(host: { current: HTMLElement | null }, { state, compared }: Props): CompareFeed {
  const isSeen = useSignal(false);
  const feed = useMemo(() => new CompareFeed(), []);
  useEffect(() => {
    if (!host.current) return undefined;
    const observer = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) isSeen.value = true; }, { rootMargin: '300px' });
    observer.observe(host.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => effect(() => {
    if (isSeen.value) void feed.load(state, compared.lines, host.current?.clientWidth ?? 600);
  }), [compared]);
  return feed;
}

export function CompareFigure({ state, compared }: Props) {
  const host = useRef<HTMLElement>(null);
  const feed = useFeed(host, { state, compared });
  const isTable = useSignal(false);
  const { chart, choices, chosen, label, lines } = compared;
  const isSide = state.layout.value === 'side';
  const seen = () => ({ state, compared, loaded: feed.loaded.peek() ?? [] });
  const plot = (some: CompareLine[]) => <ComparePlot key={some.map((line) => line.run.id).join()} state={state} chart={chart} lines={some} loaded={feed.loaded} />;
  return (
    <figure class="chart" id={`chart-${chart.id}`} ref={host}>
      <figcaption>
        <h3>{chart.title}{choices.length < 2 && `: ${label}`}</h3>
        {choices.length > 1 && (
          <select aria-label={`Series of ${chart.title}`} value={chosen} onChange={(event) => state.choose(chart.id, event.currentTarget.value)}>
            {choices.map((choice) => <option key={choice.key} value={choice.key}>{choice.label}</option>)}
          </select>
        )}
        <Unit chart={chart} />
        <Note state={state} feed={feed} host={host} />
        <Menu label={`Options of ${chart.title}`} text="⋯" items={[
          { text: isTable.value ? 'Hide table' : 'Show as table', act: () => { isTable.value = !isTable.value; } },
          { text: 'Download PNG', act: () => saveComparedPng(seen()) },
          { text: 'Download SVG', act: () => saveComparedSvg(seen()) },
          { text: 'Download CSV', act: () => saveComparedCsv(seen()) },
          { text: 'Download JSON', act: () => saveComparedJson(seen()) },
        ]} />
      </figcaption>
      {feed.problem.value && <p class="chart-error" role="alert">{feed.problem.value}</p>}
      {isSide ? (
        <div class="side-grid">{state.runs.value.map((run) => {
          const line = lines.find((one) => one.run.id === run.id);
          return <div key={run.id}><Values state={state} compared={compared} feed={feed} runs={[run.id]} />{line ? plot([line]) : <p class="muted plot">not recorded in this run</p>}</div>;
        })}</div>
      ) : (
        <>{plot(lines)}<Values state={state} compared={compared} feed={feed} runs={state.runs.value.map((run) => run.id)} /></>
      )}
      {isTable.value && <ValuesTable state={state} compared={compared} loaded={feed.loaded.value ?? []} />}
    </figure>
  );
}

function Note({ state, feed, host }: { state: CompareState; feed: CompareFeed; host: { current: HTMLElement | null } }) {
  const text = useComputed(() => {
    const windows = (feed.loaded.value ?? []).map(({ columns }) => columns.window_s ?? 0);
    const widest = Math.max(0, ...windows);
    return widest > 0 && host.current ? `windows of ${duration(widest)}, ${state.smooth.value > 0 ? 'means drawn' : 'min–max drawn'}` : '';
  });
  return <span class="note">{text}</span>;
}

function valueOf(state: CompareState, loaded: LoadedLine | undefined, x: number): number | null {
  if (!loaded) return null;
  const { line, column, columns } = loaded;
  const [from, to] = shownRange(state).map((edge) => toTime(state.align.value, line.run, edge));
  return valueAt(column, toTime(state.align.value, line.run, x), reachOf(columns, column, (to ?? 0) - (from ?? 0)));
}

/** Each run with its value at the cursor. */
function Values({ state, compared: { chart }, feed, runs }: Props & { feed: CompareFeed; runs: string[] }) {
  const x = state.cursor.value;
  return (
    <ul class="run-values">
      {state.runs.value.map((run, index) => runs.includes(run.id) && (
        <li key={run.id}><Swatch index={index} /> <span class="line-name">{state.names.value.get(run.id)}</span>
          <span class="line-value">{x === null ? '' : formatValue(valueOf(state, feed.loaded.value?.find((one) => one.line.run.id === run.id), x), chart.unit, chart.metric, bytes.value)}</span></li>
      ))}
    </ul>
  );
}

function ValuesTable({ state, compared: { chart, label }, loaded }: Props & { loaded: readonly LoadedLine[] }) {
  const [from, to] = shownRange(state);
  const step = (to - from) / tableRows;
  const at = Array.from({ length: tableRows + 1 }, (_one, index) => from + index * step);
  return (
    <div class="data-table" tabIndex={0} role="region" aria-label={`${chart.title} as a table`}>
      <table>
        <caption>{chart.title}: {label}, {tableRows + 1} evenly spaced places of what is shown; CSV has every value</caption>
        <thead><tr><th scope="col">{state.align.value === 'step' ? 'step' : 'time'}</th>{state.runs.value.map((run) => <th scope="col" key={run.id}>{state.names.value.get(run.id)}</th>)}</tr></thead>
        <tbody>{at.map((x) => (
          <tr key={x}><th scope="row">{xTextOf(state.align.value)(x, step)}</th>
            {state.runs.value.map((run) => <td key={run.id}>{formatValue(valueOf(state, loaded.find((one) => one.line.run.id === run.id), x), chart.unit, chart.metric, bytes.value)}</td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}
