// What a person chooses stays, and what belongs together is seen together.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, drawn, eventually, hover, isDrawn, params, replies, runs, settled, start, stop, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;
const both = `#/compare?a=${runs.slow}&b=${runs.fast}`;

for (const [name, fragment] of [['a run', slow], ['a comparison', both]]) {
  test(`units and theme are part of the address of ${name}, also where the browser keeps none`, () => withPage(fragment, async (page) => {
    await isDrawn(page, 'memory');
    await page.getByLabel('units').selectOption('binary');
    await page.locator('h1').first().click({ force: true });
    await page.keyboard.press('t');
    await eventually(async () => (await params(page)).units === 'binary' && (await params(page)).theme === 'dark', 'the address');
    const address = await page.evaluate(() => location.hash);
    // As on another machine.
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await isDrawn(page, 'memory');
    assert.equal(await page.getByLabel('units').inputValue(), 'binary');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await page.evaluate(() => location.hash), address);
    assert.equal(await page.evaluate(() => localStorage.getItem('trainscope.bytes')), null, 'an address does not change what the browser keeps');
  }));
}

test('output stays in view beside the chart under the pointer, and closed it is one line', () => withPage(`#/run/${runs.printed}`, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  const lines = page.locator('.output .at');
  const panel = () => page.locator('.output').evaluate((one) => { const { top, bottom } = one.getBoundingClientRect(); return { top, bottom, height: innerHeight }; });
  const plot = () => page.locator('#chart-step_time .u-over').boundingBox();
  await page.evaluate(() => scrollTo(0, 0));
  const { run } = await api(`/api/run/${runs.printed}`);
  const { begin_s, end_s } = (await api(`/api/run/${runs.printed}/info`)).steps;
  const numberOf = (text) => Number(/step (\d+)/.exec(text ?? '')?.[1] ?? 0);
  // When lines were printed is a matter of the machine: the line of a time is the one that the API gives.
  const lineAt = async (time) => { const { lines: all, at } = await api(`/api/run/${runs.printed}/output?at=${time}&lines=200`); return numberOf(all[at]?.text); };
  const pixel_s = run.duration_s / (await plot()).width;
  /** The share of the run, and the lines within two pixels, at a share of the steps. */
  const placeOf = async (share) => {
    const time = begin_s + (end_s - begin_s) * share;
    return { share: time / run.duration_s, least: await lineAt(time - 2 * pixel_s), most: await lineAt(time + 2 * pixel_s) };
  };
  const isInView = () => lines.first().evaluate((line) => { const at = line.getBoundingClientRect(); const box = line.parentElement.getBoundingClientRect(); return at.top >= box.top - 1 && at.bottom <= box.bottom + 1 && at.bottom <= innerHeight; });
  for (const place of [await placeOf(0.3), await placeOf(0.7)]) {
    await hover(page, 'step_time', place.share, async () => {
      const shown = numberOf((await lines.allInnerTexts())[0]);
      return shown >= place.least && shown <= place.most && isInView();
    });
    const { top, bottom, height } = await panel();
    const { y, height: tall } = await plot();
    assert.ok(top > y + tall && bottom <= height + 1, `it is below the chart: ${top} ${y + tall} ${bottom} ${height}`);
  }
  await page.getByRole('button', { name: 'Output', exact: true }).click();
  for (const place of [await placeOf(0.3), await placeOf(0.9)]) {
    await hover(page, 'step_time', place.share, async () => {
      const shown = numberOf(await page.locator('.output-line').innerText());
      return shown >= place.least && shown <= place.most;
    });
  }
  const { top, bottom } = await panel();
  assert.ok(bottom - top < 60, 'one line');
  await page.reload();
  await isDrawn(page, 'step_time');
  await page.locator('.output-line').waitFor();
  assert.equal(await page.locator('.output-lines').count(), 0);
  assert.equal((await params(page)).output, 'closed');
}));

test('what is reached with Tab is not behind the output', () => withPage(`#/run/${runs.printed}`, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  await page.locator('.output.docked').waitFor();
  const names = await page.locator('.charts .plot').evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
  for (const name of names) {
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole('group', { name }).evaluate((one) => one.focus());
    await drawn(page);
    const isFree = await page.evaluate(() => {
      const top = document.querySelector('.output').getBoundingClientRect().top;
      return document.activeElement.getBoundingClientRect().bottom <= top + 1;
    });
    assert.ok(isFree, name);
  }
}));

