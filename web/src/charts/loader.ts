// Charts that need data in the same frame share a request; a request that a newer range made useless is cancelled.
import type { Column, Columns } from '../source/columns.ts';
import { source } from '../source/current.ts';
import { isAbort, type ColumnQuery } from '../source/source.ts';

const seriesPerRequest = 64;

interface Waiting {
  series: number[];
  resolve(columns: Columns): void;
  reject(error: unknown): void;
}

interface Batch {
  query: Omit<ColumnQuery, 'series'>;
  isRange: boolean;
  waiting: Waiting[];
}

/** Replies that are there by now are drawn in one frame. */
const together = () => new Promise((resolve) => { setTimeout(resolve, 0); });

export class BatchLoader {
  readonly #id: string;
  #batches = new Map<string, Batch>();
  #running = new Map<AbortController, { key: string; isRange: boolean }>();
  #timer = 0;
  #isSending = false;

  constructor(id: string) {
    this.#id = id;
  }

  /**
   * Columns in the order of `series`; those without values are absent. `isRange`: a newer range makes it useless. `isUrgent`: only
   * what is asked for in the same task shares the request.
   */
  load(query: ColumnQuery, isRange = false, isUrgent = false): Promise<Columns> {
    const { series, ...rest } = query;
    const key = JSON.stringify(rest);
    const batch = this.#batches.get(key) ?? { query: rest, isRange, waiting: [] };
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
    for (const [key, { query, isRange, waiting }] of batches) {
      let group: Waiting[] = [];
      let series = new Set<number>();
      for (const one of waiting) {
        const together = new Set([...series, ...one.series]);
        if (group.length > 0 && together.size > seriesPerRequest) {
          void this.#request({ key, isRange }, query, [...series], group);
          group = [];
          series = new Set(one.series);
        } else {
          series = together;
        }
        group.push(one);
      }
      void this.#request({ key, isRange }, query, [...series], group);
    }
  }

  async #request(running: { key: string; isRange: boolean }, query: Omit<ColumnQuery, 'series'>, series: number[], waiting: Waiting[]): Promise<void> {
    const controller = new AbortController();
    this.#running.set(controller, running);
    try {
      const all = await source.columns(this.#id, { ...query, series }, controller.signal);
      await together();
      const bySeries = new Map<number, Column>(all.columns.map((column) => [column.series, column]));
      for (const one of waiting) {
        const columns = one.series.map((index) => bySeries.get(index)).filter((column) => column !== undefined);
        one.resolve({ ...all, columns });
      }
    } catch (error) {
      for (const one of waiting) one.reject(error);
      if (!isAbort(error)) console.warn(error);
    } finally {
      this.#running.delete(controller);
    }
  }
}
