// All runs: search, order, open, compare.
import { batch, effect, useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useKeys } from '../keys/keys.ts';
import { openRows, parseSearch, placeOf, rowsOf, type Row, type Sort, type SortKey } from '../runs/rows.ts';
import { RunsTable } from '../runs/RunsTable.tsx';
import { compareLink, details, loadDetails, picked, runs, runsError, togglePicked, watchRuns } from '../state/runs.ts';
import { go, parseRoute, replaceParams, route, runLink } from '../state/route.ts';
import { integer } from '../format/number.ts';

const sortKeys: SortKey[] = ['started', 'name', 'verdict', 'duration', 'steps', 'speed', 'loss', 'status', 'host', 'tags'];

function readSort(text: string | null): Sort {
  const by = sortKeys.find((key) => key === text?.replace('-', ''));
  return by ? { by, isDescending: text?.startsWith('-') ?? false } : { by: 'started', isDescending: true };
}

/** Of runs that are being recorded only their rows have these; of any run only its row has speed and loss. */
const isByDetails = ({ by }: Sort) => by === 'duration' || by === 'steps' || isOnlyInDetails(by);
const isOnlyInDetails = (by: SortKey) => by === 'speed' || by === 'loss';

export function RunsPage() {
  const params = parseRoute(location.hash).params;
  const typed = useSignal(params.get('q') ?? '');
  const sort = useSignal<Sort>(readSort(params.get('sort')));
  const open = useSignal<ReadonlySet<string>>(new Set());
  const current = useSignal<string | null>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  useEffect(() => watchRuns(), []);
  useEffect(() => { document.title = 'Runs – Trainscope'; }, []);
  useEffect(() => {
    const pick = route.value.params.get('pick');
    if (pick) picked.value = new Set([...picked.peek(), pick]);
    replaceParams({ pick: null });
  }, [route.value]);
  useEffect(() => replaceParams({ q: typed.value, sort: sort.value.by === 'started' && sort.value.isDescending ? null : `${sort.value.isDescending ? '-' : ''}${sort.value.by}` }), [typed.value, sort.value]);
  const search = useComputed(() => parseSearch(typed.value));
  const rows = useComputed(() => openRows(rowsOf(runs.value ?? [], search.value, sort.value, isByDetails(sort.value) ? details.value : undefined), open.value));
  const lastPlace = useRef(0);
  const place = useComputed(() => (lastPlace.current = placeOf(rows.value, current.value, lastPlace.current)));
  // The first row is the current one until another is; a newer run does not take its place.
  useEffect(() => effect(() => { if (current.value === null) current.value = rows.value[0]?.key ?? null; }), []);
  // Runs, not rows: a group is one row.
  const found = useComputed(() => (runs.value ?? []).filter(search.value.test).length);
  // To sort by what only rows have, those of all runs are needed, not only of those that are seen.
  useEffect(() => effect(() => {
    if (isOnlyInDetails(sort.value.by)) void loadDetails((runs.value ?? []).filter(search.value.test).map((run) => run.id).filter((id) => !details.value.has(id)));
  }), []);
  const missing = useComputed(() => (isOnlyInDetails(sort.value.by) ? (runs.value ?? []).filter((run) => search.value.test(run) && !details.value.has(run.id)).length : 0));
  const toggle = (row: Row) => {
    const changed = new Set(open.value);
    if (!changed.delete(row.key)) changed.add(row.key);
    open.value = changed;
  };
  useKeys(useMemo(() => {
    const at = () => rows.peek()[place.peek()];
    const move = (by: number) => { current.value = rows.peek()[Math.max(0, Math.min(rows.peek().length - 1, place.peek() + by))]?.key ?? null; };
    const enter = () => {
      const row = at();
      if (row && row.members.length > 0) toggle(row);
      else if (row) go(runLink(row.run.id));
    };
    return [
      { keys: ['j', 'ArrowDown'], shown: 'j ↓', text: 'next run', act: () => move(1) },
      { keys: ['k', 'ArrowUp'], shown: 'k ↑', text: 'previous run', act: () => move(-1) },
      { keys: ['PageDown'], shown: 'PageDown', text: '20 runs down', act: () => move(20) },
      { keys: ['PageUp'], shown: 'PageUp', text: '20 runs up', act: () => move(-20) },
      { keys: ['Enter'], shown: 'Enter', text: 'open the run or the group', act: enter },
      { keys: ['x'], shown: 'x', text: 'pick the run for a comparison', act: () => { const row = at(); if (row) togglePicked(idsOf(row)); } },
      { keys: ['c'], shown: 'c', text: 'compare the picked runs', act: () => { if (picked.peek().size > 1) go(compareLink(runs.peek() ?? [], picked.peek())); } },
      { keys: ['/'], shown: '/', text: 'search', act: () => searchBox.current?.focus() },
      { keys: ['Escape'], shown: 'Esc', text: 'unpick all', act: () => { picked.value = new Set(); } },
    ];
  }, []));
  const all = runs.value;
  return (
    <main class="page runs-page">
      <div class="runs-head">
        <h1>Runs</h1>
        <input ref={searchBox} class="search" type="search" placeholder="text, tag:lr=0.1, status:failed or /regex/" aria-label="Search runs" aria-invalid={search.value.problem !== null} value={typed.value}
          onInput={(event) => { batch(() => { typed.value = event.currentTarget.value; current.value = null; }); }} onKeyDown={(event) => { if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur(); }} />
        <span class="muted" role="status">{search.value.problem ?? (all ? `${typed.value.trim() === '' ? '' : `${integer(found.value)} of `}${integer(all.length)} ${all.length === 1 ? 'run' : 'runs'}${missing.value > 0 ? `, reading ${integer(missing.value)} more to sort them` : ''}` : '')}</span>
      </div>
      {runsError.value && <p class="card problem" role="alert">{runsError.value}</p>}
      {all?.length === 0 && <div class="card"><p class="sentence">No runs yet.</p><p>Record one with <code>trainscope run -- COMMAND</code>, or try <code>trainscope demo</code>.</p></div>}
      {all && all.length > 0 && rows.value.length === 0 && <p class="card">No run matches. <button class="link" onClick={() => { typed.value = ''; }}>Show all</button></p>}
      {all && rows.value.length > 0 && <RunsTable rows={rows} sort={sort} current={current} place={place} open={open.value} onToggle={toggle} />}
      {!all && !runsError.value && <div aria-busy="true">{[1, 2, 3, 4, 5].map((index) => <div class="skeleton row-skeleton" key={index} />)}</div>}
      {picked.value.size > 0 && (
        <div class="compare-bar" role="region" aria-label="Picked runs">
          <span>{integer(picked.value.size)} picked</span>
          <button class="primary" disabled={picked.value.size < 2} onClick={() => go(compareLink(all ?? [], picked.value))}>Compare {picked.value.size > 1 ? `${picked.value.size} runs` : '(pick another)'}</button>
          <button onClick={() => { picked.value = new Set(); }}>Unpick all</button>
        </div>
      )}
    </main>
  );
}

export const idsOf = (row: Row) => (row.members.length > 0 ? row.members.map((run) => run.id) : [row.run.id]);
