// Where the time went: one bar, and over time. Shares come from `diagnose`, spans from the marks.
import { useSignal } from '@preact/signals';
import type { Diagnosis, Marks, Span } from '../source/types.ts';
import type { RunState } from '../state/run.ts';
import { Area, Patch } from '../charts/Hatch.tsx';
import { partFill, toneOf } from '../charts/palette.ts';
import { percent, share as shareText } from '../format/number.ts';
import { clock, duration } from '../format/time.ts';
import { areaSvg, copyOf, downloads, textSvg, type Download } from '../charts/picture.ts';
import { Menu } from '../parts/Menu.tsx';
import { verdictWords } from '../format/words.ts';

export function TimeParts({ run }: { run: RunState }) {
  const diagnosis = run.diagnosis.value;
  const marks = run.marks.value;
  if (!diagnosis) return <section class="card parts" aria-busy="true"><div class="skeleton thin" /></section>;
  return (
    <section class="card parts" aria-label="Where the time went">
      <div class="parts-row"><h2>where the time went</h2><Bar diagnosis={diagnosis} /></div>
      {diagnosis.breakdown.length > 0 && <Menu label="Options of the breakdown" text="⋯" items={downloads(fileOf(diagnosis, run))} />}
      {marks?.parts && marks.parts.from_s.length > 1 && <div class="parts-row"><h2>over time</h2><OverTime parts={marks.parts} run={run} /></div>}
      <Verdicts diagnosis={diagnosis} run={run} />
      <Phases marks={marks} run={run} />
    </section>
  );
}

function fileOf(diagnosis: Diagnosis, run: RunState): Download {
  const parts = diagnosis.breakdown.filter((part) => (part.share ?? 0) > 0);
  const width = 800;
  const picture = () => {
    let from = 0;
    const bar = parts.map((part) => {
      const size = (part.share ?? 0) * width;
      from += size;
      return areaSvg(partFill(part.part), from - size, 0, size - 1, 28);
    });
    const drawing = document.querySelector<SVGSVGElement>('svg.over-time');
    const copy = drawing && copyOf(drawing);
    if (copy) bar.push(textSvg('over time', 0, 52), `<svg y="60" width="${width}" height="${copy.height}" viewBox="0 0 ${copy.width} ${copy.height}" preserveAspectRatio="none">${copy.body}</svg>`);
    const legend = parts.map((part) => ({ name: `${part.part} ${shareText(part.share)}, ${duration(part.time_s)}`, look: partFill(part.part) }));
    return { title: `Where the time of ${run.head.peek()?.run.name ?? run.id} went`, width, height: copy ? 60 + copy.height : 28, body: bar.join(''), legend };
  };
  const table = () => [['part', 'share', 'time_s'], ...parts.map((part) => [part.part, part.share, part.time_s])];
  return { name: `${run.id}-parts`, picture, table, json: () => ({ run: run.id, breakdown: diagnosis.breakdown, over_time: run.marks.peek()?.parts ?? null }) };
}

function Bar({ diagnosis }: { diagnosis: Diagnosis }) {
  const known = diagnosis.breakdown.filter((part) => (part.share ?? 0) > 0);
  if (known.length === 0) return <p class="muted">unknown: the job reported no steps</p>;
  return (
    <div>
      <div class="bar" aria-hidden="true">
        {known.map((part) => (
          <div key={part.part} style={{ width: `${(part.share ?? 0) * 100}%` }} title={`${part.part} ${shareText(part.share)}`}>
            <Patch fill={partFill(part.part)} name="bar-part" />
            <span class="bar-label">{part.part}</span>
          </div>
        ))}
      </div>
      <ul class="bar-legend">
        {known.map((part) => (
          <li key={part.part}><Patch fill={partFill(part.part)} /> {part.part} <strong>{shareText(part.share)}</strong> <span class="muted">{duration(part.time_s)}</span></li>
        ))}
      </ul>
    </div>
  );
}

