// What the job printed around the time under the cursor. On a wide screen it stays at the bottom of the window, beside whichever chart
// the pointer is on; closed it is one line: that of the cursor.
import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { source } from '../source/current.ts';
import { isAbort, messageOf } from '../source/source.ts';
import type { Output } from '../source/types.ts';
import type { RunState } from '../state/run.ts';
import { isOutputOpen, toggleOutput } from '../state/settings.ts';
import { clock } from '../format/time.ts';
import { saidOfTimes } from './outputTimes.ts';

const linesShown = 200;
const afterAll_s = 1e9;
const settle = 150; // ms without movement before lines are loaded

/** Whether the user marked some of these lines, to copy them perhaps. */
function hasMarked(box: HTMLElement | null): boolean {
  const marked = getSelection();
  return box !== null && marked !== null && !marked.isCollapsed && box.contains(marked.anchorNode);
}

export function OutputPanel({ run }: { run: RunState }) {
  const output = useSignal<Output | null>(null);
  const problem = useSignal<string | null>(null);
  const found = output.value;
  const isOpen = isOutputOpen.value;
  const isDocked = found !== null && found.lines.length > 0;
  const list = useRef<HTMLDivElement>(null);
  /** Where the lines were scrolled to, and whether the user is elsewhere since. */
  const place = useRef({ top: 0, isReading: false });
  useEffect(() => {
    let timer = 0;
    let controller = new AbortController();
    /** What was chosen when lines were last asked for: the cursor or the beginning of the selection. */
    let chosen: number | null = null;
    const isHeld = () => place.current.isReading || hasMarked(list.current);
    const load = async (at: number, isNews: boolean) => {
      controller.abort();
      controller = new AbortController();
      try {
        const found = await source.output(run.id, at, linesShown, controller.signal);
        if (isNews && isHeld()) return;
        output.value = found;
        problem.value = null;
      } catch (error) {
        if (!isAbort(error)) problem.value = messageOf(error);
      }
    };
    const stop = effect(() => {
      if (!run.head.value) return;
      const before = chosen;
      chosen = run.view.cursor.value ?? run.view.selection.value?.from ?? null;
      const end = run.view.shown.value.to;
      // At the end of the run the last lines are wanted; of a live run they are newer than its last samples.
      const at = chosen ?? (end >= run.view.duration.value ? afterAll_s : end);
      // A live run that grows does not take lines away from whoever reads them.
      const isNews = run.view.hasGrown && chosen === before && output.peek() !== null;
      if (isNews && isHeld()) return;
      clearTimeout(timer);
      timer = window.setTimeout(() => void load(at, isNews), output.peek() ? settle : 0);
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
    if (!box) return;
    const line = box.querySelector<HTMLElement>('.at');
    // Without times these are the last lines.
    box.scrollTop = line ? line.offsetTop - box.clientHeight / 2 : box.scrollHeight;
    place.current = { top: box.scrollTop, isReading: false };
  }, [output.value, isOutputOpen.value]);
  useEffect(() => {
    // What is scrolled to, as by a finding or with Tab, ends above the panel.
    const page = document.documentElement.dataset;
    if (!isDocked) return undefined;
    page['output'] = isOpen ? 'open' : 'closed';
    return () => { delete page['output']; };
  }, [isDocked, isOpen]);
  const onScroll = () => {
    const box = list.current;
    // Lines that become longer scroll too.
    if (box?.matches(':hover, :focus')) place.current.isReading = Math.abs(box.scrollTop - place.current.top) > 4;
  };
  if (!found || !isDocked) {
    return (
      <section class="output" aria-label="Output of the job">
        <h2>Output</h2>
        <p class="muted">{problem.value ?? (found ? 'No output of the job was recorded.' : '')}</p>
      </section>
    );
  }
  const line = found.lines[found.at ?? found.lines.length - 1];
  const said = saidOfTimes(found);
  return (
    <section class="output docked" aria-label="Output of the job">
      <h2>
        <button class="link" aria-expanded={isOpen} title="Show the lines, or only the one at the cursor (o)" onClick={toggleOutput}><span aria-hidden="true">{isOpen ? '▾' : '▸'}</span> Output</button>
        {!isOpen && line ? <span class="output-line">{line.time_s !== null && <span class="muted">{clock(line.time_s, 0.1)} </span>}{line.text}</span>
          : <span class="muted small" title={said.title}>{said.text}</span>}
      </h2>
      {problem.value && <p class="muted">{problem.value}</p>}
      {isOpen && (
        <div class={`output-lines ${found.times === 'unknown' ? 'without-times' : ''}`} ref={list} onScroll={onScroll} tabIndex={0} role="log" aria-live="off" aria-label="Lines around the cursor">
          {found.more_before && <div class="muted">{found.times === 'unknown' ? 'earlier lines are not shown' : 'earlier lines: move the cursor back'}</div>}
          {found.lines.map((line, index) => (
            <div key={index} class={index === found.at ? 'at' : ''}><span class="output-time">{line.time_s === null ? '' : clock(line.time_s, 0.1)}</span><span>{line.text}</span></div>
          ))}
          {found.more_after && <div class="muted">later lines: move the cursor forward</div>}
        </div>
      )}
    </section>
  );
}
