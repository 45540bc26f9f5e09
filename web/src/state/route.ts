// The fragment of the address: which page, of which run, with which settings.
import { signal } from '@preact/signals';

export interface Route {
  page: 'runs' | 'run' | 'compare';
  id: string;
  params: URLSearchParams;
}

export function parseRoute(fragment: string): Route {
  const text = fragment.replace(/^#?\/?/, '');
  const cut = text.indexOf('?');
  const path = cut < 0 ? text : text.slice(0, cut);
  const params = new URLSearchParams(cut < 0 ? '' : text.slice(cut + 1));
  const [page = '', id = ''] = path.split('/');
  if (page === 'run' && id !== '') return { page, id: decode(id), params };
  if (page === 'compare') return { page, id: '', params };
  return { page: 'runs', id: '', params };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function routeText(route: Route): string {
  const path = route.page === 'run' ? `#/run/${encodeURIComponent(route.id)}` : route.page === 'compare' ? '#/compare' : '#/';
  const query = route.params.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  return query === '' ? path : `${path}?${query}`;
}

export const route = signal<Route>({ page: 'runs', id: '', params: new URLSearchParams() });

/** The fragment that was read or written last. */
let known = '';

export function startRouting(first: string): void {
  if (location.hash === '' || location.hash === '#') history.replaceState(null, '', first);
  const read = () => {
    known = location.hash;
    route.value = parseRoute(known);
  };
  addEventListener('hashchange', read);
  read();
}

export function go(fragment: string): void {
  location.hash = fragment;
}

export const runLink = (id: string) => `#/run/${encodeURIComponent(id)}`;

/** Changes settings of this page without a new entry in the history; null or '' removes one. */
export function replaceParams(changes: Record<string, string | string[] | null>): void {
  if (location.hash !== known) return; // another page has been asked for: these are not its settings
  const current = parseRoute(known);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === '') current.params.delete(key);
    else if (Array.isArray(value)) {
      current.params.delete(key);
      for (const one of value) current.params.append(key, one);
    }
    else current.params.set(key, value);
  }
  const text = routeText(current);
  if (text === known) return;
  history.replaceState(history.state, '', text);
  known = location.hash;
}
