// Bars of all components by run: what each used on average, as `info` states it.
import { Fragment } from 'preact';
import { drawnUnit, linesWithout, typical, type Line } from '../charts/catalog.ts';
import { Patch } from '../charts/Hatch.tsx';
import { runFill } from '../charts/palette.ts';
import { areaSvg, downloads, textSvg, type Download } from '../charts/picture.ts';
import { Menu } from '../parts/Menu.tsx';
import { bytes, isDark } from '../state/settings.ts';
import { value as formatValue } from '../format/unit.ts';
import { seriesKey } from './charts.ts';
import type { CompareState } from './state.ts';

const chartsShown = /^(step_time|throughput|accuracy|gpu|gpu_memory|processor|memory|disk|disk_busy|network|pressure|temperature|power)(-|$)/;

interface BarRow {
  title: string;
  unit: string;
  metric: string;
  values: (number | null)[];
}

/** The largest line of each chart of any run, with the same series of the others. */
export function componentRows(state: CompareState): BarRow[] {
  const runs = state.runs.value;
  const rows = new Map<string, BarRow>();
  for (const run of runs) {
    for (const chart of run.charts) {
      const line: Line | undefined = linesWithout(chart, state.hidden.value)[0];
      if (!line || !chartsShown.test(chart.id)) continue;
      const key = seriesKey(line.metric.name, line.metric.labels);
      if (rows.has(key)) continue;
      const values = runs.map((other) => {
        const metric = other.info?.metrics.find((one) => seriesKey(one.name, one.labels) === key && one.status !== 'absent');
        return metric ? typical(metric) : null;
      });
      rows.set(key, { title: `${chart.title}: ${line.label}`, unit: drawnUnit(line.metric), metric: line.metric.name, values });
    }
  }
  return [...rows.values()];
}

function fileOf(rows: BarRow[], ids: string[], names: string[]): Download {
  const [label, most, line] = [200, 480, 16];
  const rowHeight = names.length * line + 10;
  const picture = () => {
    const body = rows.map((row, at) => {
      const top = at * rowHeight;
      const largest = Math.max(...row.values.map((value) => Math.abs(value ?? 0)), 1e-12);
      const bars = row.values.map((value, index) => {
        const size = (Math.abs(value ?? 0) / largest) * most;
        return areaSvg(runFill(index, isDark.peek()), label, top + index * line, size, 12) + textSvg(formatValue(value, row.unit, row.metric, bytes.peek()), label + size + 8, top + index * line + 10);
      });
      return textSvg(row.title, 0, top + 10) + bars.join('');
    });
    return { title: 'Components by run, average over the whole run', width: label + most + 100, height: rows.length * rowHeight, body: body.join(''), legend: names.map((name, index) => ({ name, look: runFill(index, isDark.peek()) })) };
  };
  const values = rows.flatMap((row) => row.values.map((value, index) => ({ component: row.title, metric: row.metric, unit: row.unit, run: ids[index], name: names[index], value })));
  return { name: 'comparison-components', picture, table: () => [['component', 'metric', 'unit', 'run', 'name', 'value'], ...values.map((one) => Object.values(one))], json: () => values };
}

export function ComponentBars({ state }: { state: CompareState }) {
  const rows = componentRows(state);
  if (rows.length === 0) return null;
  const names = state.runs.value.map((run) => state.names.value.get(run.id) ?? run.id);
  return (
    <section aria-label="Components by run">
      <div class="picture-head"><h2>Components by run, average over the whole run</h2><Menu label="Options of the bars" text="⋯" items={downloads(fileOf(rows, state.runs.value.map((run) => run.id), names))} /></div>
      <ul class="run-legend" aria-hidden="true">{names.map((name, index) => <li key={index}><Patch fill={runFill(index, isDark.value)} /> {name}</li>)}</ul>
      <div class="component-bars">
        {rows.map((row) => {
          const most = Math.max(...row.values.map((value) => Math.abs(value ?? 0)), 1e-12);
          return (
            <Fragment key={row.metric + row.title}>
              <div>{row.title}</div>
              <div class="group-bars">
                {row.values.map((value, index) => (
                  <div class="one-bar" key={index} title={names[index]}>
                    <Patch fill={runFill(index, isDark.value)} name="one-bar-size" width={`calc((100% - 96px) * ${Math.abs(value ?? 0) / most})`} />
                    <span><span class="sr-only">{names[index]}: </span>{formatValue(value, row.unit, row.metric, bytes.value)}</span>
                  </div>
                ))}
              </div>
            </Fragment>
          );
        })}
      </div>
    </section>
  );
}
