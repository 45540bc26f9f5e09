// The page of a run: what it says is what the API gives, and every control acts on every chart.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, eventually, hover, isDrawn, isForEveryone, params, runs, start, stop, watchColumns, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;
const mainCharts = ['step_time', 'loss', 'processor', 'memory'];

async function drag(page, chart, from, to, modifier) {
  const over = page.locator(`#chart-${chart} .u-over`);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const y = box.y + box.height / 2;
  if (modifier) await page.keyboard.down(modifier);
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * (from + to) / 2, y);
  await page.mouse.move(box.x + box.width * to, y);
  await page.mouse.up();
  if (modifier) await page.keyboard.up(modifier);
}

test('the verdict is there before any chart has data, in the words of diagnose', async () => {
  const diagnosis = await api(`/api/run/${runs.slow}/diagnosis`);
  const parts = diagnosis.breakdown.filter((one) => one.share > 0.001);
  assert.ok(parts.length > 1);
  await withPage(slow, async (page) => {
    const card = page.getByLabel('Verdict');
    await card.getByText(diagnosis.sentence, { exact: true }).waitFor();
    assert.equal(await page.locator('.chart canvas').count(), 0);
    await card.getByRole('button', { name: 'why' }).click();
    await card.locator('.why').waitFor();
    const text = await card.innerText();
    for (const finding of diagnosis.findings) for (const line of finding.evidence) assert.ok(text.includes(line), line);
    const shares = await page.getByLabel('Where the time went').innerText();
    for (const part of parts) assert.ok(shares.includes(part.part), part.part);
  }, { before: (page) => page.route('**/columns?*', () => {}) });
});

test('a finding marks its span on hover, and a click selects it in every chart with its evidence', async () => {
  const { findings } = await api(`/api/run/${runs.slow}/diagnosis`);
  assert.ok(findings.length > 0);
  await withPage(slow, async (page) => {
    for (const chart of mainCharts) await isDrawn(page, chart);
    const first = page.locator('.finding > button').first();
    await first.hover();
    for (const chart of mainCharts) await page.locator(`#chart-${chart} .mark-band`).waitFor();
    await first.click();
    for (const chart of mainCharts) await page.locator(`#chart-${chart} .selection-band`).waitFor();
    assert.equal((await params(page)).select, `${Number(findings[0].from_s.toPrecision(9))}:${Number(findings[0].to_s.toPrecision(9))}`);
    const text = await page.locator('.finding-details').innerText();
    for (const line of findings[0].evidence) assert.ok(text.includes(line), line);
    await page.keyboard.press('Escape');
    assert.equal((await params(page)).select, undefined);
    await page.keyboard.press('n');
    assert.ok((await params(page)).select);
  }, { height: 1600 });
});

test('a typed range, a preset, the slider and keys change what every chart asks for', () => withPage(slow, async (page) => {
  const queries = watchColumns(page);
  await isDrawn(page, 'step_time');
  const whole = (await api(`/api/run/${runs.slow}`)).run.duration_s;
  const asked = (from, to, what) => eventually(() => queries.some((query) => Math.abs(query.from - from) < whole / 50 && Math.abs(query.to - to) < whole / 50), `${what}: ${JSON.stringify(queries.at(-1))}`);
  await page.locator('#range-from').fill('25%');
  await page.keyboard.press('Enter');
  await asked(whole / 4, whole, 'typed');
  assert.ok(Math.abs((await params(page)).from - whole / 4) < whole / 50);
  await page.locator('#range-to').fill('soon');
  await page.keyboard.press('Enter');
  await page.locator('#range-to[aria-invalid=true]').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('slider', { name: 'End of the range' }).focus();
  for (let i = 0; i < 3; i++) await page.keyboard.press('PageDown');
  await asked(whole / 4, whole * 0.7, 'slider');
  await page.getByLabel('Range', { exact: true }).selectOption('whole run');
  await eventually(async () => (await params(page)).from === undefined, 'whole run');
  await page.locator('h1').click();
  await page.keyboard.press('w');
  await asked(whole / 4, whole * 0.75, 'zoom');
  await page.keyboard.press('d');
  await asked(whole * 0.375, whole * 0.875, 'pan');
  await page.keyboard.press('0');
  await eventually(async () => (await params(page)).from === undefined, 'whole run by key');
}));

