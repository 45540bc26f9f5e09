// The compared runs: sides A and B, and others that are only drawn beside them.
import { batch, computed, effect, signal } from '@preact/signals';
import { chartsOf, keepCharts, type Chart } from '../charts/catalog.ts';
import { BatchLoader } from '../charts/loader.ts';
import { source } from '../source/current.ts';
import type { Comparison, Distribution, Info, KeptFile, RunHead } from '../source/types.ts';
import { Refresher } from '../state/refresher.ts';
import { messageOf } from '../state/run.ts';
import { replaceParams } from '../state/route.ts';
import { rangeOf, type Range, type StepMap } from '../state/view.ts';
import { shownRange, type Align } from './align.ts';

export type Side = 'a' | 'b' | 'more';

export interface ComparedRun {
  id: string;
  side: Side;
  head: RunHead | null;
  info: Info | null;
  /** Those of `info`; they stay as they are while the run is live, unless a series is new. */
  charts: Chart[];
  steps: StepMap | null;
  files: KeptFile[];
  problem: string | null;
}

const short = (value: number) => String(Number(value.toPrecision(13)));
const idsOf = (text: string | null) => (text ?? '').split(',').filter((id) => id !== '');

export class CompareState {
  readonly runs = signal<ComparedRun[]>([]);
  readonly document = signal<Comparison | null>(null);
  readonly distribution = signal<Distribution[] | null>(null);
  readonly error = signal<string | null>(null);
  readonly align = signal<Align>('relative');
  readonly layout = signal<'overlay' | 'side'>('overlay');
  readonly range = signal<Range | null>(null);
  readonly smooth = signal(0);
  /** The series that was chosen of a chart, by the chart's id. */
  readonly chosen = signal<ReadonlyMap<string, string>>(new Map());
  readonly cursor = signal<number | null>(null);
  readonly filter = signal('');
  readonly onlyDifferent = signal(true);
  readonly loaders = new Map<string, BatchLoader>();
  readonly names = computed(() => new Map(this.runs.value.map((run) => [run.id, run.head?.run.name ?? run.id])));
  #stops: (() => void)[] = [];
  #isClosed = false;
  #followed: { id: string; stop: () => void } | null = null;
  #reading: Promise<void> | null = null;

