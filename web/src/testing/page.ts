// What modules of the page expect of a browser when they are imported. A unit test imports this file before them.
const page = new EventTarget() as EventTarget & Record<string, unknown>;
page['hidden'] = false;
page['getElementById'] = () => null;
page['documentElement'] = { dataset: {} };

Object.assign(globalThis, {
  window: globalThis,
  document: page,
  location: { hash: '' },
  history: { state: null, replaceState: () => undefined },
  devicePixelRatio: 1,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
  dispatchEvent: () => true,
  matchMedia: () => Object.assign(new EventTarget(), { matches: false }),
  requestAnimationFrame: (act: () => void) => setTimeout(act, 0),
});
