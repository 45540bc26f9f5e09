// What is seen of a component in several runs, as a file.
import { cssColor, strokeOf } from '../charts/palette.ts';
import { save, savePng, titleOf } from '../charts/download.ts';
import { quoted } from '../charts/csv.ts';
import { chartSvg } from '../charts/svg.ts';
import { bytes, isDark } from '../state/settings.ts';
import { axisValue } from '../format/unit.ts';
import { shownRange } from './align.ts';
import type { CompareChart } from './charts.ts';
import { placed, xTextOf } from './ComparePlot.tsx';
import type { LoadedLine } from './feed.ts';
import type { CompareState } from './state.ts';

export interface SeenComparison {
  state: CompareState;
  compared: CompareChart;
  loaded: readonly LoadedLine[];
}

const fileName = ({ compared }: SeenComparison, ending: string) => `comparison-${compared.chart.id.replace(/[^\w.-]/g, '_')}.${ending}`;
const nameOf = ({ state }: SeenComparison, { line }: LoadedLine) => state.names.peek().get(line.run.id) ?? line.run.id;

function svgOf(seen: SeenComparison): string {
  const { state, compared, loaded } = seen;
  const { chart, label } = compared;
  const [from, to] = shownRange(state);
  const align = state.align.peek();
  return chartSvg({
    title: `${titleOf(chart)}: ${label}`, from, to, isFull: chart.isFull, fromZero: chart.fromZero, xText: xTextOf(align),
    yText: (y) => axisValue(y, chart.unit, chart.metric, bytes.peek()),
    colors: { background: cssColor('--page'), text: cssColor('--text'), grid: cssColor('--grid') },
    lines: loaded.map((one) => ({ name: nameOf(seen, one), ...strokeOf(one.line.index, isDark.peek()), ...placed(align, chart, one) })),
  });
}

export const saveComparedSvg = (seen: SeenComparison) => save(fileName(seen, 'svg'), svgOf(seen), 'image/svg+xml');
export const saveComparedPng = (seen: SeenComparison) => savePng(fileName(seen, 'png'), svgOf(seen));

/** One row per value; runs may have windows or samples, so min and max may be empty. */
export function saveComparedCsv(seen: SeenComparison): void {
  const rows = ['run,name,series,time_s,mean,min,max,smooth'];
  for (const one of seen.loaded) {
    const { column, line } = one;
    const head = [line.run.id, quoted(nameOf(seen, one)), quoted(seen.compared.chosen)].join(',');
    column.time.forEach((time, i) => rows.push([head, time, column.mean[i], column.min?.[i] ?? '', column.max?.[i] ?? '', column.smooth?.[i] ?? ''].join(',')));
  }
  save(fileName(seen, 'csv'), rows.join('\r\n') + '\r\n', 'text/csv');
}

export function saveComparedJson(seen: SeenComparison): void {
  const { compared, loaded } = seen;
  const list = (values: Float64Array | null) => (values ? Array.from(values) : null);
  const runs = loaded.map((one) => {
    const { column, columns, line } = one;
    return {
      run: line.run.id, name: nameOf(seen, one), unit: column.unit, from_s: columns.from_s, to_s: columns.to_s, window_s: columns.window_s,
      time_s: list(column.time), value: list(column.mean), min: list(column.min), max: list(column.max), smooth: list(column.smooth),
    };
  });
  save(fileName(seen, 'json'), JSON.stringify({ chart: compared.chart.title, series: compared.chosen, runs }, null, 1), 'application/json');
}
