// The list of runs, what is known of visible rows, and which runs were picked to be compared.
import { batch, signal } from '@preact/signals';
import { source } from '../source/current.ts';
import type { RunListing, RunRow } from '../source/types.ts';
import { messageOf } from './run.ts';

export const runs = signal<RunListing[] | null>(null);
export const runsError = signal<string | null>(null);
export const picked = signal<ReadonlySet<string>>(new Set());
export const details = signal<ReadonlyMap<string, RunRow>>(new Map());
/** Runs of which more is known now than their details say: they are shown until newer ones arrive. */
export const outdated = signal<ReadonlySet<string>>(new Set());

const rowsPerRequest = 64;
const whileRunning = 5_000;
const otherwise = 30_000;

/** Loads the list now and then again; returns what ends that. */
export function watchRuns(): () => void {
  let timer = 0;
  let isStopped = false;
  const load = async () => {
    try {
      if (!document.hidden || runs.peek() === null) {
        const before = runs.peek() ?? [];
        runs.value = await source.runs();
        outdate(before, runs.value);
        runsError.value = null;
      }
    } catch (error) {
      runsError.value = messageOf(error);
    }
    const isAnyRunning = runs.value?.some((run) => run.status === 'running') ?? false;
    if (!isStopped && !source.isReport) timer = window.setTimeout(() => void load(), isAnyRunning ? whileRunning : otherwise);
  };
  void load();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Speed and loss of a running job change, also of one that has ended since: they are loaded again. */
export function outdate(before: readonly RunListing[], now: readonly RunListing[]): void {
  const running = [...before, ...now].filter((run) => run.status === 'running').map((run) => run.id);
  if (running.length > 0) outdated.value = new Set([...outdated.peek(), ...running]);
}

const pending = new Set<string>();

export async function loadDetails(ids: string[]): Promise<void> {
  const wanted = ids.filter((id) => (!details.peek().has(id) || outdated.peek().has(id)) && !pending.has(id)).slice(0, rowsPerRequest);
  if (wanted.length === 0) return;
  for (const id of wanted) pending.add(id);
  try {
    const rows = await source.rows(wanted);
    const known = new Map(details.peek());
    const old = new Set(outdated.peek());
    for (const row of rows) {
      known.set(row.id, row);
      old.delete(row.id);
    }
    batch(() => {
      details.value = known;
      outdated.value = old;
    });
  } catch {
    // The table works without; the next scroll tries again.
  } finally {
    for (const id of wanted) pending.delete(id);
  }
}

export function togglePicked(ids: string[]): void {
  const changed = new Set(picked.value);
  const isOn = ids.every((id) => changed.has(id));
  for (const id of ids) {
    if (isOn) changed.delete(id);
    else changed.add(id);
  }
  picked.value = changed;
}

/** The older of two runs is the baseline; ranks and repeats of one name are one side. */
export function compareLink(all: readonly RunListing[], ids: ReadonlySet<string>): string {
  const chosen = all.filter((run) => ids.has(run.id)).sort((a, b) => ((a.started ?? '') < (b.started ?? '') ? -1 : 1));
  const side = (run: RunListing) => run.repeat?.group ?? run.id;
  const first = chosen[0];
  if (!first) return '#/compare';
  const a = chosen.filter((run) => side(run) === side(first));
  const others = chosen.filter((run) => side(run) !== side(first));
  const second = others[0];
  const b = second ? others.filter((run) => side(run) === side(second)) : a.splice(1);
  const more = second ? others.filter((run) => side(run) !== side(second)) : [];
  const list = (some: RunListing[]) => some.map((run) => encodeURIComponent(run.id)).join(',');
  return `#/compare?a=${list(a)}&b=${list(b)}${more.length > 0 ? `&more=${list(more)}` : ''}`;
}
