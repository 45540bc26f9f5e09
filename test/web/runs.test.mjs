// The table of runs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, eventually, isForEveryone, params, press, runs, start, stop, withPage } from './browser.mjs';

before(start);
after(stop);

/** Other tests record at the same time: this page lists what there is now. */
const withList = async (act) => {
  const list = await api('/api/runs');
  await withPage('#/', (page) => act(page, list.runs), { before: (page) => page.route('**/api/runs', (route) => route.fulfill({ json: list })) });
};
const rowOf = (page, name) => page.locator('tr', { has: page.getByRole('link', { name, exact: true }) });
const names = (page) => page.locator('.runs-table tbody .name a').allTextContents();

test('every run is a row with what list prints; names are text', () => withList(async (page, listed) => {
  await page.locator('.runs-table').waitFor();
  assert.deepEqual(new Set(await names(page)), new Set(listed.filter((run) => (run.repeat?.index ?? 1) <= 1).map((run) => run.name)));
  assert.ok((await names(page)).includes(process.env.PAGE_HOSTILE));
  assert.equal(await page.locator('.runs-table img, .runs-table b, .runs-table script').count(), 0);
  const [row] = (await api(`/api/rows?runs=${runs.slow}`)).rows;
  await eventually(async () => (await rowOf(page, 'slow').locator('.spark svg').count()) === 1, 'the loss of slow');
  const shown = () => rowOf(page, 'slow').locator('td.number').last().innerText();
  await eventually(async () => Math.abs(Number(await shown()) / row.steps_per_s - 1) < 0.01, 'steps per second of slow');
}));

test('search takes text, tags and regular expressions, and is part of the address', () => withList(async (page) => {
  const search = page.getByLabel('Search runs');
  for (const [typed, wanted] of [['slo', ['slow']], ['tag:lr=0.2', ['fast']], ['/^(slow|printed)$/', ['printed', 'slow']], ['/s[l]ow|fast/ tag:lr', ['fast', 'slow']]]) {
    await search.fill(typed);
    await eventually(async () => (await names(page)).sort().join() === wanted.join(), typed);
  }
  // The address follows after the rows were drawn.
  await eventually(async () => (await params(page)).q === '/s[l]ow|fast/ tag:lr', 'the address');
  await search.fill('/(/');
  await page.locator('.search[aria-invalid=true]').waitFor();
}));

test('rows are sorted by a heading', () => withList(async (page) => {
  await page.locator('.runs-table').waitFor();
  const sorted = (await names(page)).map((name) => name.toLowerCase()).sort();
  const order = async () => (await names(page)).map((name) => name.toLowerCase()).join('\n');
  await page.getByRole('button', { name: 'Sort by name' }).click();
  await page.locator('th.name[aria-sort=ascending]').waitFor();
  await eventually(async () => (await order()) === sorted.join('\n'), 'ascending');
  await page.getByRole('button', { name: 'Sort by name' }).click();
  await page.locator('th.name[aria-sort=descending]').waitFor();
  await eventually(async () => (await order()) === sorted.toReversed().join('\n'), 'descending');
}));

