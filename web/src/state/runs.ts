// The list of runs, what is known of visible rows, and which runs were picked to be compared.
import { signal } from '@preact/signals';
import { source } from '../source/current.ts';
import { messageOf } from '../source/source.ts';
import type { RunListing, RunRow } from '../source/types.ts';

export const runs = signal<RunListing[] | null>(null);
export const runsError = signal<string | null>(null);
export const picked = signal<ReadonlySet<string>>(new Set());
export const details = signal<ReadonlyMap<string, RunRow>>(new Map());
/** Runs of which more is known now than their details say: they are shown until newer ones arrive. */
export const outdated = signal<ReadonlySet<string>>(new Set());
/** For what is said relative to it: a list that stays the same is not drawn again. */
export const now = signal(Date.now());

const rowsPerRequest = 64;
const whileRunning = 5_000;
const otherwise = 30_000;
const minute = 60_000;

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
  now.value = Date.now();
  const clock = setInterval(() => { now.value = Date.now(); }, minute);
  return () => {
    isStopped = true;
    clearInterval(clock);
    clearTimeout(timer);
  };
}

/** Runs that were outdated and could not be loaded: they are again with the next list. */
const failed = new Set<string>();

/** Speed and loss of a running job change, also of one that has ended since: they are loaded again. */
export function outdate(before: readonly RunListing[], now: readonly RunListing[]): void {
  const running = [...before, ...now].filter((run) => run.status === 'running').map((run) => run.id);
  const more = [...running, ...failed];
  failed.clear();
  if (more.length > 0) outdated.value = new Set([...outdated.peek(), ...more]);
}

const pending = new Set<string>();

export async function loadDetails(ids: string[]): Promise<void> {
  const wanted = ids.filter((id) => (!details.peek().has(id) || outdated.peek().has(id)) && !pending.has(id)).slice(0, rowsPerRequest);
  if (wanted.length === 0) return;
  for (const id of wanted) pending.add(id);
  // What becomes outdated while it is asked for is asked for again.
  const old = wanted.filter((id) => outdated.peek().has(id));
  if (old.length > 0) outdated.value = new Set([...outdated.peek()].filter((id) => !old.includes(id)));
  try {
    const rows = await source.rows(wanted);
    const known = new Map(details.peek());
    // Of whom nothing is told, nothing is known: they are not asked for again and again.
    for (const id of wanted) if (!known.has(id)) known.set(id, { id, duration_s: null, steps: null, steps_per_s: null, loss: null, name_of_loss: null });
    for (const row of rows) known.set(row.id, row);
    details.value = known;
  } catch {
    // The table works without; the next scroll or the next list tries again.
    for (const id of old) failed.add(id);
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

/** Of these runs, ranks that have the first one of their job among them are left out; the ranks of a single job stay. */
function withoutOtherRanks(runs: readonly RunListing[]): RunListing[] {
  const job = (run: RunListing) => run.group?.job ?? null;
  const isSingle = runs.every((run) => job(run) !== null && job(run) === job(runs[0] ?? run));
  const isLater = (run: RunListing) => runs.some((other) => job(other) === job(run) && (other.group?.rank ?? 0) < (run.group?.rank ?? 0));
  return runs.filter((run) => isSingle || job(run) === null || !isLater(run));
}

/**
 * The older of two runs is the baseline; repeats are one side. Of the ranks of a job the first is compared with other runs, as
 * `compare` does: ranks wait for each other, so they are no repeats.
 */
export function compareLink(all: readonly RunListing[], ids: ReadonlySet<string>): string {
  const chosen = withoutOtherRanks(all.filter((run) => ids.has(run.id))).sort((a, b) => ((a.started ?? '') < (b.started ?? '') ? -1 : 1));
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
