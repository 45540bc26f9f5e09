// Which runs are on which side; each can be moved.
import { runLink } from '../state/route.ts';
import { source } from '../source/current.ts';
import { Menu } from '../parts/Menu.tsx';
import { save } from '../charts/download.ts';
import { clock } from '../format/time.ts';
import { comparisonCsv } from './csv.ts';
import { Swatch } from '../charts/Legend.tsx';
import type { CompareState, ComparedRun, Side } from './state.ts';

const titles: Record<Side, string> = { a: 'A', b: 'B', more: 'also drawn' };

export function Sides({ state }: { state: CompareState }) {
  return (
    <div class="compare-head">
      {(['a', 'b', 'more'] as const).map((side) => {
        const runs = state.runs.value.filter((run) => run.side === side);
        if (runs.length === 0 && side === 'more') return null;
        return (
          <div class="side" key={side}>
            <span class="side-name">{titles[side]}</span>
            {runs.map((run) => <Chip key={run.id} run={run} state={state} />)}
            {runs.length === 0 && <span class="muted">no run</span>}
          </div>
        );
      })}
      {!source.isReport && <button onClick={() => state.swap()}>swap A and B</button>}
      {state.document.value && <Menu label="Download the comparison" text="⤓" items={[
        { text: 'Comparison as JSON', act: () => save('comparison.json', JSON.stringify(state.document.peek(), null, 1), 'application/json') },
        { text: 'Metrics as CSV', act: () => save('comparison.csv', comparisonCsv(state.document.peek()?.metrics ?? []), 'text/csv') },
      ]} />}
    </div>
  );
}

function Chip({ run, state }: { run: ComparedRun; state: CompareState }) {
  const name = run.head?.run.name ?? run.id;
  const others = (['a', 'b', 'more'] as const).filter((side) => side !== run.side);
  return (
    <span class="chip" title={run.problem ?? run.id}>
      <Swatch index={state.runs.value.indexOf(run)} />
      <a href={runLink(run.id)}>{name}</a>
      <Status run={run} state={state} />
      {run.problem && <span title={run.problem} aria-label={run.problem} role="img">▲</span>}
      {!source.isReport && others.map((side) => <button key={side} aria-label={`Move ${name} to ${titles[side]}`} title={`Move to ${titles[side]}`} onClick={() => state.move(run.id, side)}>{side === 'more' ? '○' : titles[side]}</button>)}
      {!source.isReport && <button aria-label={`Remove ${name}`} title="Remove" onClick={() => state.move(run.id, null)}>×</button>}
    </span>
  );
}

function Status({ run, state }: { run: ComparedRun; state: CompareState }) {
  const at = clock(run.info?.run.duration_s ?? 0);
  const live = state.liveOf(run);
  if (live === 'live') return <span class="status live"><span class="dot" aria-hidden="true" /> live {at}</span>;
  return live === 'lost' ? <span class="status lost" role="status">◌ connection lost at {at}</span> : null;
}
