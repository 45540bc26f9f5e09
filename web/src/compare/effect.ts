// How far the two sides of a metric are apart: as a ratio, or in degrees, which have no ratio.
import type { ComparedMetric } from '../source/types.ts';
import { plain, ratio as ratioText, times } from '../format/number.ts';
import { value } from '../format/unit.ts';

type Effect = Pick<ComparedMetric, 'unit' | 'a' | 'b' | 'difference' | 'difference_low' | 'difference_high' | 'ratio' | 'low' | 'high'>;
const zeroCelsius = 273.15; // in kelvin

/** To sort by: the size of the ratio's logarithm; that of temperatures is of kelvin. */
export function effectSize({ unit, a, b, difference, ratio }: Effect): number {
  if (unit === 'Cel' && a !== null && b !== null) return Math.abs(Math.log((b + zeroCelsius) / (a + zeroCelsius)));
  if (ratio !== null && ratio > 0) return Math.abs(Math.log(ratio));
  return difference !== null && difference !== 0 ? Number.MAX_VALUE : 0;
}

type Bound = number | null | undefined;

function interval(low: Bound, high: Bound, text: (value: Bound) => string): string {
  const isThere = low !== null && low !== undefined && high !== null && high !== undefined;
  return isThere ? ` [${text(low)}, ${text(high)}]` : '';
}

/** "1.30× [1.28, 1.32]", "+20 °C [18.7, 21.3]". */
export function effectText(metric: Effect): string {
  if (metric.unit !== 'Cel' || metric.difference === null) return times(metric.ratio) + interval(metric.low, metric.high, ratioText);
  return (metric.difference > 0 ? '+' : '') + value(metric.difference, metric.unit) + interval(metric.difference_low, metric.difference_high, plain);
}
