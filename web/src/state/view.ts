// What is seen of a run: one range, one cursor, one selection for every chart. Times are seconds of the run.
import { batch, computed, effect, signal } from '@preact/signals';
import { lowerBound } from '../source/columns.ts';
import { replaceParams } from './route.ts';

export interface Range {
  from: number;
  to: number;
}

export type Axis = 'time' | 'step';

/** Steps over time, both ways; both arrays are sorted. */
export interface StepMap {
  time: ArrayLike<number>;
  step: ArrayLike<number>;
}

export function interpolate(xs: ArrayLike<number>, ys: ArrayLike<number>, x: number): number {
  const count = xs.length;
  if (count === 0) return NaN;
  if (count === 1) return ys[0] ?? NaN;
  const right = Math.min(count - 1, Math.max(1, lowerBound(xs, x)));
  const x0 = xs[right - 1] ?? 0;
  const x1 = xs[right] ?? 0;
  const y0 = ys[right - 1] ?? 0;
  const y1 = ys[right] ?? 0;
  if (x1 === x0) return y1;
  const share = Math.min(1, Math.max(0, (x - x0) / (x1 - x0)));
  return y0 + share * (y1 - y0);
}

const numberOf = (text: string | null): number | null => {
  const value = text === null || text === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};

export const rangeOf = (text: string | null): Range | null => {
  const [from, to] = (text ?? '').split(':').map((part) => numberOf(part));
  return from !== null && from !== undefined && to !== null && to !== undefined && to > from ? { from, to } : null;
};

export const setOf = (text: string | null) => new Set((text ?? '').split(',').filter((part) => part !== ''));
const short = (value: number) => String(Number(value.toPrecision(9)));

export class TimeView {
  readonly duration = signal(0);
  /** Null: the whole run, however long it becomes. */
  readonly range = signal<Range | null>(null);
  readonly cursor = signal<number | null>(null);
  readonly selection = signal<Range | null>(null);
  /** The span of the finding or part under the pointer. */
  readonly mark = signal<Range | null>(null);
  readonly axis = signal<Axis>('time');
  readonly smooth = signal(0);
  /** Devices that are not drawn, as "key:value". */
  readonly hidden = signal<ReadonlySet<string>>(new Set());
  /** Charts that were opened or closed against their default, and charts made tall. */
  readonly toggled = signal<ReadonlySet<string>>(new Set());
  readonly tall = signal<ReadonlySet<string>>(new Set());
  readonly columns = signal(1);
  /** While the run is live: the range moves with it. */
  readonly follow = signal(true);
  /** Whether the range was last changed by the run, not by the user. */
  hasGrown = false;
  /** What was shown of the whole run when the user wanted it to stand still. */
  #held: Range | null = null;
  readonly steps = signal<StepMap | null>(null);
  readonly shown = computed<Range>(() => this.range.value ?? { from: 0, to: Math.max(this.duration.value, 1e-3) });
  readonly stepAxis = computed(() => this.axis.value === 'step' && this.steps.value !== null);

  read(params: URLSearchParams): void {
    this.hasGrown = false;
    const from = numberOf(params.get('from'));
    const to = numberOf(params.get('to'));
    this.range.value = from !== null && to !== null && to > from ? { from, to } : null;
    this.follow.value = this.range.value === null || params.get('follow') === '1';
    this.axis.value = params.get('axis') === 'step' ? 'step' : 'time';
    this.smooth.value = Math.max(0, numberOf(params.get('smooth')) ?? 0);
    this.selection.value = rangeOf(params.get('select'));
    this.hidden.value = setOf(params.get('hide'));
    this.toggled.value = setOf(params.get('charts'));
    this.tall.value = setOf(params.get('tall'));
    this.columns.value = params.get('columns') === '2' ? 2 : 1;
  }

  /** Keeps the address in step; returns what ends that. */
  write(): () => void {
    return effect(() => {
      const range = this.range.value;
      const selection = this.selection.value;
      replaceParams({
        from: range && short(range.from),
        to: range && short(range.to),
        follow: range && this.follow.value ? '1' : null,
        axis: this.axis.value === 'step' ? 'step' : null,
        smooth: this.smooth.value > 0 ? String(this.smooth.value) : null,
        select: selection && `${short(selection.from)}:${short(selection.to)}`,
        hide: [...this.hidden.value].join(','),
        charts: [...this.toggled.value].join(','),
        tall: [...this.tall.value].join(','),
        columns: this.columns.value === 2 ? '2' : null,
      });
    });
  }

  /** A range that the user chose: a live run no longer moves it. */
  setRange(from: number, to: number): void {
    const whole = this.duration.value;
    const width = Math.min(Math.max(to - from, 1e-3), Math.max(whole, 1e-3));
    const start = Math.min(Math.max(0, from), Math.max(0, whole - width));
    const isWhole = start <= 0 && width >= whole;
    this.hasGrown = false;
    this.range.value = isWhole ? null : { from: start, to: start + width };
    this.follow.value = isWhole;
  }

  showWhole(): void {
    this.hasGrown = false;
    this.range.value = null;
    this.follow.value = true;
  }

  /** Whether the range moves with a live run. If so it ends where the run ends; if not, the whole run stands still as well. */
  setFollow(follows: boolean): void {
    const { from, to } = this.shown.value;
    this.hasGrown = false;
    batch(() => {
      this.follow.value = follows;
      if (!follows) this.range.value ??= this.#held = { from, to };
      else if (this.range.value === this.#held) this.range.value = null;
      else if (this.range.value) this.#moveToEnd(this.range.value);
    });
  }

  #moveToEnd({ from, to }: Range): void {
    const by = Math.max(0, this.duration.value - to);
    if (by > 0) this.range.value = { from: from + by, to: to + by };
  }

  pan(share: number): void {
    const { from, to } = this.shown.value;
    const by = (to - from) * share;
    const limited = Math.min(Math.max(by, -from), this.duration.value - to);
    if (limited !== 0) this.setRange(from + limited, to + limited);
  }

  zoom(factor: number, around?: number): void {
    const { from, to } = this.shown.value;
    const centre = around ?? this.cursor.value ?? (from + to) / 2;
    const inside = Math.min(to, Math.max(from, centre));
    this.setRange(inside - (inside - from) * factor, inside + (to - inside) * factor);
  }

  zoomToSelection(): void {
    const selection = this.selection.value;
    if (!selection) return;
    this.setRange(selection.from, selection.to);
    this.selection.value = null;
  }

  /** The run became longer. */
  grow(duration: number): void {
    if (duration !== this.duration.value) this.hasGrown = true;
    this.duration.value = duration;
    const range = this.range.value;
    if (range && this.follow.value) this.#moveToEnd(range);
  }

  toX(time: number): number {
    const map = this.steps.value;
    return this.stepAxis.value && map ? interpolate(map.time, map.step, time) : time;
  }

  toTime(x: number): number {
    const map = this.steps.value;
    return this.stepAxis.value && map ? interpolate(map.step, map.time, x) : x;
  }

  toggle(set: 'toggled' | 'tall', key: string): void {
    const changed = new Set(this[set].value);
    if (!changed.delete(key)) changed.add(key);
    this[set].value = changed;
  }
}
