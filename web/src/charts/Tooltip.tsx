// What is under the pointer: time, step, values from high to low, and what happened there.
import type { ReadonlySignal } from '@preact/signals';
import type { RunState } from '../state/run.ts';
import { bytes } from '../state/settings.ts';
import { integer } from '../format/number.ts';
import { clock } from '../format/time.ts';
import { value as formatValue } from '../format/unit.ts';
import { drawnUnit, type Chart, type Line } from './catalog.ts';
import { marksAt } from './decorate.ts';
import type { ChartFeed } from './feed.ts';
import { Swatch } from './Legend.tsx';
import { besidePlot, leftAxis } from './plot.ts';
import { interpolate } from '../state/view.ts';
import { valuesAt } from './values.ts';

const rowsAtMost = 10;

interface Props {
  chart: Chart;
  run: RunState;
  feed: ChartFeed;
  lines: ReadonlySignal<Line[]>;
}

export function Tooltip({ chart, run, feed, lines }: Props) {
  const time = run.view.cursor.value;
  if (time === null) return null;
  const { from, to } = run.view.shown.value;
  const rows = valuesAt(feed.columns.value, lines.value, time, to - from).filter((row) => row.value !== null)
    .sort((a, b) => (b.value ?? 0) - (a.value ?? 0)).slice(0, rowsAtMost);
  const steps = run.view.steps.value;
  const share = (run.view.toX(time) - run.view.toX(from)) / (run.view.toX(to) - run.view.toX(from));
  const step = steps ? interpolate(steps.time, steps.step, time) : NaN;
  return (
    <div class={`tooltip ${share > 0.5 ? 'left' : 'right'}`} style={share > 0.5 ? { right: `calc((100% - ${besidePlot}px) * ${1 - share} + ${besidePlot - leftAxis + 12}px)` } : { left: `calc((100% - ${besidePlot}px) * ${share} + ${leftAxis + 12}px)` }} aria-hidden="true">
      <div class="tooltip-time">{clock(time, Math.max(1e-3, (to - from) / 1000))}{Number.isFinite(step) && <span> · step {integer(Math.floor(step))}</span>}</div>
      {rows.map(({ line, value }) => (
        <div class="tooltip-row" key={line.series}>
          <Swatch index={chart.lines.indexOf(line)} />
          <span>{line.label}</span>
          <span class="line-value">{formatValue(value, drawnUnit(line.metric), line.metric.name, bytes.value)}</span>
        </div>
      ))}
      {marksAt(run.marks.value, time, (to - from) / 200).map((text) => <div class="tooltip-mark">{text}</div>)}
    </div>
  );
}
