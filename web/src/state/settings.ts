// What a person prefers on every page: theme, units, whether output stays in view. Kept by the browser where it allows that, and part
// of the address where it is not the usual choice; what an address says is not kept.
import { effect, signal } from '@preact/signals';
import type { Bytes } from '../format/unit.ts';
import { replaceParams, route } from './route.ts';

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

const themeOf = (value: string | null): Theme => (value === 'light' || value === 'dark' ? value : 'system');
const bytesOf = (value: string | null): Bytes => (value === 'binary' ? 'binary' : 'decimal');
export const theme = signal<Theme>(themeOf(stored('theme')));
export const bytes = signal<Bytes>(bytesOf(stored('bytes')));
/** Whether the lines of the output are shown beside the charts, or only the one at the cursor. */
export const isOutputOpen = signal(stored('output') !== 'closed');
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
  effect(() => read(route.value.params));
  effect(() => {
    const { page } = route.value; // each page has an address
    // The usual choice is not written, unless this browser would take another one.
    const isUsual = bytes.value === 'decimal' && bytesOf(stored('bytes')) === 'decimal';
    replaceParams({
      units: page === 'runs' || isUsual ? null : bytes.value,
      theme: theme.value === 'system' ? null : theme.value,
      output: page !== 'run' || isOutputOpen.value ? null : 'closed',
    });
  });
}

/** An address that does not name one leaves it as it is: links within the page name none. */
function read(params: URLSearchParams): void {
  const [units, wanted, output] = [params.get('units'), params.get('theme'), params.get('output')];
  if (units === 'binary' || units === 'decimal') bytes.value = units;
  if (themeOf(wanted) !== 'system') theme.value = themeOf(wanted);
  if (output === 'open' || output === 'closed') isOutputOpen.value = output === 'open';
}

export function chooseBytes(value: string): void {
  store('bytes', value);
  bytes.value = bytesOf(value);
}

export function toggleOutput(): void {
  store('output', isOutputOpen.value ? 'closed' : 'open');
  isOutputOpen.value = !isOutputOpen.value;
}

export function toggleTheme(): void {
  theme.value = isDark.value ? 'light' : 'dark';
  store('theme', theme.value);
}
