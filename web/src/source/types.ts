// The documents of the API (docs/web-api.md). Absent numbers are null.
export type Labels = Record<string, string>;

export interface RunListing {
  id: string;
  name: string | null;
  note: string | null;
  tags: Record<string, string>;
  group: { job: string | null; rank: number; world_size: number } | null;
  repeat: { group: string; index: number; count: number } | null;
  host: string | null;
  started: string | null;
  duration_s: number | null;
  command: string[];
  exit_code: number | null;
  signal?: number | null;
  ended_by?: string | null;
  verdict: string | null;
  steps: number | null;
  status: string;
  problem: string | null;
}

export interface RunRow {
  id: string;
  /** So far, if it is being recorded. */
  duration_s: number | null;
  steps: number | null;
  steps_per_s: number | null;
  loss: (number | null)[] | null;
  name_of_loss: string | null;
}

export interface RunHead {
  run: {
    id: string;
    name: string | null;
    tags: Record<string, string>;
    note: string | null;
    host: string | null;
    started: string | null;
    ended: string | null;
    duration_s: number;
    status: string;
    command: string[];
    exit_code: number | null;
    signal?: number | null;
    ended_by?: string | null;
    group: RunListing['group'];
  };
  verdict: { verdict: string; cause: string | null; confidence?: number; sentence?: string | null } | null;
}

export interface Finding {
  id: string;
  severity: string;
  summary: string;
  evidence: string[];
  from_s: number | null;
  to_s: number | null;
  time_lost_s: number | null;
  max_speedup: number | null;
  confidence: number | null;
  advice: string | null;
}

export interface Part {
  part: string;
  share: number | null;
  time_s: number | null;
}

export interface Diagnosis {
  verdict: string;
  cause: string | null;
  confidence: number;
  sentence?: string | null;
  breakdown: Part[];
  findings: Finding[];
  alternatives: { verdict: string; confidence: number }[];
  limits: { name: string; reached: number | null; limit: number | null; unit: string }[];
  missing?: string[];
  over_time?: { verdict: string; confidence: number; from_s: number; to_s: number }[];
  proof?: { sentence: string; verdict: string; what: string }[];
  stored?: { verdict: string; cause: string | null; differs: boolean; rules: number } | null;
  rules: number;
}

export interface Metric {
  name: string;
  labels: Labels;
  unit: string;
  kind: string;
  derived: boolean;
  status: string;
  reason: string | null;
  remedy: string | null;
  samples: number;
  min: number | null;
  mean: number | null;
  max: number | null;
  last: number | null;
  delta: number | null;
  rate: number | null;
}

export interface Info {
  run: { id: string; name: string | null; notes?: string[]; status: string; duration_s: number; trainscope_version?: string | null };
  job: { command: string[]; exit_code: number | null; signal: number | null; ended_by: string | null };
  host: Record<string, unknown> & { name: string | null; cpu_model: string | null; threads: number | null; memory_bytes: number | null };
  sampling: { period_s: number | null; samples: number; missed: number; gaps: Span[]; left_out_gaps?: number };
  overhead: { cpu_ratio: number | null } & Record<string, number | null>;
  metrics: Metric[];
  steps: { count: number | null; begin_s?: number | null; end_s?: number | null; mean_s: number | null; reason: string | null; source: string | null } | null;
}

export interface Span {
  from_s: number;
  to_s: number;
  name?: string;
  kind?: string;
  reason?: string | null;
}

export interface Marks {
  phases: Span[];
  left_out?: number;
  pauses: Span[];
  events: { time_s: number; kind: string; text: string }[];
  gaps: Span[];
  parts: { names: string[]; from_s: number[]; to_s: number[]; shares: (number | null)[][] } | null;
}

/** What is drawn behind the lines of every chart. */
export type DrawnMarks = Pick<Marks, 'gaps' | 'pauses' | 'phases' | 'events'>;

export interface Output {
  lines: { time_s: number | null; text: string }[];
  at: number | null;
  more_before: boolean;
  more_after: boolean;
  /** Whether the recorder noted when it read the lines; of earlier versions' runs they are estimated from printed steps, or unknown. */
  times: 'read' | 'estimated' | 'unknown';
  /** Lines were read less than so many seconds after their time; null: nobody knows how much later. */
  within_s: number | null;
  /** Why they may have been read long after they were printed. */
  late: string | null;
}

export interface KeptFile {
  index: number;
  path: string;
  bytes: number;
  time_s: number | null;
  type: string;
  data?: string;
}

export interface ComparedMetric {
  name: string;
  labels: Labels;
  unit: string;
  main?: boolean;
  a: number | null;
  b: number | null;
  difference: number | null;
  difference_low?: number | null;
  difference_high?: number | null;
  ratio: number | null;
  low: number | null;
  high: number | null;
  p_adjusted: number | null;
  verdict: string;
  reason?: string | null;
}

export interface ComparedSide {
  runs: string[];
  details?: { id: string; name: string | null; status: string; duration_s: number; steps: number | null; warmup_steps?: number; verdict: string | null; cause: string | null }[];
}

export interface Comparison {
  a: ComparedSide;
  b: ComparedSide;
  about?: string;
  speed: { metric: string; a_step_s: number | null; b_step_s: number | null; ratio: number | null; low: number | null; high: number | null; p: number | null; verdict: string; sentence: string; reason: string | null };
  behaviour: { verdict: string; sentence: string };
  metrics: ComparedMetric[];
  attribution: { part: string; a_s: number; b_s: number; difference_s: number; share: number | null }[];
  why: string | null;
  warnings: { id: string; summary: string }[];
  energy: (Omit<ComparedMetric, 'name' | 'labels'> & { of: string }) | null;
  cost?: (Omit<ComparedMetric, 'name' | 'labels'> & { currency: string | null }) | null;
  explanation?: { question: string; null_hypothesis: string; test: string; result: string }[];
}

export interface Distribution {
  id: string;
  unit?: string;
  quantiles?: number[];
  steps?: number;
  reason?: string;
}

export interface LiveNow {
  duration_s: number | null;
  /** The run is over, and its end was not recorded. */
  recorder_gone?: boolean;
  status: string;
  samples: number | null;
  steps: number | null;
  missed: number | null;
}
