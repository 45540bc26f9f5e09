// The columns of one chart of the comparison, for what is shown of each run.
import { signal } from '@preact/signals';
import type { Column, Columns } from '../source/columns.ts';
import { isAbort, messageOf, type ColumnQuery } from '../source/source.ts';
import type { Info } from '../source/types.ts';
import { spanOf } from './align.ts';
import type { CompareLine } from './charts.ts';
import type { ComparedRun, CompareState } from './state.ts';

/** A line with its values. */
export interface LoadedLine {
  line: CompareLine;
  columns: Columns;
  column: Column;
}

export class CompareFeed {
  readonly loaded = signal<LoadedLine[] | null>(null);
  readonly problem = signal<string | null>(null);
  #turn = 0;
  /** What was asked for of each run: the same is asked for again only when the run has something new. */
  readonly #asked = new Map<string, { info: Info | null; key: string; columns: Promise<Columns> }>();

  /** Reads the range of the state: within an effect it is loaded again when that changes. */
  async load(state: CompareState, lines: readonly CompareLine[], width: number): Promise<void> {
    const range = state.range.value;
    const align = state.align.value;
    const smooth = state.smooth.value;
    const points = Math.min(2000, Math.max(100, Math.ceil(width / 50) * 50));
    const turn = ++this.#turn;
    try {
      const loaded = await Promise.all(lines.map(async (line) => {
        const span = spanOf(align, range, line.run);
        if (!span) return null;
        const columns = await this.#columns(state, line.run, { series: [line.series], ...span, points, smooth });
        const column = columns.columns[0];
        return column && (column.name === null || column.name === line.name) ? { line, columns, column } : null;
      }));
      if (turn !== this.#turn) return; // a newer range is on its way
      this.loaded.value = loaded.filter((one) => one !== null);
      this.problem.value = null;
    } catch (error) {
      if (turn === this.#turn && !isAbort(error)) this.problem.value = messageOf(error);
    }
  }

  #columns(state: CompareState, { id, info }: ComparedRun, query: ColumnQuery): Promise<Columns> {
    const key = JSON.stringify(query);
    const known = this.#asked.get(id);
    if (known?.info === info && known.key === key) return known.columns;
    const columns = state.loader(id).load(query);
    this.#asked.set(id, { info, key, columns });
    columns.catch(() => { if (this.#asked.get(id)?.columns === columns) this.#asked.delete(id); });
    return columns;
  }
}

/** The smallest and the largest of all lines: plots beside each other share their y axis. */
export function extremes(loaded: readonly LoadedLine[] | null): [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const { column } of loaded ?? []) {
    for (const value of column.min ?? column.mean) if (value < low) low = value;
    for (const value of column.max ?? column.mean) if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}
