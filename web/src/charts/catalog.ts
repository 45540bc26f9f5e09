// Which charts a run has, in which order, and what is in them: rules over the metrics of `info`.
import type { Info, Metric } from '../source/types.ts';
import { labelValues, seriesName } from '../format/words.ts';

export interface Line {
  series: number;
  label: string;
  metric: Metric;
  /** "gpu:0", "device:sda": what the device selection switches off. */
  devices: string[];
  /** Nothing happens to it in a pause of the training: it is interrupted there. Evaluations are pauses, and have values of their own. */
  stopsInPauses: boolean;
}

export interface Chart {
  id: string;
  title: string;
  unit: string;
  /** The metric that decides how values are written. */
  metric: string;
  lines: Line[];
  /** Whether it is open before anyone chose. */
  isMain: boolean;
  group: Group;
  /** Shares of a whole are drawn from 0 to 100 %. */
  isFull: boolean;
  fromZero: boolean;
  /** Points come when the job reports, not at the sampling period. */
  isIrregular: boolean;
  /** Why there is nothing to draw, in the words of `doctor`. */
  empty: { reason: string; remedy: string | null } | null;
}

export const groups = ['training', 'GPU', 'processor', 'memory', 'disk', 'network', 'pressure', 'temperatures', 'power', 'job', 'counters', 'recorder', 'other'] as const;
export type Group = (typeof groups)[number];

interface Rule {
  id: string;
  title: string;
  group: Group;
  metrics: RegExp;
  /** Further conditions on labels: every one that a series has must match. */
  labels?: Record<string, RegExp>;
  /** The metric whose lines come first; the others follow by size. */
  principal?: string;
  /** One chart per value of this label. */
  per?: string;
  label?: (metric: Metric) => string;
  isMain?: boolean;
  isFull?: boolean;
  fromZero?: boolean;
  stopsInPauses?: boolean;
  /** Shown with its reason where the run has none of it. */
  explain?: boolean;
}

const short = (metric: Metric) => metric.name.split('.').slice(1).join(' ').replaceAll('_', ' ');
const named = (words: Record<string, string>) => (metric: Metric) =>
  [words[metric.name] ?? short(metric), labelValues(metric.labels)].filter((word) => word !== '').join(' ');
const valuesOnly = (metric: Metric) => labelValues(metric.labels) || short(metric);
const without = (key: string, label: (metric: Metric) => string) => (metric: Metric) => {
  const { [key]: _left, ...labels } = metric.labels;
  return label({ ...metric, labels });
};