const percentOf = (share: number) => `${(share * 100).toFixed(3)}%`;

function OverTime({ parts, run }: { parts: NonNullable<Marks['parts']>; run: RunState }) {
  const whole = Math.max(run.view.duration.value, parts.to_s[parts.to_s.length - 1] ?? 1e-3);
  const select = (index: number) => { run.view.selection.value = { from: parts.from_s[index] ?? 0, to: parts.to_s[index] ?? 0 }; };
  const mark = (index: number | null) => { run.view.mark.value = index === null ? null : { from: parts.from_s[index] ?? 0, to: parts.to_s[index] ?? 0 }; };
  const shown = run.view.range.value;
  const at = useSignal(0);
  const last = parts.from_s.length - 1;
  const current = Math.min(at.value, last);
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (by === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    if (by === undefined) select(current);
    else mark(at.value = Math.max(0, Math.min(last, current + by)));
  };
  const texts = parts.names.map((name, part) => `${name} ${percent(parts.shares[current]?.[part] ?? 0)}`).join(', ');
  return (
    <svg class="over-time" role="slider" tabIndex={0} aria-label="Parts of the step time over the whole run: arrow keys move, Enter selects"
      aria-valuemin={0} aria-valuemax={last} aria-valuenow={current} aria-valuetext={`${clock(parts.from_s[current])} to ${clock(parts.to_s[current])}: ${texts}`}
      onKeyDown={onKey} onFocus={(event) => { if (event.currentTarget.matches(':focus-visible')) mark(current); }} onBlur={() => mark(null)}>
      {parts.from_s.map((from, index) => {
        let below = 0;
        const width = ((parts.to_s[index] ?? from) - from) / whole;
        return (
          <g key={index} onClick={() => select(index)} onPointerEnter={() => mark(index)} onPointerLeave={() => mark(null)}>
            {parts.names.map((name, part) => {
              const share = parts.shares[index]?.[part] ?? 0;
              below += share;
              return <Area key={name} x={percentOf(from / whole)} width={percentOf(width + 0.0003)} y={percentOf(1 - below)} height={percentOf(share)} fill={partFill(name)} title={`${clock(from)}: ${name} ${percent(share)}`} />;
            })}
          </g>
        );
      })}
      {shown && <rect class="shown-range" x={percentOf(shown.from / whole)} width={percentOf((shown.to - shown.from) / whole)} y="0" height="100%" />}
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

/** Spans over the whole run; a click selects one in every chart. Arrow keys move among them, so that many are one stop of Tab. */
function Strip({ run, spans }: { run: RunState; spans: StripSpan[] }) {
  const whole = Math.max(run.view.duration.value, 1e-3);
  const at = useSignal(0);
  const current = Math.min(at.value, spans.length - 1);
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const button = (event.currentTarget as HTMLElement).children[current + by];
    if (button instanceof HTMLElement) button.focus();
  };
  const mark = (span: StripSpan | null) => { run.view.mark.value = span && { from: span.from, to: span.to }; };
  return (
    <div class="strip" onKeyDown={onKey}>
      {spans.map((span, index) => (
        <button key={index} tabIndex={index === current ? 0 : -1} class={`tone-${toneOf(span.text)}`} title={`${span.title}, ${clock(span.from)} to ${clock(span.to)}`} aria-label={`${span.title}, from ${clock(span.from)} to ${clock(span.to)}`}
          style={{ left: `${(span.from / whole) * 100}%`, width: `max(2px, ${((span.to - span.from) / whole) * 100}%)` }}
          onClick={() => { run.view.selection.value = { from: span.from, to: span.to }; }} onFocus={() => { at.value = index; mark(span); }} onBlur={() => mark(null)} onPointerEnter={() => mark(span)} onPointerLeave={() => mark(null)}>
          <span>{span.text}</span>
        </button>
      ))}
    </div>
  );
}
