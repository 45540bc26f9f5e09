// How the run was recorded, and notes that change how it is to be read.
import type { RunState } from '../state/run.ts';
import { integer } from '../format/number.ts';
import { overheadText } from '../format/overhead.ts';
import { duration } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';

export function RunFacts({ run }: { run: RunState }) {
  const info = run.info.value;
  if (!info) return null;
  const { sampling, overhead, host } = info;
  const facts: [string, string][] = [
    ['machine', [host.name, host.cpu_model, host.threads === null ? null : `${host.threads} processors`, host.memory_bytes === null ? null : formatValue(host.memory_bytes, 'By')].filter((part) => part !== null && part !== undefined).join(', ')],
    ['sampling', `every ${duration(sampling.period_s)}: ${integer(sampling.samples)} samples, ${integer(sampling.missed)} missed, ${integer(sampling.gaps.length + (sampling.left_out_gaps ?? 0))} gaps`],
    ['overhead', overheadText(overhead, info.run.duration_s)],
    ['steps', info.steps?.count ? `${integer(info.steps.count)}, reported by ${info.steps.source ?? 'unknown'}, ${duration(info.steps.mean_s)} on average` : (info.steps?.reason ?? 'none')],
  ];
  return (
    <section class="facts-table" aria-label="How it was recorded">
      <h2>How it was recorded</h2>
      <dl>{facts.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      {(info.run.notes ?? []).map((note) => <p class="muted" key={note}>Note: {note}.</p>)}
    </section>
  );
}