test('a part of the time looks the same in both themes and in every picture, by more than its colour', async () => {
  const looks = (page) => page.evaluate(() => {
    const of = (patch) => [...patch.querySelectorAll('rect')].map((area) => area.getAttribute('fill')).join(' ');
    const names = [...document.querySelectorAll('.bar-legend li')];
    return Object.fromEntries(names.map((name) => [name.innerText.split(/\s(?=[\d<])/)[0].trim(), of(name)]));
  });
  const seen = [];
  for (const colorScheme of ['light', 'dark']) {
    seen.push(await withPage(slow, async (page) => {
      await page.locator('.bar-legend li').nth(1).waitFor();
      const found = await looks(page);
      const inBar = await page.locator('.bar-part').evaluateAll((all) => all.map((one) => [...one.querySelectorAll('rect')].map((area) => area.getAttribute('fill')).join(' ')));
      assert.deepEqual(inBar, Object.values(found), 'the bar and its legend');
      return found;
    }, { colorScheme }));
  }
  assert.deepEqual(seen[0], seen[1]);
  const hatches = Object.values(seen[0]).map((look) => look.split(' ')[1] ?? 'none');
  assert.equal(new Set(hatches).size, hatches.length, JSON.stringify(seen[0]));
});

test('devices are chosen in a comparison too: in charts and bars, and in the address', () => withPage(both, async (page) => {
  await isDrawn(page, 'processor');
  await settled(page);
  // What devices there are is a matter of the machine: each of one kind is hidden, and none of the others.
  await page.locator('.devices summary').click();
  const kinds = await page.locator('.devices fieldset legend').allInnerTexts();
  const list = page.locator('.devices fieldset').nth(kinds.findIndex((kind) => /^(disk or network|pressure)/.test(kind)));
  const options = () => page.locator('select[aria-label^="Series of"] option').allInnerTexts();
  const names = await list.locator('label').allInnerTexts();
  assert.ok(names.length > 0, kinds.join());
  const shown = (texts) => names.filter((name) => texts.some((text) => text.split(' ').includes(name.trim())));
  const before_ = shown(await options());
  assert.ok(before_.length > 0, `${names}: ${await options()}`);
  for (const box of await list.locator('input[type=checkbox]').all()) await box.uncheck();
  await eventually(async () => shown(await options()).length === 0, `no chart of ${before_}`);
  await page.keyboard.press('Escape');
  const { hide } = await params(page);
  assert.ok(hide.split(',').length >= names.length, hide);
  await page.reload();
  await isDrawn(page, 'processor');
  assert.equal((await params(page)).hide, hide);
  assert.deepEqual(shown(await options()), []);
}));

test('runs are sorted by speed, loss and tags, also those that are not in view; a group has the tags of all of it', async () => {
  const [slowRun] = (await api('/api/runs')).runs.filter((run) => run.id === runs.slow);
  const one = (index) => ({ ...slowRun, id: `run${index}`, name: `run ${index}`, tags: { n: String(1000 + index) }, started: `2026-01-01T00:00:${String(index % 60).padStart(2, '0')}Z` });
  const repeat = (index) => ({ ...one(900 + index), name: 'twice', tags: { lr: '0.5', repeat: `${index}/2` }, repeat: { group: 'r', index, count: 2 } });
  const list = [...Array.from({ length: 200 }, (_one, index) => one(index)), repeat(1), repeat(2)];
  // The fastest, and the one with the largest loss, is far down in the list.
  const row = (id) => { const at = Number(id.slice(3)); return { id, duration_s: 9, steps: 9, steps_per_s: 1000 - Math.abs(at - 77), loss: [9000, at === 123 ? 5000 : at], name_of_loss: 'loss' }; };
  let asked = 0;
  await withPage('#/', async (page) => {
    await page.getByText('202 runs', { exact: true }).waitFor();
    const first = () => page.locator('.runs-table tbody .name a').first().innerText();
    for (const [by, name] of [['steps/s', 'run 77'], ['last loss', 'run 0'], ['tags', 'twice']]) {
      await page.getByRole('button', { name: `Sort by ${by}`, exact: true }).click();
      await eventually(async () => (await first()) === name, `first by ${by}`);
    }
    assert.deepEqual(await page.locator('.runs-table tr', { hasText: 'twice' }).locator('.tag').allInnerTexts(), ['lr=0.5']);
    await page.getByRole('button', { name: 'Sort by last loss', exact: true }).click();
    await page.getByRole('button', { name: 'Sort by last loss', exact: true }).click();
    await eventually(async () => (await first()) === 'run 123', 'the largest loss');
    assert.equal((await params(page)).sort, '-loss');
    assert.ok(asked <= 12, `${asked} requests for rows`);
  }, { before: async (page) => {
    await page.route('**/api/runs', (route) => route.fulfill({ json: { runs: list } }));
    await page.route('**/api/rows?*', (route) => {
      asked += 1;
      return route.fulfill({ json: { rows: new URL(route.request().url()).searchParams.get('runs').split(',').map(row) } });
    });
  } });
});

