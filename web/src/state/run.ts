// One run as the page knows it: the head first, then verdict, metrics and marks as they arrive, then live news.
import { batch, computed, signal } from '@preact/signals';
import { source } from '../source/current.ts';
import { messageOf } from '../source/source.ts';
import type { Diagnosis, DrawnMarks, Finding, Info, LiveNow, Marks, RunHead, Span } from '../source/types.ts';
import { BatchLoader } from '../charts/loader.ts';
import { follow } from './follow.ts';
import { Refresher } from './refresher.ts';
import { TimeView } from './view.ts';

/** 'written': a report of a run that was not over. */
export type LiveState = 'ended' | 'live' | 'lost' | 'refused' | 'damaged' | 'written';

/** The same finding when a live run is diagnosed again: others may come before it, and its end moves. */
export const findingKey = (finding: Finding) => `${finding.id} ${finding.from_s ?? ''}`;

export class RunState {
  readonly id: string;
  readonly view = new TimeView();
  readonly head = signal<RunHead | null>(null);
  readonly diagnosis = signal<Diagnosis | null>(null);
  readonly info = signal<Info | null>(null);
  readonly marks = signal<Marks | null>(null);
  /** What of them makes every chart be drawn again: another value only when it changed. */
  readonly drawnMarks = signal<DrawnMarks | null>(null);
  readonly live = signal<LiveState>('ended');
  readonly now = signal<LiveNow | null>(null);
  /** Why the server tells no more of the run. */
  readonly refusal = signal('');
  readonly error = signal<string | null>(null);
  readonly diagnosisError = signal<string | null>(null);
  /** Key of the finding that was chosen: its evidence is open. */
  readonly chosen = signal<string | null>(null);
  readonly chosenIndex = computed(() => {
    const at = this.diagnosis.value?.findings.findIndex((finding) => findingKey(finding) === this.chosen.value) ?? -1;
    return at < 0 ? null : at;
  });
  readonly loader: BatchLoader;
  #stops: (() => void)[] = [];
  #isClosed = false;
  #renewing: Promise<void> | null = null;
  /** Requests for the metrics, and the last one that was replied to. */
  #infosAsked = 0;
  #infoShown = 0;

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
        this.live.value = head.run.status === 'running' ? (source.isReport ? 'written' : 'live') : head.run.status === 'damaged' ? 'damaged' : 'ended';
        // The address says what was seen while the run was live; now it is not moved to the end.
        if (this.live.value !== 'live' && this.view.range.value) this.view.follow.value = false;
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

  /** Charts that find a new series at the same time share a request. */
  reloadInfo(): Promise<void> {
    this.#renewing ??= this.#loadInfo().finally(() => { this.#renewing = null; });
    return this.#renewing;
  }

  async #loadInfo(asked = source.info(this.id)): Promise<void> {
    const turn = ++this.#infosAsked;
    try {
      const info = await asked;
      if (turn < this.#infoShown) return; // a newer one was quicker
      this.#infoShown = turn;
      batch(() => {
        this.error.value = null;
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
    const { gaps, pauses, phases, events } = marks;
    batch(() => {
      this.marks.value = marks;
      // Phases of every step come with every second of a live run: they are drawn with what is new of it.
      const isLong = (phase: Span) => phase.to_s - phase.from_s >= this.view.duration.value / 100;
      const drawn = { gaps, pauses, phases: this.live.value === 'live' ? phases.filter(isLong) : phases, events };
      if (JSON.stringify(drawn) !== JSON.stringify(this.drawnMarks.value)) this.drawnMarks.value = drawn;
    });
  }

  async #loadSteps(): Promise<void> {
    const column = (await source.steps(this.id).catch(() => null))?.columns[0];
    if (column && column.time.length > 1) this.view.steps.value = { time: column.time, step: column.mean };
  }

  #listen(): void {
    const refresher = new Refresher(() => this.#reload());
    this.#stops.push(() => refresher.stop());
    this.#stops.push(follow(this.id, {
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
      lost: () => { this.live.value = 'lost'; },
      refused: (reason) => {
        batch(() => {
          this.refusal.value = reason;
          this.live.value = 'refused';
        });
      },
    }));
  }

  async #reload(info = source.info(this.id)): Promise<void> {
    await Promise.all([this.#loadInfo(info), this.#loadDiagnosis(), this.#loadMarks(), this.#loadSteps()]);
  }
}
