// The right margin of a chart: each line with its value at the cursor, or mean, total and max of the selection.
import { useComputed, type ReadonlySignal, type Signal } from '@preact/signals';
import type { RunState } from '../state/run.ts';
import { bytes, isDark } from '../state/settings.ts';
import { value as formatValue } from '../format/unit.ts';
import type { Chart, Line } from './catalog.ts';
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

export function Legend({ chart, run, feed, lines, left, isAll, isNear }: Props) {
  const text = (value: number | null | undefined, unit = chart.unit) => formatValue(value, unit, chart.metric, bytes.value);
  const values = useComputed(() => {
    if (!isNear.value) return lines.value.map((line) => ({ line, value: null }));
    const { from, to } = run.view.shown.value;
    return valuesAt(feed.columns.value, lines.value, run.view.cursor.value, to - from);
  });
  const statistics = feed.statistics.value;
  return (
    <div class="legend">
      {statistics ? (
        <table class="selection-statistics">
          <caption class="sr-only">{chart.title}: statistics of the selection</caption>
          <thead><tr><th scope="col"><span class="sr-only">line</span></th><th scope="col">mean</th><th scope="col">max</th>{chart.unit.endsWith('/s') && chart.unit !== 's/s' && <th scope="col">total</th>}</tr></thead>
          <tbody>
            {lines.value.map((line) => {
              const one = statistics.get(line.series);
              return (
                <tr key={line.series}>
                  <th scope="row" title={line.label}><Swatch index={chart.lines.indexOf(line)} /><span class="line-name">{line.label}</span></th>
                  <td>{text(one?.mean)}</td>
                  <td>{text(one?.max)}</td>
                  {chart.unit.endsWith('/s') && chart.unit !== 's/s' && <td>{text(one?.total, totalUnit(chart.unit))}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
      ) : (
        <ul>
          {values.value.map(({ line, value }) => (
            <li key={line.series} title={line.label}>
              <Swatch index={chart.lines.indexOf(line)} />
              <span class="line-name">{line.label}</span>
              <span class="line-value">{value === null ? '' : text(value)}</span>
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
