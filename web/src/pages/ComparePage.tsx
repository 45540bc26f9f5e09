// Several runs: the answer, where the difference comes from, then every component beside each other.
import { useLayoutEffect, useMemo } from 'preact/hooks';
import { CompareCharts } from '../compare/CompareCharts.tsx';
import { ComponentBars } from '../compare/ComponentBars.tsx';
import { Attribution } from '../compare/Attribution.tsx';
import { Distributions } from '../compare/Distributions.tsx';
import { Headline } from '../compare/Headline.tsx';
import { KeptImages } from '../compare/KeptImages.tsx';
import { MetricTable } from '../compare/MetricTable.tsx';
import { Sides } from '../compare/Sides.tsx';
import { CompareState } from '../compare/state.ts';
import { compareKeys } from '../keys/compare.ts';
import { useKeys } from '../keys/keys.ts';
import { source } from '../source/current.ts';
import { route } from '../state/route.ts';
import { ReportExtras } from './ReportExtras.tsx';

export function ComparePage() {
  const key = ['a', 'b', 'more'].map((side) => route.value.params.get(side) ?? '').join(' ');
  return <Comparing key={key} />;
}

function Comparing() {
  const state = useMemo(() => new CompareState(), []);
  useLayoutEffect(() => {
    document.title = 'Comparison – Trainscope';
    state.open(route.peek().params); // not of the address, which may be the next page's already
    return () => state.close();
  }, [state]);
  useKeys(useMemo(() => compareKeys(state), [state]));
  const document_ = state.document.value;
  return (
    <main class="page compare-page">
      <h1 class="sr-only">Comparison</h1>
      <Sides state={state} />
      {state.error.value && <p class="card problem" role="alert">{state.error.value}</p>}
      {document_ ? <Headline document={document_} /> : !state.error.value && <div class="card" aria-busy="true"><div class="skeleton" /></div>}
      <div class="two">
        {document_ && document_.attribution.length > 0 && <Attribution document={document_} />}
        <Distributions state={state} />
      </div>
      <CompareCharts state={state} />
      <ComponentBars state={state} />
      <KeptImages state={state} />
      {document_ && <MetricTable state={state} document={document_} />}
      {source.extras && <ReportExtras extras={source.extras} />}
    </main>
  );
}
