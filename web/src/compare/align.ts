// The x axis that compared runs share: time since their start, wall clock or step.
import { interpolate, type Range } from '../state/view.ts';
import type { CompareState, ComparedRun } from './state.ts';

export type Align = 'relative' | 'step' | 'wall';

const startOf = (run: ComparedRun) => Date.parse(run.head?.run.started ?? '') / 1000;

/** Seconds of a run to the shared x; not a number where the run has none. */
export function toX(align: Align, run: ComparedRun, time: number): number {
  if (align === 'wall') return startOf(run) + time;
  if (align === 'step') return run.steps ? interpolate(run.steps.time, run.steps.step, time) : NaN;
  return time;
}

export function toTime(align: Align, run: ComparedRun, x: number): number {
  if (align === 'wall') return x - startOf(run);
  if (align === 'step') return run.steps ? interpolate(run.steps.step, run.steps.time, x) : NaN;
  return x;
}

/** From the first begin to the last end of all runs: the same for every chart. */
export function wholeOf(align: Align, runs: readonly ComparedRun[]): [number, number] {
  let from = Infinity;
  let to = -Infinity;
  for (const run of runs) {
    if (!run.info) continue;
    const first = toX(align, run, 0);
    const last = toX(align, run, run.info.run.duration_s);
    if (Number.isFinite(first)) from = Math.min(from, first);
    if (Number.isFinite(last)) to = Math.max(to, last);
  }
  return from < to ? [from, to] : [0, 1];
}

/** The seconds of a run that are shown; nothing if it has none there. What comes after its last step belongs to that step. */
export function spanOf(align: Align, range: Range | null, run: ComparedRun): Range | null {
  const whole = run.info?.run.duration_s ?? 0;
  if (align === 'step' && !run.steps) return null;
  const inside = (x: number) => Math.max(0, Math.min(whole, toTime(align, run, x)));
  const span = range ? { from: inside(range.from), to: inside(range.to) } : { from: 0, to: whole };
  const lastStep = run.steps?.step[run.steps.step.length - 1] ?? Infinity;
  if (align === 'step' && range && range.to >= lastStep) span.to = whole;
  return span.to > span.from ? span : null;
}

export const shownRange = (state: CompareState): [number, number] =>
  (state.range.value ? [state.range.value.from, state.range.value.to] : wholeOf(state.align.value, state.runs.value));
