// Components of all runs and what every one of these charts shows: layout, alignment, smoothing, range.
import { useMemo } from 'preact/hooks';
import { Swatch } from '../charts/Legend.tsx';
import { bytes, chooseBytes } from '../state/settings.ts';
import { DeviceMenu } from '../run/DeviceMenu.tsx';
import { smoothings } from '../run/RangeBar.tsx';
import { duration } from '../format/time.ts';
import type { Align } from './align.ts';
import { compareCharts } from './charts.ts';
import { CompareFigure } from './CompareChart.tsx';
import type { CompareState } from './state.ts';

export function CompareCharts({ state }: { state: CompareState }) {
  const charts = useMemo(() => compareCharts(state.runs.value, state.chosen.value, state.hidden.value), [state.runs.value, state.chosen.value, state.hidden.value]);
  const isSide = state.layout.value === 'side';
  return (
    <section aria-label="Components">
      <Toolbar state={state} />
      <div class={`compare-charts ${isSide ? 'side-by-side' : ''}`}>
        {charts.map((compared) => <CompareFigure key={compared.chart.id} state={state} compared={compared} />)}
      </div>
    </section>
  );
}

function Toolbar({ state }: { state: CompareState }) {
  return (
    <div class="toolbar">
      <h2>Components</h2>
      <fieldset class="segmented"><legend>layout</legend>
        {(['overlay', 'side'] as const).map((layout) => <label key={layout}><input type="radio" name="layout" checked={state.layout.value === layout} onChange={() => { state.layout.value = layout; }} /><span>{layout === 'side' ? 'side by side' : 'overlaid'}</span></label>)}
      </fieldset>
      <label>align <select value={state.align.value} onChange={(event) => state.alignBy(event.currentTarget.value as Align)}>
        <option value="relative">time since start</option><option value="step">step</option><option value="wall">wall clock</option>
      </select></label>
      <label>smooth <select value={String(state.smooth.value)} onChange={(event) => { state.smooth.value = Number(event.currentTarget.value); }}>
        {[...new Set([...smoothings, state.smooth.value])].sort((a, b) => a - b).map((seconds) => <option key={seconds} value={String(seconds)}>{seconds === 0 ? 'off' : duration(seconds)}</option>)}
      </select></label>
      <DeviceMenu all={state.hidden} charts={state.runs.value.flatMap((run) => run.charts)} />
      <label>units <select value={bytes.value} onChange={(event) => chooseBytes(event.currentTarget.value)}>
        <option value="decimal">MB (1000)</option><option value="binary">MiB (1024)</option>
      </select></label>
      {state.range.value && <button onClick={() => { state.range.value = null; }}>show everything</button>}
      <ul class="run-legend">{state.runs.value.map((run, index) => <li key={run.id}><Swatch index={index} /> {state.names.value.get(run.id)}</li>)}</ul>
    </div>
  );
}
