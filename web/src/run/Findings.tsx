// What was found: hovering marks the span in every chart, choosing selects it and opens the evidence.
import type { Chart } from '../charts/catalog.ts';
import type { Finding } from '../source/types.ts';
import { findingKey, type RunState } from '../state/run.ts';
import { chooseFinding } from '../keys/run.ts';
import { times } from '../format/number.ts';
import { clock, duration } from '../format/time.ts';
import { Evidence } from './Evidence.tsx';

const signs: Record<string, string> = { critical: '◆', warning: '▲', info: '○' };

export function Findings({ run, charts }: { run: RunState; charts: Chart[] }) {
  const findings = run.diagnosis.value?.findings;
  if (!findings) return <div class="findings" aria-busy={run.diagnosisError.value === null} />;
  return (
    <section class="findings" aria-label="Findings">
      <h2>Findings ({findings.length})</h2>
      {findings.length === 0 && <p class="muted">{run.diagnosis.value?.verdict === 'unknown' ? 'None: what costs time cannot be told.' : 'Nothing that costs time was found.'}</p>}
      <ol>{findings.map((finding, index) => <Item key={findingKey(finding)} finding={finding} index={index} run={run} charts={charts} />)}</ol>
    </section>
  );
}

function Item({ finding, index, run, charts }: { finding: Finding; index: number; run: RunState; charts: Chart[] }) {
  const isChosen = run.chosenIndex.value === index;
  const { from_s: from, to_s: to } = finding;
  const mark = (isOver: boolean) => { run.view.mark.value = isOver && from !== null && to !== null ? { from, to } : null; };
  return (
    <li class={`finding ${finding.severity} ${isChosen ? 'chosen' : ''}`}>
      <button aria-expanded={isChosen} onClick={() => chooseFinding(run, isChosen ? null : index)} onPointerEnter={() => mark(true)} onPointerLeave={() => mark(false)} onFocus={() => mark(true)} onBlur={() => mark(false)}>
        <span class="severity"><span aria-hidden="true">{signs[finding.severity] ?? '○'}</span> {finding.severity}</span>
        <span class="summary">{finding.summary}</span>
        <span class="muted small">
          {finding.time_lost_s !== null && <>{duration(finding.time_lost_s)} lost · </>}
          {finding.max_speedup !== null && finding.max_speedup > 1.005 && <>up to {times(finding.max_speedup)} · </>}
          {from !== null && to !== null ? `${clock(from)} to ${clock(to)}` : 'whole run'}
        </span>
      </button>
      {isChosen && (
        <div class="finding-details">
          {finding.advice && <p><span class="label">try</span> {finding.advice}</p>}
          <Evidence lines={finding.evidence} charts={charts} run={run} />
        </div>
      )}
    </li>
  );
}
