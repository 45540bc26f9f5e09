// Charts that need data in the same frame share a request; a request that a newer range made useless is cancelled.
import type { Column, Columns } from '../source/columns.ts';
import { source } from '../source/current.ts';
import { isAbort, type ColumnQuery } from '../source/source.ts';
import { Spread } from './spread.ts';

const seriesPerRequest = 64;
const patience = 50; // ms that a reply waits for the others that were asked for with it, to be drawn in one frame with them

interface Waiting {
  series: number[];
  resolve(columns: Columns): void;
  reject(error: unknown): void;
}

export interface LoadOptions {
  /** A newer range makes it useless. */
  isRange?: boolean;
  /** Only what is asked for in the same task shares the request. */
  isUrgent?: boolean;
  /** What is new of a live run: nobody waits for it, so it is drawn without holding the page. */
  isNews?: boolean;
}

interface Batch {
  query: Omit<ColumnQuery, 'series'>;
  isRange: boolean;
  isNews: boolean;
  waiting: Waiting[];
}

/** As many of them to a request as it may have series. */
function groupsOf(waiting: readonly Waiting[]): Waiting[][] {
  const groups: Waiting[][] = [];
  let series = new Set<number>();
  for (const one of waiting) {
    const together = new Set([...series, ...one.series]);
    const group = groups[groups.length - 1];
    if (group && together.size <= seriesPerRequest) {
      group.push(one);
      series = together;
    } else {
      groups.push([one]);
      series = new Set(one.series);
    }
  }
  return groups;
}

/** `spread`: where they need not all be drawn in one frame. */
async function deliver(waiting: readonly Waiting[], reply: Promise<Columns>, others: Promise<unknown>, spread: Spread | null): Promise<void> {
  try {
    const all = await reply;
    await Promise.race([others, new Promise((resolve) => { setTimeout(resolve, patience); })]);
    const bySeries = new Map<number, Column>(all.columns.map((column) => [column.series, column]));
    const give = (one: Waiting) => {
      const columns = one.series.map((index) => bySeries.get(index)).filter((column) => column !== undefined);
      one.resolve({ ...all, columns });
    };
    if (spread) await spread.run(waiting, give);
    else waiting.forEach(give);
  } catch (error) {
    for (const one of waiting) one.reject(error);
    if (!isAbort(error)) console.warn(error);
  }
}

export class BatchLoader {
  readonly #id: string;
  readonly #news = new Spread();
  #batches = new Map<string, Batch>();
  #running = new Map<AbortController, { key: string; isRange: boolean }>();
  #timer = 0;
  #isSending = false;

  constructor(id: string) {
    this.#id = id;
  }

  /** Whether drawing what is new takes so long that newer has to wait. */
  get isResting(): boolean {
    return this.#news.isResting;
  }

  /** Columns in the order of `series`; those without values are absent. */
  load(query: ColumnQuery, { isRange = false, isUrgent = false, isNews = false }: LoadOptions = {}): Promise<Columns> {
    const { series, ...rest } = query;
    const key = JSON.stringify(rest);
    const batch = this.#batches.get(key) ?? { query: rest, isRange, isNews, waiting: [] };
    batch.isNews &&= isNews;
    this.#batches.set(key, batch);
    if (isUrgent && !this.#isSending) {
      this.#isSending = true;
      queueMicrotask(() => this.#send());
    } else if (!isUrgent && this.#timer === 0) {
      this.#timer = window.setTimeout(() => this.#send(), 0);
    }
    return new Promise((resolve, reject) => batch.waiting.push({ series, resolve, reject }));
  }

  /** Cancels requests of other ranges: nobody draws them any more. */
  cancelOthers(query: Omit<ColumnQuery, 'series'>): void {
    const key = JSON.stringify(query);
    for (const [controller, running] of this.#running) if (running.isRange && running.key !== key) controller.abort();
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const controller of this.#running.keys()) controller.abort();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#isSending = false;
    const batches = [...this.#batches.entries()];
    this.#batches.clear();
    for (const [key, { query, isRange, isNews, waiting }] of batches) {
      const groups = groupsOf(waiting);
      const replies = groups.map((group) => this.#request({ key, isRange }, { ...query, series: [...new Set(group.flatMap((one) => one.series))] }));
      const all = Promise.allSettled(replies);
      replies.forEach((reply, index) => void deliver(groups[index] ?? [], reply, all, isNews ? this.#news : null));
    }
  }

  async #request(running: { key: string; isRange: boolean }, query: ColumnQuery): Promise<Columns> {
    const controller = new AbortController();
    this.#running.set(controller, running);
    try {
      return await source.columns(this.#id, query, controller.signal);
    } finally {
      this.#running.delete(controller);
    }
  }
}