for (const { typed, wanted } of [{ typed: 'status:running', wanted: 'going' }, { typed: 'status:failed', wanted: 'broken' }]) {
  test(`the search finds ${typed}`, async () => {
    const [slowRun] = (await api('/api/runs')).runs.filter((run) => run.id === runs.slow);
    const list = [{ ...slowRun, id: 'a1', name: 'going', status: 'running', duration_s: null }, { ...slowRun, id: 'a2', name: 'broken', exit_code: 1, ended_by: 'exit' }, slowRun];
    await withPage(`#/?q=${typed}`, async (page) => {
      await page.getByText('1 of 3 runs').waitFor();
      assert.equal(await page.locator('.runs-table .name a').innerText(), wanted);
    }, { before: async (page) => {
      await page.route('**/api/runs', (route) => route.fulfill({ json: { runs: list } }));
      await page.route('**/api/rows?*', (route) => route.fulfill({ json: { rows: [] } }));
    } });
  });
}

const pictures = [
  { fragment: slow, menu: 'the breakdown', name: `${runs.slow}-parts`, header: 'part,share,time_s', text: 'input wait' },
  { fragment: both, menu: 'the attribution', name: 'comparison-parts', header: 'part,a_s,b_s,difference_s,share', text: 'input wait' },
  { fragment: both, menu: 'the distribution', name: 'comparison-step-times', header: 'run,name,share,step_time_s', text: 'fast' },
  { fragment: both, menu: 'the bars', name: 'comparison-components', header: 'component,metric,unit,run,name,value', text: 'Memory: job' },
];
for (const { fragment, menu, name, header, text } of pictures) {
  test(`${menu} can be downloaded as a picture and as numbers`, () => withPage(fragment, async (page) => {
    await settled(page);
    const get = async (kind) => {
      await page.getByRole('button', { name: `Options of ${menu}`, exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: `Download ${kind}` }).click()]);
      assert.equal(download.suggestedFilename(), `${name}.${kind.toLowerCase()}`);
      return readFileSync(await download.path());
    };
    const svg = (await get('SVG')).toString();
    assert.ok(svg.includes(text) && !svg.includes('var(--'), 'it needs no style sheet');
    const seen = await page.evaluate((file) => {
      const parsed = new DOMParser().parseFromString(file, 'image/svg+xml');
      return { isWrong: parsed.querySelector('parsererror') !== null, areas: parsed.querySelectorAll('g rect, g polyline').length, unknown: [...file.matchAll(/url\(#([\w-]+)\)/g)].filter(([, id]) => !parsed.getElementById(id)).length };
    }, svg);
    assert.ok(!seen.isWrong && seen.areas > 1 && seen.unknown === 0, JSON.stringify(seen));
    const lines = (await get('CSV')).toString().trim().split('\r\n');
    assert.equal(lines[0], header);
    assert.ok(lines.length > 2 && lines.some((line) => line.includes(text)));
    assert.ok(JSON.stringify(JSON.parse((await get('JSON')).toString())).includes(text));
    assert.equal((await get('PNG')).subarray(1, 4).toString(), 'PNG');
  }));
}

test('train lines stop in evaluations, those of evaluations go on; each evaluation has its name where there is room', () => withPage(slow, async (page) => {
  const { phases } = await api(`/api/run/${runs.slow}/marks`);
  const evaluations = phases.filter((phase) => phase.name === 'evaluation');
  assert.equal(evaluations.length, 3);
  await isDrawn(page, 'loss');
  await settled(page);
  await page.getByRole('button', { name: 'Options of Loss' }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download SVG' }).click()]);
  const lines = [...readFileSync(await download.path(), 'utf8').matchAll(/<polyline[^>]* points="([^"]*)"/g)];
  assert.ok(lines.length >= evaluations.length, `${lines.length} parts of a line`);
  const named = await page.getByLabel(/^evaluation/).evaluateAll((all) => all.map((one) => ({ wide: one.clientWidth, name: one.querySelector('span')?.getBoundingClientRect().width > 0 && one.innerText })));
  assert.equal(named.length, evaluations.length);
  for (const { wide, name } of named) assert.ok(wide < 36 || name === 'evaluation', `${wide} px: ${name}`);
}, { width: 2000 }));

test('the tooltip is beside the pointer', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  for (const share of [0.2, 0.45, 0.55, 0.9]) {
    const at = await hover(page, 'memory', share, async (x) => (await page.locator('#chart-memory .tooltip').count()) === 1 && { x });
    const away = () => page.locator('#chart-memory .tooltip').evaluate((one, x) => { const { left, right } = one.getBoundingClientRect(); return left > x ? left - x : x - right; }, at.x);
    await eventually(async () => { const far = await away(); return far > 4 && far < 20; }, `beside it at ${share}`);
  }
}));
