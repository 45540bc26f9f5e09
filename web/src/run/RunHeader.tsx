// Which run this is and whether it still runs.
import type { RunState } from '../state/run.ts';
import { absolute, clock, duration } from '../format/time.ts';
import { save } from '../charts/download.ts';
import { Menu } from '../parts/Menu.tsx';
import { commandLine, outcomeWords } from '../format/words.ts';
import { integer } from '../format/number.ts';

export function RunHeader({ run }: { run: RunState }) {
  const head = run.head.value?.run;
  // Of a run that ended while the page was open, the head is of before.
  const job = run.info.value?.job ?? head;
  const outcome = job && run.live.value !== 'live' ? outcomeWords(job) : '';
  return (
    <header class="run-header">
      <h1>{head ? (head.name ?? head.id) : run.id}</h1>
      {head && head.name && <span class="muted mono">{head.id}</span>}
      <Status run={run} />
      {head && (
        <span class="muted facts">
          <span title={`started ${absolute(head.started)}`}>{absolute(head.started)}</span>
          {' · '}{duration(run.view.duration.value)}
          {outcome !== '' && <> · {outcome}</>}
          {head.group && <> · rank {head.group.rank} of {head.group.world_size}</>}
        </span>
      )}
      {head && Object.entries(head.tags).map(([key, value]) => <span class="tag" key={key}>{key}={value}</span>)}
      {run.diagnosis.value && run.info.value && <Menu label="Download" text="⤓" items={[
        { text: 'Diagnosis as JSON', act: () => save(`${run.id}-diagnosis.json`, JSON.stringify(run.diagnosis.peek(), null, 1), 'application/json') },
        { text: 'Metrics as JSON', act: () => save(`${run.id}-info.json`, JSON.stringify(run.info.peek(), null, 1), 'application/json') },
      ]} />}
      {head && <code class="command" title="the command of the job">{commandLine(head.command)}</code>}
      {head?.note && <p class="note-text">{head.note}</p>}
    </header>
  );
}

function Status({ run }: { run: RunState }) {
  const head = run.head.value?.run;
  const now = run.now.value;
  if (!head) return null;
  if (run.live.value === 'live') {
    return (
      <span class="status live" role="status">
        <span class="dot" aria-hidden="true" /> live {clock(now?.duration_s ?? run.view.duration.value)}
        {now?.steps !== null && now !== null && <> · {integer(now.steps)} steps</>}
        {now !== null && (now.missed ?? 0) > 0 && <> · {integer(now.missed)} missed sample{now.missed === 1 ? '' : 's'}</>}
      </span>
    );
  }
  if (run.live.value === 'written') return <span class="status">● still running when this report was written</span>;
  if (run.live.value === 'lost') return <span class="status lost" role="status">◌ connection lost at {clock(run.view.duration.value)}; trying again</span>;
  if (run.live.value === 'refused') return <span class="status lost" role="status">◌ connection lost at {clock(run.view.duration.value)}: {run.refusal.value}</span>;
  if (run.live.value === 'damaged') return <span class="status damaged" role="status">▲ damaged: the recorder did not finish this run</span>;
  if (now?.recorder_gone) return <span class="status damaged" role="status">▲ the recorder is gone: what came after {clock(run.view.duration.value)} was not recorded</span>;
  return now ? <span class="status" role="status">■ ended while you watched</span> : null;
}
