// When the documents of a live run are read again: computing them is not cheap.

/** Seconds from the end of a read to the next: the longer a run is, the less is new of it, and reading is a tenth of the time. */
export function pauseAfter(duration_s: number | null, took_s: number): number {
  const usual = Math.min(10, Math.max(2, (duration_s ?? 0) / 10));
  return Math.min(60, Math.max(usual, 10 * took_s));
}

const now_s = () => performance.now() / 1000;

export class Refresher {
  readonly #read: () => unknown;
  readonly #whenSeen = () => this.refresh();
  #ended_s = now_s();
  #took_s = 0;
  #isReading = false;
  #isDue = false;

  /** Where `read` gives a promise, the next read waits for it. */
  constructor(read: () => unknown) {
    this.#read = read;
  }

  /** A live run became so long. */
  grew(duration_s: number | null): void {
    if (!this.#isReading && now_s() - this.#ended_s >= pauseAfter(duration_s, this.#took_s)) this.refresh();
  }

  /** A page that nobody sees reads nothing; it reads when it is seen again. What is being read may be too old: it is read once more. */
  refresh(): void {
    this.stop();
    if (document.hidden) document.addEventListener('visibilitychange', this.#whenSeen);
    else if (this.#isReading) this.#isDue = true;
    else void this.#readNow();
  }

  stop(): void {
    this.#isDue = false;
    document.removeEventListener('visibilitychange', this.#whenSeen);
  }

  async #readNow(): Promise<void> {
    this.#isReading = true;
    const begin_s = now_s();
    try {
      await this.#read();
    } finally {
      this.#isReading = false;
      this.#ended_s = now_s();
      this.#took_s = this.#ended_s - begin_s;
    }
    if (this.#isDue) this.refresh();
  }
}
