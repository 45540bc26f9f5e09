// The whole run as a slider with two ends; what lies between them is shown and can be dragged.
import { useRef } from 'preact/hooks';
import type { TimeView } from '../state/view.ts';
import { clock, duration } from '../format/time.ts';
import { percent } from '../format/number.ts';

type Grip = 'from' | 'to' | 'both';

export function Slider({ view }: { view: TimeView }) {
  const track = useRef<HTMLDivElement>(null);
  const whole = Math.max(view.duration.value, 1e-3);
  const { from, to } = view.shown.value;
  const move = (grip: Grip, by: number, start = { from, to }) => {
    const least = whole / 10_000;
    if (grip === 'from') view.setRange(Math.min(Math.max(0, start.from + by), start.to - least), start.to);
    else if (grip === 'to') view.setRange(start.from, Math.max(Math.min(whole, start.to + by), start.from + least));
    else {
      const limited = Math.min(Math.max(by, -start.from), whole - start.to);
      view.setRange(start.from + limited, start.to + limited);
    }
  };
  const drag = (grip: Grip) => (event: PointerEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const start = { from, to };
    const width = track.current?.clientWidth ?? 1;
    const target = event.currentTarget as HTMLElement;
    target.focus();
    target.setPointerCapture(event.pointerId);
    const onMove = (moved: PointerEvent) => move(grip, ((moved.clientX - event.clientX) / width) * whole, start);
    const ended = new AbortController();
    target.addEventListener('pointermove', onMove, { signal: ended.signal });
    // A gesture of the browser or another window may end it without pointerup.
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) target.addEventListener(end, () => ended.abort(), { signal: ended.signal });
  };
  const onKey = (grip: Grip) => (event: KeyboardEvent) => {
    const step = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(grip, step * whole);
  };
  const jump = (event: PointerEvent) => {
    const box = track.current?.getBoundingClientRect();
    if (!box) return;
    const centre = ((event.clientX - box.left) / box.width) * whole;
    move('both', centre - (from + to) / 2);
  };
  const thumb = (grip: 'from' | 'to', at: number) => (
    <div class="thumb" role="slider" tabIndex={0} aria-label={grip === 'from' ? 'Start of the range' : 'End of the range'} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round((at / whole) * 100)}
      aria-valuetext={`${clock(at)}, ${percent(at / whole)} of the run`} style={{ left: `${(at / whole) * 100}%` }} onPointerDown={drag(grip)} onKeyDown={onKey(grip)} title={`${clock(at)}, ${percent(at / whole)} of the run`} />
  );
  return (
    <div class="slider">
      <div class="track" ref={track} onPointerDown={jump}>
        <div class="between" style={{ left: `${(from / whole) * 100}%`, width: `${((to - from) / whole) * 100}%` }} onPointerDown={drag('both')} />
        {thumb('from', from)}
        {thumb('to', Math.min(to, whole))}
      </div>
      <div class="slider-text"><span>{percent(from / whole)}</span><span>{percent(Math.min(1, to / whole))} of {whole < 60 ? duration(whole) : clock(whole)}</span></div>
    </div>
  );
}