  open(params: URLSearchParams): void {
    this.align.value = params.get('align') === 'step' ? 'step' : params.get('align') === 'wall' ? 'wall' : 'relative';
    this.layout.value = params.get('layout') === 'side' ? 'side' : 'overlay';
    this.range.value = rangeOf(params.get('range'));
    this.smooth.value = Math.max(0, Number(params.get('smooth')) || 0);
    this.chosen.value = new Map(params.getAll('series').map((one) => [one.slice(0, one.indexOf(' ')), one.slice(one.indexOf(' ') + 1)]));
    this.filter.value = params.get('filter') ?? '';
    this.onlyDifferent.value = params.get('all') !== '1';
    this.setSides({ a: idsOf(params.get('a')), b: idsOf(params.get('b')), more: idsOf(params.get('more')) });
    this.#stops.push(effect(() => this.#follow()));
    this.#stops.push(effect(() => {
      const list = (side: Side) => this.runs.value.filter((run) => run.side === side).map((run) => run.id).join(',');
      replaceParams({
        a: list('a'), b: list('b'), more: list('more'), align: this.align.value === 'relative' ? null : this.align.value,
        layout: this.layout.value === 'side' ? 'side' : null, filter: this.filter.value, all: this.onlyDifferent.value ? null : '1',
        range: this.range.value && `${short(this.range.value.from)}:${short(this.range.value.to)}`, smooth: this.smooth.value > 0 ? String(this.smooth.value) : null,
        series: [...this.chosen.value].map(([chart, series]) => `${chart} ${series}`),
      });
    }));
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#followed?.stop();
    for (const loader of this.loaders.values()) loader.close();
  }

  sides(): Record<Side, string[]> {
    const list = (side: Side) => this.runs.value.filter((run) => run.side === side).map((run) => run.id);
    return { a: list('a'), b: list('b'), more: list('more') };
  }

  move(id: string, to: Side | null): void {
    const sides = this.sides();
    for (const side of ['a', 'b', 'more'] as const) sides[side] = sides[side].filter((other) => other !== id);
    if (to) sides[to].push(id);
    this.setSides(sides);
  }

  setSides(sides: Record<Side, string[]>): void {
    const known = new Map(this.runs.value.map((run) => [run.id, run]));
    const next: ComparedRun[] = [];
    for (const side of ['a', 'b', 'more'] as const) {
      for (const id of sides[side]) {
        const run = known.get(id);
        next.push(run ? { ...run, side } : { id, side, head: null, info: null, charts: [], steps: null, files: [], problem: null });
        if (!run) void this.#load(id);
      }
    }
    batch(() => {
      this.runs.value = next;
      this.document.value = null;
      this.error.value = null;
    });
    void this.#compare(sides);
    void this.#loadDistribution(next.map((run) => run.id));
  }

  swap(): void {
    const { a, b, more } = this.sides();
    this.setSides({ a: b, b: a, more });
  }

  choose(chart: string, series: string): void {
    this.chosen.value = new Map([...this.chosen.value, [chart, series]]);
  }

  alignBy(align: Align): void {
    batch(() => {
      this.range.value = null;
      this.cursor.value = null;
      this.align.value = align;
    });
  }

  setRange(from: number, to: number): void {
    if (to > from) this.range.value = { from, to };
  }

  zoom(factor: number, around?: number): void {
    const [from, to] = shownRange(this);
    const centre = Math.min(to, Math.max(from, around ?? this.cursor.value ?? (from + to) / 2));
    this.setRange(centre - (centre - from) * factor, centre + (to - centre) * factor);
  }

  pan(share: number): void {
    const [from, to] = shownRange(this);
    const by = (to - from) * share;
    this.setRange(from + by, to + by);
  }

  /** Arrow keys on a focused chart. */
  moveCursorByKey(event: KeyboardEvent): void {
    if ((event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const [from, to] = shownRange(this);
    const step = ((to - from) / 100) * (event.key === 'ArrowLeft' ? -1 : 1);
    this.cursor.value = Math.min(to, Math.max(from, (this.cursor.value ?? (from + to) / 2) + step));
  }

  loader(id: string): BatchLoader {
    const known = this.loaders.get(id) ?? new BatchLoader(id);
    this.loaders.set(id, known);
    return known;
  }

  #live(): ComparedRun[] {
    return this.runs.value.filter((run) => run.head?.run.status === 'running');
  }

  /** Events of one live run tell when to read all of them again: browsers allow few connections. */
  #follow(): void {
    const id = this.#live()[0]?.id;
    if (id === this.#followed?.id) return;
    this.#followed?.stop();
    this.#followed = id === undefined ? null : { id, stop: this.#listen(id) };
  }

  #listen(id: string): () => void {
    // A comparison of long runs may take longer than the pause between two.
    const refresher = new Refresher(() => { this.#reading ??= this.#readAgain().finally(() => { this.#reading = null; }); });
    const stop = source.live(id, {
      now: (state) => refresher.grew(state.duration_s),
      // What is being read may be older than the end.
      ended: () => void Promise.resolve(this.#reading).then(() => refresher.refresh()),
      lost: () => undefined,
    });
    return () => {
      stop();
      refresher.stop();
    };
  }

  /** What is shown stays until there is something newer. */
  async #readAgain(): Promise<void> {
    const ids = this.runs.value.map((run) => run.id);
    await Promise.all([...this.#live().map((run) => this.#load(run.id)), this.#compare(this.sides()), this.#loadDistribution(ids)]);
  }

  async #compare({ a, b }: Record<Side, string[]>): Promise<void> {
    if (a.length === 0 || b.length === 0) {
      this.error.value = 'A comparison needs at least one run on each side.';
      return;
    }
    try {
      const document = await source.compare(a, b);
      const now = this.sides();
      if (!this.#isClosed && now.a.join() === a.join() && now.b.join() === b.join()) batch(() => {
        this.document.value = document;
        this.error.value = null;
      });
    } catch (error) {
      this.error.value = messageOf(error);
    }
  }

  async #loadDistribution(ids: string[]): Promise<void> {
    const found = await source.distribution(ids).catch(() => this.distribution.value ?? []);
    if (ids.join() === this.runs.value.map((run) => run.id).join()) this.distribution.value = found;
  }

  async #load(id: string): Promise<void> {
    const put = (change: Partial<ComparedRun>) => {
      if (!this.#isClosed) this.runs.value = this.runs.value.map((run) => (run.id === id ? { ...run, ...change } : run));
    };
    try {
      const [head, info, steps, files] = await Promise.all([
        source.run(id), source.info(id), source.steps(id).catch(() => null), source.files(id).catch(() => []),
      ]);
      const column = steps?.columns[0];
      const charts = keepCharts(this.runs.value.find((run) => run.id === id)?.charts ?? null, chartsOf(info));
      put({ head, info, charts, files, problem: null, steps: column && column.time.length > 1 ? { time: column.time, step: column.mean } : null });
    } catch (error) {
      put({ problem: messageOf(error) });
    }
  }
}
