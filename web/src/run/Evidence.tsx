// Lines of evidence; a metric named in one leads to its chart.
import { chartWith, type Chart } from '../charts/catalog.ts';
import type { RunState } from '../state/run.ts';

/** The chart is opened if it is closed, and brought into view. */
export function showChart(run: RunState, chart: Chart): void {
  if (chart.isMain === run.view.toggled.value.has(chart.id)) run.view.toggle('toggled', chart.id);
  requestAnimationFrame(() => {
    const element = document.getElementById(`chart-${chart.id}`);
    element?.scrollIntoView({ block: 'center' });
    element?.classList.add('flash');
    element?.querySelector<HTMLElement>('.title')?.focus({ preventScroll: true });
    setTimeout(() => element?.classList.remove('flash'), 1200);
  });
}

const metricName = /\b[a-z_]+(?:\.[a-z0-9_]+)+\b/g;

export function Evidence({ lines, charts, run }: { lines: string[]; charts: Chart[]; run: RunState }) {
  return (
    <ul class="evidence">
      {lines.map((line, index) => {
        const found = [...line.matchAll(metricName)].map((match) => chartWith(charts, match[0])).find((chart) => chart !== undefined);
        return <li key={index}>{line}{found && <> <button class="link" onClick={() => showChart(run, found)}>show {found.title.toLowerCase()}</button></>}</li>;
      })}
    </ul>
  );
}
