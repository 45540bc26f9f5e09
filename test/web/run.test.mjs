// The page of a run: what it says is what the API gives, and every control acts on every chart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, colouredShare, drag, eventually, hover, isDrawn, isForEveryone, moveUntil, params, runs, settled, start, stop, watchColumns, withPage } from './browser.mjs';

before(start);
after(stop);

const slow = `#/run/${runs.slow}`;
const mainCharts = ['step_time', 'loss', 'processor', 'memory'];

/** The diagnosis of a run, and which of its findings is the first one with a span; which findings a machine gives is its own matter. */
async function diagnosisWithSpan(id) {
  const diagnosis = await api(`/api/run/${id}/diagnosis`);
  assert.ok(diagnosis.findings.length > 0);
  const { run } = await api(`/api/run/${id}`);
  if (diagnosis.findings.every((one) => one.from_s === null)) Object.assign(diagnosis.findings[0], { from_s: run.duration_s * 0.3, to_s: run.duration_s * 0.6 });
  return { diagnosis, at: diagnosis.findings.findIndex((one) => one.from_s !== null), before: (page) => page.route('**/diagnosis', (route) => route.fulfill({ json: diagnosis })) };
}

/** Of its two numbers of seconds; a part of the steps of a run, whenever the first one was. */
const textOf = ({ from, to }) => `${Number(from.toPrecision(9))}:${Number(to.toPrecision(9))}`;
const someSteps = ({ begin_s, end_s }) => ({ from: begin_s + (end_s - begin_s) / 4, to: end_s - (end_s - begin_s) / 4 });

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
  const { diagnosis, at, before: giveDiagnosis } = await diagnosisWithSpan(runs.slow);
  const finding = diagnosis.findings[at];
  await withPage(slow, async (page) => {
    for (const chart of mainCharts) await isDrawn(page, chart);
    await settled(page);
    const button = page.locator('.finding > button').nth(at);
    await eventually(async () => {
      await button.hover(); // again if it moved away from the mouse
      const marked = await Promise.all(mainCharts.map((chart) => page.locator(`#chart-${chart} .mark-band`).isVisible()));
      return marked.every(Boolean);
    }, 'its span in every chart');
    await button.click();
    for (const chart of mainCharts) await page.locator(`#chart-${chart} .selection-band`).waitFor();
    const wanted = textOf({ from: finding.from_s, to: Math.max(finding.to_s, finding.from_s + 1e-3) });
    assert.equal((await params(page)).select, wanted);
    const text = await page.locator('.finding-details').innerText();
    for (const line of finding.evidence) assert.ok(text.includes(line), line);
    await page.keyboard.press('Escape');
    assert.equal((await params(page)).select, undefined);
    for (let i = 0; i <= at; i++) await page.keyboard.press('n');
    assert.equal((await params(page)).select, wanted);
  }, { height: 1600, before: giveDiagnosis });
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
  await settled(page);
  let box;
  await eventually(async () => {
    await page.mouse.up(); // of a press beside it
    box = await end.boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x - 100, box.y + box.height / 2);
    return (await params(page)).to;
  }, 'a range');
  const { to } = await params(page);
  await end.dispatchEvent('pointercancel');
  await page.mouse.move(box.x - 200, box.y + box.height / 2);
  await page.mouse.move(box.x - 220, box.y + box.height / 2);
  assert.equal((await params(page)).to, to);
  await page.mouse.up();
}));

/** The samples of the job's memory in a span, as the server gives them. */
async function samplesOf(page, from, to) {
  const exported = await page.evaluate(async ([id, first, last]) => {
    const info = await (await fetch(`/api/run/${id}/info`)).json();
    const series = info.metrics.findIndex((metric) => metric.name === 'job.memory.usage');
    const bytes = await (await fetch(`/api/run/${id}/columns?series=${series}&from=${first}&to=${last}&points=4000`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(4, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length)));
    const count = header.columns[0]?.count ?? 0;
    return { window: header.window_s, time: [...new Float64Array(bytes, 8 + length, count)], value: [...new Float64Array(bytes, 8 + length + 8 * count, count)] };
  }, [runs.slow, from, to]);
  assert.equal(exported.window, null);
  return exported.value.filter((_value, index) => exported.time[index] >= from && exported.time[index] <= to);
}

