// The comparison: what compare says, and the runs beside each other.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, drag, eventually, hover, isDrawn, isForEveryone, params, replies, runs, settled, start, stop, watchColumns, withFile, withPage } from './browser.mjs';

before(start);
after(stop);

const both = `#/compare?a=${runs.slow}&b=${runs.fast}`;

/** What compare says, with an interval: of runs of a busy machine there may be none. */
async function comparison(change = {}) {
  const document = await api(`/api/compare?a=${runs.slow}&b=${runs.fast}`);
  const invented = document.speed.low === null ? { ratio: 2.5, low: 2, high: 3 } : {};
  Object.assign(document.speed, invented, change);
  return { document, before: (page) => page.route('**/api/compare?*', (route) => route.fulfill({ json: document })) };
}

test('the headline, warnings and attribution are those of compare', async () => {
  const { document, before: giveDocument } = await comparison();
  const parts = document.attribution.filter((one) => one.a_s > 0);
  assert.ok(parts.length > 0 && document.warnings.length > 0);
  await withPage(both, async (page) => {
    await page.getByText(document.speed.sentence, { exact: true }).waitFor();
    const text = await page.locator('main').innerText();
    for (const warning of document.warnings) assert.ok(text.includes(warning.summary), warning.summary);
    for (const part of parts) assert.ok(text.includes(part.part), part.part);
    // What both sentences end with is said once.
    assert.ok(text.includes(document.behaviour.sentence.replace(/ \([^()]*\)\.$/, '.')));
    assert.equal(text.split('this is about these two runs').length, 2);
    assert.match(await page.locator('.interval').getAttribute('aria-label'), /interval .*×/);
    await page.locator('.ecdf polyline').nth(1).waitFor();
    assert.equal(await page.locator('.ecdf .violin').count(), 2);
  }, { before: giveDocument });
});

test('an interval that begins at 0 has a place on the logarithmic axis', async () => {
  const { before: giveDocument } = await comparison({ low: 0 });
  await withPage(both, async (page) => {
    const place = await page.locator('.interval rect').evaluate((rect) => [rect.getAttribute('x'), rect.getAttribute('width')].map(parseFloat));
    assert.ok(place.every((share) => share >= 0 && share <= 100), place.join());
  }, { before: giveDocument });
});

test('layout, alignment and sides', () => withPage(both, async (page) => {
  await isDrawn(page, 'loss');
  await page.getByText('side by side').click();
  await eventually(async () => (await page.locator('#chart-loss .side-grid canvas').count()) === 2, 'a plot of each run');
  assert.deepEqual(await page.locator('#chart-loss .run-values .line-name').allInnerTexts(), ['slow', 'fast']);
  for (const align of ['step', 'wall']) {
    await page.getByLabel('align').selectOption(align);
    await isDrawn(page, 'loss');
    assert.equal((await params(page)).align, align);
  }
  await page.getByRole('button', { name: 'swap A and B' }).click();
  await eventually(async () => (await params(page)).a === runs.fast, 'swapped');
  await page.getByText((await api(`/api/compare?a=${runs.fast}&b=${runs.slow}`)).speed.sentence, { exact: true }).waitFor();
}));

test('every chart has the value of each run at the cursor', () => withPage(`${both}&align=step`, async (page) => {
  await isDrawn(page, 'loss');
  await settled(page);
  const values = (chart) => page.locator(`#chart-${chart} .run-values .line-value`).allInnerTexts();
  // Both lose alike, as 2 / step: at step 60 it is about 0.033. There is no value beside the middle of a step that took long.
  await hover(page, 'loss', [0.5, 0.48, 0.52, 0.46, 0.54], async () => {
    const found = (await values('loss')).map(Number);
    return found.length === 2 && found.every((loss) => loss > 0.028 && loss < 0.04) && (await values('step_time')).every((text) => /\d\sm?s$/.test(text));
  });
  await page.locator('#chart-loss .plot').focus();
  await page.mouse.move(0, 0);
  await eventually(async () => {
    await page.keyboard.press('ArrowRight');
    return (await values('loss')).every((text) => Number(text) > 0);
  }, 'values by the keyboard');
}));

