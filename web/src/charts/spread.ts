// Spreads the drawing of many charts over frames, and says how long to rest after it: a live run must not keep the page from
// reacting, however many of its charts are in view.

const quick = 20; // ms: a frame that took less has room for more
const slow = 50; // ms: whoever types or drags notices
const most = 64;
const least = 8; // each frame costs something, however little is drawn in it
const restPerWork = 9; // drawing is at most a tenth of the time
const longestRest = 10_000; // ms

/** Until a frame was drawn; a page that nobody sees has none. */
function nextFrame(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 100);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve, 0);
    });
  });
}

export class Spread {
  readonly #frame: () => Promise<void>;
  readonly #now: () => number;
  #each = least;
  #rests = 0;
  #running = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(frame = nextFrame, now = () => Date.now()) {
    this.#frame = frame;
    this.#now = now;
  }

  /** Whether drawing is under way or was so long that more has to wait. */
  get isResting(): boolean {
    return this.#running > 0 || this.#now() < this.#rests;
  }

  /** Calls `act` for all of them, after those of earlier calls. */
  run<Item>(items: readonly Item[], act: (item: Item) => void): Promise<void> {
    this.#running += 1;
    const done = this.#last.then(() => this.#runNow(items, act)).finally(() => { this.#running -= 1; });
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #runNow<Item>(items: readonly Item[], act: (item: Item) => void): Promise<void> {
    const begin = this.#now();
    for (let at = 0; at < items.length;) {
      const before = this.#now();
      const some = items.slice(at, at + this.#each);
      at += some.length;
      for (const item of some) act(item);
      await this.#frame();
      const took = this.#now() - before;
      if (took > slow) this.#each = Math.max(least, this.#each >> 1);
      else if (took < quick) this.#each = Math.min(most, this.#each * 2);
    }
    const end = this.#now();
    this.#rests = Math.min(end + longestRest, Math.max(this.#rests, end) + restPerWork * (end - begin));
  }
}
