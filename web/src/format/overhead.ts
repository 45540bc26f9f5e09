// What recording cost.
import { percent } from './number.ts';
import { duration } from './time.ts';

interface Overhead {
  cpu_ratio: number | null;
  cpu_s?: number | null;
}

/** Starting costs the same for a job of milliseconds, where a ratio would be meaningless. */
export function overheadText(overhead: Overhead, duration_s: number): string {
  if (duration_s < 1 && typeof overhead.cpu_s === 'number') return `${duration(overhead.cpu_s)} of CPU time`;
  return `${percent(overhead.cpu_ratio)} of one processor`;
}