test('a drag of the slider that the browser takes over ends there', () => withPage(slow, async (page) => {
  await isDrawn(page, 'step_time');
  const end = page.getByRole('slider', { name: 'End of the range' });
  const box = await end.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x - 100, box.y + box.height / 2);
  const to = await eventually(async () => (await params(page)).to, 'a range');
  await end.dispatchEvent('pointercancel');
  await page.mouse.move(box.x - 200, box.y + box.height / 2);
  await page.mouse.move(box.x - 220, box.y + box.height / 2);
  assert.equal((await params(page)).to, to);
  await page.mouse.up();
}));

test('dragging selects in all charts; mean and max are those of the values', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
  await drag(page, 'memory', 0.2, 0.6);
  for (const chart of mainCharts) await page.locator(`#chart-${chart} .selection-band`).waitFor();
  const [from, to] = (await params(page)).select.split(':').map(Number);
  const exported = await page.evaluate(async ([id, first, last]) => {
    const info = await (await fetch(`/api/run/${id}/info`)).json();
    const series = info.metrics.findIndex((metric) => metric.name === 'job.memory.usage');
    const bytes = await (await fetch(`/api/run/${id}/columns?series=${series}&from=${first}&to=${last}&points=4000`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(4, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
    const { count } = header.columns[0];
    return { window: header.window_s, time: [...new Float64Array(bytes, 8 + length, count)], value: [...new Float64Array(bytes, 8 + length + 8 * count, count)] };
  }, [runs.slow, from, to]);
  assert.equal(exported.window, null);
  const inside = exported.value.filter((_value, index) => exported.time[index] >= from && exported.time[index] <= to);
  const row = page.locator('#chart-memory .selection-statistics tr', { hasText: 'job' });
  const [mean, max] = await eventually(async () => { const cells = await row.locator('td').allInnerTexts(); return cells.length > 1 && cells; }, 'statistics');
  const number = (text) => Number.parseFloat(text) * { k: 1e3, M: 1e6, G: 1e9, B: 1 }[text.match(/([kMG])?B/)?.[1] ?? 'B'];
  const wanted = inside.reduce((sum, value) => sum + value, 0) / inside.length;
  assert.ok(Math.abs(number(mean) / wanted - 1) < 0.02, `${mean} ${wanted}`);
  assert.ok(Math.abs(number(max) / Math.max(...inside) - 1) < 0.01, max);
  await page.keyboard.press('z');
  await eventually(async () => Math.abs((await params(page)).from - from) < 1e-3, 'zoomed to the selection');
  await page.locator('#chart-memory .u-over').dblclick();
  await eventually(async () => (await params(page)).from === undefined, 'double click shows the whole run');
}));

test('the crosshair is shared, the tooltip is sorted by value', () => withPage(slow, async (page) => {
  for (const chart of mainCharts) await isDrawn(page, chart);
  const x = await hover(page, 'processor', 0.5);
  const values = await eventually(async () => { const rows = await page.locator('#chart-processor .tooltip .line-value').allInnerTexts(); return rows.length === 2 && rows; }, 'tooltip');
  assert.ok(Number.parseFloat(values[0]) >= Number.parseFloat(values[1]), values.join());
  for (const chart of mainCharts) {
    const left = () => page.locator(`#chart-${chart} .u-cursor-x`).evaluate((line) => line.getBoundingClientRect().left);
    await eventually(async () => Math.abs((await left()) - x) < 2, `the crosshair of ${chart}`);
  }
  await eventually(async () => /B$/.test(await page.locator('#chart-memory .line-value').first().innerText()), 'the value of another chart');
}, { height: 1600 }));

test('the tooltip is whole on a telephone', () => withPage(slow, async (page) => {
  await isDrawn(page, 'step_time');
  // What is above the chart comes with these: it moves no more.
  await page.locator('.finding').first().waitFor();
  await page.locator('.strip').first().waitFor();
  for (const share of [0.1, 0.4, 0.6, 0.9]) {
    await hover(page, 'step_time', share);
    const tooltip = page.locator('#chart-step_time .tooltip');
    await tooltip.waitFor();
    const { x, width } = await tooltip.boundingBox();
    assert.ok(x >= 0 && x + width <= 400, `${share}: ${x} ${width}`);
  }
}, { width: 400 }));

test('the list of devices closes with Escape and beside it', () => withPage(`${slow}?select=1:2`, async (page) => {
  await isDrawn(page, 'step_time');
  const isOpen = () => page.locator('.devices').evaluate((list) => list.open);
  await page.locator('.devices summary').click();
  assert.ok(await isOpen());
  await page.keyboard.press('Escape');
  assert.ok(!(await isOpen()));
  assert.equal((await params(page)).select, '1:2', 'the selection stays');
  await page.locator('.devices summary').click();
  await page.locator('.devices-list input').first().click();
  assert.ok(await isOpen());
  await page.locator('h1').click();
  assert.ok(!(await isOpen()));
}));

test('axis, smoothing, devices and units act on all charts and are part of the address', () => withPage(slow, async (page) => {
  const queries = watchColumns(page);
  await isDrawn(page, 'memory');
  await page.getByText('step', { exact: true }).first().click();
  await eventually(async () => (await params(page)).axis === 'step', 'axis');
  await page.getByLabel('smooth').selectOption('1 s');
  await eventually(() => queries.some((query) => query.smooth === '1'), 'smooth is computed by the server');
  await page.getByLabel('units').selectOption('binary');
  const value = () => page.locator('#chart-memory .line-value').first().innerText();
  await page.locator('#chart-memory .plot').focus();
  await page.keyboard.press('ArrowRight');
  await eventually(async () => /\d\s[KMG]iB$/.test(await value()), 'binary units');
  await page.getByLabel('units').selectOption('decimal');
  await eventually(async () => /\d\s[kMG]B$/.test(await value()), 'decimal units');
  await page.locator('.devices summary').click();
  const before_ = await page.locator('#chart-disk .legend li').count();
  await page.locator('.devices fieldset', { hasText: 'disk' }).getByText('none').click();
  await eventually(async () => (await page.locator('#chart-disk .legend li').count()) < before_, 'disks are hidden');
  const address = await page.evaluate(() => location.hash);
  await page.reload();
  await isDrawn(page, 'memory');
  assert.equal(await page.evaluate(() => location.hash), address);
  assert.ok(await page.locator('input[name=axis]').last().isChecked());
  assert.equal(await page.getByLabel('smooth').inputValue(), '1');
}));

/** The share of pixels in a colour of the theme in a part of a chart, given as shares of its plot. */
const colouredShare = (page, chart, colour, from, to) => page.locator(`#chart-${chart}`).evaluate((figure, span) => {
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
const hatchedShare = (page, chart, from, to) => colouredShare(page, chart, '--muted', from, to);

test('a gap that is known after the lines are drawn is hatched, and the tooltip has its reason', async () => {
  const marks = await api(`/api/run/${runs.slow}/marks`);
  const { run } = await api(`/api/run/${runs.slow}`);
  const gap = { from_s: run.duration_s * 0.3, to_s: run.duration_s * 0.7, reason: 'the disk was full' };
  let giveMarks;
  const areWanted = new Promise((resolve) => { giveMarks = resolve; });
  await withPage(slow, async (page) => {
    await isDrawn(page, 'processor');
    assert.ok((await hatchedShare(page, 'processor', 0.4, 0.6)) < 0.02, 'nothing is hatched before the marks are there');
    giveMarks();
    await eventually(async () => (await hatchedShare(page, 'processor', 0.4, 0.6)) > 0.08, 'the gap is hatched');
    assert.ok((await hatchedShare(page, 'processor', 0.05, 0.25)) < 0.02, 'only the gap is hatched');
    await hover(page, 'processor', 0.5);
    await page.locator('#chart-processor .tooltip').getByText('gap: the disk was full').waitFor();
  }, { before: (page) => page.route('**/marks', async (route) => { await areWanted; await route.fulfill({ json: { ...marks, gaps: [gap] } }); }) });
});

test('phases are bands in every chart, and parts of the time are reached with keys', async () => {
  const { phases, parts } = await api(`/api/run/${runs.slow}/marks`);
  const { run } = await api(`/api/run/${runs.slow}`);
  const evaluation = phases.find((phase) => phase.name === 'evaluation');
  const at = (share) => (evaluation.from_s + (evaluation.to_s - evaluation.from_s) * share) / run.duration_s;
  await withPage(slow, async (page) => {
    await isDrawn(page, 'processor');
    const tone = await page.locator('.strip button', { hasText: /^(evaluation)?$/ }).and(page.getByLabel(/^evaluation/)).first().evaluate((button) => button.className.replace('tone', '--tone'));
    for (const chart of ['processor', 'memory']) {
      await isDrawn(page, chart);
      await eventually(async () => (await colouredShare(page, chart, tone, at(0.1), at(0.9))) > 0.5, `a band in ${chart}`);
      assert.ok((await colouredShare(page, chart, tone, 0.02, at(0) - 0.02)) < 0.02, 'only there');
    }
    await page.locator('svg.over-time').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const selected = async () => (await params(page)).select;
    const short = (value) => Number(value.toPrecision(9));
    assert.equal(await selected(), `${short(parts.from_s[1])}:${short(parts.to_s[1])}`);
    await page.keyboard.press('Tab');
    const first = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    await page.keyboard.press('ArrowRight');
    const second = await page.evaluate(() => document.activeElement.getAttribute('aria-label'));
    assert.notEqual(first, second);
    const before_ = await selected();
    await page.keyboard.press('Enter');
    await eventually(async () => (await selected()) !== before_, 'the span is selected');
  });
});

test('a selection has the total; charts stand side by side; a preset shows the steps', () => withPage(`${slow}?select=1:2`, async (page) => {
  await isDrawn(page, 'step_time');
  const durations = await page.evaluate(async (id) => {
    const info = await (await fetch(`/api/run/${id}/info`)).json();
    const series = info.metrics.findIndex((metric) => metric.name === 'train.step.duration');
    const bytes = await (await fetch(`/api/run/${id}/columns?series=${series}&from=1&to=2&points=4000`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(4, true);
    const { count } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))).columns[0];
    const time = new Float64Array(bytes, 8 + length, count);
    return [...new Float64Array(bytes, 8 + length + 8 * count, count)].filter((_value, index) => time[index] >= 1 && time[index] <= 2);
  }, runs.slow);
  const sum = durations.reduce((total, one) => total + one, 0);
  const row = page.locator('#chart-step_time .selection-statistics tr', { hasText: 'step' });
  const seconds = (text) => Number.parseFloat(text) * (text.includes('ms') ? 1e-3 : 1);
  await eventually(async () => Math.abs(seconds(await row.locator('td').nth(2).innerText()) / sum - 1) < 0.02, `the total ${sum}`);
  const left = async (chart) => (await page.locator(`#chart-${chart}`).boundingBox()).x;
  assert.equal(await left('step_time'), await left('loss'));
  await page.getByLabel('side by side').check();
  await eventually(async () => (await left('step_time')) < (await left('loss')), 'two columns');
  assert.equal((await params(page)).columns, '2');
  const { steps } = await api(`/api/run/${runs.slow}/info`);
  await page.getByLabel('Range', { exact: true }).selectOption('only steps');
  await eventually(async () => { const { from, to } = await params(page); return Math.abs(from - steps.begin_s) < 1e-6 && Math.abs(to - steps.end_s) < 1e-6; }, 'only steps');
}));

test('a chart that shows windows says so, one that shows samples does not', () => withPage(`#/run/${runs['without steps']}`, async (page) => {
  await isDrawn(page, 'processor');
  const note = (text) => eventually(async () => (await page.locator('#chart-processor .note').innerText()).endsWith(text), `note ${text}`);
  await note('min–max drawn');
  await page.locator('h1').click();
  for (let i = 0; i < 4; i++) await page.keyboard.press('w');
  await eventually(async () => (await page.locator('#chart-processor .note').innerText()) === '', 'samples after zooming in');
  await page.keyboard.press('0');
  await note('min–max drawn');
}, {
  // The run has some 1,500 samples: more than twice these points, and fewer in a sixteenth of it.
  before: (page) => page.route('**/columns?*', (route) => route.continue({ url: route.request().url().replace(/points=\d+/, 'points=100') })),
}));

test('a title makes its chart tall; secondary charts open and close; empty ones say why', async () => {
  const info = await api(`/api/run/${runs.slow}/info`);
  await withPage(slow, async (page) => {
    await isDrawn(page, 'loss');
    await page.locator('#chart-loss .title').click();
    await eventually(async () => (await page.locator('#chart-loss canvas').evaluate((canvas) => canvas.clientHeight)) > 250, 'tall');
    await page.getByRole('button', { name: '▸ Page faults' }).click();
    await isDrawn(page, 'faults');
    assert.equal((await params(page)).charts, 'faults');
    await page.getByRole('button', { name: 'Close Page faults' }).click();
    const absent = info.metrics.filter((metric) => metric.name.startsWith('hw.gpu.') && metric.status === 'absent').map((metric) => metric.reason);
    if (absent.length > 0) {
      const text = await page.getByText(/^No GPU metrics/).innerText();
      assert.ok(absent.some((reason) => text.includes(reason)), text);
    }
  });
});

test('what is seen can be downloaded', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
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
  await page.getByRole('button', { name: 'Options of Memory' }).click();
  await page.locator('[role=menuitem]:focus', { hasText: 'Show as table' }).waitFor();
  await page.keyboard.press('Enter');
  await eventually(async () => (await page.locator('#chart-memory .data-table td').allInnerTexts()).some((text) => /\d\s[kMG]B$/.test(text)), 'values in the table');
  await page.locator('#chart-memory .plot').focus();
  await page.keyboard.press('ArrowRight');
  await eventually(async () => /B$/.test(await page.locator('#chart-memory .line-value').first().innerText()), 'value at the cursor');
  await page.keyboard.press('Shift+ArrowRight');
  assert.ok((await params(page)).select);
}));

