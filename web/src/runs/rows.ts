// The rows of the table of runs: search, groups and order. Pure, so that 10,000 runs can be tested.
import type { RunListing, RunRow } from '../source/types.ts';

export interface Row {
  key: string;
  run: RunListing;
  /** Members of a group, first rank or repeat first; none for a single run. */
  members: RunListing[];
  kind: 'run' | 'ranks' | 'repeats' | 'member';
}

export type SortKey = 'started' | 'name' | 'verdict' | 'duration' | 'steps' | 'speed' | 'loss' | 'status' | 'host' | 'tags';
export interface Sort {
  by: SortKey;
  isDescending: boolean;
}

export interface Search {
  test: (run: RunListing) => boolean;
  problem: string | null;
}

/** As `list --status` names it: a job that --for stopped did not fail, nor one whose outcome is unknown. */
export function statusOf(run: RunListing): string {
  if (run.status !== 'ended') return run.status;
  const isBroken = run.ended_by === 'signal' || run.ended_by === 'not_started';
  return isBroken || (run.ended_by === 'exit' && run.exit_code !== 0) ? 'failed' : 'ended';
}

const textOf = (run: RunListing) =>
  [run.id, run.name, run.note, run.host, run.verdict, run.status, run.command.join(' '), run.group?.job, ...Object.entries(run.tags).map(([key, value]) => `${key}=${value}`)]
    .filter((part) => part !== null && part !== undefined).join('\n');

/** Words, tag:KEY=VALUE, status:WORD, verdict:WORD, host:WORD and /REGEX/; all of them must match. */
export function parseSearch(typed: string): Search {
  const tests: ((run: RunListing) => boolean)[] = [];
  let problem: string | null = null;
  for (const part of typed.match(/\/(?:\\.|[^/\\])*\/|\S+/g) ?? []) {
    const field = /^(tag|status|verdict|host):(.*)$/.exec(part);
    if (part.length > 1 && part.startsWith('/') && part.endsWith('/')) {
      try {
        const pattern = new RegExp(part.slice(1, -1), 'im');
        tests.push((run) => pattern.test(textOf(run)));
      } catch (error) {
        problem = error instanceof Error ? error.message : String(error);
      }
    } else if (field?.[1] === 'tag') tests.push(tagTest(field[2] ?? ''));
    else if (field?.[1] === 'status') tests.push((run) => [run.status, statusOf(run)].some((status) => status.includes(field[2] ?? '')));
    else if (field) tests.push((run) => String(run[field[1] as 'verdict' | 'host'] ?? '').includes(field[2] ?? ''));
    else tests.push((run) => textOf(run).toLowerCase().includes(part.toLowerCase()));
  }
  return { test: (run) => tests.every((test) => test(run)), problem };
}

function tagTest(text: string): (run: RunListing) => boolean {
  const cut = text.indexOf('=');
  if (cut < 0) return (run) => run.tags[text] !== undefined;
  return (run) => run.tags[text.slice(0, cut)] === text.slice(cut + 1);
}

const groupKey = (run: RunListing): string | null => {
  // Of ranks of which no job was recorded it is unknown whether they belong together.
  if (run.group) return run.group.job === null ? null : `ranks ${run.group.job}`;
  return run.repeat ? `repeats ${run.repeat.group}` : null;
};

/** What is known of runs besides their listing, by id. */
export type Known = ReadonlyMap<string, RunRow>;
/** Of a run that is being recorded the list knows neither; how far it is comes with its row. */
export const durationOf = (run: RunListing, known: Known) => run.duration_s ?? known.get(run.id)?.duration_s ?? null;
export const stepsOf = (run: RunListing, known: Known) => run.steps ?? known.get(run.id)?.steps ?? null;

/** Newest first; ranks of a job and repeats are one row. A group is found if one of its runs is. */
export function rowsOf(runs: readonly RunListing[], search: Search, sort: Sort, known: Known = new Map()): Row[] {
  const groups = new Map<string, RunListing[]>();
  const rows: Row[] = [];
  for (const run of runs) {
    if (!search.test(run)) continue;
    const key = groupKey(run);
    const known = key === null ? undefined : groups.get(key);
    if (known) known.push(run);
    else if (key !== null) {
      const members = [run];
      groups.set(key, members);
      rows.push({ key, run, members, kind: run.group ? 'ranks' : 'repeats' });
    } else rows.push({ key: run.id, run, members: [], kind: 'run' });
  }
  for (const row of rows) {
    if (row.kind === 'run') continue;
    row.members.sort((a, b) => (a.group?.rank ?? a.repeat?.index ?? 0) - (b.group?.rank ?? b.repeat?.index ?? 0));
    row.run = row.members[0] ?? row.run;
  }
  const values = new Map(rows.map((row) => [row, sort.by === 'tags' ? tagsOf(row.run, row.members).join(' ') || null : valueOf(row.run, sort.by, known)]));
  return rows.sort((a, b) => compareRows(a.run, b.run, values.get(a) ?? null, values.get(b) ?? null, sort.isDescending));
}

const lastOf = (values: readonly (number | null)[] | null | undefined) => values?.findLast((value) => value !== null) ?? null;

/** As text. Of a group, those that all of it have: each repeat has its own number as one. */
export function tagsOf(run: RunListing, members: readonly RunListing[] = []): string[] {
  const isCommon = (key: string) => members.every((member) => member.tags[key] === run.tags[key]);
  return Object.entries(run.tags).filter(([key]) => isCommon(key)).map(([key, value]) => `${key}=${value}`);
}

function valueOf(run: RunListing, by: SortKey, known: Known): string | number | null {
  switch (by) {
    case 'started': return run.started;
    case 'name': return (run.name ?? run.id).toLowerCase();
    case 'verdict': return run.verdict;
    case 'duration': return durationOf(run, known);
    case 'steps': return stepsOf(run, known);
    case 'status': return statusOf(run);
    case 'speed': return known.get(run.id)?.steps_per_s ?? null;
    case 'loss': return lastOf(known.get(run.id)?.loss);
    case 'host': return run.host;
    case 'tags': return null; // of rows, not of runs
  }
}

/** What is unknown comes last in both directions. */
function compareRows(a: RunListing, b: RunListing, first: string | number | null, second: string | number | null, isDescending: boolean): number {
  if (first === null || second === null) return Number(first === null) - Number(second === null) || (a.id < b.id ? 1 : -1);
  if (first === second) return a.id < b.id ? 1 : -1;
  return (first < second ? -1 : 1) * (isDescending ? -1 : 1);
}

/** The rows with those of open groups below their group. */
export function openRows(rows: readonly Row[], open: ReadonlySet<string>): Row[] {
  return rows.flatMap((row) => [row, ...(open.has(row.key) ? row.members.map((run): Row => ({ key: `${row.key} ${run.id}`, run, members: [], kind: 'member' })) : [])]);
}

/** Where the row of a key is; where it was before if it is gone. */
export function placeOf(rows: readonly Row[], key: string | null, before: number): number {
  const at = rows.findIndex((row) => row.key === key);
  return at >= 0 ? at : Math.max(0, Math.min(before, rows.length - 1));
}
