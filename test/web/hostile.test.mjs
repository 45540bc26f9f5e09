// Names and texts of others are shown as they are, and do nothing: any dialog or error fails these tests.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, eventually, hover, isDrawn, runs, settled, start, stop, withFile, withPage } from './browser.mjs';

before(start);
after(stop);

const text = process.env.PAGE_HOSTILE;
const counter = `counter.${text}`;

/** Nothing of it became an element; a comparison has images that the runs kept. */
async function isText(page) {
  assert.equal(await page.locator('img:not([src^="/api/"], [src^="data:"], [src^="blob:"]), main b, main script').count(), 0);
}

test('of a run: its counter, line of output, mark and phase', async () => {
  const marks = await api(`/api/run/${runs.hostile}/marks`);
  const { run } = await api(`/api/run/${runs.hostile}`);
  assert.ok(marks.events.some((event) => event.text === text));
  const { lines } = await api(`/api/run/${runs.hostile}/output?at=0&lines=10`);
  assert.ok(lines.some((line) => line.text === text));
  const phases = [{ name: text, from_s: run.duration_s * 0.2, to_s: run.duration_s * 0.8 }]; // progress lines have no such names
  const mark = { time_s: run.duration_s * 0.5, kind: 'mark', text };
  await withPage(`#/run/${runs.hostile}`, async (page) => {
    await isDrawn(page, 'processor');
    await settled(page);
    await page.locator('.output-lines').getByText(text, { exact: true }).waitFor();
    await page.locator('figure.chart').getByRole('button', { name: counter, exact: true }).waitFor();
    const button = page.locator('.strip button', { hasText: text });
    assert.ok((await button.getAttribute('title')).startsWith(`${text}, `));
    await hover(page, 'processor', 0.5, async () => {
      const found = await page.locator('#chart-processor .tooltip .tooltip-mark').allInnerTexts();
      return found.includes(`phase: ${text}`) && found.includes(`mark: ${text}`);
    });
    await isText(page);
  }, { before: (page) => page.route('**/marks', (route) => route.fulfill({ json: { ...marks, phases, events: [mark] } })) });
});

test('of a kept file', async () => {
  await eventually(async () => (await api(`/api/run/${runs.hostile}/files`)).files.some((file) => file.path === text), 'the file');
  const { files } = await api(`/api/run/${runs.slow}/files`);
  await withPage(`#/compare?a=${runs.slow}&b=${runs.hostile}`, async (page) => {
    const kept = page.getByLabel('Kept images');
    await kept.scrollIntoViewIfNeeded();
    await kept.getByAltText(`${text} of slow`, { exact: true }).waitFor();
    await kept.locator('figcaption', { hasText: `slow ${text}` }).waitFor();
    await isText(page);
  }, { before: (page) => page.route(`**/api/run/${runs.slow}/files`, (route) => route.fulfill({ json: { files: files.map((file) => ({ ...file, path: text })) } })) });
});

test('of a comparison: names, warnings and metrics', async () => {
  const document = await api(`/api/compare?a=${runs.slow}&b=${runs.hostile}`);
  const invented = { ...document, warnings: [{ id: 'x', summary: text }], metrics: [{ ...document.metrics[0], name: counter, labels: { set: text } }] };
  await withPage(`#/compare?a=${runs.slow}&b=${runs.hostile}&more=${runs[text]}&all=1`, async (page) => {
    await page.locator('.chip', { hasText: text }).waitFor();
    await page.locator('.warning-list', { hasText: text }).waitFor();
    await page.locator('.metric-table td.metric', { hasText: counter }).waitFor();
    await settled(page);
    await isText(page);
  }, { before: (page) => page.route('**/api/compare?*', (route) => route.fulfill({ json: invented })) });
});

test('of a report', () => withFile(process.env.PAGE_HOSTILE_REPORT, async (page) => {
  await page.locator('.compare-page').waitFor();
  await settled(page);
  await isText(page);
  await page.locator('.top-bar').getByText('hostile', { exact: true }).click();
  await page.locator('.run-page').waitFor();
  await page.locator('figure.chart').getByRole('button', { name: counter, exact: true }).waitFor();
  await page.locator('.output-lines').getByText(text, { exact: true }).waitFor();
  await settled(page);
  await isText(page);
}));