const rules: Rule[] = [
  { id: 'step_time', title: 'Step time', group: 'training', metrics: /^train\.(step\.duration|input_wait)$/, principal: 'train.step.duration', isMain: true, stopsInPauses: true, explain: true, label: named({ 'train.step.duration': 'step', 'train.input_wait': 'waiting for input' }) },
  { id: 'loss', title: 'Loss', group: 'training', metrics: /^train\.loss$/, isMain: true, stopsInPauses: true, fromZero: false, label: valuesOnly },
  { id: 'accuracy', title: 'Accuracy', group: 'training', metrics: /^train\.accuracy$/, isMain: true, stopsInPauses: true, isFull: true, label: valuesOnly },
  { id: 'throughput', title: 'Throughput', group: 'training', metrics: /^train\.throughput$/, stopsInPauses: true, label: () => 'items' },
  { id: 'gpu', title: 'GPU', group: 'GPU', metrics: /^hw\.gpu\.(utilization|memory\.controller\.utilization|sm_active|tensor_active|dram_active|sm_occupancy)$/, per: 'gpu', principal: 'hw.gpu.utilization', isMain: true, isFull: true, explain: true, label: without('gpu', named({ 'hw.gpu.utilization': 'busy', 'hw.gpu.memory.controller.utilization': 'memory controller', 'hw.gpu.sm_active': 'SMs active', 'hw.gpu.tensor_active': 'tensor cores', 'hw.gpu.dram_active': 'memory active', 'hw.gpu.sm_occupancy': 'SM occupancy' })) },
  { id: 'gpu_memory', title: 'GPU memory', group: 'GPU', metrics: /^(hw|job)\.gpu\.memory\.usage$/, label: named({ 'hw.gpu.memory.usage': 'all', 'job.gpu.memory.usage': 'job' }) },
  { id: 'gpu_clock', title: 'GPU clock', group: 'GPU', metrics: /^hw\.gpu\.clock$/, label: valuesOnly },
  { id: 'gpu_link', title: 'GPU links', group: 'GPU', metrics: /^hw\.gpu\.(pcie|nvlink)\.io$/, label: named({ 'hw.gpu.pcie.io': 'PCIe', 'hw.gpu.nvlink.io': 'NVLink' }) },
  { id: 'processor', title: 'Processor', group: 'processor', metrics: /^(system|job)\.cpu\.utilization$/, labels: { cpu: /^all$/ }, principal: 'job.cpu.utilization', isMain: true, isFull: true, explain: true, label: named({ 'system.cpu.utilization': 'machine', 'job.cpu.utilization': 'job' }) },
  { id: 'cores', title: 'Each processor', group: 'processor', metrics: /^system\.cpu\.utilization$/, labels: { cpu: /^\d+$/ }, isFull: true, label: valuesOnly },
  { id: 'threads', title: 'Threads of the job', group: 'processor', metrics: /^job\.thread\.(time|blocked)$/, label: named({ 'job.thread.time': '', 'job.thread.blocked': 'blocked on' }) },
  { id: 'memory', title: 'Memory', group: 'memory', metrics: /^(job|system)\.memory\.usage$/, labels: { state: /^(used|cached)$/ }, principal: 'job.memory.usage', isMain: true, explain: true, label: named({ 'job.memory.usage': 'job', 'system.memory.usage': 'machine' }) },
  { id: 'swap', title: 'Swap', group: 'memory', metrics: /^system\.swap\.io$/, label: valuesOnly },
  { id: 'faults', title: 'Page faults', group: 'memory', metrics: /^(system|job)\.paging\.faults$/, label: named({ 'system.paging.faults': 'machine', 'job.paging.faults': 'job' }) },
  { id: 'disk', title: 'Disk', group: 'disk', metrics: /^(system|job)\.disk\.io$/, isMain: true, explain: true, label: named({ 'system.disk.io': '', 'job.disk.io': 'job' }) },
  { id: 'disk_busy', title: 'Disk busy', group: 'disk', metrics: /^system\.disk\.utilization$/, isFull: true, label: valuesOnly },
  { id: 'disk_operations', title: 'Disk operations', group: 'disk', metrics: /^system\.disk\.operations$/, label: valuesOnly },
  { id: 'job_io', title: 'Bytes read and written by calls', group: 'disk', metrics: /^job\.io\.bytes$/, label: valuesOnly },
  { id: 'network', title: 'Network', group: 'network', metrics: /^(system\.network\.io|ib\.io|nfs\.io)$/, explain: true, label: named({ 'system.network.io': '', 'ib.io': 'InfiniBand', 'nfs.io': 'NFS' }) },
  { id: 'pressure', title: 'Pressure', group: 'pressure', metrics: /^(system|cgroup)\.pressure\.time$/, explain: true, label: named({ 'system.pressure.time': '', 'cgroup.pressure.time': 'cgroup' }) },
  { id: 'temperature', title: 'Temperature', group: 'temperatures', metrics: /^hw\.(gpu\.)?temperature$/, fromZero: false, explain: true, label: valuesOnly },
  { id: 'power', title: 'Power', group: 'power', metrics: /^hw\.(gpu\.)?power$/, explain: true, label: valuesOnly },
  { id: 'job_tasks', title: 'Processes and threads', group: 'job', metrics: /^job\.(process|thread)\.count$/, label: named({ 'job.process.count': 'processes', 'job.thread.count': 'threads' }) },
  { id: 'job_switches', title: 'Context switches', group: 'job', metrics: /^job\.context_switches$/, label: valuesOnly },
];

const hiddenMetrics = /^(train\.step|system\.cpu\.time|job\.cpu\.time)$/;
const deviceKeys = ['gpu', 'device', 'port', 'mountpoint', 'fs', 'target', 'client', 'sensor', 'cpu', 'node', 'engine', 'role', 'process', 'resource', 'direction', 'set'];

function isMatch(rule: Rule, metric: Metric): boolean {
  if (!rule.metrics.test(metric.name)) return false;
  return Object.entries(rule.labels ?? {}).every(([key, wanted]) => metric.labels[key] === undefined || wanted.test(metric.labels[key] ?? ''));
}

export function devicesOf(metric: Metric): string[] {
  return deviceKeys.filter((key) => metric.labels[key] !== undefined && metric.labels[key] !== 'all').map((key) => `${key}:${metric.labels[key]}`);
}

/** Without those of devices that are not drawn. */
export const linesWithout = (chart: Chart, hidden: ReadonlySet<string>): Line[] => chart.lines.filter((line) => !line.devices.some((device) => hidden.has(device)));

/** What a series shows on average: the rate of a counter, the mean of a level; null where that is not known. */
export function typical(metric: Metric): number | null {
  return metric.kind === 'counter' ? metric.rate : metric.mean;
}

/** Counters are drawn as rates, so their unit is one per second. */
export function drawnUnit(metric: Metric): string {
  return metric.kind === 'counter' ? `${metric.unit}/s` : metric.unit;
}

function chartOf(rule: Rule, id: string, title: string, found: [number, Metric][]): Chart {
  const lines = found.map(([series, metric]) => ({ series, metric, label: rule.label?.(metric) ?? seriesName(metric.name, metric.labels), devices: devicesOf(metric), stopsInPauses: rule.stopsInPauses === true && /^(train.*)?$/.test(metric.labels['set'] ?? '') }));
  const isFirst = (line: Line) => Number(line.metric.name === rule.principal);
  lines.sort((a, b) => isFirst(b) - isFirst(a) || (typical(b.metric) ?? 0) - (typical(a.metric) ?? 0));
  const first = lines[0]?.metric;
  return {
    id, title, lines,
    group: rule.group,
    unit: first ? drawnUnit(first) : '',
    metric: first?.name ?? '',
    isMain: rule.isMain ?? false,
    isFull: rule.isFull ?? false,
    fromZero: rule.fromZero ?? true,
    isIrregular: first?.name.startsWith('train.') ?? false,
    empty: null,
  };
}

