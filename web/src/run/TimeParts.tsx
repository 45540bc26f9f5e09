// Where the time went: one bar, and over time. Shares come from `diagnose`, spans from the marks.
import type { Diagnosis, Marks, Span } from '../source/types.ts';
import type { RunState } from '../state/run.ts';
import { isDark } from '../state/settings.ts';
import { partColor } from '../charts/palette.ts';
import { percent, share as shareText } from '../format/number.ts';
import { clock, duration } from '../format/time.ts';
import { verdictWords } from '../format/words.ts';

export function TimeParts({ run }: { run: RunState }) {
  const diagnosis = run.diagnosis.value;
  const marks = run.marks.value;
  if (!diagnosis) return <section class="card parts" aria-busy="true"><div class="skeleton thin" /></section>;
  return (
    <section class="card parts" aria-label="Where the time went">
      <div class="parts-row"><h2>where the time went</h2><Bar diagnosis={diagnosis} /></div>
      {marks?.parts && marks.parts.from_s.length > 1 && <div class="parts-row"><h2>over time</h2><OverTime parts={marks.parts} run={run} /></div>}
      <Verdicts diagnosis={diagnosis} run={run} />
      <Phases marks={marks} run={run} />
    </section>
  );
}

function Bar({ diagnosis }: { diagnosis: Diagnosis }) {
  const known = diagnosis.breakdown.filter((part) => (part.share ?? 0) > 0);
  if (known.length === 0) return <p class="muted">unknown: the job reported no steps</p>;
  return (
    <div>
      <div class="bar" aria-hidden="true">
        {known.map((part) => (
          <div key={part.part} class={/unexplained|unknown/.test(part.part) ? 'unexplained' : ''} style={{ width: `${(part.share ?? 0) * 100}%`, background: partColor(part.part, isDark.value) }} title={`${part.part} ${shareText(part.share)}`} />
        ))}
      </div>
      <ul class="bar-legend">
        {known.map((part) => (
          <li key={part.part}><span class="square" style={{ background: partColor(part.part, isDark.value) }} aria-hidden="true" /> {part.part} <strong>{shareText(part.share)}</strong> <span class="muted">{duration(part.time_s)}</span></li>
        ))}
      </ul>
    </div>
  );
}

function OverTime({ parts, run }: { parts: NonNullable<Marks['parts']>; run: RunState }) {
  const whole = Math.max(run.view.duration.value, parts.to_s[parts.to_s.length - 1] ?? 1e-3);
  const select = (index: number) => { run.view.selection.value = { from: parts.from_s[index] ?? 0, to: parts.to_s[index] ?? 0 }; };
  const mark = (index: number | null) => { run.view.mark.value = index === null ? null : { from: parts.from_s[index] ?? 0, to: parts.to_s[index] ?? 0 }; };
  const shown = run.view.range.value;
  return (
    <svg class="over-time" viewBox="0 0 1000 40" preserveAspectRatio="none" role="img" aria-label="Parts of the step time over the whole run">
      {parts.from_s.map((from, index) => {
        let below = 0;
        const x = (from / whole) * 1000;
        const width = (((parts.to_s[index] ?? from) - from) / whole) * 1000;
        return (
          <g key={index} onClick={() => select(index)} onPointerEnter={() => mark(index)} onPointerLeave={() => mark(null)}>
            {parts.names.map((name, part) => {
              const share = parts.shares[index]?.[part] ?? 0;
              const rect = <rect key={name} x={x} width={width + 0.3} y={40 * (1 - below - share)} height={40 * share} fill={partColor(name, isDark.value)}><title>{`${clock(from)}: ${name} ${percent(share)}`}</title></rect>;
              below += share;
              return rect;
            })}
          </g>
        );
      })}
      {shown && <rect class="shown-range" x={(shown.from / whole) * 1000} width={((shown.to - shown.from) / whole) * 1000} y="0" height="40" />}
    </svg>
  );
}

function Verdicts({ diagnosis, run }: { diagnosis: Diagnosis; run: RunState }) {
  const spans = diagnosis.over_time ?? [];
  if (spans.length < 2) return null;
  return (
    <div class="parts-row"><h2>verdict over time</h2>
      <Strip run={run} spans={spans.map((span) => ({ from: span.from_s, to: span.to_s, text: verdictWords(span.verdict), title: `${verdictWords(span.verdict)}, ${percent(span.confidence)}` }))} />
    </div>
  );
}

const pauseName = (pause: Span) => { const why = pause.reason ?? pause.kind ?? pause.name; return why ? `${why} pause` : 'pause'; };

function Phases({ marks, run }: { marks: Marks | null; run: RunState }) {
  if (!marks) return null;
  const spans = [
    // Phases come last: they are drawn over the pauses that they explain.
    ...marks.pauses.filter((pause) => !marks.phases.some((phase) => phase.from_s <= pause.from_s && phase.to_s >= pause.to_s - 1e-3))
      .map((pause) => ({ from: pause.from_s, to: pause.to_s, text: pauseName(pause), title: `${pauseName(pause)}, ${duration(pause.to_s - pause.from_s)}` })),
    ...marks.phases.map((phase) => ({ from: phase.from_s, to: phase.to_s, text: phase.name ?? 'phase', title: `${phase.name ?? 'phase'}, ${duration(phase.to_s - phase.from_s)}` })),
  ];
  if (spans.length === 0) return null;
  return <div class="parts-row"><h2>phases and pauses</h2><Strip run={run} spans={spans.slice(-400)} /></div>;
}

interface StripSpan { from: number; to: number; text: string; title: string }

/** Spans over the whole run; a click selects one in every chart. */
function Strip({ run, spans }: { run: RunState; spans: StripSpan[] }) {
  const whole = Math.max(run.view.duration.value, 1e-3);
  return (
    <div class="strip">
      {spans.map((span, index) => (
        <button key={index} tabIndex={spans.length > 20 ? -1 : 0} class={`tone-${toneOf(span.text)}`} title={`${span.title}, ${clock(span.from)} to ${clock(span.to)}`} aria-label={`${span.title}, from ${clock(span.from)} to ${clock(span.to)}`}
          style={{ left: `${(span.from / whole) * 100}%`, width: `max(2px, ${((span.to - span.from) / whole) * 100}%)` }}
          onClick={() => { run.view.selection.value = { from: span.from, to: span.to }; }} onPointerEnter={() => { run.view.mark.value = { from: span.from, to: span.to }; }} onPointerLeave={() => { run.view.mark.value = null; }}>
          {(span.to - span.from) / whole > 0.06 ? span.text : ''}
        </button>
      ))}
    </div>
  );
}

/** The same text has the same tone everywhere. */
function toneOf(text: string): number {
  let sum = 0;
  for (const sign of text) sum = (sum * 31 + (sign.codePointAt(0) ?? 0)) % 997;
  return sum % 4;
}
