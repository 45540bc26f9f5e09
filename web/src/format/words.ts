// Names of the API as people write them.
const verdicts: Record<string, string> = {
  input_bound: 'input-bound', cpu_bound: 'CPU-bound', gpu_bound: 'GPU-bound', gpu_memory_bound: 'GPU-memory-bound',
  transfer_bound: 'transfer-bound', launch_bound: 'launch-bound', communication_bound: 'communication-bound',
  checkpoint_bound: 'checkpoint-bound', memory_pressure: 'memory pressure', quota_bound: 'quota-bound',
  unknown: 'cannot tell', cannot_tell: 'cannot tell',
};

export function verdictWords(verdict: string | null | undefined): string {
  if (!verdict) return '';
  return verdicts[verdict] ?? verdict.replaceAll('_', ' ');
}

export function causeWords(cause: string | null | undefined): string {
  return cause ? cause.replaceAll('_', ' ') : '';
}

/** A word for a confidence, so that it is never a colour alone. */
export function confidenceWord(confidence: number): string {
  if (confidence >= 0.9) return 'very likely';
  if (confidence >= 0.7) return 'likely';
  if (confidence >= 0.5) return 'more likely than not';
  return 'uncertain';
}

/** system.disk.io{device=vda;direction=read} as text. */
export function seriesName(name: string, labels: Record<string, string>): string {
  const parts = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return parts.length === 0 ? name : `${name}{${parts.join(';')}}`;
}

/** What tells a series from its neighbours: the values of its labels. */
export function labelValues(labels: Record<string, string>): string {
  return Object.entries(labels).filter(([key, value]) => key !== 'source' && !(key === 'cpu' && value === 'all'))
    .map(([key, value]) => (key === 'gpu' ? `GPU ${value}` : key === 'cpu' ? `CPU ${value}` : value)).join(' ');
}

export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

export interface Outcome {
  exit_code: number | null;
  signal?: number | null;
  ended_by?: string | null;
}

/** How a job ended, as `info` writes it; '' where that is not known. */
export function outcomeWords({ exit_code: code, signal, ended_by: by }: Outcome): string {
  if (by === 'signal' && typeof signal === 'number') return `killed by signal ${signal}`;
  if (by === 'time_limit') return 'stopped by --for';
  if (by === 'detached') return 'still running when the recording ended';
  if (code === null) return '';
  return by === 'not_started' ? `did not start (exit code ${code})` : `exit code ${code}`;
}

export function count(number: number, one: string, many = one + 's'): string {
  return `${number} ${number === 1 ? one : many}`;
}
