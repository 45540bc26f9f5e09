// The compared runs: sides A and B, and others that are only drawn beside them.
import { batch, computed, effect, signal } from '@preact/signals';
import { chartsOf, keepCharts, type Chart } from '../charts/catalog.ts';
import { BatchLoader } from '../charts/loader.ts';
import { source } from '../source/current.ts';
import { messageOf } from '../source/source.ts';
import type { Comparison, Distribution, Info, KeptFile, Marks, RunHead } from '../source/types.ts';
import { follow } from '../state/follow.ts';
import { Refresher } from '../state/refresher.ts';
import { replaceParams } from '../state/route.ts';
import { rangeOf, setOf, type Range, type StepMap } from '../state/view.ts';
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
  marks: Marks | null;
  files: KeptFile[];
  problem: string | null;
}

const short = (value: number) => String(Number(value.toPrecision(13)));
/** What is read at the end of a run may be of before and of after it. */
const isRunning = (run: ComparedRun) => run.head?.run.status === 'running' || run.info?.run.status === 'running';
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
  /** Devices that are not drawn, as "key:value". */
  readonly hidden = signal<ReadonlySet<string>>(new Set());
  readonly cursor = signal<number | null>(null);
  readonly filter = signal('');
  readonly onlyDifferent = signal(true);
  readonly loaders = new Map<string, BatchLoader>();
  readonly names = computed(() => new Map(this.runs.value.map((run) => [run.id, run.head?.run.name ?? run.id])));
  #stops: (() => void)[] = [];
  #isClosed = false;
  #followed: { id: string; stop: () => void } | null = null;
  /** Runs of which nothing new is told: they ended, or the server refuses to tell. */
  readonly #over = signal<ReadonlyMap<string, 'ended' | 'lost'>>(new Map());
  readonly #isLost = signal(false);
  /** Runs that ended and are to be read once more. */
  readonly #ended = new Set<string>();
  readonly #refresher = new Refresher(() => this.#readAgain());

  open(params: URLSearchParams): void {
    this.align.value = params.get('align') === 'step' ? 'step' : params.get('align') === 'wall' ? 'wall' : 'relative';
    this.layout.value = params.get('layout') === 'side' ? 'side' : 'overlay';
    this.range.value = rangeOf(params.get('range'));
    this.smooth.value = Math.max(0, Number(params.get('smooth')) || 0);
    this.chosen.value = new Map(params.getAll('series').map((one) => [one.slice(0, one.indexOf(' ')), one.slice(one.indexOf(' ') + 1)]));
    this.hidden.value = setOf(params.get('hide'));
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
        hide: [...this.hidden.value].join(','),
        series: [...this.chosen.value].map(([chart, series]) => `${chart} ${series}`),
      });
    }));
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#followed?.stop();
    this.#refresher.stop();
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
        next.push(run ? { ...run, side } : { id, side, head: null, info: null, charts: [], steps: null, marks: null, files: [], problem: null });
        if (!run) void this.#load(id);
      }
    }
    batch(() => {
      this.#over.value = new Map([...this.#over.value].filter(([id]) => known.has(id)));
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

  /** Whether a run still grows, as far as this page is told; a report never does. */
  liveOf(run: ComparedRun): 'live' | 'lost' | 'ended' {
    if (source.isReport) return 'ended';
    const over = this.#over.value.get(run.id);
    if (over) return over;
    return !isRunning(run) ? 'ended' : this.#isLost.value ? 'lost' : 'live';
  }

  #live(): string[] {
    return this.runs.value.filter((run) => isRunning(run) && !this.#over.value.has(run.id)).map((run) => run.id);
  }

  /** Events of one live run tell when to read all of them again: browsers allow few connections. */
  #follow(): void {
    const id = this.#live()[0];
    if (id === this.#followed?.id) return;
    this.#followed?.stop();
    this.#isLost.value = false;
    this.#followed = id === undefined ? null : { id, stop: this.#listen(id) };
  }

  #listen(id: string): () => void {
    return follow(id, {
      now: (state) => {
        this.#isLost.value = false;
        this.#refresher.grew(state.duration_s);
      },
      ended: () => {
        this.#ended.add(id);
        this.#refresher.refresh();
      },
      lost: () => { this.#isLost.value = true; },
      refused: () => this.#leaveOut([id], 'lost'),
    });
  }

  #leaveOut(ids: readonly string[], why: 'ended' | 'lost'): void {
    if (ids.length > 0) this.#over.value = new Map([...this.#over.value, ...ids.map((id) => [id, why] as const)]);
  }

  /** What is shown stays until there is something newer. */
  async #readAgain(): Promise<void> {
    const ended = [...this.#ended];
    this.#ended.clear();
    const ids = [...new Set([...this.#live(), ...ended])];
    await Promise.all(ids.map((id) => this.#load(id)));
    this.#leaveOut(ended, 'ended');
    // After the runs: what is read of a run that is known to have ended is of all of it.
    const sides = this.sides();
    const isCompared = ids.some((id) => sides.a.includes(id) || sides.b.includes(id));
    if (!this.#isClosed && ids.length > 0) await Promise.all([isCompared && this.#compare(sides), this.#loadDistribution(ids)]);
  }

  async #compare({ a, b }: Record<Side, string[]>): Promise<void> {
    if (a.length === 0 || b.length === 0) {
      this.error.value = 'A comparison needs at least one run on each side.';
      return;
    }
    const isAsked = () => {
      const now = this.sides();
      return !this.#isClosed && now.a.join() === a.join() && now.b.join() === b.join();
    };
    try {
      const document = await source.compare(a, b);
      if (isAsked()) batch(() => {
        this.document.value = document;
        this.error.value = null;
      });
    } catch (error) {
      if (isAsked()) this.error.value = messageOf(error);
    }
  }

  /** Of these runs; what is known of the others stays. */
  async #loadDistribution(ids: string[]): Promise<void> {
    const found = ids.length === 0 ? [] : await source.distribution(ids).catch(() => []);
    const known = new Map([...(this.distribution.value ?? []), ...found].map((one) => [one.id, one]));
    if (!this.#isClosed) this.distribution.value = this.runs.value.map((run) => known.get(run.id)).filter((one) => one !== undefined);
  }

  async #load(id: string): Promise<void> {
    const put = (change: Partial<ComparedRun>) => {
      if (!this.#isClosed) this.runs.value = this.runs.value.map((run) => (run.id === id ? { ...run, ...change } : run));
    };
    try {
      const head = await source.run(id); // first: if it says that the run ended, the others are of all of it
      const [info, steps, marks, files] = await Promise.all([
        source.info(id), source.steps(id).catch(() => null), source.marks(id).catch(() => null), source.files(id).catch(() => []),
      ]);
      const column = steps?.columns[0];
      const charts = keepCharts(this.runs.value.find((run) => run.id === id)?.charts ?? null, chartsOf(info));
      put({ head, info, charts, marks, files, problem: null, steps: column && column.time.length > 1 ? { time: column.time, step: column.mean } : null });
    } catch (error) {
      put({ problem: messageOf(error) });
    }
  }
}
