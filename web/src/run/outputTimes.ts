// What the panel of the output says about the times of its lines.
import { duration } from '../format/time.ts';
import type { Output } from '../source/types.ts';

/** The usual exactness, which needs no words: times have one decimal. */
const usualWithin_s = 0.1;
/** So many lines of one time are worth a word: a few are printed together by any job. */
const fewLines = 10;

/** How many of the lines have the time of the one at the cursor. */
function together(output: Output): number {
  const time = output.at === null ? null : output.lines[output.at]?.time_s ?? null;
  return time === null ? 0 : output.lines.filter((line) => line.time_s === time).length;
}

export interface Said {
  text: string;
  /** More of it. */
  title?: string;
}

export function saidOfTimes(output: Output): Said {
  if (output.times === 'unknown') return { text: 'times are unknown' };
  if (output.times === 'estimated') return { text: 'times are estimated', title: 'Lines with a printed step have its time; those between are interpolated.' };
  if (output.late !== null) return { text: 'lines may be older than their time', title: `It is the time when the recorder read them: ${output.late}.` };
  const count = together(output);
  if (count > fewLines) {
    const number = count === output.lines.length ? `${count} or more` : String(count);
    return { text: `${number} lines were read together`, title: 'They have one time. A job that buffers its output prints many lines at once, some of them long before.' };
  }
  if (output.within_s === null) return { text: 'times are incomplete', title: 'Lines may be later than their time: a part of the times was lost.' };
  if (output.within_s > usualWithin_s * 1.01) return { text: `times are exact to ${duration(output.within_s)}`, title: 'Of a job that prints for hours fewer times are kept.' };
  return { text: 'follows the cursor' };
}
