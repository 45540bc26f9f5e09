// One run as the page knows it: the head first, then verdict, metrics and marks as they arrive, then live news.
import { batch, signal } from '@preact/signals';
import { source } from '../source/current.ts';
import { isRefusal } from '../source/source.ts';
import type { Diagnosis, DrawnMarks, Info, LiveNow, Marks, RunHead } from '../source/types.ts';
import { BatchLoader } from '../charts/loader.ts';
import { Refresher } from './refresher.ts';
import { TimeView } from './view.ts';

export type LiveState = 'ended' | 'live' | 'lost' | 'refused' | 'damaged';

const tryAgain = 5_000; // ms

export class RunState {
  readonly id: string;
  readonly view = new TimeView();
  readonly head = signal<RunHead | null>(null);
  readonly diagnosis = signal<Diagnosis | null>(null);
  readonly info = signal<Info | null>(null);
  readonly marks = signal<Marks | null>(null);
  /** What of them is drawn in every chart: another value only when it changed. */
  readonly drawnMarks = signal<DrawnMarks | null>(null);
  readonly live = signal<LiveState>('ended');
  readonly now = signal<LiveNow | null>(null);
  /** Why the server tells no more of the run. */
  readonly refusal = signal('');
  readonly error = signal<string | null>(null);
  readonly diagnosisError = signal<string | null>(null);
  /** Index of the finding that was chosen: its evidence is open. */
  readonly chosen = signal<number | null>(null);
  readonly loader: BatchLoader;
  #stops: (() => void)[] = [];
  #isClosed = false;

  constructor(id: string) {
    this.id = id;
    this.loader = new BatchLoader(id);
  }

  async open(params: URLSearchParams): Promise<void> {
    this.view.read(params);
    // The charts wait for it: it is asked for together with the head.
    const info = source.info(this.id);
    info.catch(() => undefined); // said where it is read
    try {
      const head = await source.run(this.id);
      if (this.#isClosed) return;
      batch(() => {
        this.head.value = head;
        this.view.duration.value = head.run.duration_s;
        this.live.value = head.run.status === 'running' ? 'live' : head.run.status === 'damaged' ? 'damaged' : 'ended';
      });
    } catch (error) {
      this.error.value = messageOf(error);
      return;
    }
    this.#stops.push(this.view.write());
    await this.#reload(info);
    if (!this.#isClosed && this.live.value === 'live') this.#listen();
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.loader.close();
  }

  async reloadInfo(asked = source.info(this.id)): Promise<void> {
    try {
      const info = await asked;
      batch(() => {
        this.info.value = info;
        this.#grow(Math.max(this.view.duration.value, info.run.duration_s));
      });
    } catch (error) {
      this.error.value = messageOf(error);
    }
  }

  /** While the run is live, not before what is new was drawn; the next news tells it again. */
  #grow(duration_s: number | null): void {
    if (duration_s === null || (this.live.value === 'live' && this.loader.isResting)) return;
    this.view.grow(duration_s);
  }

  async #loadDiagnosis(): Promise<void> {
    try {
      this.diagnosis.value = await source.diagnosis(this.id);
      this.diagnosisError.value = null;
    } catch (error) {
      this.diagnosisError.value = messageOf(error);
    }
  }

  async #loadMarks(): Promise<void> {
    const marks = await source.marks(this.id).catch(() => null);
    if (!marks) return;
    const { gaps, pauses, events } = marks;
    batch(() => {
      this.marks.value = marks;
      if (JSON.stringify({ gaps, pauses, events }) !== JSON.stringify(this.drawnMarks.value)) this.drawnMarks.value = { gaps, pauses, events };
    });
  }

  async #loadSteps(): Promise<void> {
    const column = (await source.steps(this.id).catch(() => null))?.columns[0];
    if (column && column.time.length > 1) this.view.steps.value = { time: column.time, step: column.mean };
  }

  #listen(): void {
    const refresher = new Refresher(() => void this.#reload());
    this.#stops.push(() => refresher.stop());
    let timer = 0;
    let stop = () => {};
    this.#stops.push(() => { clearTimeout(timer); stop(); });
    const listen = () => { stop = this.#follow(refresher, () => { timer = window.setTimeout(listen, tryAgain); }); };
    listen();
  }

  /** `again` follows it later; returns what ends it. */
  #follow(refresher: Refresher, again: () => void): () => void {
    return source.live(this.id, {
      now: (state) => {
        batch(() => {
          this.live.value = 'live';
          this.now.value = state;
          this.#grow(state.duration_s);
        });
        refresher.grew(state.duration_s);
      },
      ended: (state) => {
        batch(() => {
          this.now.value = state;
          if (state.duration_s !== null) this.view.grow(state.duration_s);
          this.live.value = state.status === 'damaged' ? 'damaged' : 'ended';
        });
        refresher.refresh();
      },
      lost: (isForGood) => {
        this.live.value = 'lost';
        if (isForGood) void this.#askWhy(again);
      },
    });
  }

  /** The browser does not tell why it was refused, and does not try again: a server that only had too much to do is asked again. */
  async #askWhy(again: () => void): Promise<void> {
    try {
      await source.run(this.id);
    } catch (error) {
      if (isRefusal(error) && !this.#isClosed) {
        batch(() => {
          this.refusal.value = messageOf(error);
          this.live.value = 'refused';
        });
        return;
      }
    }
    if (!this.#isClosed) again();
  }

  async #reload(info = source.info(this.id)): Promise<void> {
    await Promise.all([this.reloadInfo(info), this.#loadDiagnosis(), this.#loadMarks(), this.#loadSteps()]);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
