// The metrics of a comparison as a table for other programs.
import { quoted } from '../charts/csv.ts';
import type { ComparedMetric } from '../source/types.ts';

const numbers = ['a', 'b', 'difference', 'ratio', 'low', 'high', 'p_adjusted'] as const;

/** Numbers that are not known are empty. */
export function comparisonCsv(metrics: readonly ComparedMetric[]): string {
  const rows = metrics.map((metric) => {
    const labels = Object.entries(metric.labels).map(([key, value]) => `${key}=${value}`).join(';');
    return [quoted(metric.name), quoted(labels), quoted(metric.unit), ...numbers.map((key) => metric[key] ?? ''), metric.verdict].join(',');
  });
  return ['metric,labels,unit,a,b,difference,ratio,low,high,p_adjusted,verdict', ...rows].join('\r\n') + '\r\n';
}
