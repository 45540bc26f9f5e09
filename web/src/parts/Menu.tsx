// A button with a list of actions; arrows move, Escape closes.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface MenuItem {
  text: string;
  act: () => void;
}

export function Menu({ label, text, items }: { label: string; text: string; items: MenuItem[] }) {
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const buttons = () => [...(box.current?.querySelectorAll<HTMLButtonElement>('[role=menuitem]') ?? [])];
  useEffect(() => {
    if (!isOpen.value) return undefined;
    buttons()[0]?.focus();
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) isOpen.value = false;
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [isOpen.value]);
  const onKey = (event: KeyboardEvent) => {
    if (!isOpen.value) return;
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === 'Escape') {
      isOpen.value = false;
      box.current?.querySelector('button')?.focus();
    } else if (event.key === 'ArrowDown') all[(at + 1) % all.length]?.focus();
    else if (event.key === 'ArrowUp') all[(at + all.length - 1) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKey}>
      <button class="icon" aria-haspopup="menu" aria-expanded={isOpen.value} aria-label={label} title={label} onClick={() => { isOpen.value = !isOpen.value; }}>{text}</button>
      {isOpen.value && (
        <div class="menu-items" role="menu" aria-label={label}>
          {items.map((item) => <button role="menuitem" key={item.text} onClick={() => { isOpen.value = false; item.act(); }}>{item.text}</button>)}
        </div>
      )}
    </div>
  );
}
