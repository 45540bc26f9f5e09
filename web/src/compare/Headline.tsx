// What `compare` says, its interval on a logarithmic axis, and what makes it unfair.
import type { Comparison } from '../source/types.ts';
import { useSignal } from '@preact/signals';
import { plain, times } from '../format/number.ts';
import { value as formatValue } from '../format/unit.ts';
import { causeWords, verdictWords } from '../format/words.ts';
import { axisOf } from './axis.ts';
import { effectText } from './effect.ts';

export function Headline({ document }: { document: Comparison }) {
  const { speed, behaviour, why, warnings, energy, cost, explanation } = document;
  const isOpen = useSignal(false);
  const verdicts = (['a', 'b'] as const).flatMap((side) => (document[side].details ?? []).filter((run) => run.verdict).slice(0, 1)
    .map((run) => `${side.toUpperCase()} ${verdictWords(run.verdict)}${run.cause ? ` (${causeWords(run.cause)})` : ''}`));
  return (
    <section class="card" aria-label="Result">
      <p class="headline">{speed.sentence}</p>
      {why && <p class="sentence">{why}</p>}
      {speed.ratio !== null && speed.low !== null && speed.high !== null && <Interval ratio={speed.ratio} low={speed.low} high={speed.high} verdict={speed.verdict} />}
      <p>{withoutScope(behaviour.sentence, speed.sentence)}</p>
      {verdicts.length > 0 && <p><span class="label">verdicts</span>{verdicts.join('; ')}</p>}
      {energy && energy.a !== null && energy.b !== null && (
        <p><span class="label">energy of {energy.of}</span>{formatValue(energy.a, energy.unit)} → {formatValue(energy.b, energy.unit)} ({effectText(energy)}, {verdictWords(energy.verdict)})</p>
      )}
      {cost && cost.a !== null && cost.b !== null && (
        <p><span class="label">cost of 1,000 steps</span>{plain(1000 * cost.a)} → {plain(1000 * cost.b)} {cost.currency} ({effectText(cost)}, {verdictWords(cost.verdict)})</p>
      )}
      {warnings.length > 0 && <ul class="warning-list">{warnings.map((warning) => <li key={warning.id + warning.summary}><span class="sign" aria-hidden="true">▲</span> <strong>warning</strong> {warning.summary}</li>)}</ul>}
      {explanation && explanation.length > 0 && (
        <div class="actions"><button aria-expanded={isOpen.value} onClick={() => { isOpen.value = !isOpen.value; }}>how it was tested {isOpen.value ? '▴' : '▾'}</button></div>
      )}
      {isOpen.value && explanation?.map((one) => (
        <dl key={one.question} class="facts-table">
          <div><dt>question</dt><dd>{one.question}</dd></div><div><dt>null hypothesis</dt><dd>{one.null_hypothesis}</dd></div>
          <div><dt>test</dt><dd>{one.test}</dd></div><div><dt>result</dt><dd>{one.result}</dd></div>
        </dl>
      ))}
    </section>
  );
}

/** What the sentence above says of both in parentheses at its end is not said again. */
export function withoutScope(sentence: string, above: string): string {
  const scope = / \([^()]*\)\.$/.exec(above)?.[0];
  return scope !== undefined && sentence.endsWith(scope) ? `${sentence.slice(0, -scope.length)}.` : sentence;
}

function Interval({ ratio, low, high, verdict }: { ratio: number; low: number; high: number; verdict: string }) {
  const { limit, marks } = axisOf(low, high);
  const place = (value: number) => 50 + Math.min(1, Math.max(-1, Math.log(value) / Math.log(limit))) * 46;
  const x = (value: number) => `${place(value)}%`;
  const width = `${place(high) - place(low)}%`;
  return (
    <svg class="interval" role="img" aria-label={`B has ${times(ratio)} the steps per second of A, interval ${times(low)} to ${times(high)}: ${verdictWords(verdict)}`}>
      <line x1="2%" x2="98%" y1="44" y2="44" stroke="var(--line)" />
      {marks.map((mark) => (
        <g key={mark}>
          <line x1={x(mark)} x2={x(mark)} y1={mark === 1 ? 4 : 40} y2="48" stroke={mark === 1 ? 'var(--text)' : 'var(--muted)'} stroke-dasharray={mark === 1 ? '3 3' : ''} />
          <text x={x(mark)} y="64" text-anchor={mark === marks[0] ? 'start' : mark === limit ? 'end' : 'middle'}>{mark === 1 ? <>1.0<tspan class="in-words"> (the same)</tspan></> : times(mark)}</text>
        </g>
      ))}
      <text x="2%" y="12" class="muted">B slower</text>
      <text x="98%" y="12" text-anchor="end">B faster</text>
      <rect x={x(low)} y="24" width={width} height="12" rx="3" fill="var(--accent)" opacity="0.35" />
      <line x1={x(low)} x2={x(low)} y1="22" y2="38" stroke="var(--accent)" stroke-width="2" />
      <line x1={x(high)} x2={x(high)} y1="22" y2="38" stroke="var(--accent)" stroke-width="2" />
      <circle cx={x(ratio)} cy="30" r="6" fill="var(--accent)" />
    </svg>
  );
}
