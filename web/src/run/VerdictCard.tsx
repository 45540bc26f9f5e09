// The answer: one sentence, one number, one action; the evidence behind it on demand. Every sentence comes from `diagnose`.
import { useSignal } from '@preact/signals';
import type { Chart } from '../charts/catalog.ts';
import type { Diagnosis } from '../source/types.ts';
import type { RunState } from '../state/run.ts';
import { percent, plain, times } from '../format/number.ts';
import { value as formatValue } from '../format/unit.ts';
import { causeWords, confidenceWord, verdictWords } from '../format/words.ts';
import { answerOf } from './answer.ts';
import { Evidence } from './Evidence.tsx';

export function VerdictCard({ run, charts }: { run: RunState; charts: Chart[] }) {
  const diagnosis = run.diagnosis.value;
  if (diagnosis) return <Card diagnosis={diagnosis} charts={charts} run={run} />;
  const stored = run.head.value?.verdict;
  if (run.diagnosisError.value) return <section class="card verdict-card" aria-label="Verdict"><p class="verdict-name">no verdict</p><p>{run.diagnosisError.value}</p></section>;
  return (
    <section class="card verdict-card" aria-label="Verdict" aria-busy="true">
      {stored ? (
        <div class="verdict-line"><span class="verdict-name">{verdictWords(stored.verdict)}</span><span class="sentence">{stored.sentence ?? ''}</span></div>
      ) : <div class="skeleton" />}
    </section>
  );
}

function Card({ diagnosis, charts, run }: { diagnosis: Diagnosis; charts: Chart[]; run: RunState }) {
  const open = useSignal<'' | 'why' | 'else'>('');
  const isUnknown = diagnosis.verdict === 'unknown';
  const { finding, speedup } = answerOf(diagnosis.findings);
  const toggle = (name: 'why' | 'else') => { open.value = open.value === name ? '' : name; };
  return (
    <section class={`card verdict-card ${isUnknown ? 'calm' : ''}`} aria-label="Verdict">
      <div class="verdict-line">
        <span class="verdict-name">{verdictWords(diagnosis.verdict)}</span>
        {!isUnknown && <span class="confidence" title="confidence of the verdict">{percent(diagnosis.confidence)} · {confidenceWord(diagnosis.confidence)}</span>}
        {diagnosis.cause && <span class="cause">cause: {causeWords(diagnosis.cause)}</span>}
        {speedup !== null && <span class="speedup">up to {times(speedup)} as fast</span>}
      </div>
      <p class="sentence">{diagnosis.sentence ?? finding?.summary ?? ''}</p>
      {finding?.advice && <p class="advice"><span class="label">try</span> {finding.advice}</p>}
      {isUnknown && diagnosis.missing && diagnosis.missing.length > 0 && (
        <div class="advice"><span class="label">needed to tell</span><ul>{diagnosis.missing.map((text) => <li key={text}>{text}</li>)}</ul></div>
      )}
      {diagnosis.stored?.differs && <p class="muted">At the end of the run: {verdictWords(diagnosis.stored.verdict)}, by version {diagnosis.stored.rules} of the rules; this is by {diagnosis.rules}.</p>}
      <div class="actions">
        <button aria-expanded={open.value === 'why'} onClick={() => toggle('why')}>why {open.value === 'why' ? '▴' : '▾'}</button>
        {diagnosis.alternatives.length > 0 && <button aria-expanded={open.value === 'else'} onClick={() => toggle('else')}>what else could it be {open.value === 'else' ? '▴' : '▾'}</button>}
      </div>
      {open.value === 'why' && <Why diagnosis={diagnosis} charts={charts} run={run} />}
      {open.value === 'else' && (
        <ul class="alternatives">{diagnosis.alternatives.map((one) => <li key={one.verdict}><strong>{verdictWords(one.verdict)}</strong> {percent(one.confidence)} · {confidenceWord(one.confidence)}</li>)}</ul>
      )}
    </section>
  );
}

function Why({ diagnosis, charts, run }: { diagnosis: Diagnosis; charts: Chart[]; run: RunState }) {
  return (
    <div class="why">
      {diagnosis.findings.length === 0 && <p class="muted">No rule found anything that costs time.</p>}
      {diagnosis.findings.map((finding, index) => (
        <div key={index}>
          <p><strong>{finding.summary}</strong></p>
          <Evidence lines={finding.evidence} charts={charts} run={run} />
        </div>
      ))}
      {diagnosis.proof && diagnosis.proof.length > 0 && <><h2>Proven by a probe</h2><ul>{diagnosis.proof.map((one) => <li key={one.what}>{one.sentence}</li>)}</ul></>}
      {diagnosis.limits.length > 0 && (
        <table class="table">
          <caption>What was reached of what this machine gives</caption>
          <thead><tr><th scope="col">limit</th><th scope="col">reached</th><th scope="col">limit</th><th scope="col">share</th></tr></thead>
          <tbody>{diagnosis.limits.map((limit) => (
            <tr key={limit.name}><th scope="row">{limit.name}</th><td>{formatValue(limit.reached, limit.unit)}</td><td>{formatValue(limit.limit, limit.unit)}</td>
              <td>{limit.reached !== null && limit.limit ? percent(limit.reached / limit.limit) : plain(null)}</td></tr>
          ))}</tbody>
        </table>
      )}
    </div>
  );
}