test('range, smoothing and the chosen series are part of the address', () => withPage(both, async (page) => {
  const queries = watchColumns(page);
  await isDrawn(page, 'step_time');
  await page.getByLabel('smooth').selectOption('1 s');
  await eventually(() => [runs.slow, runs.fast].every((run) => queries.some((query) => query.run === run && query.smooth === '1')), 'smoothed by the server');
  await page.getByLabel('Series of Step time').selectOption('waiting for input');
  await page.locator('h1').focus().catch(() => {});
  await page.keyboard.press('w');
  await page.getByRole('button', { name: 'show everything' }).waitFor();
  const address = await page.evaluate(() => location.hash);
  const { range, smooth, series } = await params(page);
  assert.match(range, /^[\d.]+:[\d.]+$/);
  assert.equal(smooth, '1');
  assert.match(series, /^step_time train\.input_wait/);
  await page.reload();
  await isDrawn(page, 'step_time');
  assert.equal(await page.evaluate(() => location.hash), address);
  assert.equal(await page.getByLabel('Series of Step time').locator('option:checked').innerText(), 'waiting for input');
}));

test('what is seen of both runs is a table and files', () => withPage(both, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  const open = () => page.getByRole('button', { name: 'Options of Memory' }).click();
  await open();
  await page.getByRole('menuitem', { name: 'Show as table' }).click();
  const rows = () => page.locator('#chart-memory .data-table tbody tr').evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)));
  await eventually(async () => (await rows()).some((row) => row.length === 2 && row.every((text) => /\d\s[kMG]B$/.test(text))), 'values of both');
  const get = async (kind) => {
    await open();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: `Download ${kind}` }).click()]);
    assert.equal(download.suggestedFilename(), `comparison-memory.${kind.toLowerCase()}`);
    return readFileSync(await download.path());
  };
  const csv = (await get('CSV')).toString();
  const json = JSON.parse((await get('JSON')).toString());
  assert.deepEqual(json.runs.map((one) => one.run), [runs.slow, runs.fast]);
  for (const one of json.runs) assert.equal(csv.split('\r\n').filter((line) => line.startsWith(`${one.run},`)).length, one.time_s.length);
  // A busy machine may have missed samples, where a line is interrupted.
  assert.equal(new Set([...(await get('SVG')).toString().matchAll(/<polyline[^>]* stroke="([^"]+)"/g)].map((line) => line[1])).size, 2);
  assert.equal((await get('PNG')).subarray(1, 4).toString(), 'PNG');
}));

test('step times stop in the evaluations of their run', () => withPage(both, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  const { phases } = await api(`/api/run/${runs.slow}/marks`);
  assert.ok(phases.some((phase) => phase.name === 'evaluation'));
  await page.getByRole('button', { name: 'Options of Step time' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download SVG' }).click()]);
  const parts = readFileSync(await download.path(), 'utf8').match(/<polyline/g).length;
  assert.ok(parts > 2, `${parts} parts of two lines`);
}));

test('dragging zooms every chart of the comparison', () => withPage(both, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  const queries = watchColumns(page);
  await drag(page, 'step_time', 0.04, 0.16, async () => (await params(page)).range);
  const zoomed = (run) => queries.some((query) => query.run === run && Number(query.from) > 0);
  await eventually(() => zoomed(runs.slow) && zoomed(runs.fast), 'both runs are read again');
  await page.getByRole('button', { name: 'show everything' }).click();
  await eventually(async () => (await page.getByRole('button', { name: 'show everything' }).count()) === 0, 'everything');
}));

