// The one control of every chart: range, axis, smoothing, devices, units. It stays in view.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Chart } from '../charts/catalog.ts';
import type { RunState } from '../state/run.ts';
import { bytes, chooseBytes } from '../state/settings.ts';
import { clock, duration, parseTime } from '../format/time.ts';
import { plain } from '../format/number.ts';
import { DeviceMenu } from './DeviceMenu.tsx';
import { Slider } from './Slider.tsx';

export const smoothings = [0, 1, 5, 10, 30, 60, 300, 900];

export function RangeBar({ run, charts }: { run: RunState; charts: Chart[] }) {
  const { view } = run;
  const selection = view.selection.value;
  return (
    <section class="range-bar" aria-label="What every chart shows">
      <div class="range-row">
        <Presets run={run} />
        <TypedTime run={run} edge="from" />
        <Slider view={view} />
        <TypedTime run={run} edge="to" />
        {run.live.value === 'live' && <button class={view.follow.value ? 'on' : ''} aria-pressed={view.follow.value} onClick={() => view.setFollow(!view.follow.value)}>{view.follow.value ? 'following' : 'follow'}</button>}
      </div>
      <div class="range-row settings">
        <fieldset class="segmented"><legend>axis</legend>
          {(['time', 'step'] as const).map((axis) => (
            <label key={axis}><input type="radio" name="axis" checked={view.axis.value === axis} disabled={axis === 'step' && view.steps.value === null} onChange={() => { view.axis.value = axis; }} /><span>{axis}</span></label>
          ))}
        </fieldset>
        <label>smooth <select value={String(view.smooth.value)} onChange={(event) => { view.smooth.value = Number(event.currentTarget.value); }}>
          {[...new Set([...smoothings, view.smooth.value])].sort((a, b) => a - b).map((seconds) => <option key={seconds} value={String(seconds)}>{seconds === 0 ? 'off' : duration(seconds)}</option>)}
        </select></label>
        <DeviceMenu all={view.hidden} charts={charts} />
        <label>units <select value={bytes.value} onChange={(event) => chooseBytes(event.currentTarget.value)}>
          <option value="decimal">MB (1000)</option><option value="binary">MiB (1024)</option>
        </select></label>
        <label class="check"><input type="checkbox" checked={view.columns.value === 2} onChange={() => { view.columns.value = view.columns.value === 2 ? 1 : 2; }} /> side by side</label>
        {selection && (
          <span class="selection-info" role="status">selected {clock(selection.from, 0.1)} to {clock(selection.to, 0.1)} ({duration(selection.to - selection.from)})
            {' '}<button onClick={() => view.zoomToSelection()}>zoom</button> <button onClick={() => { view.selection.value = null; run.chosen.value = null; }}>clear</button>
          </span>
        )}
      </div>
    </section>
  );
}

function Presets({ run }: { run: RunState }) {
  const { view } = run;
  const steps = run.info.value?.steps;
  const whole = view.duration.value;
  const lengths = [10, 60, 600, 3600, 21600].filter((length) => length < whole);
  const choose = (value: string) => {
    if (value === 'whole') view.showWhole();
    else if (value === 'steps') view.setRange(steps?.begin_s ?? 0, steps?.end_s ?? whole);
    else if (value !== '') {
      view.setRange(whole - Number(value), whole);
      if (run.live.value === 'live') view.follow.value = true;
    }
  };
  return (
    <select aria-label="Range" value={view.range.value === null ? 'whole' : ''} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="" disabled hidden>chosen range</option>
      <option value="whole">whole run</option>
      {steps?.begin_s !== null && steps?.begin_s !== undefined && steps.end_s !== null && <option value="steps">only steps</option>}
      {lengths.map((length) => <option key={length} value={String(length)}>last {duration(length)}</option>)}
    </select>
  );
}

/** A half-typed time is never overwritten: it follows the range only while it has no focus. */
function TypedTime({ run, edge }: { run: RunState; edge: 'from' | 'to' }) {
  const { view } = run;
  const typed = useSignal<string | null>(null);
  /** What the field showed when it got the focus: it stands still although a live run grows. */
  const held = useSignal<string | null>(null);
  const isWrong = useSignal(false);
  const { from, to } = view.shown.value;
  const text = clock(edge === 'from' ? from : to, to - from < 1 ? 1e-4 : to - from < 100 ? 0.01 : 1);
  useEffect(() => { isWrong.value = false; }, [text]);
  const apply = () => {
    if (typed.value === null || typed.value === (held.value ?? text)) { typed.value = null; return; }
    const time = parseTime(typed.value, view.duration.value);
    const range = edge === 'from' ? { from: time ?? NaN, to } : { from, to: time ?? NaN };
    isWrong.value = !(range.to > range.from);
    if (isWrong.value) return;
    typed.value = null;
    held.value = null;
    view.setRange(range.from, range.to);
  };
  return (
    <input class="typed-time" id={`range-${edge}`} aria-label={`${edge === 'from' ? 'From' : 'To'}: 90, 1:30, 12 min or 25 %`} aria-invalid={isWrong.value} title={`type a time such as 90, 1:30, 12 min or 25 % of ${plain(view.duration.value)} s`}
      value={typed.value ?? held.value ?? text} onFocus={() => { held.value = text; }} onInput={(event) => { typed.value = event.currentTarget.value; }} onBlur={() => { apply(); held.value = null; if (!isWrong.value) typed.value = null; }}
      onKeyDown={(event) => { if (event.key === 'Enter') apply(); if (event.key === 'Escape') { typed.value = null; event.currentTarget.blur(); } }} />
  );
}
