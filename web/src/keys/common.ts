// Keys of every page.
import { go } from '../state/route.ts';
import { toggleTheme } from '../state/settings.ts';
import { isHelpOpen, type Key } from './keys.ts';

export const commonKeys: Key[] = [
  { keys: ['?'], shown: '?', text: 'list the keys', act: () => { isHelpOpen.value = !isHelpOpen.value; } },
  { keys: ['g'], shown: 'g', text: 'go to the list of runs', act: () => go('#/') },
  { keys: ['t'], shown: 't', text: 'switch between dark and light', act: toggleTheme },
];
