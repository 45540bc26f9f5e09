// Where the page gets its data: the program that serves it, or the report that it is part of.
import type { Columns } from './columns.ts';
import type { Comparison, Diagnosis, Distribution, Info, KeptFile, LiveNow, Marks, Output, RunHead, RunListing, RunRow } from './types.ts';

export interface ColumnQuery {
  series: number[];
  from: number;
  to: number;
  points: number;
  smooth: number;
  /** What each value is the mean of, as one more array. */
  weights?: boolean;
}

export interface LiveListener {
  now(state: LiveNow): void;
  ended(state: LiveNow): void;
  /** `isForGood`: the server refused, and nothing tries again. */
  lost(isForGood: boolean): void;
}

export interface Extras {
  method: { title: string; text: string }[];
  environment: { name: string; value: string }[];
  reproduce: string;
}

export interface DataSource {
  readonly isReport: boolean;
  /** The fragment that opens first. */
  readonly start: string;
  readonly extras: Extras | null;
  /** The comparisons that a report has. */
  readonly comparisons: readonly { text: string; link: string }[];
  runs(stop?: AbortSignal): Promise<RunListing[]>;
  rows(ids: string[], stop?: AbortSignal): Promise<RunRow[]>;
  run(id: string): Promise<RunHead>;
  diagnosis(id: string): Promise<Diagnosis>;
  info(id: string): Promise<Info>;
  marks(id: string): Promise<Marks>;
  columns(id: string, query: ColumnQuery, stop?: AbortSignal): Promise<Columns>;
  steps(id: string): Promise<Columns>;
  output(id: string, at: number, lines: number, stop?: AbortSignal): Promise<Output>;
  files(id: string): Promise<KeptFile[]>;
  fileAddress(id: string, file: KeptFile): string;
  compare(a: string[], b: string[]): Promise<Comparison>;
  distribution(ids: string[]): Promise<Distribution[]>;
  /** Returns what stops listening; nothing where the source cannot change. */
  live(id: string, listener: LiveListener): () => void;
}

/** Why a request failed, in the words of the server. */
export class SourceError extends Error {
  readonly status: number;
  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** Asked again, the server would say the same: there is no such run, or this page may not see it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SourceError && error.status >= 400 && error.status < 429;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
