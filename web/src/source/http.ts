// The API of `trainscope view`.
import { decodeColumns, type Columns } from './columns.ts';
import { SourceError, type ColumnQuery, type DataSource, type LiveListener } from './source.ts';
import type { Comparison, Diagnosis, Distribution, Info, KeptFile, LiveNow, Marks, Output, RunHead, RunListing, RunRow } from './types.ts';

async function request(path: string, stop?: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, stop ? { signal: stop, headers } : { headers });
  } catch (error) {
    if (stop?.aborted) throw error;
    throw new SourceError('trainscope view does not reply: it was stopped, or the connection to it is lost', 0);
  }
  if (response.ok || response.status === 304) return response;
  const body = (await response.json().catch(() => null)) as { error?: string } | null;
  const reason = response.status === 401 ? 'this page is not signed in; open the address that trainscope view printed' : null;
  throw new SourceError(reason ?? body?.error ?? `the server replied ${response.status}`, response.status);
}

async function json<T>(path: string, stop?: AbortSignal): Promise<T> {
  return (await (await request(path, stop)).json()) as T;
}

const run = (id: string) => `/api/run/${encodeURIComponent(id)}`;
const list = (ids: readonly (string | number)[]) => ids.map((id) => encodeURIComponent(String(id))).join(',');

export class HttpSource implements DataSource {
  readonly isReport = false;
  readonly start = '#/';
  readonly extras = null;
  readonly comparisons = [];
  #listed: { tag: string; runs: RunListing[] } | null = null;

  /** The same array as before if nothing has changed: then 10,000 runs are neither sent nor sorted again. */
  async runs(stop?: AbortSignal): Promise<RunListing[]> {
    const known = this.#listed;
    const response = await request('/api/runs', stop, known ? { 'If-None-Match': known.tag } : {});
    if (response.status === 304 && known) return known.runs;
    const { runs } = (await response.json()) as { runs: RunListing[] };
    const tag = response.headers.get('ETag');
    this.#listed = tag === null ? null : { tag, runs };
    return runs;
  }
  async rows(ids: string[], stop?: AbortSignal): Promise<RunRow[]> {
    return (await json<{ rows: RunRow[] }>(`/api/rows?runs=${list(ids)}`, stop)).rows;
  }
  run(id: string): Promise<RunHead> {
    return json(run(id));
  }
  diagnosis(id: string): Promise<Diagnosis> {
    return json(`${run(id)}/diagnosis`);
  }
  info(id: string): Promise<Info> {
    return json(`${run(id)}/info`);
  }
  marks(id: string): Promise<Marks> {
    return json(`${run(id)}/marks`);
  }
  async columns(id: string, query: ColumnQuery, stop?: AbortSignal): Promise<Columns> {
    const { series, from, to, points, smooth, weights } = query;
    const path = `${run(id)}/columns?series=${list(series)}&from=${from}&to=${to}&points=${points}${smooth > 0 ? `&smooth=${smooth}` : ''}${weights ? '&weights=1' : ''}`;
    return decodeColumns(await (await request(path, stop)).arrayBuffer());
  }
  async steps(id: string): Promise<Columns> {
    return decodeColumns(await (await request(`${run(id)}/steps?points=2000`)).arrayBuffer());
  }
  output(id: string, at: number, lines: number, stop?: AbortSignal): Promise<Output> {
    return json(`${run(id)}/output?at=${at}&lines=${lines}`, stop);
  }
  async files(id: string): Promise<KeptFile[]> {
    return (await json<{ files: KeptFile[] }>(`${run(id)}/files`)).files;
  }
  fileAddress(id: string, file: KeptFile): string {
    return `${run(id)}/file/${file.index}`;
  }
  compare(a: string[], b: string[]): Promise<Comparison> {
    return json(`/api/compare?a=${list(a)}&b=${list(b)}`);
  }
  async distribution(ids: string[]): Promise<Distribution[]> {
    return (await json<{ runs: Distribution[] }>(`/api/compare/distribution?runs=${list(ids)}`)).runs;
  }
  live(id: string, listener: LiveListener): () => void {
    const events = new EventSource(`${run(id)}/live`);
    const state = (event: MessageEvent<string>) => JSON.parse(event.data) as LiveNow;
    events.addEventListener('now', (event) => listener.now(state(event as MessageEvent<string>)));
    events.addEventListener('ended', (event) => {
      events.close();
      listener.ended(state(event as MessageEvent<string>));
    });
    events.onerror = () => listener.lost(events.readyState === EventSource.CLOSED);
    return () => events.close();
  }
}
