// Time per step of A and B by part, with connectors: where the difference comes from.
import type { Comparison } from '../source/types.ts';
import { Area, Patch } from '../charts/Hatch.tsx';
import { partFill } from '../charts/palette.ts';
import { shareOfDifference } from '../format/number.ts';
import { duration } from '../format/time.ts';
import { copyOf, downloads, textSvg, type Download } from '../charts/picture.ts';
import { Menu } from '../parts/Menu.tsx';
import { useRef } from 'preact/hooks';

export function Attribution({ document }: { document: Comparison }) {
  const box = useRef<HTMLElement>(null);
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
  const file: Download = {
    name: 'comparison-parts',
    picture: () => {
      const drawing = box.current?.querySelector<SVGSVGElement>('svg.attribution');
      const copy = drawing ? copyOf(drawing) : { body: '', width: 600, height: 0 };
      const legend = parts.map((part) => ({ name: `${part.part}: A ${duration(part.a_s)}, B ${duration(part.b_s)}`, look: partFill(part.part) }));
      return { title: 'Time per step by part', width: copy.width + 16, height: copy.height, legend, body: `${textSvg('A', 0, 30)}${textSvg('B', 0, 126)}<g transform="translate(16 0)">${copy.body}</g>` };
    },
    table: () => [['part', 'a_s', 'b_s', 'difference_s', 'share'], ...parts.map((part) => [part.part, part.a_s, part.b_s, part.difference_s, part.share])],
    json: () => document.attribution,
  };
  return (
    <section aria-label="Where the difference comes from" ref={box}>
      <div class="picture-head"><h2>Time per step by part</h2><Menu label="Options of the attribution" text="⋯" items={downloads(file)} /></div>
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
