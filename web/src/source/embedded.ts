// A report: everything is in the page itself.
import { decodeColumns, sliceColumn, type Column, type Columns } from './columns.ts';
import { SourceError, type ColumnQuery, type DataSource, type Extras } from './source.ts';
import type { Comparison, Diagnosis, Distribution, Info, KeptFile, Marks, Output, RunHead, RunListing, RunRow } from './types.ts';

interface ReportRun {
  run: RunHead['run'] | RunHead;
  diagnosis: Diagnosis;
  info: Info;
  marks: Marks;
  output: Output | null;
  columns: string;
  steps: string | null;
  distribution: Distribution | null;
  files?: KeptFile[];
}

export interface ReportDocument extends Partial<Extras> {
  version: number;
  runs: Record<string, ReportRun>;
  compare: ReportComparison | null;
  /** Of the same first side with each further one. */
  more_comparisons?: ReportComparison[];
}

interface ReportComparison {
  a: string[];
  b: string[];
  document: Comparison;
}

/** base64 of gzip; fetch() of a data: address is not allowed by the CSP, so it is decoded here. */
async function unpack(text: string): Promise<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** Moving mean over `width` seconds of the windows that the report has. */
function smoothed(column: Column, width: number): Float64Array {
  const result = new Float64Array(column.time.length);
  let first = 0;
  let next = 0;
  let sum = 0;
  let weights = 0;
  const add = (index: number, sign: number) => {
    const weight = column.weight?.[index] ?? 1;
    sum += sign * weight * (column.mean[index] ?? 0);
    weights += sign * weight;
  };
  for (let i = 0; i < result.length; i++) {
    const centre = column.time[i] ?? 0;
    while (next < result.length && (column.time[next] ?? 0) <= centre + width / 2) add(next++, 1);
    while ((column.time[first] ?? 0) < centre - width / 2) add(first++, -1);
    result[i] = sum / weights;
  }
  return result;
}

export class EmbeddedSource implements DataSource {
  readonly isReport = true;
  readonly start: string;
  readonly extras: Extras;
  readonly comparisons: readonly { text: string; link: string }[];
  readonly #report: ReportDocument;
  readonly #decoded = new Map<string, Promise<Columns>>();

  constructor(report: ReportDocument) {
    this.#report = report;
    this.extras = { method: report.method ?? [], environment: report.environment ?? [], reproduce: report.reproduce ?? '' };
    const all = this.#comparisons();
    this.comparisons = all.map((one) => ({ text: all.length > 1 ? `${this.#names(one.a)} and ${this.#names(one.b)}` : 'Comparison', link: this.#link(one) }));
    this.start = this.comparisons[0]?.link ?? `#/run/${Object.keys(report.runs)[0] ?? ''}`;
  }

  #comparisons(): ReportComparison[] {
    const { compare, more_comparisons: more } = this.#report;
    return compare ? [compare, ...(more ?? [])] : [];
  }

  #names(ids: readonly string[]): string {
    return [...new Set(ids.map((id) => this.#head(id).run.name ?? id))].join(', ');
  }

  /** The runs of the other comparisons are drawn too. */
  #link({ a, b }: ReportComparison): string {
    const others = Object.keys(this.#report.runs).filter((id) => !a.includes(id) && !b.includes(id));
    return `#/compare?a=${a.join(',')}&b=${b.join(',')}${others.length > 0 ? `&more=${others.join(',')}` : ''}`;
  }

  #run(id: string): ReportRun {
    const run = this.#report.runs[id];
    if (!run) throw new SourceError(`run ${id} is not part of this report`, 404);
    return run;
  }
  #head(id: string): RunHead {
    const head = this.#run(id).run;
    return 'run' in head ? head : { run: head, verdict: null };
  }
  async runs(): Promise<RunListing[]> {
    return Object.entries(this.#report.runs).map(([id, run]) => {
      const head = this.#head(id).run;
      return { ...head, id, repeat: null, verdict: run.diagnosis.verdict, steps: run.info.steps?.count ?? null, problem: null };
    });
  }
  async rows(ids: string[]): Promise<RunRow[]> {
    return ids.map((id) => ({ id, duration_s: null, steps: null, steps_per_s: null, loss: null, name_of_loss: null }));
  }
  async run(id: string): Promise<RunHead> {
    return this.#head(id);
  }
  async diagnosis(id: string): Promise<Diagnosis> {
    return this.#run(id).diagnosis;
  }
  async info(id: string): Promise<Info> {
    return this.#run(id).info;
  }
  async marks(id: string): Promise<Marks> {
    return this.#run(id).marks;
  }
  #decode(key: string, text: string): Promise<Columns> {
    let decoded = this.#decoded.get(key);
    if (!decoded) this.#decoded.set(key, (decoded = unpack(text).then(decodeColumns)));
    return decoded;
  }
  async columns(id: string, query: ColumnQuery): Promise<Columns> {
    const all = await this.#decode(id, this.#run(id).columns);
    const wanted = new Set(query.series);
    const columns = all.columns.filter((column) => wanted.has(column.series)).map((column) => {
      const withSmooth = query.smooth > 0 ? { ...column, smooth: smoothed(column, query.smooth) } : column;
      return sliceColumn(withSmooth, query.from, query.to);
    });
    return { ...all, from_s: query.from, to_s: query.to, columns };
  }
  async steps(id: string): Promise<Columns> {
    const text = this.#run(id).steps;
    if (!text) throw new SourceError('this run has no steps', 404);
    return this.#decode(`${id} steps`, text);
  }
  async output(id: string, at: number): Promise<Output> {
    const output = this.#run(id).output;
    if (!output) return { lines: [], at: null, more_before: false, more_after: false, times: 'unknown', within_s: null, late: null };
    if (output.times === 'unknown') return output; // no line is that of the cursor
    const after = output.lines.findIndex((line) => line.time_s !== null && line.time_s > at);
    return { ...output, at: after < 0 ? output.lines.length - 1 : Math.max(0, after - 1) };
  }
  async files(id: string): Promise<KeptFile[]> {
    return this.#run(id).files ?? [];
  }
  fileAddress(_id: string, file: KeptFile): string {
    return file.data ?? '';
  }
  async compare(a: string[], b: string[]): Promise<Comparison> {
    const found = this.#comparisons().find((one) => one.a.join() === a.join() && one.b.join() === b.join());
    if (!found) throw new SourceError('this report has no comparison of these runs', 404);
    return found.document;
  }
  async distribution(ids: string[]): Promise<Distribution[]> {
    return ids.map((id) => this.#run(id).distribution ?? { id, reason: 'not part of this report' });
  }
  live(): () => void {
    return () => {};
  }
}
