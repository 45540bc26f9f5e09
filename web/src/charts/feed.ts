// The data of one chart: loaded for the shown range, appended while the run is live, statistics of the selection.
import { batch, effect, signal, type ReadonlySignal } from '@preact/signals';
import { appendColumn, nextPart, sliceColumn, type Columns } from '../source/columns.ts';
import { isAbort, messageOf } from '../source/source.ts';
import { seriesName } from '../format/words.ts';
import type { RunState } from '../state/run.ts';
import type { Range } from '../state/view.ts';
import type { Line } from './catalog.ts';
import { statisticsOf, type Statistics } from './data.ts';
import { besidePlot } from './plot.ts';

const selectionPoints = 2000; // windows of a selection: what its edges cut off is little
const settle = 50; // ms without a change before a range is loaded

export class ChartFeed {
  readonly columns = signal<Columns | null>(null);
  readonly statistics = signal<Map<number, Statistics> | null>(null);
  readonly error = signal<string | null>(null);
  readonly #run: RunState;
  /** The range of a live run whose new part is being loaded. */
  readonly #awaited = signal<Range | null>(null);
  /** The last of them: what could not be loaded is asked for again when the run has grown, not at once. */
  #tried: Range | null = null;
  #series: number[] = [];
  #names: string[] = [];
  #points = 0;
  #smooth = 0;
  #timer = 0;
  #selectTimer = 0;
  #selectTurn = 0;
  /** The user changed what is shown since it was loaded: unlike news, they wait for it. */
  #isOwn = false;
  #loaded: { range: Range; smooth: number; points: number; series: string } | null = null;
  #asked: { range: Range; smooth: number; points: number; series: number[] } | null = null;
  #isBusy = false;
  #stops: (() => void)[] = [];

  /** Charts far from the viewport load nothing until they come near. */
  constructor(run: RunState, isNear: ReadonlySignal<boolean>) {
    this.#run = run;
    this.#stops.push(effect(() => { if (isNear.value) this.#react(run.view.shown.value, run.view.smooth.value); }));
    this.#stops.push(effect(() => { if (isNear.value) this.#select(run.view.selection.value); }));
  }

