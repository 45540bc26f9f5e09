// What a person prefers on every page: theme and units. Kept by the browser where it allows that.
import { effect, signal } from '@preact/signals';
import type { Bytes } from '../format/unit.ts';

export type Theme = 'system' | 'light' | 'dark';

function stored(key: string): string | null {
  try {
    return localStorage.getItem(`trainscope.${key}`);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(`trainscope.${key}`, value);
  } catch {
    // A report opened from a file may have no storage; the choice then lasts as long as the page.
  }
}

const known = (value: string | null): Theme => (value === 'light' || value === 'dark' ? value : 'system');
export const theme = signal<Theme>(known(stored('theme')));
export const bytes = signal<Bytes>(stored('bytes') === 'binary' ? 'binary' : 'decimal');
const systemDark = matchMedia('(prefers-color-scheme: dark)');
export const isDark = signal(false);

function applyTheme(): void {
  const dark = theme.value === 'dark' || (theme.value === 'system' && systemDark.matches);
  // First: charts are drawn again in the colours of the page as soon as the signal changes.
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
  isDark.value = dark;
}

export function startSettings(): void {
  systemDark.addEventListener('change', applyTheme);
  effect(applyTheme);
  effect(() => store('theme', theme.value));
  effect(() => store('bytes', bytes.value));
}

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
}
