// What the tests of the pages share: one browser, pages that fail on any error, and the API as the server gives it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(import.meta.dirname, '../../web/package.json'));
const { chromium } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const runs = JSON.parse(process.env.PAGE_RUNS ?? '{}');
export const address = process.env.PAGE_ADDRESS ?? '';
export const origin = address === '' ? '' : new URL(address).origin;
// ms for what must happen, on a machine that may be busy: a page reads a live run again after up to a minute.
const patience = Number(process.env.PAGE_PATIENCE ?? 120_000);

let browser;
/** One page for all tests of a file: a new one costs more than most tests. */
let shared = null;
export async function start() {
  // What the wheel scrolls is there at once: where an animation ends depends on the time it is given.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-smooth-scrolling'];
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args, timeout: patience });
}
export async function stop() {
  await browser?.close();
}

async function newPage() {
  const context = await browser.newContext({ acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  await context.addCookies([{ name: `trainscope-${new URL(address).port}`, value: new URL(address).searchParams.get('token'), url: origin }]);
  return page;
}

const types = { 'app.js': 'text/javascript', 'app.css': 'text/css', '': 'text/html' };

/** PAGE_DIST serves another build of the pages than the one in the program: for work on them. */
async function useOtherBuild(page) {
  const folder = process.env.PAGE_DIST;
  if (!folder) return;
  await page.route((url) => url.pathname === '/' || url.pathname.startsWith('/assets/'), async (route) => {
    const url = new URL(route.request().url());
    if (url.search !== '') return route.continue();
    const name = url.pathname.replace('/assets/', '').replace('/', '');
    return route.fulfill({ body: readFileSync(join(folder, name || 'index.html'), 'utf8'), contentType: types[name] });
  });
}

/** What goes wrong in a page while it is watched; `isBusy`: the server had too much to do, which no test is about that does not allow it. */
function watchErrors(page, allow = /^$/) {
  const errors = [];
  errors.isBusy = false;
  page.on('response', (response) => { errors.isBusy ||= response.status() === 503 && !allow.test('503'); });
  page.on('pageerror', (error) => errors.push(String(error.stack)));
  page.on('console', (message) => { if (message.type() === 'error' && !allow.test(message.text())) errors.push(message.text()); });
  page.on('dialog', (dialog) => { errors.push(`dialog ${dialog.message()}`); void dialog.dismiss(); });
  return errors;
}
const nothing = (errors) => assert.deepEqual([...errors], []);

/** Requests without a reply, by page; but for those that tell it what is new of a live run, which stay open. */
const requests = new WeakMap();

function watchRequests(page) {
  const open = new Set();
  requests.set(page, open);
  page.on('request', (request) => { if (!request.url().endsWith('/live')) open.add(request); });
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request));
}

/** Until the page has the replies to all its requests. */
export const replies = (page) => eventually(() => requests.get(page).size === 0, 'replies to all requests');

/** Until the page has drawn what it knows. */
export const drawn = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 0)));
}));

/** A page that just appeared does not listen to keys before it was drawn. */
export async function press(page, key) {
  await drawn(page);
  await page.keyboard.press(key);
}

const quiet = 300; // ms: longer than what a page waits before it asks for what is new

/** Until what a page of a run that ended shows is complete and stands still for a while: what arrives late moves what is below it. */
export const settled = (page) => eventually(async () => {
  const looks = async () => {
    await drawn(page);
    return page.evaluate(() => [document.querySelectorAll('[aria-busy=true]').length, document.documentElement.scrollHeight].join());
  };
  const before = await looks();
  const isStill = async () => requests.get(page).size === 0 && before.startsWith('0,') && (await looks()) === before;
  for (const until = Date.now() + quiet; Date.now() < until;) if (!(await isStill())) return false;
  return isStill();
}, 'a page that stands still');

/** Leaves nothing of a test for the next one. */
async function clear(page) {
  for (const event of ['pageerror', 'console', 'dialog', 'response', 'request', 'requestfinished', 'requestfailed']) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.mouse.move(0, 0);
  await page.evaluate(() => localStorage.clear());
  await page.goto('about:blank');
}

/**
 * Opens a fragment and gives the page to the test; any error of the page, of its CSP or a dialog fails it. Where the server had too
 * much to do it is done once more.
 */
export async function withPage(fragment, act, options = {}) {
  const first = await tryPage(fragment, act, options);
  if (!first.isBusy) return first.give();
  console.log(`the server had too much to do: ${fragment} is opened again`);
  return (await tryPage(fragment, act, options)).give();
}

async function tryPage(fragment, act, { width = 1280, height = 900, colorScheme = 'light', allow, before }) {
  const page = shared ?? (await newPage());
  shared = null;
  const errors = watchErrors(page, allow);
  watchRequests(page);
  try {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await useOtherBuild(page);
    await before?.(page);
    await page.goto(`${origin}/${fragment}`);
    const result = await act(page);
    nothing(errors);
    await clear(page);
    shared = page;
    return { isBusy: false, give: () => result };
  } catch (error) {
    return { isBusy: errors.isBusy, give: () => { throw error; } };
  } finally {
    if (shared === null) await page.context().close();
  }
}

/** A page that is not served by the program, such as a report. */
export async function withFile(path, act, { colorScheme = 'light', width = 1280, height = 900 } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, offline: true, acceptDownloads: true });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const errors = watchErrors(page);
  watchRequests(page);
  try {
    await page.goto(`file://${path}`);
    await act(page);
    nothing(errors);
  } finally {
    await context.close();
  }
}