  close(): void {
    for (const stop of this.#stops) stop();
    clearTimeout(this.#timer);
    clearTimeout(this.#selectTimer);
  }

  /** `width`: of the plot with its axis. */
  want(lines: readonly Line[], width: number): void {
    const series = lines.map((line) => line.series);
    const names = lines.map((line) => seriesName(line.metric.name, line.metric.labels));
    const isRenumbered = names.join('\n') === this.#names.join('\n') && this.#renumber(series);
    this.#names = names;
    // Charts of about the same width share a request.
    const points = Math.min(4000, Math.max(100, Math.ceil((width - besidePlot) / 50) * 50));
    const isSame = series.join() === this.#series.join() && points === this.#points;
    if (isSame && !isRenumbered) return;
    this.#isOwn ||= !isSame;
    this.#series = series;
    this.#points = points;
    this.#react(this.#run.view.shown.peek(), this.#run.view.smooth.peek());
    this.#select(this.#run.view.selection.peek());
  }

  /** A new series of a live run may move the numbers of all others: what is drawn gets the new ones. Returns whether it did. */
  #renumber(series: number[]): boolean {
    const before = this.#series;
    if (series.join() === before.join()) return false;
    this.#series = series;
    const columns = this.columns.peek();
    if (!columns) return true;
    const numberOf = (old: number) => series[before.indexOf(old)] ?? old;
    batch(() => {
      this.columns.value = { ...columns, columns: columns.columns.map((column) => ({ ...column, series: numberOf(column.series) })) };
      const statistics = this.statistics.peek();
      if (statistics) this.statistics.value = new Map([...statistics].map(([old, one]) => [numberOf(old), one]));
    });
    this.#loaded = this.#loaded && this.#loaded.series === before.join() ? { ...this.#loaded, series: series.join() } : null;
    return true;
  }

  /** Whether what is new in this range of a live run is on its way; it is asked for if that was not done yet. */
  awaits(range: Range): boolean {
    if (this.#run.now.peek() !== null && this.#tried !== range) this.#react(range, this.#run.view.smooth.peek());
    return this.#awaited.value === range;
  }

  #react(range: Range, smooth: number): void {
    const isOwn = !this.#run.view.hasGrown || smooth !== this.#smooth;
    this.#smooth = smooth;
    if (this.#series.length === 0) return clearTimeout(this.#timer); // all its devices are hidden
    if (this.#points === 0 || this.#isLoaded(range, smooth)) return;
    this.#isOwn ||= isOwn;
    if (this.#canAppend(range, smooth)) void this.#append(range);
    else {
      clearTimeout(this.#timer);
      if (this.#isAsked(range, smooth)) return;
      if (this.columns.peek()) this.#timer = window.setTimeout(() => void this.#load(range, smooth, false), settle);
      else void this.#load(range, smooth, true);
    }
  }

  /** Whether just this is being loaded. */
  #isAsked(range: Range, smooth: number): boolean {
    const asked = this.#asked;
    return asked !== null && asked.range === range && asked.smooth === smooth && asked.points === this.#points && asked.series === this.#series;
  }

  #isLoaded(range: Range, smooth: number): boolean {
    const loaded = this.#loaded;
    return loaded !== null && loaded.range.from === range.from && loaded.range.to === range.to && loaded.smooth === smooth && loaded.points === this.#points && loaded.series === this.#series.join();
  }

  async #load(range: Range, smooth: number, isUrgent: boolean): Promise<void> {
    const query = { from: range.from, to: range.to, points: this.#points, smooth };
    const series = this.#series;
    const asked = { range, smooth, points: this.#points, series };
    this.#asked = asked;
    this.#loaded = null;
    this.#run.loader.cancelOthers(query);
    // Nobody asked for it: the run grew, and what was drawn is too fine for it by now.
    const isNews = this.columns.peek() !== null && this.#run.live.peek() === 'live' && !this.#isOwn;
    try {
      const columns = await this.#run.loader.load({ ...query, series }, { isRange: true, isUrgent, isNews });
      // While a reply waits to be drawn, another range may be asked for.
      if (series !== this.#series || this.#asked !== asked) return;
      if (this.#isOther(columns)) {
        void this.#run.reloadInfo();
        return;
      }
      this.columns.value = columns;
      this.#loaded = { range, smooth, points: query.points, series: series.join() };
      this.#isOwn = false;
      this.error.value = null;
    } catch (error) {
      if (!isAbort(error) && this.#asked === asked) this.error.value = messageOf(error);
    } finally {
      if (this.#asked === asked) this.#asked = null;
    }
  }

  /** A live run got new series, so that numbers mean others than they did. */
  #isOther(columns: Columns): boolean {
    return columns.columns.some((column) => column.name !== null && column.name !== this.#names[this.#series.indexOf(column.series)]);
  }

  /** A range that moved on with the run needs only what is new, as long as windows are about a pixel wide. */
  #canAppend(range: Range, smooth: number): boolean {
    const loaded = this.#loaded;
    const columns = this.columns.peek();
    if (!loaded || !columns || smooth > 0 || loaded.smooth > 0 || this.#run.now.peek() === null) return false;
    if (loaded.points !== this.#points || loaded.series !== this.#series.join()) return false;
    if (range.from < loaded.range.from - 1e-6 || range.to < loaded.range.to - 1e-6 || range.from >= loaded.range.to) return false;
    if (columns.window_s === null) return columns.columns.every((column) => column.time.length < 2 * this.#points);
    const wanted = (range.to - range.from) / this.#points;
    return columns.window_s > wanted / 2 && columns.window_s < wanted * 2;
  }

  async #append(range: Range): Promise<void> {
    const columns = this.columns.peek();
    const loaded = this.#loaded;
    if (!columns || !loaded || this.#isBusy) return;
    const part = nextPart(columns.from_s, loaded.range.to, range.to, columns.window_s);
    if (!part) return;
    const { from, to } = part;
    this.#isBusy = true;
    this.#tried = range;
    this.#awaited.value = range;
    let newer: Columns | null = null;
    try {
      newer = await this.#run.loader.load({ series: this.#series, from, to, points: Math.min(4000, part.points), smooth: 0 }, { isNews: !this.#isOwn });
    } catch (error) {
      if (!isAbort(error)) this.error.value = messageOf(error);
    }
    this.#isBusy = false;
    batch(() => {
      this.#awaited.value = null;
      if (newer && this.#isOther(newer)) void this.#run.reloadInfo();
      else if (newer && this.#loaded === loaded) this.#join(columns, newer, range, to);
    });
  }

  #join(older: Columns, newer: Columns, range: Range, to: number): void {
    const isSameGrid = newer.window_s === null ? older.window_s === null : older.window_s !== null && Math.abs(newer.window_s - older.window_s) < older.window_s * 1e-3;
    if (!isSameGrid) {
      void this.#load(range, 0, false);
      return;
    }
    const kept = range.from - (range.to - range.from) * 0.1;
    const bySeries = new Map(newer.columns.map((column) => [column.series, column]));
    const columns = older.columns.map((column) => {
      const more = bySeries.get(column.series);
      bySeries.delete(column.series);
      return sliceColumn(more ? appendColumn(column, more) : column, kept, to);
    });
    this.columns.value = { ...older, to_s: to, duration_s: newer.duration_s, columns: [...columns, ...bySeries.values()] };
    this.error.value = null;
    this.#isOwn = false;
    this.#loaded = this.#loaded && { ...this.#loaded, range: { from: Math.max(kept, this.#loaded.range.from), to } };
  }

  #select(selection: Range | null): void {
    clearTimeout(this.#selectTimer);
    this.#selectTurn += 1;
    if (!selection || this.#points === 0 || this.#series.length === 0) {
      this.statistics.value = null;
      return;
    }
    this.#selectTimer = window.setTimeout(() => void this.#loadStatistics(selection), settle);
  }

  async #loadStatistics({ from, to }: Range): Promise<void> {
    const turn = this.#selectTurn;
    try {
      const columns = await this.#run.loader.load({ series: this.#series, from, to, points: selectionPoints, smooth: 0, weights: true });
      if (turn !== this.#selectTurn) return; // another selection was made
      const found = new Map<number, Statistics>();
      for (const column of columns.columns) {
        const statistics = statisticsOf(column, from, to);
        if (statistics) found.set(column.series, statistics);
      }
      this.statistics.value = found;
    } catch (error) {
      if (!isAbort(error) && turn === this.#selectTurn) this.error.value = messageOf(error);
    }
  }
}
