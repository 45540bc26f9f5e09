import { test } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import type { Finding } from '../source/types.ts';
import { answerOf } from './answer.ts';

const finding = (summary: string, severity: string, max_speedup: number | null, advice: string | null) => ({ summary, severity, max_speedup, advice }) as Finding;
const answer = (...findings: Finding[]) => { const { finding: one, speedup } = answerOf(findings); return [one?.summary, speedup]; };

test('the speedup is that of the finding whose advice is given', () => {
  deepEqual(answer(finding('slow disk', 'critical', 3, null), finding('few workers', 'warning', 1.5, 'more workers')), ['few workers', 1.5]);
  deepEqual(answer(finding('slow disk', 'critical', 3, null)), ['slow disk', 3]);
  deepEqual(answer(finding('slow disk', 'critical', 3, null), finding('by the way', 'info', 9, 'a larger batch')), ['slow disk', 3]);
  deepEqual(answer(finding('by the way', 'info', 9, 'a larger batch')), ['by the way', null]);
  deepEqual(answer(finding('nothing to gain', 'warning', 1.001, 'wait')), ['nothing to gain', null]);
  deepEqual(answer(), [undefined, null]);
});
