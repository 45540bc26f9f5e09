// Follows a live run, and again where the server was too busy to tell of it.
import { source } from '../source/current.ts';
import { isRefusal, messageOf } from '../source/source.ts';
import type { LiveNow } from '../source/types.ts';

const tryAgain = 5_000; // ms

export interface Follower {
  now(state: LiveNow): void;
  ended(state: LiveNow): void;
  /** It is tried again. */
  lost(): void;
  /** Why the server tells no more of the run, whoever asks again. */
  refused(reason: string): void;
}

/** Returns what ends it. */
export function follow(id: string, follower: Follower): () => void {
  let timer = 0;
  let isOver = false;
  let stop = () => {};
  const listen = () => {
    stop = source.live(id, {
      now: (state) => follower.now(state),
      ended: (state) => follower.ended(state),
      lost: (isForGood) => {
        follower.lost();
        if (isForGood) void askWhy();
      },
    });
  };
  // The browser does not tell why it was refused, and does not try again.
  const askWhy = async () => {
    try {
      await source.run(id);
    } catch (error) {
      if (isRefusal(error)) {
        if (!isOver) follower.refused(messageOf(error));
        return;
      }
    }
    if (!isOver) timer = window.setTimeout(listen, tryAgain);
  };
  listen();
  return () => {
    isOver = true;
    clearTimeout(timer);
    stop();
  };
}