test('metrics are filtered and sorted', async () => {
  const document = await api(`/api/compare?a=${runs.slow}&b=${runs.fast}`);
  await withPage(both, async (page) => {
    const heading = page.getByRole('heading', { name: /^Metrics/ });
    await heading.waitFor();
    await page.getByLabel('only those that differ').uncheck();
    await page.getByText(`Metrics (${document.metrics.length} of ${document.metrics.length})`).waitFor();
    await page.getByLabel('Filter metrics').fill('memory');
    const wanted = document.metrics.filter((metric) => JSON.stringify([metric.name, metric.labels]).includes('memory')).length;
    await page.getByText(`Metrics (${wanted} of ${document.metrics.length})`).waitFor();
    const first = () => page.locator('.metric-table td.metric').first().innerText();
    await page.locator('.metric-table').getByRole('button', { name: 'metric', exact: true }).click();
    await page.locator('.metric-table th[aria-sort=ascending]').waitFor();
    const low = await first();
    await page.locator('.metric-table').getByRole('button', { name: /^metric/ }).click();
    await eventually(async () => (await first()) > low, 'descending');
  });
});

test('three runs are drawn, bars have a value of each', () => withPage(`${both}&more=${runs['without steps']}`, async (page) => {
  await page.locator('.component-bars .group-bars').first().waitFor();
  await eventually(async () => (await page.locator('.component-bars .group-bars').first().locator('.one-bar').count()) === 3, 'three bars');
}));

test('images that the runs kept are beside each other, and a slider goes through them', async () => {
  for (const id of [runs.slow, runs.fast]) await eventually(async () => (await api(`/api/run/${id}/files`)).files.length === 3, `files of ${id}`);
  await withPage(both, goesThroughImages);
});

async function goesThroughImages(page) {
  const kept = page.getByLabel('Kept images');
  const shown = () => kept.locator('img').evaluateAll((images) => images.filter((image) => image.complete && image.naturalWidth === 1).map((image) => image.alt));
  const are = (number) => eventually(async () => (await shown()).join() === `seen-${number}.png of slow,seen-${number}.png of fast`, `images ${number}`);
  await settled(page);
  await kept.scrollIntoViewIfNeeded();
  await are('040');
  await kept.getByRole('slider').press('End');
  await are('120');
}

test('axe finds nothing in either theme, and nothing is wider than 400 px', () => withPage(both, async (page) => {
  await page.locator('.ecdf').waitFor();
  await isDrawn(page, 'step_time');
  await isForEveryone(page);
}));

test('a report opens without a server', () => withFile(process.env.PAGE_REPORT, async (page) => {
  const document = await api(`/api/compare?a=${runs.slow}&b=${runs.fast}`);
  await page.getByText(document.speed.sentence, { exact: true }).first().waitFor();
  await page.locator('.compare-charts .chart').first().scrollIntoViewIfNeeded();
  await page.locator('.compare-charts canvas').first().waitFor();
  await page.locator('.top-bar').getByText('slow').click();
  await page.locator('.run-page').waitFor(); // the comparison has charts of the same names
  await isDrawn(page, 'memory');
  await page.getByText('How to reproduce').waitFor();
}));

test('a comparison that is left while it opens reads the runs it was opened with', () => withPage('#/', async (page) => {
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/distribution')) asked.push(new URL(request.url()).searchParams.get('runs')); });
  await page.locator('.runs-table').waitFor();
  await page.evaluate((to) => new Promise((resolve) => {
    new MutationObserver((_changes, observer) => {
      if (!document.querySelector('.compare-page')) return;
      observer.disconnect();
      history.replaceState(null, '', '#/'); // as "back" does, before the page is told
      resolve();
    }).observe(document.body, { childList: true, subtree: true });
    location.hash = to;
  }), both);
  await eventually(() => asked.length > 0, 'what was asked');
  assert.deepEqual(asked, [`${runs.slow},${runs.fast}`]);
}));

test('a comparison without runs says what it needs', () => withPage('#/compare', async (page) => {
  await page.getByText('A comparison needs at least one run on each side.').waitFor();
  await replies(page);
}));
