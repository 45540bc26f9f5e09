// Keyboard: each page gives a list of bindings; `?` shows those that are in force.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export interface Key {
  /** As KeyboardEvent.key writes them; any of them. */
  keys: string[];
  /** As shown in the list. */
  shown: string;
  text: string;
  act: (event: KeyboardEvent) => void;
}

export const activeKeys = signal<Key[][]>([]);
export const isHelpOpen = signal(false);

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input:not([type=checkbox]), textarea, select') || target.isContentEditable);
}

/** Buttons, links and sliders use some keys themselves. */
function isTaken(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (event.key === 'Enter' || event.key === ' ') return target.matches('button, a, summary, input, [role=menuitem]');
  return event.key.startsWith('Arrow') && target.matches('[role=slider], [role=menuitem], input');
}

export function startKeys(common: Key[]): void {
  activeKeys.value = [common];
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isTaken(event)) return;
    if (isHelpOpen.peek() && event.key !== '?') return; // the dialog has its own keys
    for (const list of [...activeKeys.value].reverse()) {
      const found = list.find((key) => key.keys.includes(event.key));
      if (!found) continue;
      event.preventDefault();
      found.act(event);
      return;
    }
  });
}

export function useKeys(keys: Key[]): void {
  useEffect(() => {
    activeKeys.value = [...activeKeys.peek(), keys];
    return () => {
      activeKeys.value = activeKeys.peek().filter((list) => list !== keys);
    };
  }, [keys]);
}