test('repeats are one row that opens', () => withList(async (page, { length: listed }) => {
  await page.getByText(`${listed} runs`, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Open the repeats of again' }).click();
  await eventually(async () => (await page.locator('tr.member').count()) === 2, 'two members');
  await page.getByLabel('Search runs').fill('again');
  await page.getByText(`2 of ${listed} runs`).waitFor(); // runs, not the rows that are open
}));

test('ranks of a job are one row that opens; a run that is being recorded shows how far it is, and so does its end', async () => {
  const all = (await api('/api/runs')).runs;
  const { repeat, ...slow } = all.find((run) => run.id === runs.slow);
  const rank = (index) => ({ ...slow, id: `rank${index}`, name: 'job', repeat: null, group: { job: 'slurm-7', rank: index, world_size: 3, restart: 0 } });
  const live = { ...slow, repeat, id: 'live', name: 'live', host: 'node7', status: 'running', duration_s: null, steps: null };
  let isOver = false;
  const row = (duration_s, steps) => ({ id: 'live', duration_s, steps, steps_per_s: 4, loss: null, name_of_loss: null });
  await withPage('#/', async (page) => {
    await page.getByText('3 ranks').waitFor();
    await page.getByRole('button', { name: 'Open the ranks of job' }).click();
    await eventually(async () => (await page.locator('tr.member').allInnerTexts()).map((text) => text.match(/rank \d/)?.[0]).join() === 'rank 0,rank 1,rank 2', 'three ranks');
    const cells = rowOf(page, 'live');
    await cells.getByText('12 min 4 s').waitFor();
    await cells.getByText('2,904').waitFor();
    await cells.getByText('node7').waitFor();
    isOver = true;
    await cells.getByText('3,000').waitFor(); // the list says that it ended: its row is read once more
  }, {
    before: async (page) => {
      await page.route('**/api/runs', (route) => route.fulfill({ json: { runs: [rank(2), rank(0), rank(1), isOver ? { ...live, status: 'ended' } : live] } }));
      await page.route('**/api/rows?*', (route) => route.fulfill({ json: { rows: [isOver ? row(750, 3000) : row(724, 2904)] } }));
    },
  });
});

test('keys move, pick, compare and open', () => withList(async (page) => {
  await page.locator('.runs-table').waitFor();
  await press(page, '/');
  await page.keyboard.type('tag:lr');
  await page.keyboard.press('Escape');
  await page.keyboard.press('x');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('Compare 2 runs').waitFor();
  await page.keyboard.press('c');
  await page.locator('.compare-page').waitFor();
  assert.deepEqual(await params(page), { a: runs.slow, b: runs.fast });
  await page.goBack();
  await page.locator('tr.current[aria-current=true]').waitFor();
  assert.equal(await page.locator('tr[aria-current]').count(), 1);
  await press(page, 'Enter');
  await page.locator('.run-page').waitFor();
}));

test('the current row stays the same run when a newer one comes', async () => {
  const all = (await api('/api/runs')).runs;
  const slow = { ...all.find((run) => run.id === runs.slow), status: 'running' };
  const one = (id, started) => ({ ...slow, id, name: id, started });
  const list = [one(runs.slow, '2026-01-02T00:00:00Z'), one(runs.fast, '2026-01-01T00:00:00Z')];
  await withPage('#/', async (page) => {
    await page.locator('tr.current', { hasText: runs.slow }).waitFor();
    list.push(one('newer', '2026-01-03T00:00:00Z'));
    await page.getByRole('link', { name: 'newer' }).waitFor();
    assert.equal(await page.locator('tr.current .name a').innerText(), runs.slow);
    await press(page, 'Enter');
    await eventually(async () => (await page.evaluate(() => location.hash)).includes(runs.slow), 'the run that was current');
  }, { before: (page) => page.route('**/api/runs', (route) => route.fulfill({ json: { runs: list } })), allow: /404/ });
});

test('? lists the keys', () => withPage('#/', async (page) => {
  await page.locator('.runs-table').waitFor();
  await press(page, '?');
  const text = await page.getByRole('dialog').innerText();
  for (const word of ['next run', 'search', 'compare the picked runs', 'dark and light']) assert.ok(text.includes(word), word);
  await page.keyboard.press('Escape');
  await eventually(async () => !(await page.getByRole('dialog').isVisible()), 'closed');
}));

test('10,000 runs are few elements', async () => {
  const one = (await api('/api/runs')).runs.find((run) => run.id === runs.slow);
  const many = Array.from({ length: 10_000 }, (_one, index) => ({ ...one, id: `id${index}`, name: `run ${index}`, repeat: null, group: null, started: new Date(1.7e12 + index * 1000).toISOString() }));
  await withPage('#/', async (page) => {
    await page.locator('.runs-table').waitFor();
    assert.ok((await page.locator('.runs-table tr').count()) < 100);
    await page.locator('.runs-box').evaluate((box) => { box.scrollTop = box.scrollHeight; });
    await page.getByText('run 0', { exact: true }).waitFor();
    await page.getByLabel('Search runs').fill('/run 99\\d\\d$/');
    await page.getByText('100 of 10,000').waitFor();
  }, { before: (page) => page.route('**/api/runs', (route) => route.fulfill({ json: { runs: many } })), allow: /404/ });
});

test('axe finds nothing in either theme, and nothing is wider than 400 px', () => withList(async (page) => {
  await page.locator('.runs-table').waitFor();
  await press(page, 'x');
  await page.locator('.compare-bar').waitFor();
  await isForEveryone(page);
}));

test('the columns of a telephone are whole', () => withList(async (page) => {
  await page.setViewportSize({ width: 400, height: 900 });
  await page.locator('.runs-table').waitFor();
  await eventually(() => page.locator('.runs-box').evaluate((box) => box.scrollWidth <= box.clientWidth), 'nothing is cut');
}));

test('a failing server is explained', () => withPage('#/', async (page) => {
  await page.getByText('the address that trainscope view printed').waitFor();
}, { before: (page) => page.route('**/api/runs', (route) => route.fulfill({ status: 401, json: { error: 'x' } })), allow: /401/ }));
