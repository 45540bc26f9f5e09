// Keys of the comparison.
import type { CompareState } from '../compare/state.ts';
import type { Key } from './keys.ts';

const aligns = ['relative', 'step', 'wall'] as const;

export function compareKeys(state: CompareState): Key[] {
  return [
    { keys: ['a', 'ArrowLeft'], shown: 'a ←', text: 'move back', act: () => state.pan(-0.25) },
    { keys: ['d', 'ArrowRight'], shown: 'd →', text: 'move forward', act: () => state.pan(0.25) },
    { keys: ['w', '+', '='], shown: 'w +', text: 'zoom in', act: () => state.zoom(0.5) },
    { keys: ['s', '-'], shown: 's −', text: 'zoom out', act: () => state.zoom(2) },
    { keys: ['v'], shown: 'v', text: 'swap A and B', act: () => state.swap() },
    { keys: ['o'], shown: 'o', text: 'overlaid or side by side', act: () => { state.layout.value = state.layout.value === 'overlay' ? 'side' : 'overlay'; } },
    { keys: ['x'], shown: 'x', text: 'next alignment', act: () => state.alignBy(aligns[(aligns.indexOf(state.align.value) + 1) % aligns.length] ?? 'relative') },
    { keys: ['m'], shown: 'm', text: 'all metrics or those that differ', act: () => { state.onlyDifferent.value = !state.onlyDifferent.value; } },
    { keys: ['/'], shown: '/', text: 'filter the metrics', act: () => document.getElementById('metric-filter')?.focus() },
    { keys: ['0', 'Home'], shown: '0 Home', text: 'show everything', act: () => { state.range.value = null; } },
  ];
}
