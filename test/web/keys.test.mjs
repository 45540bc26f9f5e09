// Each key and each movement of the mouse that the list of keys names.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, drawn, eventually, hover, isDrawn, isForEveryone, params, press, runs, settled, start, stop, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;
const both = `#/compare?a=${runs.slow}&b=${runs.fast}`;
const pointer = ['drag', 'Shift drag', 'Ctrl wheel', 'double click', '← → on a chart']; // drag and arrows: run.test.mjs

/** What keys change; a range that is not in the address is the whole. */
const stateOf = async (page, whole) => {
  const { range, from = 0, to = whole, select, axis, columns, a, layout, align, all } = await params(page);
  const [first, last] = range ? range.split(':').map(Number) : [Number(from), Number(to)];
  const seen = await page.evaluate(() => ({
    path: location.hash.split('?')[0], focus: document.activeElement.id, theme: document.documentElement.dataset.theme, all: document.getElementById('all-charts')?.innerText,
    chosen: [...document.querySelectorAll('.finding')].findIndex((one) => one.classList.contains('chosen')), isOpen: document.querySelector('dialog').open,
    follow: document.querySelector('.range-bar button[aria-pressed]')?.innerText, output: document.querySelector('.output .output-lines') !== null,
  }));
  return { from: first, width: last - first, select, axis, columns, a, layout, align, metrics: all, ...seen };
};

const near = (a, b) => Math.abs(a - b) < 1e-3 * Math.abs(b) + 1e-6;
const zooms = (factor) => (now, was) => near(now.width, was.width * factor);
const moves = (share) => (now, was) => near(now.width, was.width) && near(now.from - was.from, was.width * share);
const firstOf = ({ select }) => Number(select.split(':')[0]);
const isWhole = (now, was, whole) => now.from === 0 && near(now.width, whole);
const theme = ['switch between dark and light', ['t', 't'], (now, was) => now.theme !== was.theme];
const list = ['list the keys', ['?', '?'], (now, was) => now.isOpen !== was.isOpen];

/** Text in the list, keys, and what each of them does to the state; in an order in which each has something to do. */
const ofRun = (findings) => [
  ['zoom in', ['w', '+', '='], zooms(0.5)],
  ['zoom out', ['s', '-'], zooms(2)],
  ['move back in time', ['a', 'ArrowLeft'], moves(-0.25)],
  ['move forward in time', ['d', 'ArrowRight'], moves(0.25)],
  ['show the whole run', ['0', 'Home'], isWhole, 'w'],
  ['switch between time and step axis', ['x', 'x'], (now, was) => now.axis === (was.axis ? undefined : 'step')],
  ['charts side by side', ['2', '2'], (now, was) => now.columns === (was.columns ? undefined : '2')],
  ['expand or collapse all charts', ['e', 'e'], (now, was) => now.all === (was.all === 'open all' ? 'close all' : 'open all')],
  ['lines of the output, or only the one at the cursor', ['o', 'o'], (now, was) => now.output !== was.output],
  ['select the next finding', ['n', 'n'], (now, was) => now.chosen === (was.chosen + 1) % findings.length],
  ['select the previous finding', ['p', 'p'], (now, was) => now.chosen === (was.chosen + findings.length - 1) % findings.length],
  ['zoom to the selection', ['z'], (now, was) => near(now.from, firstOf(was)) && near(now.width, Number(was.select.split(':')[1]) - firstOf(was)) && now.select === undefined],
  ['clear the selection', ['Escape'], (now) => now.select === undefined && now.chosen === -1, 'n'],
  ['type a range', ['r'], (now) => now.focus === 'range-from'],
  theme, list,
  ['follow a live run', [], null], // below
  ['go to the list of runs', ['g'], (now) => now.path === '#/'],
];

const ofComparison = [
  ['zoom in', ['w', '+', '='], zooms(0.5)],
  ['zoom out', ['s', '-'], zooms(2)],
  ['move back', ['a', 'ArrowLeft'], moves(-0.25)],
  ['move forward', ['d', 'ArrowRight'], moves(0.25)],
  ['show everything', ['0', 'Home'], isWhole, 'w'],
  ['overlaid or side by side', ['o', 'o'], (now, was) => now.layout === (was.layout ? undefined : 'side')],
  ['next alignment', ['x', 'x', 'x'], (now, was) => now.align === { undefined: 'step', step: 'wall', wall: undefined }[was.align]],
  ['all metrics or those that differ', ['m', 'm'], (now, was) => now.metrics === (was.metrics ? undefined : '1')],
  ['filter the metrics', ['/'], (now) => now.focus === 'metric-filter'],
  ['swap A and B', ['v'], (now, was) => now.a !== was.a],
  theme, list,
  ['go to the list of runs', ['g'], (now) => now.path === '#/'],
];

