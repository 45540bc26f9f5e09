// The right margin of a chart: each line with its value at the cursor, or mean, total and max of the selection.
import { computed, type ReadonlySignal, type Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { RunState } from '../state/run.ts';
import { bytes, isDark } from '../state/settings.ts';
import type { Range } from '../state/view.ts';
import { duration } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import { drawnUnit, type Chart, type Line } from './catalog.ts';
import type { Statistics } from './data.ts';
import type { ChartFeed } from './feed.ts';
import { strokeOf } from './palette.ts';
import { valuesAt } from './values.ts';

interface Props {
  chart: Chart;
  run: RunState;
  feed: ChartFeed;
  lines: ReadonlySignal<Line[]>;
  left: ReadonlySignal<number>;
  isAll: Signal<boolean>;
  isNear: ReadonlySignal<boolean>;
}

export function Swatch({ index }: { index: number }) {
  const { color, dash } = strokeOf(index, isDark.value);
  return <svg class="swatch" width="18" height="8" aria-hidden="true"><line x1="0" y1="4" x2="18" y2="4" stroke={color} stroke-width="2" stroke-dasharray={dash.join(' ')} /></svg>;
}

const totalUnit = (unit: string) => unit.replace(/\/s$/, '');
const hasTotal = (chart: Chart) => (chart.unit.endsWith('/s') && chart.unit !== 's/s') || (chart.unit === 's' && chart.isIrregular);

/** What is missing of a selection is said, not guessed. */
function coverage(one: Statistics | undefined, selection: Range | null): string | undefined {
  if (!one || one.known_s === null || !selection) return undefined;
  const whole = selection.to - selection.from;
  return one.known_s < 0.95 * whole ? `recorded in ${duration(one.known_s)} of ${duration(whole)}` : undefined;
}

export function Legend({ chart, run, feed, lines, left, isAll, isNear }: Props) {
  const text = (value: number | null | undefined, { metric }: Line, unit = drawnUnit(metric)) => formatValue(value, unit, metric.name, bytes.value);
  const values = useMemo(() => computed(() => {
    // Without a cursor there are no values: a new range or new data are nothing new to the legend.
    if (!isNear.value || run.view.cursor.value === null) return lines.value.map((line) => ({ line, value: null }));
    const { from, to } = run.view.shown.value;
    return valuesAt(feed.columns.value, lines.value, run.view.cursor.value, to - from);
  }), [lines]);
  const statistics = feed.statistics.value;
  const isPartial = hasTotal(chart) && lines.value.some((line) => coverage(statistics?.get(line.series), run.view.selection.value) !== undefined);
  return (
    <div class="legend">
      {statistics ? (
        <>
        <table class="selection-statistics">
          <caption class="sr-only">{chart.title}: statistics of the selection</caption>
          <thead><tr><th scope="col"><span class="sr-only">line</span></th><th scope="col">mean</th><th scope="col">max</th>{hasTotal(chart) && <th scope="col">total</th>}</tr></thead>
          <tbody>
            {lines.value.map((line) => {
              const one = statistics.get(line.series);
              return (
                <tr key={line.series}>
                  <th scope="row" title={line.label}><Swatch index={chart.lines.indexOf(line)} /><span class="line-name">{line.label}</span></th>
                  <td>{text(one?.mean, line)}</td>
                  <td>{text(one?.max, line)}</td>
                  {hasTotal(chart) && <td title={coverage(one, run.view.selection.value)}>{text(one?.total, line, totalUnit(drawnUnit(line.metric)))}{coverage(one, run.view.selection.value) && '*'}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
        {isPartial && <p class="muted small">* of what was recorded: not all of the selection</p>}
        </>
      ) : (
        <ul>
          {values.value.map(({ line, value }) => (
            <li key={line.series} title={line.label}>
              <Swatch index={chart.lines.indexOf(line)} />
              <span class="line-name">{line.label}</span>
              <span class="line-value">{value === null ? '' : text(value, line)}</span>
            </li>
          ))}
        </ul>
      )}
      {(left.value > 0 || isAll.value) && chart.lines.length > 3 && (
        <button class="link" onClick={() => { isAll.value = !isAll.value; }}>{isAll.value ? 'top 3 only' : `+ ${left.value} more`}</button>
      )}
    </div>
  );
}
