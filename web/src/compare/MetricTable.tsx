// Every metric that was compared; sorted by the size of the effect unless another column was chosen.
import { useSignal } from '@preact/signals';
import type { ComparedMetric, Comparison } from '../source/types.ts';
import { bytes } from '../state/settings.ts';
import { probability } from '../format/number.ts';
import { value as formatValue } from '../format/unit.ts';
import { seriesName, verdictWords } from '../format/words.ts';
import { effectSize, effectText } from './effect.ts';
import type { CompareState } from './state.ts';

type By = 'metric' | 'a' | 'b' | 'difference' | 'effect' | 'p' | 'verdict';
const rowsAtFirst = 200;

const keys: Record<By, (metric: ComparedMetric) => string | number> = {
  metric: (metric) => seriesName(metric.name, metric.labels),
  a: (metric) => metric.a ?? -Infinity,
  b: (metric) => metric.b ?? -Infinity,
  difference: (metric) => Math.abs(metric.difference ?? 0),
  effect: effectSize,
  p: (metric) => metric.p_adjusted ?? Infinity,
  verdict: (metric) => metric.verdict,
};

const signs: Record<string, string> = { higher: '▲', lower: '▼', same: '=', cannot_tell: '?' };

export function MetricTable({ state, document }: { state: CompareState; document: Comparison }) {
  const sort = useSignal<{ by: By; isDescending: boolean }>({ by: 'effect', isDescending: true });
  const limit = useSignal(rowsAtFirst);
  const words = state.filter.value.toLowerCase().split(/\s+/);
  const found = document.metrics.filter((metric) => {
    if (state.onlyDifferent.value && metric.verdict !== 'higher' && metric.verdict !== 'lower') return false;
    const name = seriesName(metric.name, metric.labels).toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const key = keys[sort.value.by];
  found.sort((first, second) => {
    const one = key(first);
    const two = key(second);
    return (one < two ? -1 : one > two ? 1 : 0) * (sort.value.isDescending ? -1 : 1);
  });
  const heading = (by: By, text: string, isNumber = true) => (
    <th scope="col" class={isNumber ? 'number' : ''} aria-sort={sort.value.by === by ? (sort.value.isDescending ? 'descending' : 'ascending') : undefined}>
      <button onClick={() => { sort.value = { by, isDescending: sort.value.by === by ? !sort.value.isDescending : isNumber && by !== 'p' }; }}>{text}{sort.value.by === by ? (sort.value.isDescending ? ' ↓' : ' ↑') : ''}</button>
    </th>
  );
  return (
    <section aria-label="Metrics">
      <div class="toolbar">
        <h2>Metrics ({found.length} of {document.metrics.length})</h2>
        <input id="metric-filter" class="search" type="search" placeholder="filter by name" aria-label="Filter metrics" value={state.filter.value} onInput={(event) => { state.filter.value = event.currentTarget.value; }} />
        <label class="check"><input type="checkbox" checked={state.onlyDifferent.value} onChange={() => { state.onlyDifferent.value = !state.onlyDifferent.value; }} /> only those that differ</label>
      </div>
      <div class="metric-table-box" tabIndex={0} role="region" aria-label="Table of metrics">
        <table class="metric-table">
          <thead><tr>{heading('metric', 'metric', false)}{heading('a', 'A')}{heading('b', 'B')}{heading('difference', 'difference')}{heading('effect', 'B / A [95 %]')}{heading('p', 'adjusted p')}{heading('verdict', 'verdict', false)}</tr></thead>
          <tbody>
            {found.slice(0, limit.value).map((metric) => <MetricRow key={seriesName(metric.name, metric.labels)} metric={metric} />)}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="muted">No metric {state.onlyDifferent.value ? 'differs' : 'matches'}. <button class="link" onClick={() => { state.onlyDifferent.value = false; state.filter.value = ''; }}>Show all {document.metrics.length}</button></p>}
      {found.length > limit.value && <button onClick={() => { limit.value = Infinity; }}>show all {found.length}</button>}
    </section>
  );
}

function MetricRow({ metric }: { metric: ComparedMetric }) {
  const text = (value: number | null) => formatValue(value, metric.unit, metric.name, bytes.value);
  return (
    <tr>
      <td class="metric">{seriesName(metric.name, metric.labels)}</td>
      <td class="number">{text(metric.a)}</td><td class="number">{text(metric.b)}</td><td class="number">{text(metric.difference)}</td>
      <td class="number">{effectText(metric)}</td><td class="number">{probability(metric.p_adjusted)}</td>
      <td title={metric.reason ?? ''}><span aria-hidden="true">{signs[metric.verdict] ?? ''}</span> {verdictWords(metric.verdict)}</td>
    </tr>
  );
}
