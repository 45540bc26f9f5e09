// Components of all runs: overlaid, or side by side with a shared y axis; aligned by time, step or wall clock.
import type { CompareState } from './state.ts';
import { chartsOf, type Chart } from '../charts/catalog.ts';
import { Swatch } from '../charts/Legend.tsx';
import { seriesName } from '../format/words.ts';
import { ComparePlot, type CompareLine } from './ComparePlot.tsx';

const shownCharts = /^(step_time|loss|accuracy|throughput|gpu|gpu_memory|processor|memory|disk|network|pressure|temperature|power)(-|$)/;

export interface CompareChart {
  key: string;
  title: string;
  chart: Chart;
  lines: CompareLine[];
}

/** One chart per component: its largest line in the first run that has it, and the same series of the other runs. */
export function compareCharts(state: CompareState): CompareChart[] {
  const runs = state.runs.value;
  const found = new Map<string, CompareChart>();
  runs.forEach((run, index) => {
    if (!run.info) return;
    for (const chart of chartsOf(run.info)) {
      if (!shownCharts.test(chart.id)) continue;
      const line = chart.lines[0];
      if (!line) continue;
      const key = found.get(chart.id)?.key ?? seriesName(line.metric.name, { ...line.metric.labels, source: '' });
      const entry = found.get(chart.id) ?? { key, title: `${chart.title}: ${line.label}`, chart, lines: [] };
      const match = chart.lines.find((one) => seriesName(one.metric.name, { ...one.metric.labels, source: '' }) === key);
      if (match) entry.lines.push({ run, index, series: match.series });
      found.set(chart.id, entry);
    }
  });
  return [...found.values()];
}

export function CompareCharts({ state }: { state: CompareState }) {
  const charts = compareCharts(state);
  const isSide = state.layout.value === 'side';
  return (
    <section aria-label="Components">
      <div class="toolbar">
        <h2>Components</h2>
        <fieldset class="segmented"><legend>layout</legend>
          {(['overlay', 'side'] as const).map((layout) => <label key={layout}><input type="radio" name="layout" checked={state.layout.value === layout} onChange={() => { state.layout.value = layout; }} /><span>{layout === 'side' ? 'side by side' : 'overlaid'}</span></label>)}
        </fieldset>
        <label>align <select value={state.align.value} onChange={(event) => { state.range.value = null; state.align.value = event.currentTarget.value as 'relative' | 'step' | 'wall'; }}>
          <option value="relative">time since start</option><option value="step">step</option><option value="wall">wall clock</option>
        </select></label>
        {state.range.value && <button onClick={() => { state.range.value = null; }}>show everything</button>}
        <ul class="run-legend">{state.runs.value.map((run, index) => <li key={run.id}><Swatch index={index} /> {state.names.value.get(run.id)}</li>)}</ul>
      </div>
      <div class={`compare-charts ${isSide ? 'side-by-side' : ''}`}>
        {charts.map((chart) => (isSide ? (
          <figure class="chart" key={chart.key}>
            <figcaption><h3>{chart.title}</h3></figcaption>
            <div class="side-grid">{chart.lines.map((line) => <ComparePlot key={`${line.run.id} ${state.align.value}`} state={state} chart={chart.chart} lines={[line]} group={chart.lines} />)}</div>
          </figure>
        ) : (
          <figure class="chart" key={chart.key}>
            <figcaption><h3>{chart.title}</h3></figcaption>
            <ComparePlot key={`${chart.lines.map((line) => line.run.id).join()} ${state.align.value}`} state={state} chart={chart.chart} lines={chart.lines} group={chart.lines} />
          </figure>
        )))}
      </div>
    </section>
  );
}
