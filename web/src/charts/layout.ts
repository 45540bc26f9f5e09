// Where charts are and how wide, as the browser tells it after it laid out the page: to ask for a size makes it do that at once,
// and a hundred charts that each change the page and ask would have it laid out a hundred times.
import { batch } from '@preact/signals';

/** One observer for many elements: what it tells of all of them becomes one change of the page. */
class Shared<Entry extends { target: Element }> {
  readonly #observer: { observe(element: Element): void; unobserve(element: Element): void };
  readonly #listeners = new Map<Element, (entry: Entry) => void>();

  constructor(create: (tell: (entries: Entry[]) => void) => { observe(element: Element): void; unobserve(element: Element): void }) {
    this.#observer = create((entries) => batch(() => { for (const entry of entries) this.#listeners.get(entry.target)?.(entry); }));
  }

  watch(element: Element, listener: (entry: Entry) => void): () => void {
    this.#listeners.set(element, listener);
    this.#observer.observe(element);
    return () => {
      this.#listeners.delete(element);
      this.#observer.unobserve(element);
    };
  }
}

let near: Shared<IntersectionObserverEntry> | null = null;
let sized: Shared<ResizeObserverEntry> | null = null;

/** Whether an element is near the viewport, and its width, soon and whenever it comes or goes; returns what ends that. */
export function watchNear(element: Element, tell: (isNear: boolean, width: number) => void): () => void {
  near ??= new Shared((all) => new IntersectionObserver(all, { rootMargin: '300px' }));
  return near.watch(element, (entry) => tell(entry.isIntersecting, Math.round(entry.boundingClientRect.width)));
}

/** The width of an element that has neither padding nor border, in CSS pixels. */
export function watchWidth(element: Element, tell: (width: number) => void): () => void {
  sized ??= new Shared((all) => new ResizeObserver(all));
  return sized.watch(element, (entry) => tell(Math.round(entry.contentRect.width)));
}
