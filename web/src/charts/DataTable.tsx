// The numbers behind a chart, for those who cannot or do not want to see lines.
import type { ReadonlySignal } from '@preact/signals';
import type { RunState } from '../state/run.ts';
import { bytes } from '../state/settings.ts';
import { clock } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import { drawnUnit, type Chart, type Line } from './catalog.ts';
import type { ChartFeed } from './feed.ts';
import { valuesAt } from './values.ts';

const rows = 24;

interface Props {
  chart: Chart;
  run: RunState;
  feed: ChartFeed;
  lines: ReadonlySignal<Line[]>;
}

export function DataTable({ chart, run, feed, lines }: Props) {
  const { from, to } = run.view.shown.value;
  const step = (to - from) / rows;
  const times = Array.from({ length: rows + 1 }, (_one, index) => from + index * step);
  return (
    <div class="data-table" tabIndex={0} role="region" aria-label={`${chart.title} as a table`}>
      <table>
        <caption>{chart.title}, {rows + 1} evenly spaced times of what is shown; CSV has every value</caption>
        <thead><tr><th scope="col">time</th>{lines.value.map((line) => <th scope="col" key={line.series}>{line.label}</th>)}</tr></thead>
        <tbody>
          {times.map((time) => (
            <tr key={time}>
              <th scope="row">{clock(time, step)}</th>
              {valuesAt(feed.columns.value, lines.value, time, to - from).map(({ line, value }) => <td key={line.series}>{formatValue(value, drawnUnit(line.metric), line.metric.name, bytes.value)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
