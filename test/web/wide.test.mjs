// Large screens, several lines over each other, what lies behind the lines, and reports.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, colouredShare, eventually, hover, isDrawn, isForEveryone, params, press, runs, settled, start, stop, withFile, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;
const both = `#/compare?a=${runs.slow}&b=${runs.fast}`;

/** Every plot is as wide as its place, and they reach to the edge of the page. */
const fills = (page) => page.evaluate(() => {
  const content = document.querySelector('main.page');
  const right = content.getBoundingClientRect().right - parseFloat(getComputedStyle(content).paddingRight);
  const shown = [...document.querySelectorAll('figure.chart')].filter((figure) => figure.querySelector('canvas'));
  const isFull = (plot) => Math.abs(plot.querySelector('.uplot').getBoundingClientRect().width - plot.clientWidth) <= 2;
  const places = shown.map((figure) => figure.getBoundingClientRect());
  return shown.length > 1 && shown.every((figure) => [...figure.querySelectorAll('.plot')].every(isFull)) && places.every((place) => place.right <= right + 1)
    && Math.max(...places.map((place) => place.right)) > right - 24 && document.documentElement.scrollWidth <= innerWidth;
});

for (const [name, fragment] of [['run', slow], ['comparison', both]]) {
  test(`charts of a ${name} fill a wide screen and nothing goes over its edge`, () => withPage(fragment, async (page) => {
    for (const chart of ['step_time', 'memory']) await isDrawn(page, chart);
    await settled(page);
    const width = () => page.locator('#chart-memory .uplot').evaluate((plot) => plot.clientWidth);
    const wide = await eventually(async () => (await fills(page)) && width(), 'a wide page');
    await page.setViewportSize({ width: 1400, height: 900 });
    await eventually(async () => (await fills(page)) && (await width()) !== wide, 'a narrower one');
    await page.setViewportSize({ width: 3840, height: 2160 });
    await eventually(async () => (await fills(page)) && (await width()) === wide, 'a wide one again');
  }, { width: 3840, height: 2160 }));
}

test('three lines over each other have three colours and a value of each', async () => {
  const all = await Promise.all([runs.slow, runs.fast, runs['without steps']].map((id) => api(`/api/run/${id}/info`)));
  const shortest = Math.min(...all.map((info) => info.run.duration_s)); // a busy machine may make it a small part of the others
  await withPage(`${both}&more=${runs['without steps']}&range=0:${shortest}`, hasThreeLines);
});

async function hasThreeLines(page) {
  await isDrawn(page, 'memory');
  await settled(page);
  assert.equal(await page.locator('#chart-memory canvas').count(), 1);
  await hover(page, 'memory', [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8], async () => {
    const texts = await page.locator('#chart-memory .run-values .line-value').allInnerTexts();
    return texts.length === 3 && texts.every((text) => /\d\s[kMG]?B$/.test(text));
  });
  await page.getByRole('button', { name: 'Options of Memory' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download SVG' }).click()]);
  const svg = readFileSync(await download.path(), 'utf8');
  const drawn = new Set([...svg.matchAll(/<polyline[^>]* stroke="([^"]+)"/g)].map((line) => line[1]));
  const swatches = await page.locator('#chart-memory .run-values .swatch line').evaluateAll((all) => all.map((line) => line.getAttribute('stroke')));
  assert.deepEqual([...drawn], [...new Set(swatches)]);
  assert.equal(drawn.size, 3);
}

test('pauses are shaded and events are ticks, and the tooltip says what they are', async () => {
  const marks = await api(`/api/run/${runs.slow}/marks`);
  const { run } = await api(`/api/run/${runs.slow}`);
  const pauses = [{ from_s: run.duration_s * 0.3, to_s: run.duration_s * 0.5, lost_s: 1, reason: 'checkpoint' }];
  const events = [{ time_s: run.duration_s * 0.75, kind: 'mark', text: 'half of it' }];
  await withPage(slow, async (page) => {
    for (const chart of ['processor', 'memory']) {
      await isDrawn(page, chart);
      await eventually(async () => (await colouredShare(page, chart, '--pause', 0.32, 0.48)) > 0.5, `a pause in ${chart}`);
      assert.ok((await colouredShare(page, chart, '--pause', 0.52, 0.7)) < 0.02, 'only there');
      assert.ok((await colouredShare(page, chart, '--event', 0.74, 0.76)) > 0, `an event in ${chart}`);
      assert.equal(await colouredShare(page, chart, '--event', 0.6, 0.73), 0, 'only there');
    }
    await settled(page);
    const says = (text) => async () => (await page.locator('#chart-processor .tooltip-mark').allInnerTexts()).includes(text);
    await hover(page, 'processor', 0.4, says('pause: checkpoint'));
    await hover(page, 'processor', 0.75, says('mark: half of it'));
  }, { before: (page) => page.route('**/marks', (route) => route.fulfill({ json: { phases: [], gaps: [], parts: marks.parts, pauses, events } })) });
});

test('controls act within a report', () => withFile(process.env.PAGE_REPORT, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  await page.getByText('side by side').click();
  await eventually(async () => (await page.locator('#chart-memory .side-grid canvas').count()) === 2, 'a plot of each run');
  await page.getByLabel('align').selectOption('step');
  await eventually(async () => (await params(page)).align === 'step', 'steps');
  await page.locator('.top-bar').getByText('slow', { exact: true }).click();
  await page.locator('.run-page').waitFor();
  await isDrawn(page, 'memory');
  await settled(page);
  await page.locator('#range-from').fill('25%');
  await page.keyboard.press('Enter');
  const { run } = await api(`/api/run/${runs.slow}`);
  await eventually(async () => Math.abs((await params(page)).from - run.duration_s / 4) < run.duration_s / 50, 'a range');
  await page.locator('h1').click();
  await press(page, 'x');
  await eventually(async () => (await params(page)).axis === 'step', 'an axis of steps');
  await page.getByRole('button', { name: 'Options of Memory' }).click();
  await page.getByRole('menuitem', { name: 'Show as table' }).click();
  await eventually(async () => (await page.locator('#chart-memory .data-table td').allInnerTexts()).some((text) => /\d\s[kMG]B$/.test(text)), 'values');
}));

test('axe finds nothing in a report, in either theme, and nothing is wider than 400 px', () => withFile(process.env.PAGE_REPORT, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  await isForEveryone(page);
}));

test('nor in one of its runs', () => withFile(process.env.PAGE_REPORT, async (page) => {
  await page.locator('.top-bar').getByText('slow', { exact: true }).click();
  await page.locator('.run-page').waitFor();
  await isDrawn(page, 'memory');
  await settled(page);
  await isForEveryone(page);
}));
