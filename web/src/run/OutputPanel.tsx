// What the job printed around the time under the cursor.
import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { source } from '../source/current.ts';
import { isAbort, messageOf } from '../source/source.ts';
import type { Output } from '../source/types.ts';
import type { RunState } from '../state/run.ts';
import { clock } from '../format/time.ts';

const linesShown = 200;
const settle = 150; // ms without movement before lines are loaded

export function OutputPanel({ run }: { run: RunState }) {
  const output = useSignal<Output | null>(null);
  const problem = useSignal<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let timer = 0;
    let controller = new AbortController();
    const load = async (at: number) => {
      controller.abort();
      controller = new AbortController();
      try {
        output.value = await source.output(run.id, at, linesShown, controller.signal);
        problem.value = null;
      } catch (error) {
        if (!isAbort(error)) problem.value = messageOf(error);
      }
    };
    const stop = effect(() => {
      if (!run.head.value) return;
      const cursor = run.view.cursor.value;
      const at = cursor ?? run.view.selection.value?.from ?? run.view.shown.value.to;
      clearTimeout(timer);
      timer = window.setTimeout(() => void load(at), output.peek() ? settle : 0);
    });
    return () => {
      stop();
      clearTimeout(timer);
      controller.abort();
    };
  }, [run]);
  useEffect(() => {
    // Only the panel scrolls, never the page.
    const box = list.current;
    const line = box?.querySelector<HTMLElement>('.at');
    if (box && line) box.scrollTop = line.offsetTop - box.clientHeight / 2;
  }, [output.value]);
  const found = output.value;
  return (
    <section class="output" aria-label="Output of the job">
      <h2>Output <span class="muted small">{found?.times === 'estimated' ? 'times are estimated' : found?.times === 'unknown' ? 'times are unknown' : 'follows the cursor'}</span></h2>
      {problem.value && <p class="muted">{problem.value}</p>}
      {found && found.lines.length === 0 && <p class="muted">No output of the job was recorded.</p>}
      {found && found.lines.length > 0 && (
        <div class={`output-lines ${found.times === 'unknown' ? 'without-times' : ''}`} ref={list} tabIndex={0} role="log" aria-live="off" aria-label="Lines around the cursor">
          {found.more_before && <div class="muted">earlier lines: move the cursor back</div>}
          {found.lines.map((line, index) => (
            <div key={index} class={index === found.at ? 'at' : ''}><span class="output-time">{line.time_s === null ? '' : clock(line.time_s, 0.1)}</span><span>{line.text}</span></div>
          ))}
          {found.more_after && <div class="muted">later lines: move the cursor forward</div>}
        </div>
      )}
    </section>
  );
}