/** A reply of the server; asked for again where the connection was closed meanwhile or the server had too much to do. */
export async function request(path) {
  const token = new URL(address).searchParams.get('token');
  const response = await eventually(async () => {
    const now = await fetch(`${origin}${path}${path.includes('?') ? '&' : '?'}token=${token}`);
    return now.status !== 503 && now;
  }, path);
  assert.equal(response.status, 200, path);
  return response;
}
export const api = async (path) => (await request(path)).json();

export async function eventually(what, message) {
  const until = Date.now() + patience;
  let last;
  for (;;) {
    try {
      last = await what();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > until) throw new Error(`${message}: ${last}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What axe finds; `isContrast`: only in the colours, which is all that the other theme changes. */
async function violations(page, isContrast = false) {
  await page.evaluate(axeSource);
  const result = await page.evaluate(`axe.run(${isContrast ? "{ runOnly: ['color-contrast'] }" : ''})`);
  return result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 2).map((node) => node.html.slice(0, 200)).join(' | ')}`);
}

/** axe finds nothing in either theme, and the page is not wider than a telephone. */
export async function isForEveryone(page) {
  assert.deepEqual(await violations(page), []);
  await page.emulateMedia({ colorScheme: 'dark' });
  await eventually(() => page.evaluate(() => document.documentElement.dataset.theme === 'dark'), 'the dark theme');
  assert.deepEqual(await violations(page, true), [], 'dark');
  await page.setViewportSize({ width: 400, height: 900 });
  await eventually(async () => (await page.evaluate(() => document.documentElement.scrollWidth)) <= 400, 'not wider than 400 px');
}

/** The queries of requests for columns, as they are made. */
export function watchColumns(page) {
  const queries = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname.endsWith('/columns')) queries.push({ run: url.pathname.split('/')[3], ...Object.fromEntries(url.searchParams) });
  });
  return queries;
}

export const params = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split('?')[1] ?? '')));

/**
 * Puts the mouse into a chart until `shows(x)` is true there, again if what arrived meanwhile moved the chart; returns that. A
 * busy machine may have missed the samples at one place: with several shares the next one is tried after a while. `shows` looks
 * and does not wait.
 */
export function hover(page, chart, shares, shows = (x) => x) {
  const over = page.locator(`#chart-${chart} .u-over`);
  const line = page.locator(`#chart-${chart} .u-cursor-x`);
  let place = {};
  let looks = 0;
  return eventually(async () => {
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    const share = [shares].flat()[Math.floor(looks++ / 20) % [shares].flat().length];
    const now = { x: box.x + box.width * share, y: box.y + 20 };
    const isThere = async () => Math.abs((await line.first().evaluate((element) => element.getBoundingClientRect().left)) - now.x) < 2;
    // Where it is already it is left alone: what a page shows of a place may come once the mouse rests.
    if (now.x !== place.x || now.y !== place.y || !(await isThere())) {
      await page.mouse.move(now.x - 5, now.y);
      await page.mouse.move(now.x, now.y);
      place = now;
    }
    return (await isThere()) && shows(now.x);
  }, `the mouse in ${chart}`);
}

/** Drags in a chart from a share of its width to another one, again if the chart moved meanwhile, until `isDone`. */
export function drag(page, chart, from, to, isDone) {
  const over = page.locator(`#chart-${chart} .u-over`);
  return eventually(async () => {
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * from, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * (from + to) / 2, y);
    await page.mouse.move(box.x + box.width * to, y);
    await page.mouse.up();
    return isDone();
  }, `what a drag in ${chart} does`);
}

/** Charts are drawn when they come into view. */
export async function isDrawn(page, chart) {
  await page.locator(`#chart-${chart}`).scrollIntoViewIfNeeded();
  await page.locator(`#chart-${chart} canvas`).first().waitFor();
}

/** Moves the cursor of a chart that has the focus to the right until `shows`: at some places a busy machine missed the samples. */
export const moveUntil = (page, shows, what) => eventually(async () => {
  await page.keyboard.press('ArrowRight');
  return shows();
}, what);

/** The share of pixels in a colour of the theme in a part of a chart, given as shares of its plot. */
export const colouredShare = (page, chart, colour, from, to) => page.locator(`#chart-${chart}`).evaluate((figure, span) => {
  const canvas = figure.querySelector('canvas');
  const frame = canvas.getBoundingClientRect();
  const plot = figure.querySelector('.u-over').getBoundingClientRect();
  const scale = canvas.width / frame.width;
  const left = (plot.left - frame.left + plot.width * span.from) * scale;
  const { data } = canvas.getContext('2d').getImageData(left, (plot.top - frame.top) * scale, plot.width * (span.to - span.from) * scale, plot.height * scale);
  const probe = document.createElement('canvas').getContext('2d');
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(span.colour).trim();
  probe.fillRect(0, 0, 1, 1);
  const wanted = probe.getImageData(0, 0, 1, 1).data;
  let found = 0;
  for (let i = 0; i < data.length; i += 4) found += Number(data[i + 3] > 0 && [0, 1, 2].every((part) => Math.abs(data[i + part] - wanted[part]) < 3));
  return found / (data.length / 4);
}, { colour, from, to });
