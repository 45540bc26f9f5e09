// The axis of a ratio: logarithmic, 1 in the middle.
const widest = 1e6;
/** How far it goes, and the ratio that is marked between 1 and there; both are what people read at a glance. */
const axes: [limit: number, half: number][] = [
  [1.05, 1.02], [1.1, 1.05], [1.25, 1.1], [1.5, 1.2], [2, 1.5], [3, 1.5], [5, 2], [10, 3], [30, 5], [100, 10], [1000, 30], [widest, 1000],
];

/** The smallest symmetric set of round ratios that contains the interval; one from 0 on, as after few steps, is in none. */
export function axisOf(low: number, high: number): { limit: number; marks: number[] } {
  const far = Math.max(high, 1 / low, 1.02);
  const [limit, half] = axes.find(([one]) => one >= far * 1.01) ?? [widest, 1000];
  return { limit, marks: [1 / limit, 1 / half, 1, half, limit] };
}
