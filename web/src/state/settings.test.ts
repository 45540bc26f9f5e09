import '../testing/page.ts';
import { test } from 'node:test';
import { deepEqual } from 'node:assert/strict';
import { effect } from '@preact/signals';

const system = Object.assign(new EventTarget(), { matches: false });
globalThis.matchMedia = () => system as unknown as MediaQueryList;
const { isDark, startSettings, toggleTheme } = await import('./settings.ts');

test('whoever draws with a new theme finds its colours', () => {
  startSettings();
  const seen: string[] = [];
  const stop = effect(() => { seen.push(`${isDark.value} ${document.documentElement.dataset['theme']}`); });
  system.matches = true;
  system.dispatchEvent(new Event('change'));
  toggleTheme();
  stop();
  deepEqual(seen, ['false light', 'true dark', 'false light']);
});
