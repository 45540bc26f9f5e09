// What is seen, as a file: an image with title and legend, or the numbers.
import type { Columns } from '../source/columns.ts';
import type { RunState } from '../state/run.ts';
import { bytes, isDark } from '../state/settings.ts';
import { seriesName } from '../format/words.ts';
import { clock } from '../format/time.ts';
import { axisValue, countedWords } from '../format/unit.ts';
import { drawnUnit, type Chart, type Line } from './catalog.ts';
import { csvOf } from './csv.ts';
import { breaksOf, interruptions } from './data.ts';
import { cssColor, strokeOf } from './palette.ts';
import { chartSvg } from './svg.ts';

export interface Seen {
  chart: Chart;
  run: RunState;
  columns: Columns;
  lines: Line[];
  host: HTMLElement | null;
}

export function save(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const fileName = ({ chart, run }: Seen, ending: string) => `${run.id}-${chart.id.replace(/[^\w.-]/g, '_')}.${ending}`;

export function downloadCsv(seen: Seen): void {
  save(fileName(seen, 'csv'), csvOf(seen.columns, seen.lines), 'text/csv');
}

export function downloadJson(seen: Seen): void {
  const { columns, lines, chart, run } = seen;
  const series = lines.map((line) => {
    const column = columns.columns.find((one) => one.series === line.series);
    const list = (values: Float64Array | null | undefined) => (values ? Array.from(values) : null);
    return { name: line.metric.name, labels: line.metric.labels, unit: column?.unit ?? chart.unit, time_s: list(column?.time) ?? [], value: list(column?.mean) ?? [], min: list(column?.min), max: list(column?.max), smooth: list(column?.smooth) };
  });
  const document = { run: run.id, chart: chart.title, from_s: columns.from_s, to_s: columns.to_s, window_s: columns.window_s, series };
  save(fileName(seen, 'json'), JSON.stringify(document, null, 1), 'application/json');
}

export function downloadSvg(seen: Seen): void {
  save(fileName(seen, 'svg'), svgOf(seen), 'image/svg+xml');
}

/** "Disk operations (operations/s)": with what its axis counts. */
export function titleOf(chart: Chart): string {
  const words = countedWords(chart.lines.map((line) => drawnUnit(line.metric)));
  return words === '' ? chart.title : `${chart.title} (${words})`;
}

function svgOf({ chart, run, columns, lines }: Seen): string {
  const { view } = run;
  const { from, to } = view.shown.peek();
  return chartSvg({
    title: `${titleOf(chart)} of ${run.head.peek()?.run.name ?? run.id}`,
    from: view.toX(from), to: view.toX(to), isFull: chart.isFull, fromZero: chart.fromZero,
    xText: (x, step) => (view.stepAxis.peek() ? String(Math.round(x)) : clock(x, step)),
    yText: (y) => axisValue(y, chart.unit, chart.metric, bytes.peek()),
    colors: { background: cssColor('--page'), text: cssColor('--text'), grid: cssColor('--grid') },
    lines: lines.flatMap((line) => {
      const column = columns.columns.find((one) => one.series === line.series);
      return column ? [{ name: seriesName(line.metric.name, line.metric.labels), ...strokeOf(chart.lines.indexOf(line), isDark.peek()), x: Array.from(column.time, (time) => view.toX(time)), column,
        breaks: breaksOf(column, columns.window_s, chart.isIrregular, interruptions(line, run.marks.peek())).map((time) => view.toX(time)) }] : [];
    }),
  });
}

export function downloadPng(seen: Seen): void {
  savePng(fileName(seen, 'png'), svgOf(seen));
}

/** The SVG drawn by the browser, at twice the size. */
export function savePng(name: string, svg: string): void {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement('canvas');
    canvas.width = image.width * 2;
    canvas.height = image.height * 2;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    canvas.toBlob((blob) => {
      if (blob) save(name, blob, 'image/png');
    });
  };
  image.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
}