test('output follows the cursor', () => withPage(`#/run/${runs.printed}`, async (page) => {
  await isDrawn(page, 'loss');
  await page.getByText('step 60 loss').waitFor();
  await hover(page, 'loss', 0.25);
  const early = await eventually(async () => { const line = Number((await page.locator('.output-lines .at').innerText()).match(/step (\d+)/)?.[1]); return line < 40 && line; }, 'an early line');
  await hover(page, 'loss', 0.8);
  await eventually(async () => Number((await page.locator('.output-lines .at').innerText()).match(/step (\d+)/)?.[1]) > early, 'a later line');
}));

test('runs without steps, without samples and with hostile names open', async () => {
  for (const name of ['without steps', process.env.PAGE_HOSTILE]) {
    const diagnosis = await api(`/api/run/${runs[name]}/diagnosis`);
    await withPage(`#/run/${runs[name]}`, async (page) => {
      await page.getByRole('heading', { name, exact: true }).waitFor();
      await page.getByLabel('Verdict').getByText(diagnosis.sentence, { exact: true }).waitFor();
      await page.getByText('How it was recorded').waitFor();
      assert.equal(await page.locator('main img, main b, main script').count(), 0);
    });
  }
  await withPage('#/run/nosuchrun', async (page) => {
    await page.getByText('Cannot show run nosuchrun').waitFor();
  }, { allow: /404/ });
});

test('axe finds nothing in either theme, and nothing is wider than 400 px', () => withPage(slow, async (page) => {
  for (const chart of mainCharts) await isDrawn(page, chart);
  await page.getByRole('button', { name: 'why' }).click();
  await page.locator('.finding > button').first().click();
  await page.locator('.selection-statistics').first().waitFor();
  await isForEveryone(page);
}));
