// Time per step of A and B by part, with connectors: where the difference comes from.
import type { Comparison } from '../source/types.ts';
import { Area, Patch } from '../charts/Hatch.tsx';
import { partFill } from '../charts/palette.ts';
import { shareOfDifference } from '../format/number.ts';
import { duration } from '../format/time.ts';

export function Attribution({ document }: { document: Comparison }) {
  const parts = document.attribution.filter((part) => part.a_s > 0 || part.b_s > 0);
  const sum = (side: 'a_s' | 'b_s') => parts.reduce((total, part) => total + part[side], 0);
  const most = Math.max(sum('a_s'), sum('b_s'), 1e-12);
  let a = 0;
  let b = 0;
  const width = (seconds: number) => (seconds / most) * 1000;
  const drawn = parts.map((part) => {
    const one = { part, a, b };
    a += part.a_s;
    b += part.b_s;
    return one;
  });
  return (
    <section aria-label="Where the difference comes from">
      <h2>Time per step by part</h2>
      <div class="attribution-box" aria-hidden="true">
        <div class="attribution-sides"><span>A</span><span>B</span></div>
        <svg class="attribution">
          <svg viewBox="0 0 1000 150" preserveAspectRatio="none">
            {drawn.map(({ part, a: left, b: right }) => (
              <polygon key={part.part} fill={partFill(part.part).color} opacity="0.25" points={`${width(left)},50 ${width(left + part.a_s)},50 ${width(right + part.b_s)},100 ${width(right)},100`} />
            ))}
          </svg>
          {drawn.map(({ part, a: left, b: right }) => [[left, part.a_s, 4], [right, part.b_s, 100]].map(([from = 0, size = 0, y = 0]) => (
            <Area key={`${part.part} ${y}`} x={`${width(from) / 10}%`} y={y} width={`${Math.max(0, width(size) - 1) / 10}%`} height="46" fill={partFill(part.part)} title={part.part} />
          )))}
        </svg>
      </div>
      <table class="table">
        <caption class="sr-only">Time per step by part of both sides</caption>
        <thead><tr><th scope="col">part</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">difference</th><th scope="col" class="number">share of it</th></tr></thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.part}>
              <th scope="row"><Patch fill={partFill(part.part)} /> {part.part}</th>
              <td class="number">{duration(part.a_s)}</td><td class="number">{duration(part.b_s)}</td>
              <td class="number">{part.difference_s > 0 ? '+' : ''}{duration(part.difference_s)}</td><td class="number">{shareOfDifference(part.share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
