// When the documents of a live run are read again: computing them is not cheap.

export class Refresher {
  readonly #read: () => void;
  readonly #whenSeen = () => this.refresh();
  #last = performance.now();

  constructor(read: () => void) {
    this.#read = read;
  }

  /** A live run became so long: the longer it is, the less is new of it. */
  grew(duration_s: number | null): void {
    const pause = Math.min(10, Math.max(2, (duration_s ?? 0) / 10)) * 1000;
    if (performance.now() - this.#last < pause) return;
    this.#last = performance.now();
    this.refresh();
  }

  /** A page that nobody sees reads nothing; it reads when it is seen again. */
  refresh(): void {
    this.stop();
    if (document.hidden) document.addEventListener('visibilitychange', this.#whenSeen);
    else this.#read();
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#whenSeen);
  }
}
