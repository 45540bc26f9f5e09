// Time per step of A and B by part, with connectors: where the difference comes from.
import type { Comparison } from '../source/types.ts';
import { partColor } from '../charts/palette.ts';
import { isDark } from '../state/settings.ts';
import { share } from '../format/number.ts';
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
      <svg class="attribution" viewBox="0 0 1000 150" preserveAspectRatio="none" aria-hidden="true">
        {drawn.map(({ part, a: left, b: right }) => (
          <g key={part.part} fill={partColor(part.part, isDark.value)}>
            <rect x={width(left)} y="4" width={Math.max(0, width(part.a_s) - 1)} height="46" />
            <rect x={width(right)} y="100" width={Math.max(0, width(part.b_s) - 1)} height="46" />
            <polygon opacity="0.25" points={`${width(left)},50 ${width(left + part.a_s)},50 ${width(right + part.b_s)},100 ${width(right)},100`} />
          </g>
        ))}
      </svg>
      <table class="table">
        <caption class="sr-only">Time per step by part of both sides</caption>
        <thead><tr><th scope="col">part</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">difference</th><th scope="col" class="number">share</th></tr></thead>
        <tbody>
          {parts.map((part) => (
            <tr key={part.part}>
              <th scope="row"><span class="square" style={{ background: partColor(part.part, isDark.value) }} aria-hidden="true" /> {part.part}</th>
              <td class="number">{duration(part.a_s)}</td><td class="number">{duration(part.b_s)}</td>
              <td class="number">{part.difference_s > 0 ? '+' : ''}{duration(part.difference_s)}</td><td class="number">{share(part.share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="muted small">The upper bar is A, the lower one B.</p>
    </section>
  );
}
