// How step times are distributed: share of steps that took at most so long, per run.
import { isDark } from '../state/settings.ts';
import { strokeOf } from '../charts/palette.ts';
import { Swatch } from '../charts/Legend.tsx';
import { duration } from '../format/time.ts';
import { integer } from '../format/number.ts';
import { copyOf, downloads, type Download } from '../charts/picture.ts';
import { Menu } from '../parts/Menu.tsx';
import { useRef } from 'preact/hooks';
import type { CompareState } from './state.ts';

const width = 600;
const height = 190;
const left = 46;
const bottom = 24;

export function Distributions({ state }: { state: CompareState }) {
  const box = useRef<HTMLElement>(null);
  const all = state.distribution.value;
  if (!all) return <section aria-busy="true"><div class="skeleton chart-skeleton" /></section>;
  const known = all.filter((one) => (one.quantiles?.length ?? 0) > 1);
  const order = state.runs.value.map((run) => run.id);
  const name = (id: string) => state.names.value.get(id) ?? id;
  const file: Download = {
    name: 'comparison-step-times',
    picture: () => {
      const drawing = box.current?.querySelector<SVGSVGElement>('svg.ecdf');
      const copy = drawing ? copyOf(drawing) : { body: '', width, height: 0 };
      return { title: 'Step times: share of steps that took at most', ...copy, legend: known.map((one) => ({ name: name(one.id), look: strokeOf(order.indexOf(one.id), isDark.peek()) })) };
    },
    table: () => [['run', 'name', 'share', 'step_time_s'], ...known.flatMap((one) => (one.quantiles ?? []).map((value, at, values) => [one.id, name(one.id), at / (values.length - 1), value]))],
    json: () => all.map((one) => ({ ...one, name: name(one.id) })),
  };
  return (
    <section aria-label="Distribution of step times" ref={box}>
      <div class="picture-head"><h2>Step times: share of steps that took at most</h2>{known.length > 0 && <Menu label="Options of the distribution" text="⋯" items={downloads(file)} />}</div>
      {known.length > 0 ? <Curves state={state} known={known.map((one) => ({ quantiles: one.quantiles ?? [], steps: one.steps ?? 0, index: order.indexOf(one.id) }))} /> : null}
      <table class="table">
        <caption class="sr-only">Quantiles of step time by run</caption>
        <thead><tr><th scope="col">run</th><th scope="col" class="number">steps</th><th scope="col" class="number">5 %</th><th scope="col" class="number">median</th><th scope="col" class="number">95 %</th><th scope="col" class="number">99 %</th></tr></thead>
        <tbody>
          {all.map((one) => (
            <tr key={one.id}>
              <th scope="row"><Swatch index={order.indexOf(one.id)} /> {name(one.id)}</th>
              {one.quantiles ? <><td class="number">{integer(one.steps)}</td>{[5, 50, 95, 99].map((at) => <td class="number" key={at}>{duration(one.quantiles?.[at])}</td>)}</> : <td colSpan={5} class="muted">{one.reason ?? 'unknown'}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const violinHeight = 34;
const quantilesPerPiece = 4;
const fewSteps = 60; // each of them is drawn: there is no density to see

/** The outline of a violin: each piece has the same share of the steps, so it is the higher the narrower it is. */
function violin(quantiles: number[], x: (value: number) => number, middle: number): string {
  const edges = quantiles.filter((_value, index) => index % quantilesPerPiece === 0).map((value) => Math.min(width - 8, x(value)));
  const pieces = edges.slice(1).map((right, index) => {
    const leftEdge = edges[index] ?? right;
    return { at: (leftEdge + right) / 2, density: 1 / Math.max(1.5, right - leftEdge) };
  });
  const most = Math.max(...pieces.map((piece) => piece.density));
  const half = (density: number) => (density / most) * (violinHeight / 2 - 2);
  const upper = pieces.map(({ at, density }) => `${at.toFixed(1)},${(middle - half(density)).toFixed(1)}`);
  const lower = pieces.map(({ at, density }) => `${at.toFixed(1)},${(middle + half(density)).toFixed(1)}`).reverse();
  return [`${(edges[0] ?? 0).toFixed(1)},${middle}`, ...upper, `${(edges[edges.length - 1] ?? 0).toFixed(1)},${middle}`, ...lower].join(' ');
}

function rug(quantiles: number[], steps: number, x: (value: number) => number, middle: number): string {
  return Array.from({ length: steps }, (_step, index) => {
    const value = quantiles[Math.round(((index + 0.5) / steps) * (quantiles.length - 1))] ?? 0;
    return `M${Math.min(width - 8, x(value)).toFixed(1)},${middle - 7} v14`;
  }).join(' ');
}

/** A logarithmic axis from the smallest to the 99 % quantile: one long step does not squeeze the rest. */
function Curves({ known }: { state: CompareState; known: { quantiles: number[]; steps: number; index: number }[] }) {
  const positive = known.flatMap((one) => one.quantiles).filter((value) => value > 0);
  const low = Math.min(...positive);
  const high = Math.max(...known.map((one) => one.quantiles[99] ?? 0), low * 1.1) * 1.05;
  const x = (value: number) => left + (Math.log(Math.max(value, low) / low) / Math.log(high / low)) * (width - left - 8);
  const y = (share: number) => 8 + (1 - share) * (height - bottom - 8);
  const marks = marksBetween(low, high);
  return (
    <svg viewBox={`0 0 ${width} ${height + known.length * violinHeight}`} class="ecdf" role="img" aria-label="Cumulative distribution of step times; the table below has its quantiles">
      {[0, 0.5, 1].map((share) => (
        <g key={share}><line x1={left} x2={width - 8} y1={y(share)} y2={y(share)} stroke="var(--grid)" /><text x={left - 6} y={y(share) + 4} text-anchor="end" font-size="11" fill="var(--muted)">{share * 100} %</text></g>
      ))}
      {marks.map((mark) => <text key={mark} x={x(mark)} y={height - 8} text-anchor={x(mark) > width - 40 ? 'end' : 'middle'} font-size="11" fill="var(--muted)">{duration(mark)}</text>)}
      {known.map(({ quantiles, index }) => {
        const { color, dash } = strokeOf(index, isDark.value);
        const points = quantiles.map((value, at) => `${Math.min(width - 8, x(value)).toFixed(1)},${y(at / (quantiles.length - 1)).toFixed(1)}`).join(' ');
        return <polyline key={index} points={points} fill="none" stroke={color} stroke-width="2" stroke-dasharray={dash.join(' ')} />;
      })}
      {known.map(({ quantiles, steps, index }, row) => {
        const { color, dash } = strokeOf(index, isDark.value);
        const middle = height + (row + 0.5) * violinHeight;
        if (steps < fewSteps) return <path key={index} class="violin" d={rug(quantiles, steps, x, middle)} stroke={color} stroke-width="2" />;
        return <polygon key={index} class="violin" points={violin(quantiles, x, middle)} fill={color} fill-opacity="0.25" stroke={color} stroke-dasharray={dash.join(' ')} />;
      })}
    </svg>
  );
}

function marksBetween(low: number, high: number): number[] {
  const steps = high / low > 300 ? [1] : high / low > 4 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];
  const marks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const step of steps) {
      const mark = step * 10 ** power;
      if (mark >= low && mark <= high) marks.push(mark);
    }
  }
  const every = Math.ceil(marks.length / 6);
  return marks.length === 0 ? [low, high / 1.05] : marks.filter((_mark, index) => index % every === 0);
}
