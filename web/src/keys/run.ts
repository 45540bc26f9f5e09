// Keys of the page of a run.
import { findingKey, type RunState } from '../state/run.ts';
import { toggleOutput } from '../state/settings.ts';
import type { Key } from './keys.ts';

function focusId(id: string): void {
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: 'nearest' });
  element?.focus();
}

export function runKeys(run: RunState): Key[] {
  const { view } = run;
  return [
    { keys: ['a', 'ArrowLeft'], shown: 'a ←', text: 'move back in time', act: () => view.pan(-0.25) },
    { keys: ['d', 'ArrowRight'], shown: 'd →', text: 'move forward in time', act: () => view.pan(0.25) },
    { keys: ['w', '+', '='], shown: 'w +', text: 'zoom in', act: () => view.zoom(0.5) },
    { keys: ['s', '-'], shown: 's −', text: 'zoom out', act: () => view.zoom(2) },
    { keys: ['0', 'Home'], shown: '0 Home', text: 'show the whole run', act: () => view.showWhole() },
    { keys: ['z'], shown: 'z', text: 'zoom to the selection', act: () => view.zoomToSelection() },
    { keys: ['Escape'], shown: 'Esc', text: 'clear the selection', act: () => { view.selection.value = null; run.chosen.value = null; } },
    { keys: ['f'], shown: 'f', text: 'follow a live run', act: () => { if (run.live.value === 'live') view.setFollow(!view.follow.value); } },
    { keys: ['x'], shown: 'x', text: 'switch between time and step axis', act: () => { view.axis.value = view.axis.value === 'time' ? 'step' : 'time'; } },
    { keys: ['r'], shown: 'r', text: 'type a range', act: () => focusId('range-from') },
    { keys: ['n'], shown: 'n', text: 'select the next finding', act: () => nextFinding(run, 1) },
    { keys: ['p'], shown: 'p', text: 'select the previous finding', act: () => nextFinding(run, -1) },
    { keys: ['e'], shown: 'e', text: 'expand or collapse all charts', act: () => document.getElementById('all-charts')?.click() },
    { keys: ['o'], shown: 'o', text: 'lines of the output, or only the one at the cursor', act: toggleOutput },
    { keys: ['2'], shown: '2', text: 'charts side by side', act: () => { view.columns.value = view.columns.value === 1 ? 2 : 1; } },
  ];
}

/** Selects the span of a finding in every chart and opens its evidence. */
export function chooseFinding(run: RunState, index: number | null): void {
  const finding = index === null ? undefined : run.diagnosis.value?.findings[index];
  run.chosen.value = finding ? findingKey(finding) : null;
  run.view.mark.value = null; // the selection says where it is
  const hasSpan = finding && finding.from_s !== null && finding.to_s !== null;
  run.view.selection.value = hasSpan ? { from: finding.from_s ?? 0, to: Math.max(finding.to_s ?? 0, (finding.from_s ?? 0) + 1e-3) } : null;
}

function nextFinding(run: RunState, by: number): void {
  const count = run.diagnosis.value?.findings.length ?? 0;
  if (count === 0) return;
  const at = run.chosenIndex.value;
  chooseFinding(run, at === null ? (by > 0 ? 0 : count - 1) : (at + by + count) % count);
}
