// One run: the answer, where the time went, then every chart on one range.
import { effect, useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { chartsOf, keepCharts, type Chart } from '../charts/catalog.ts';
import { source } from '../source/current.ts';
import { RunState } from '../state/run.ts';
import { route } from '../state/route.ts';
import { runKeys } from '../keys/run.ts';
import { useKeys } from '../keys/keys.ts';
import { ChartGroups } from '../run/ChartGroups.tsx';
import { Findings } from '../run/Findings.tsx';
import { OutputPanel } from '../run/OutputPanel.tsx';
import { RangeBar } from '../run/RangeBar.tsx';
import { RunHeader } from '../run/RunHeader.tsx';
import { RunFacts } from '../run/RunFacts.tsx';
import { TimeParts } from '../run/TimeParts.tsx';
import { VerdictCard } from '../run/VerdictCard.tsx';
import { ReportExtras } from './ReportExtras.tsx';

export function RunPage({ id }: { id: string }) {
  const run = useMemo(() => new RunState(id), [id]);
  useLayoutEffect(() => {
    void run.open(route.peek().params);
    // Back, forward or a pasted address of the same run.
    const stop = effect(() => {
      const { page, id: other, params } = route.value;
      if (run.head.peek() && page === 'run' && other === id) run.view.read(params);
    });
    return () => {
      stop();
      run.close();
    };
  }, [run]);
  useEffect(() => {
    document.title = `${run.head.value?.run.name ?? id} – Trainscope`;
  }, [run.head.value]);
  useKeys(useMemo(() => runKeys(run), [run]));
  const shown = useRef<Chart[] | null>(null);
  const charts = useComputed(() => {
    if (!run.info.value) return null;
    return (shown.current = keepCharts(shown.current, chartsOf(run.info.value)));
  });
  if (run.error.value && !run.head.value) {
    return <main class="page"><div class="card problem" role="alert"><h1>Cannot show run {id}</h1><p>{run.error.value}</p><p><a href="#/">All runs</a></p></div></main>;
  }
  return (
    <main class="page run-page">
      <RunHeader run={run} />
      <VerdictCard run={run} charts={charts.value ?? []} />
      <TimeParts run={run} />
      <RangeBar run={run} charts={charts.value ?? []} />
      <div class="columns">
        <aside>
          <Findings run={run} charts={charts.value ?? []} />
        </aside>
        <div class="charts">
          {run.error.value && run.head.value && <p class="chart-error" role="alert">{run.error.value}</p>}
          <ChartGroups run={run} charts={charts.value} />
          <OutputPanel run={run} />
          <RunFacts run={run} />
        </div>
      </div>
      {source.extras && <ReportExtras extras={source.extras} />}
    </main>
  );
}
