// One chart of the page of a run: what it draws, its notes, its menu, its table and files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, eventually, hover, isDrawn, moveUntil, params, runs, settled, start, stop, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;

test('a chart that shows windows says so, one that shows samples does not', () => withPage(`#/run/${runs['without steps']}`, async (page) => {
  await isDrawn(page, 'processor');
  const note = (text) => eventually(async () => (await page.locator('#chart-processor .note').innerText()).endsWith(text), `note ${text}`);
  await note('min–max drawn');
  await page.locator('h1').click();
  await eventually(async () => {
    await page.keyboard.press('w');
    return (await page.locator('#chart-processor .note').innerText()) === '';
  }, 'samples after zooming in');
  await page.keyboard.press('0');
  await note('min–max drawn');
}, {
  // The run has more than 600 samples: more than twice these points.
  before: (page) => page.route('**/columns?*', (route) => route.continue({ url: route.request().url().replace(/points=\d+/, 'points=100') })),
}));

test('a title makes its chart tall; secondary charts open and close; empty ones say why', async () => {
  const info = await api(`/api/run/${runs.slow}/info`);
  await withPage(slow, async (page) => {
    await isDrawn(page, 'loss');
    await settled(page);
    await page.locator('#chart-loss .title').click();
    await eventually(async () => (await page.locator('#chart-loss canvas').evaluate((canvas) => canvas.clientHeight)) > 250, 'tall');
    await page.getByRole('button', { name: '▸ Page faults' }).click();
    await isDrawn(page, 'faults');
    assert.equal((await params(page)).charts, 'faults');
    await page.getByRole('button', { name: 'Close Page faults' }).click();
    const ofGpu = info.metrics.filter((metric) => metric.name.startsWith('hw.gpu.'));
    const absent = ofGpu.filter((metric) => metric.status === 'absent').map((metric) => metric.reason);
    if (absent.length > 0 && absent.length === ofGpu.length) {
      const text = await page.getByText(/^No GPU metrics/).innerText();
      assert.ok(absent.some((reason) => text.includes(reason)), text);
    }
  });
});

test('what is seen can be downloaded', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  const get = async (kind) => {
    await page.getByRole('button', { name: 'Options of Memory' }).click();
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: `Download ${kind}` }).click()]);
    assert.equal(download.suggestedFilename(), `${runs.slow}-memory.${kind.toLowerCase()}`);
    return readFileSync(await download.path());
  };
  const csv = (await get('CSV')).toString().split('\r\n');
  assert.match(csv[0], /^time_s,metric,labels,(value|mean,min,max)$/);
  assert.ok(csv.some((line) => line.includes('job.memory.usage')) && csv.some((line) => line.includes('state=used')));
  const json = JSON.parse((await get('JSON')).toString());
  const used = json.series.find((series) => series.labels.state === 'used');
  assert.equal(used.time_s.length, csv.filter((line) => line.includes('system.memory.usage,state=used')).length);
  const svg = (await get('SVG')).toString();
  assert.ok(svg.startsWith('<svg ') && svg.includes('Memory of slow') && svg.includes('<polyline'));
  const png = await get('PNG');
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
}));

test('the table and the arrow keys give the values to those who do not see lines', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  await page.getByRole('button', { name: 'Options of Memory' }).click();
  await page.locator('[role=menuitem]:focus', { hasText: 'Show as table' }).waitFor();
  await page.keyboard.press('Enter');
  await eventually(async () => (await page.locator('#chart-memory .data-table td').allInnerTexts()).some((text) => /\d\s[kMG]B$/.test(text)), 'values in the table');
  await page.locator('#chart-memory .plot').focus();
  await moveUntil(page, async () => /B$/.test(await page.locator('#chart-memory .line-value').first().innerText()), 'value at the cursor');
  await page.keyboard.press('Shift+ArrowRight');
  assert.ok((await params(page)).select);
}));

for (const [what, id, last] of [['prints its steps', runs.printed, 'step 60 loss'], ['reports its steps through the pipe', runs.slow, 'line 120 of the job']]) {
  test(`output of a job that ${what} follows the cursor`, () => withPage(`#/run/${id}`, async (page) => {
    await isDrawn(page, 'loss');
    await page.getByText(last).waitFor();
    await settled(page);
    const { run } = await api(`/api/run/${id}`);
    const { begin_s, end_s } = (await api(`/api/run/${id}/info`)).steps;
    const numberOf = (text) => Number(/(?:step|line) (\d+)/.exec(text ?? '')?.[1] ?? 0);
    // When lines were printed is a matter of the machine: the line of a time is the one that the API gives.
    const outputAt = (time) => api(`/api/run/${id}/output?at=${time}&lines=200`);
    const lineAt = async (time) => { const { lines, at } = await outputAt(time); return numberOf(lines[at]?.text); };
    const { width } = await page.locator('#chart-loss .u-over').boundingBox();
    const pixel_s = run.duration_s / width;
    for (const share of [0.25, 0.75]) {
      const time = begin_s + (end_s - begin_s) * share;
      const [least, most] = [await lineAt(time - 2 * pixel_s), await lineAt(time + 2 * pixel_s)];
      await hover(page, 'loss', time / run.duration_s, async () => {
        const [line] = await page.locator('.output-lines .at > :last-child').allInnerTexts();
        return numberOf(line) >= least && numberOf(line) <= most;
      });
      const [shown, text] = await page.locator('.output-lines .at').evaluate((line) => [...line.children].map((one) => one.textContent));
      const { lines } = await outputAt(time);
      const [minutes, seconds] = shown.split(':').map(Number);
      const expected = lines.find((line) => line.text === text).time_s;
      assert.ok(Math.abs(60 * minutes + seconds - expected) < 0.051, `${shown} is the time of "${text}": ${expected}`);
    }
    assert.doesNotMatch(await page.locator('.output h2').innerText(), /unknown|estimated/);
  }));
}
