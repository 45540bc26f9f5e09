// Arrow keys on a focused chart move the cursor; Shift selects on the way.
import type { RunState } from '../state/run.ts';

export function moveCursorByKey(event: KeyboardEvent, run: RunState): void {
  if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  const { view } = run;
  const { from, to } = view.shown.value;
  const step = ((to - from) / 100) * (event.key === 'ArrowLeft' ? -1 : 1);
  const before = view.cursor.value ?? (from + to) / 2;
  const after = Math.min(to, Math.max(from, before + step));
  view.cursor.value = after;
  if (!event.shiftKey) return;
  const selection = view.selection.value;
  // The edge that the cursor was at moves; the other one stays.
  const fixed = selection === null ? before : Math.abs(selection.from - before) < Math.abs(selection.to - before) ? selection.to : selection.from;
  view.selection.value = { from: Math.min(fixed, after), to: Math.max(fixed, after) };
}
