// What the verdict card says besides the verdict.
import type { Finding } from '../source/types.ts';

const worthAWord = 1.005;

/** One finding: what to try, and what can be gained by it at most. */
export function answerOf(findings: readonly Finding[]): { finding: Finding | undefined; speedup: number | null } {
  const costly = findings.filter((one) => one.severity !== 'info');
  const some = costly.length > 0 ? costly : findings;
  const finding = some.find((one) => one.advice !== null) ?? some[0];
  const gain = finding && finding.severity !== 'info' ? finding.max_speedup : null;
  return { finding, speedup: gain !== null && gain > worthAWord ? gain : null };
}
