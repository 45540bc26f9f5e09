// The values of lines at a time.
import { lowerBound, type Column, type Columns } from '../source/columns.ts';
import type { Line } from './catalog.ts';

/** The nearest value, if one is near enough to be meant. */
export function valueAt(column: Column | undefined, time: number, reach: number): number | null {
  if (!column || column.time.length === 0) return null;
  const right = lowerBound(column.time, time);
  const left = Math.max(0, right - 1);
  const near = right < column.time.length && Math.abs((column.time[right] ?? 0) - time) <= Math.abs((column.time[left] ?? 0) - time) ? right : left;
  if (Math.abs((column.time[near] ?? 0) - time) > reach) return null;
  return (column.smooth ?? column.mean)[near] ?? null;
}

/** Sparse series are known further around a point: half of their own spacing. */
export function reachOf(columns: Columns, column: Column, shownWidth: number): number {
  const spacing = column.time.length > 1 ? ((column.time[column.time.length - 1] ?? 0) - (column.time[0] ?? 0)) / (column.time.length - 1) : 0;
  return Math.max(columns.window_s ?? 0, spacing, shownWidth / 200);
}

export interface LineValue {
  line: Line;
  value: number | null;
}

export function valuesAt(columns: Columns | null, lines: readonly Line[], time: number | null, shownWidth: number): LineValue[] {
  return lines.map((line) => {
    const column = columns?.columns.find((one) => one.series === line.series);
    if (!columns || !column || time === null) return { line, value: null };
    return { line, value: valueAt(column, time, reachOf(columns, column, shownWidth)) };
  });
}