function emptyChart(rule: Rule, info: Info): Chart {
  // The most general of the metrics explains best: hw.temperature before hw.gpu.temperature.
  const absent = info.metrics.filter((metric) => isMatch(rule, metric) && metric.status === 'absent' && metric.reason !== null)
    .sort((a, b) => a.name.length - b.name.length)[0];
  const reason = rule.id === 'step_time' ? (info.steps?.reason ?? absent?.reason ?? 'no steps were reported') : (absent?.reason ?? 'nothing was recorded');
  return { ...chartOf(rule, rule.id, rule.title, []), isMain: rule.isMain === true && rule.id === 'step_time', empty: { reason, remedy: absent?.remedy ?? null } };
}

function ruleCharts(rule: Rule, info: Info, present: [number, Metric][]): Chart[] {
  const found = present.filter(([, metric]) => isMatch(rule, metric));
  if (found.length === 0) return rule.explain ? [emptyChart(rule, info)] : [];
  const { per } = rule;
  if (per === undefined) return [chartOf(rule, rule.id, rule.title, found)];
  const values = [...new Set(found.map(([, metric]) => metric.labels[per] ?? ''))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return values.map((value) => chartOf(rule, `${rule.id}-${value}`, `${rule.title} ${value}`, found.filter(([, metric]) => metric.labels[per] === value)));
}

/** Metrics without a rule: one chart each, closed. */
function otherCharts(present: [number, Metric][], used: Set<number>): Chart[] {
  const byName = new Map<string, [number, Metric][]>();
  for (const one of present) {
    const [series, metric] = one;
    if (used.has(series) || hiddenMetrics.test(metric.name)) continue;
    byName.set(metric.name, [...(byName.get(metric.name) ?? []), one]);
  }
  return [...byName].map(([name, found]) => {
    const group: Group = /^(counter|perf)\./.test(name) ? 'counters' : name.startsWith('recorder.') ? 'recorder' : name.startsWith('job.') ? 'job' : 'other';
    const isCounter = name.startsWith('counter.');
    const isTraining = name.startsWith('train.');
    const title = isTraining ? `${name} from ${found[0]?.[1].labels['source'] ?? 'another source'}` : name;
    return chartOf({ id: name, title, group: isTraining ? 'training' : group, metrics: /./, label: valuesOnly, isMain: isCounter, fromZero: name !== 'train.loss' }, name, title, found);
  });
}

/** A job may print what it also reports: the source of the steps is drawn, the others are further charts. */
function isFromOtherSource(info: Info, metric: Metric): boolean {
  const source = info.steps?.source;
  if (!source || metric.labels['source'] === undefined || metric.labels['source'] === source) return false;
  return info.metrics.some((other) => other.name === metric.name && other.labels['source'] === source && other.labels['set'] === metric.labels['set'] && other.samples > 0);
}

export function chartsOf(info: Info): Chart[] {
  const all = info.metrics.map((metric, series): [number, Metric] => [series, metric]).filter(([, metric]) => metric.status !== 'absent' && metric.samples > 0);
  const present = all.filter(([, metric]) => !isFromOtherSource(info, metric));
  const charts: Chart[] = [];
  const used = new Set<number>();
  for (const rule of rules) {
    for (const chart of ruleCharts(rule, info, present)) {
      charts.push(chart);
      for (const line of chart.lines) used.add(line.series);
    }
  }
  charts.push(...otherCharts(all, used));
  return charts.sort((a, b) => Number(b.isMain) - Number(a.isMain) || groups.indexOf(a.group) - groups.indexOf(b.group));
}

/** The chart that draws a metric, for links from evidence. */
export function chartWith(charts: Chart[], metric: string): Chart | undefined {
  return charts.find((chart) => chart.lines.some((line) => line.metric.name === metric));
}

const nameOf = ({ metric }: Line) => seriesName(metric.name, metric.labels);
const contents = (chart: Chart) => [chart.id, chart.empty?.reason ?? '', ...chart.lines.map(nameOf).sort()].join('\n');

/** The same chart with the numbers that its series have now: a new series elsewhere may move them. */
function renumbered(before: Chart, now: Chart): Chart {
  const places = new Map(now.lines.map((line) => [nameOf(line), line.series]));
  const lines = before.lines.map((line) => ({ ...line, series: places.get(nameOf(line)) ?? line.series }));
  return lines.every((line, index) => line.series === before.lines[index]?.series) ? before : { ...before, lines };
}

/** While a run is live its averages change: a chart and its colours stay as they are unless it has a new series. */
export function keepCharts(before: Chart[] | null, now: Chart[]): Chart[] {
  const known = new Map((before ?? []).map((chart) => [contents(chart), chart]));
  const kept = now.map((chart) => renumbered(known.get(contents(chart)) ?? chart, chart));
  return before?.length === kept.length && kept.every((chart, index) => chart === before[index]) ? before : kept;
}
