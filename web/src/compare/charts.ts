// Which charts a comparison has: each component of any run, with one series of it in every run.
import { linesWithout, type Chart } from '../charts/catalog.ts';
import { seriesName } from '../format/words.ts';
import type { ComparedRun } from './state.ts';

const shownCharts = /^(step_time|loss|accuracy|throughput|gpu|gpu_memory|processor|memory|disk|network|pressure|temperature|power)(-|$)/;

export interface CompareLine {
  run: ComparedRun;
  /** Place of the run, which decides its colour. */
  index: number;
  series: number;
  /** metric{k=v;k=v}: numbers of series of a live run change when it gets new ones. */
  name: string;
  stopsInPauses: boolean;
}

export interface CompareChart {
  chart: Chart;
  /** Series that may be drawn, the largest of the first run first. */
  choices: { key: string; label: string }[];
  chosen: string;
  label: string;
  lines: CompareLine[];
}

/** The same in every run, whatever told its steps. */
export const seriesKey = (name: string, labels: Record<string, string>) => {
  const { source: _source, ...others } = labels;
  return seriesName(name, others);
};

/** `hidden`: devices that are not drawn. */
export function compareCharts(runs: readonly ComparedRun[], chosen: ReadonlyMap<string, string>, hidden: ReadonlySet<string> = new Set()): CompareChart[] {
  const found = new Map<string, { chart: Chart; labels: Map<string, string>; series: Map<string, CompareLine[]> }>();
  runs.forEach((run, index) => {
    for (const chart of run.charts) {
      const allowed = linesWithout(chart, hidden);
      if (!shownCharts.test(chart.id) || allowed.length === 0) continue;
      const entry = found.get(chart.id) ?? { chart, labels: new Map<string, string>(), series: new Map<string, CompareLine[]>() };
      found.set(chart.id, entry);
      for (const line of allowed) {
        const key = seriesKey(line.metric.name, line.metric.labels);
        if (!entry.labels.has(key)) entry.labels.set(key, line.label);
        const lines = entry.series.get(key) ?? [];
        if (lines.every((one) => one.run !== run)) lines.push({ run, index, series: line.series, name: seriesName(line.metric.name, line.metric.labels), stopsInPauses: line.stopsInPauses });
        entry.series.set(key, lines);
      }
    }
  });
  return [...found.values()].map(({ chart, labels, series }) => {
    const choices = [...labels].map(([key, label]) => ({ key, label }));
    const wanted = chosen.get(chart.id) ?? '';
    const key = series.has(wanted) ? wanted : (choices[0]?.key ?? '');
    return { chart, choices, chosen: key, label: labels.get(key) ?? '', lines: series.get(key) ?? [] };
  });
}
