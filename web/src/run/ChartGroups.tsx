// The charts: main ones open, the rest behind one line per component; what is absent says why.
import { groups, type Chart, type Group } from '../charts/catalog.ts';
import { ChartRow } from '../charts/ChartRow.tsx';
import type { RunState } from '../state/run.ts';

const isOpen = (run: RunState, chart: Chart) => chart.isMain !== run.view.toggled.value.has(chart.id);

export function ChartGroups({ run, charts }: { run: RunState; charts: Chart[] | null }) {
  if (!charts) return <div aria-busy="true">{[1, 2, 3].map((index) => <div class="skeleton chart-skeleton" key={index} />)}</div>;
  const open = charts.filter((chart) => isOpen(run, chart) && !chart.empty);
  const closed = charts.filter((chart) => !isOpen(run, chart) && !chart.empty);
  const empty = charts.filter((chart) => chart.empty);
  const all = () => { run.view.toggled.value = closed.length > 0 ? new Set(charts.filter((chart) => !chart.isMain).map((chart) => chart.id)) : new Set(); };
  return (
    <>
      {empty.filter((chart) => chart.isMain).map((chart) => <EmptyChart key={chart.id} chart={chart} />)}
      <div class={`chart-list columns-${run.view.columns.value}`}>
        {open.map((chart) => (
          <div key={chart.id} class="chart-slot">
            {!chart.isMain && <button class="close icon" aria-label={`Close ${chart.title}`} title="Close this chart" onClick={() => run.view.toggle('toggled', chart.id)}>×</button>}
            <ChartRow chart={chart} run={run} />
          </div>
        ))}
      </div>
      <section class="closed-charts" aria-label="More charts">
        <h2>More charts <button class="link" id="all-charts" onClick={all}>{closed.length > 0 ? 'open all' : 'close all'}</button></h2>
        {groups.map((group) => <ClosedGroup key={group} group={group} run={run} charts={closed.filter((chart) => chart.group === group)} empty={empty.filter((chart) => chart.group === group && !chart.isMain)} />)}
      </section>
    </>
  );
}

function ClosedGroup({ group, run, charts, empty }: { group: Group; run: RunState; charts: Chart[]; empty: Chart[] }) {
  if (charts.length === 0 && empty.length === 0) return null;
  return (
    <div class="closed-group">
      <h3>{group}</h3>
      <div>
        {charts.map((chart) => <button key={chart.id} onClick={() => run.view.toggle('toggled', chart.id)} title={`Open ${chart.title}`}>▸ {chart.title}</button>)}
        {empty.map((chart) => <p class="empty" key={chart.id}>No {chart.title.toLowerCase().replace('gpu', 'GPU')} metrics: {chart.empty?.reason}{chart.empty?.remedy && <>; <span class="remedy">{chart.empty.remedy}</span></>}</p>)}
      </div>
    </div>
  );
}

function EmptyChart({ chart }: { chart: Chart }) {
  return <p class="empty card">No {chart.title.toLowerCase()}: {chart.empty?.reason}{chart.empty?.remedy && <>; <span class="remedy">{chart.empty.remedy}</span></>}</p>;
}
