// The table; only rows in view exist, so that 10,000 stay fast.
import { effect, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { details, loadDetails, now, outdated, picked, togglePicked } from '../state/runs.ts';
import { runLink } from '../state/route.ts';
import { integer, plain } from '../format/number.ts';
import { absolute, duration, relative } from '../format/time.ts';
import { commandLine, count, outcomeWords, verdictWords } from '../format/words.ts';
import { durationOf, statusOf, stepsOf, tagsOf, type Row, type Sort, type SortKey } from './rows.ts';
import { Sparkline } from './Sparkline.tsx';

const rowHeight = 36;
const spare = 8; // rows drawn above and below what is seen

interface Props {
  rows: ReadonlySignal<Row[]>;
  sort: Signal<Sort>;
  /** The key of the current row, and where it is. */
  current: Signal<string | null>;
  place: ReadonlySignal<number>;
  open: ReadonlySet<string>;
  onToggle: (row: Row) => void;
}

const headings: { by: SortKey; text: string; name: string }[] = [
  { by: 'status', text: '', name: 'status' }, { by: 'name', text: 'name', name: 'name' }, { by: 'verdict', text: 'verdict', name: 'verdict' },
  { by: 'duration', text: 'duration', name: 'number' }, { by: 'steps', text: 'steps', name: 'number steps' }, { by: 'speed', text: 'steps/s', name: 'number speed' },
  { by: 'loss', text: 'loss', name: 'spark' }, { by: 'started', text: 'started', name: 'started' }, { by: 'host', text: 'host', name: 'host' }, { by: 'tags', text: 'tags', name: 'tags' },
];

export function RunsTable({ rows, sort, current, place, open, onToggle }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const first = useSignal(0);
  const seen = useSignal(30);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const look = () => {
      first.value = Math.max(0, Math.floor(element.scrollTop / rowHeight) - spare);
      seen.value = Math.ceil(element.clientHeight / rowHeight) + 2 * spare;
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      observer.disconnect();
    };
  }, []);
  useEffect(() => effect(() => {
    // A row that becomes the current one is brought into view; other runs that come do not scroll.
    if (current.value === null) return;
    const top = place.peek() * rowHeight;
    const element = box.current;
    if (!element) return;
    const header = rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight + header > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight + header - element.clientHeight;
  }), []);
  const visible = rows.value.slice(first.value, first.value + seen.value);
  const known = details.value;
  const old = outdated.value;
  useEffect(() => {
    const timer = setTimeout(() => void loadDetails(visible.map((row) => row.run.id)), 80);
    return () => clearTimeout(timer);
  }, [rows.value, first.value, seen.value, known, old]);
  return (
    <div class="runs-box" ref={box} tabIndex={0} role="region" aria-label="Table of runs">
      <table class="runs-table" aria-rowcount={rows.value.length + 1}>
        <thead>
          <tr>
            <th scope="col" class="pick"><span class="sr-only">pick</span></th>
            {headings.map((heading) => <Heading key={heading.name + heading.text} {...heading} sort={sort} />)}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={first.value} />
          {visible.map((row, index) => <RunRowView key={row.key} row={row} index={first.value + index} isCurrent={first.value + index === place.value} isOpen={open.has(row.key)} onToggle={onToggle} onFocus={() => { current.value = row.key; }} />)}
          <Spacer rows={Math.max(0, rows.value.length - first.value - visible.length)} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ rows }: { rows: number }) {
  return rows > 0 ? <tr aria-hidden="true"><td colSpan={headings.length + 1} style={{ height: `${rows * rowHeight}px`, padding: 0, border: 0 }} /></tr> : null;
}

function Heading({ by, text, name, sort }: { by: SortKey; text: string; name: string; sort: Signal<Sort> }) {
  const isBy = sort.value.by === by;
  const order = isBy ? (sort.value.isDescending ? 'descending' : 'ascending') : undefined;
  const change = () => { sort.value = { by, isDescending: isBy ? !sort.value.isDescending : ['started', 'duration', 'steps', 'speed'].includes(by) }; };
  return <th scope="col" class={name} aria-sort={order}><button onClick={change} aria-label={`Sort by ${by === 'speed' ? text : by === 'loss' ? 'last loss' : by}`}>{text || '●'}{isBy ? (sort.value.isDescending ? ' ↓' : ' ↑') : ''}</button></th>;
}

interface RowProps {
  row: Row;
  index: number;
  isCurrent: boolean;
  isOpen: boolean;
  onToggle: (row: Row) => void;
  onFocus: () => void;
}

const statusSigns: Record<string, string> = { running: '●', ended: '■', failed: '✗', damaged: '▲' };

function RunRowView({ row, index, isCurrent, isOpen, onToggle, onFocus }: RowProps) {
  const { run } = row;
  const ids = row.members.length > 0 ? row.members.map((member) => member.id) : [run.id];
  const isPicked = ids.every((id) => picked.value.has(id));
  const more = details.value.get(run.id);
  const all = row.members.length > 0 ? row.members : [run];
  // Of a group, what matters most.
  const worst = ['running', 'damaged', 'failed'].map((one) => all.find((member) => statusOf(member) === one)).find((one) => one !== undefined) ?? run;
  const status = statusOf(worst);
  const why = worst.problem ?? (status === 'failed' ? `${status}: ${outcomeWords(worst)}` : status);
  const label = run.name ?? run.id;
  return (
    <tr class={`${isCurrent ? 'current' : ''} ${row.kind} ${isPicked ? 'picked' : ''}`} aria-rowindex={index + 2} aria-current={isCurrent ? 'true' : undefined} onPointerDown={onFocus}>
      <td class="pick"><input type="checkbox" checked={isPicked} aria-label={`Pick ${label}`} onChange={() => togglePicked(ids)} /></td>
      <td class={`status ${status}`}><span title={why} role="img" aria-label={why}>{statusSigns[status] ?? '○'}</span></td>
      <td class="name">
        {row.members.length > 0 && <button class="icon" aria-expanded={isOpen} aria-label={`${isOpen ? 'Close' : 'Open'} the ${row.kind} of ${label}`} onClick={() => onToggle(row)}>{isOpen ? '▾' : '▸'}</button>}
        <a href={runLink(run.id)} title={commandLine(run.command)}>{label}</a>
        {row.kind === 'ranks' && <span class="muted"> {count(row.members.length, 'rank')}</span>}
        {row.kind === 'repeats' && <span class="muted"> {count(row.members.length, 'repeat')}</span>}
        {row.kind === 'member' && <span class="muted"> {run.group ? `rank ${run.group.rank}` : `repeat ${run.repeat?.index ?? ''}`}</span>}
      </td>
      <td class="verdict">{verdictWords(run.verdict)}</td>
      <td class="number">{duration(durationOf(run, details.value))}</td>
      <td class="number steps">{integer(stepsOf(run, details.value))}</td>
      <td class="number speed">{plain(more?.steps_per_s)}</td>
      <td class="spark">{more?.loss && <Sparkline values={more.loss} name={more.name_of_loss ?? 'loss'} />}</td>
      <td class="started"><time dateTime={run.started ?? ''} title={absolute(run.started)}>{relative(run.started, now.value)}</time></td>
      <td class="host">{run.host ?? ''}</td>
      <td class="tags">{tagsOf(run, row.members).map((tag) => <span class="tag" key={tag}>{tag}</span>)}</td>
    </tr>
  );
}
