// A loss in one line of the table.
import { plain } from '../format/number.ts';

const width = 96;
const height = 22;

export function Sparkline({ values, name }: { values: (number | null)[]; name: string }) {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length === 0) return null;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const y = (value: number) => (high > low ? height - 2 - ((value - low) / (high - low)) * (height - 4) : height / 2);
  const points = known.map((value, index) => `${((index / Math.max(1, known.length - 1)) * (width - 2) + 1).toFixed(1)},${y(value).toFixed(1)}`);
  const label = `${name} from ${plain(known[0])} to ${plain(known[known.length - 1])}`;
  return (
    <svg width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      {known.length === 1 ? <circle cx={width / 2} cy={height / 2} r="2" fill="currentColor" /> : <polyline points={points.join(' ')} fill="none" stroke="currentColor" stroke-width="1.5" />}
    </svg>
  );
}