/** Selects a span by dragging in the chart of memory; a busy machine may have missed all samples of one. */
async function selectSamples(page) {
  for (const [first, last] of [[0.2, 0.6], [0.5, 0.95], [0.03, 0.97]]) {
    const before_ = (await params(page)).select;
    await drag(page, 'memory', first, last, async () => { const { select } = await params(page); return select && select !== before_; });
    const [from, to] = (await params(page)).select.split(':').map(Number);
    const inside = await samplesOf(page, from, to);
    if (inside.length > 0) return { from, to, inside };
  }
  throw new Error('no samples of the memory of the job');
}

test('dragging selects in all charts; mean and max are those of the values', () => withPage(slow, async (page) => {
  await isDrawn(page, 'memory');
  await settled(page);
  const { from, to, inside } = await selectSamples(page);
  for (const chart of mainCharts) await page.locator(`#chart-${chart} .selection-band`).waitFor();
  const row = page.locator('#chart-memory .selection-statistics tr', { hasText: 'job' });
  const number = (text) => Number.parseFloat(text) * { k: 1e3, M: 1e6, G: 1e9, B: 1 }[text.match(/([kMG])?B/)?.[1] ?? 'B'];
  const wanted = [inside.reduce((sum, value) => sum + value, 0) / inside.length, Math.max(...inside)];
  await eventually(async () => {
    const [mean, max] = await row.locator('td').allInnerTexts();
    if (Math.abs(number(mean) / wanted[0] - 1) < 0.02 && Math.abs(number(max) / wanted[1] - 1) < 0.01) return true;
    throw new Error(`${mean} and ${max} instead of ${wanted}`);
  }, 'mean and max');
  await page.keyboard.press('z');
  await eventually(async () => Math.abs((await params(page)).from - from) < 1e-3, 'zoomed to the selection');
  await page.locator('#chart-memory .u-over').dblclick();
  await eventually(async () => (await params(page)).from === undefined, 'double click shows the whole run');
}));

test('the crosshair is shared, the tooltip is sorted by value', () => withPage(slow, async (page) => {
  for (const chart of mainCharts) await isDrawn(page, chart);
  await settled(page);
  const left = (chart) => page.locator(`#chart-${chart} .u-cursor-x`).evaluate((line) => line.getBoundingClientRect().left);
  const values = await hover(page, 'processor', [0.5, 0.4, 0.6, 0.3, 0.7], async (x) => {
    const rows = await page.locator('#chart-processor .tooltip .line-value').allInnerTexts();
    const places = await Promise.all(mainCharts.map(left));
    const others = await page.locator('#chart-memory .legend .line-value').allInnerTexts();
    return rows.length === 2 && places.every((place) => Math.abs(place - x) < 2) && others.some((text) => /B$/.test(text)) && rows;
  });
  assert.ok(Number.parseFloat(values[0]) >= Number.parseFloat(values[1]), values.join());
}, { height: 1600 }));

test('the tooltip is whole on a telephone', () => withPage(slow, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
  const boxes = () => page.locator('#chart-step_time .tooltip').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
  for (const share of [0.1, 0.4, 0.6, 0.9]) {
    const { x, width } = await hover(page, 'step_time', share, async () => (await boxes())[0]);
    assert.ok(x >= 0 && width > 0 && x + width <= 400, `${share}: ${x} ${width}`);
  }
}, { width: 400 }));

test('the list of devices closes with Escape and beside it', () => withPage(`${slow}?select=1:2`, async (page) => {
  await isDrawn(page, 'step_time');
  await settled(page);
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
  await settled(page);
  await page.getByText('step', { exact: true }).first().click();
  await eventually(async () => (await params(page)).axis === 'step', 'axis');
  await page.getByLabel('smooth').selectOption('1 s');
  await eventually(() => queries.some((query) => query.smooth === '1'), 'smooth is computed by the server');
  await page.getByLabel('units').selectOption('binary');
  const value = () => page.locator('#chart-memory .line-value').first().innerText();
  await page.locator('#chart-memory .plot').focus();
  await moveUntil(page, async () => /\d\s[KMG]iB$/.test(await value()), 'binary units');
  await page.getByLabel('units').selectOption('decimal');
  await eventually(async () => /\d\s[kMG]B$/.test(await value()), 'decimal units');
  await page.locator('#chart-disk').scrollIntoViewIfNeeded();
  await page.locator('#chart-disk .legend li').first().waitFor();
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
    await settled(page);
    await hover(page, 'processor', 0.5, async () => (await page.locator('#chart-processor .tooltip').allInnerTexts()).some((text) => text.includes('gap: the disk was full')));
  }, { before: (page) => page.route('**/marks', async (route) => { await areWanted; await route.fulfill({ json: { ...marks, gaps: [gap] } }); }) });
});