/** The list has these texts, and no key is left out. */
async function isListed(page, table) {
  await press(page, '?');
  const lines = page.locator('dialog dl.keys > div');
  const texts = await eventually(async () => { const found = await lines.locator('dd').allInnerTexts(); return found.length > 0 && found; }, 'the list');
  const keys = await lines.locator('dt').allInnerTexts();
  const last = texts.length - pointer.length;
  assert.deepEqual(texts.slice(0, last).sort(), table.map(([text]) => text).sort());
  assert.deepEqual(keys.slice(last).map((text) => text.trim()), pointer);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await eventually(async () => !(await stateOf(page)).isOpen, 'the closed list');
}

async function pressAll(page, table, whole) {
  for (const [text, keys, does, first] of table) {
    for (const key of keys) {
      if (first) await page.keyboard.press(first);
      await drawn(page);
      const was = await stateOf(page, whole);
      await page.keyboard.press(key);
      await eventually(async () => {
        const now = await stateOf(page, whole);
        if (does(now, was, whole)) return true;
        throw new Error(`${JSON.stringify(was)} became ${JSON.stringify(now)}`);
      }, `${key}: ${text}`);
    }
    if (await page.evaluate(() => document.activeElement.matches('input'))) await page.evaluate(() => document.activeElement.blur());
  }
}

test('every key of a run', async () => {
  const diagnosis = await api(`/api/run/${runs.slow}/diagnosis`);
  const { run } = await api(`/api/run/${runs.slow}`);
  const span = (from, to) => ({ ...diagnosis.findings[0], id: `invented ${from}`, from_s: run.duration_s * from, to_s: run.duration_s * to });
  const findings = [span(0.1, 0.3), span(0.4, 0.6), span(0.5, 0.9)];
  const table = ofRun(findings);
  await withPage(slow, async (page) => {
    await isDrawn(page, 'memory');
    await settled(page);
    await isListed(page, table);
    await pressAll(page, table, run.duration_s);
  }, { before: (page) => page.route('**/diagnosis', (route) => route.fulfill({ json: { ...diagnosis, findings } })) });
});

test('the key that follows a live run', () => withPage(slow, async (page) => {
  await page.getByRole('button', { name: 'following', exact: true }).waitFor();
  await press(page, 'f');
  await eventually(async () => (await stateOf(page)).follow === 'follow', 'it stands still');
  await page.keyboard.press('f');
  await eventually(async () => (await stateOf(page)).follow === 'following', 'it follows');
}, {
  before: async (page) => {
    const head = await api(`/api/run/${runs.slow}`);
    await page.route(`**/api/run/${runs.slow}`, (route) => route.fulfill({ json: { ...head, run: { ...head.run, status: 'running' } } }));
    await page.route('**/live', () => {});
  },
}));

test('every key of a comparison', async () => {
  const whole = Math.max(...(await Promise.all([runs.slow, runs.fast].map(async (id) => (await api(`/api/run/${id}/info`)).run.duration_s))));
  await withPage(both, async (page) => {
    await isDrawn(page, 'memory');
    await settled(page);
    await isListed(page, ofComparison);
    await pressAll(page, ofComparison, whole);
  });
});

for (const [name, fragment] of [['run', slow], ['comparison', both]]) {
  test(`Ctrl and the wheel zoom a ${name} at the pointer, Shift and a drag move it, a double click shows all of it`, () => withPage(fragment, async (page) => {
    const { run } = await api(`/api/run/${runs.slow}`);
    await isDrawn(page, 'memory');
    await settled(page);
    const over = page.locator('#chart-memory .u-over');
    const state = () => stateOf(page, run.duration_s);
    for (let i = 0; i < 3; i++) await page.keyboard.press('w'); // there is something on both sides to move to
    const atPointer = ({ from, width }, share) => from + width * share;
    await page.keyboard.down('Control');
    await eventually(async () => {
      await hover(page, 'memory', 0.3);
      const was = await state();
      await page.mouse.wheel(0, -100);
      await drawn(page);
      const now = await state();
      return Math.abs(now.width / was.width - 0.8) < 0.01 && Math.abs(atPointer(now, 0.3) - atPointer(was, 0.3)) < was.width / 100;
    }, 'a zoom at the pointer');
    await page.keyboard.up('Control');
    await page.keyboard.down('Shift');
    await eventually(async () => {
      await hover(page, 'memory', 0.4);
      const box = await over.boundingBox();
      const was = await state();
      await page.mouse.down();
      await page.mouse.move(box.x + box.width * 0.45, box.y + 20);
      await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
      await page.mouse.up();
      const now = await state();
      return near(now.width, was.width) && Math.abs((was.from - now.from) / was.width - 0.1) < 0.01 && now.select === undefined;
    }, 'a move in time');
    await page.keyboard.up('Shift');
    await eventually(async () => {
      await over.dblclick();
      const now = await state();
      return now.from === 0 && now.select === undefined && Object.keys(await params(page)).every((key) => !['from', 'range'].includes(key));
    }, 'all of it');
  }));
}

test('axe finds nothing in the list of keys, in either theme', () => withPage(slow, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  await press(page, '?');
  await page.getByRole('dialog').waitFor();
  await isForEveryone(page);
}));