test('phases are bands in every chart, and parts of the time are reached with keys', async () => {
  const { phases, parts } = await api(`/api/run/${runs.slow}/marks`);
  const { run } = await api(`/api/run/${runs.slow}`);
  const evaluation = phases.find((phase) => phase.name === 'evaluation');
  // However long a busy machine took for the run: the evaluation is the middle third of what is shown, or less of it would be others'.
  const next = phases.find((phase) => phase.name === 'evaluation' && phase.from_s > evaluation.to_s)?.from_s ?? run.duration_s;
  const beside = Math.min(evaluation.to_s - evaluation.from_s, evaluation.from_s, next - evaluation.to_s) * 0.99;
  const from = evaluation.from_s - beside;
  const to = evaluation.to_s + beside;
  const at = (share) => (evaluation.from_s + (evaluation.to_s - evaluation.from_s) * share - from) / (to - from);
  await withPage(`${slow}?from=${from}&to=${to}`, async (page) => {
    await isDrawn(page, 'processor');
    const tone = await page.locator('.strip button', { hasText: /^(evaluation)?$/ }).and(page.getByLabel(/^evaluation/)).first().evaluate((button) => button.className.replace('tone', '--tone'));
    for (const chart of ['processor', 'memory']) {
      await isDrawn(page, chart);
      await eventually(async () => (await colouredShare(page, chart, tone, at(0.1), at(0.9))) > 0.5, `a band in ${chart}`);
      assert.ok((await colouredShare(page, chart, tone, at(0) * 0.1, at(0) * 0.9)) < 0.02, 'only there');
    }
    await settled(page);
    await page.locator('svg.over-time').focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const selected = async () => (await params(page)).select;
    assert.equal(await selected(), textOf({ from: parts.from_s[1], to: parts.to_s[1] }));
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

test('a selection has the total; charts stand side by side; a preset shows the steps', async () => {
  const { steps } = await api(`/api/run/${runs.slow}/info`);
  const span = someSteps(steps);
  await withPage(`${slow}?select=${textOf(span)}`, (page) => showsTotal(page, steps, span));
});

async function showsTotal(page, steps, span) {
  await isDrawn(page, 'step_time');
  const durations = await page.evaluate(async ({ id, from, to }) => {
    const info = await (await fetch(`/api/run/${id}/info`)).json();
    const series = info.metrics.findIndex((metric) => metric.name === 'train.step.duration');
    const bytes = await (await fetch(`/api/run/${id}/columns?series=${series}&from=${from}&to=${to}&points=4000`)).arrayBuffer();
    const length = new DataView(bytes).getUint32(4, true);
    const { count } = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))).columns[0];
    const time = new Float64Array(bytes, 8 + length, count);
    return [...new Float64Array(bytes, 8 + length + 8 * count, count)].filter((_value, index) => time[index] >= from && time[index] <= to);
  }, { id: runs.slow, ...span });
  const sum = durations.reduce((total, one) => total + one, 0);
  const row = page.locator('#chart-step_time .selection-statistics tr', { hasText: 'step' });
  const seconds = (text) => Number.parseFloat(text) * (text.includes('ms') ? 1e-3 : 1);
  await eventually(async () => Math.abs(seconds(await row.locator('td').nth(2).innerText()) / sum - 1) < 0.02, `the total ${sum}`);
  const left = async (chart) => (await page.locator(`#chart-${chart}`).boundingBox()).x;
  assert.equal(await left('step_time'), await left('loss'));
  await page.getByLabel('side by side').check();
  await eventually(async () => (await left('step_time')) < (await left('loss')), 'two columns');
  assert.equal((await params(page)).columns, '2');
  await page.getByLabel('Range', { exact: true }).selectOption('only steps');
  await eventually(async () => { const { from, to } = await params(page); return Math.abs(from - steps.begin_s) < 1e-6 && Math.abs(to - steps.end_s) < 1e-6; }, 'only steps');
}

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

test('axe finds nothing in either theme, and nothing is wider than 400 px', async () => {
  const { at, before: giveDiagnosis } = await diagnosisWithSpan(runs.slow);
  await withPage(slow, async (page) => {
    for (const chart of mainCharts) await isDrawn(page, chart);
    await page.getByRole('button', { name: 'why' }).click();
    await page.locator('.finding > button').nth(at).click();
    await page.locator('.selection-statistics').first().waitFor();
    await isForEveryone(page);
  }, { before: giveDiagnosis });
});
