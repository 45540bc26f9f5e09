// Charts of every component: what they show at the cursor is what the API gives, whatever machine recorded it.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, eventually, hover, runs, settled, start, stop, withPage } from './browser.mjs';
import { columns, inventSeries } from './columns.mjs';

before(start);
after(stop);

const factors = { '%': 0.01, min: 60, k: 1e3, M: 1e6, G: 1e9, T: 1e12, m: 1e-3, µ: 1e-6, n: 1e-9 };

/** The number that a text such as "412 MB/s", "62 %" or "6.46 ms" stands for, and what its last digit hides. */
function measured(text) {
  const [, sign, digits, power = '0', unit] = /^(−?)([\d.,]+)(?:e(−?\d+))?\s?(.*)$/.exec(text);
  const prefix = /^(%|min|[kMGTmµn](?=[BWJVA]|Hz|s$|$|\s))/.exec(unit)?.[0];
  const factor = (factors[prefix] ?? 1) * 10 ** Number(power.replace('−', '-')) * (sign ? -1 : 1);
  const decimals = digits.split('.')[1]?.length ?? 0;
  return { value: Number(digits.replaceAll(',', '')) * factor, slack: Math.abs(0.51 * 10 ** -decimals * factor) };
}

const isShown = (text, values) => {
  const { value, slack } = measured(text);
  return values.some((one) => Math.abs(one - value) <= slack + 1e-12);
};

const figureOf = (page, title) => page.locator('figure.chart', { has: page.getByRole('button', { name: title, exact: true }) });

async function downloaded(page, title) {
  await page.getByRole('button', { name: `Options of ${title}`, exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download JSON' }).click()]);
  return JSON.parse(readFileSync(await download.path(), 'utf8')).series;
}

/** Moves the cursor of a page from its middle; `at`: of the whole run, where it is. */
function cursorOf(page, whole) {
  let moves = 0;
  let at = 0;
  return {
    time: () => (whole * (50 + at)) / 100,
    async move() {
      const by = (moves++ + 45) % 180 < 90 ? 1 : -1; // to the right, to the left and back
      await page.keyboard.press(by > 0 ? 'ArrowRight' : 'ArrowLeft');
      at += by;
    },
  };
}

/** One value that a chart shows is one of `valuesOf(name, labels)` → {time, value} near the cursor; the names of its series. */
async function showsValue(page, cursor, title, valuesOf) {
  const figure = figureOf(page, title);
  await figure.scrollIntoViewIfNeeded();
  await figure.locator('canvas').first().waitFor();
  await figure.locator('.legend li').first().waitFor();
  const series = await downloaded(page, title);
  await page.mouse.move(0, 0); // over a plot it would be the cursor
  await figure.locator('.plot').focus();
  const texts = await eventually(async () => {
    const now = await figure.locator('.legend .line-value').allInnerTexts();
    if (now.some((text) => text !== '')) return now;
    return cursor.move();
  }, `a value of ${title}`);
  const index = texts.findIndex((text) => text !== '');
  const { name, labels } = series[index];
  const { time, value } = await valuesOf(name, labels);
  const spacing = (time.at(-1) - time[0]) / Math.max(1, time.length - 1);
  const near = value.filter((_value, place) => Math.abs(time[place] - cursor.time()) <= 2 * spacing + cursor.time() / 50);
  assert.ok(isShown(texts[index], near), `${title}: ${texts[index]} of ${name} at ${cursor.time()} is none of ${near}`);
  return series.map((one) => one.name);
}

/** Of a run as it is: a metric that has values is in a chart of its component. */
const components = {
  GPU: /^hw\.gpu\./, processor: /^(system|job)\.cpu\.utilization$/, memory: /^(system|job)\.memory\.usage$/, disk: /^(system|job)\.disk\./, network: /^system\.network\.io$/,
  pressure: /^(system|cgroup)\.pressure\.time$/, temperatures: /^hw\.temperature$/, power: /^hw\.power$/, job: /^job\.(context_switches|process\.count|thread\.count)$/,
  counters: /^counter\./, recorder: /^recorder\./, training: /^train\.loss$/,
};

test('each component that was recorded has a chart with the values of the API', async () => {
  const id = runs.hostile;
  const info = await api(`/api/run/${id}/info`);
  const { run } = await api(`/api/run/${id}`);
  const whole = Math.max(run.duration_s, info.run.duration_s);
  const sameLabels = (a, b) => JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
  const valuesOf = async (name, labels) => {
    const series = info.metrics.findIndex((metric) => metric.name === name && sameLabels(metric.labels, labels));
    const [{ time, value }] = await columns(id, { series, from: 0, to: whole, points: 4000 });
    return { time, value };
  };
  const seen = new Set();
  await withPage(`#/run/${id}`, async (page) => {
    const cursor = cursorOf(page, whole);
    await page.locator('.closed-group').first().waitFor();
    await settled(page);
    const first = page.locator('.closed-group').filter({ has: page.getByRole('button') });
    const closed = await first.evaluateAll((all) => all.map((group) => group.querySelector('button').title.replace(/^Open /, '')));
    assert.ok(closed.length > 3, closed.join());
    for (const title of closed) await page.locator('.closed-group').getByRole('button', { name: `▸ ${title}`, exact: true }).click();
    const open = await page.locator('figure.chart .title').allInnerTexts();
    assert.ok(closed.every((title) => open.includes(title)), `${closed} but ${open}`);
    for (const title of open) for (const name of await showsValue(page, cursor, title, valuesOf)) seen.add(name);
  });
  for (const [component, pattern] of Object.entries(components)) {
    const has = info.metrics.some((metric) => pattern.test(metric.name) && metric.status === 'ok' && metric.samples > 1);
    assert.ok(!has || [...seen].some((name) => pattern.test(name)), `${component}: ${[...seen]}`);
  }
});

const gpu = { gpu: '0' };
const invented = [
  { title: 'GPU 0', name: 'hw.gpu.utilization', labels: gpu, unit: '1', kind: 'gauge', at: (time) => 0.4 + time / 100 },
  { title: 'GPU memory', name: 'hw.gpu.memory.usage', labels: gpu, unit: 'By', kind: 'gauge', at: (time) => 8e9 + 1e8 * time },
  { title: 'Temperature', name: 'hw.gpu.temperature', labels: gpu, unit: 'Cel', kind: 'gauge', at: (time) => 61 + time },
  { title: 'Power', name: 'hw.gpu.power', labels: gpu, unit: 'W', kind: 'gauge', at: (time) => 250 + time },
  { title: 'hw.gpu.energy', name: 'hw.gpu.energy', labels: gpu, unit: 'J', drawn: 'J/s', kind: 'counter', at: (time) => 251 + time },
  { title: 'hw.energy', name: 'hw.energy', labels: { sensor: 'package-0' }, unit: 'J', drawn: 'J/s', kind: 'counter', at: (time) => 42 + time },
];

test('GPU, temperatures, power and energy of other machines have charts with their values', async () => {
  const info = await api(`/api/run/${runs.slow}/info`);
  const { run } = await api(`/api/run/${runs.slow}`);
  let time;
  await withPage(`#/run/${runs.slow}`, async (page) => {
    const cursor = cursorOf(page, Math.max(run.duration_s, info.run.duration_s));
    await page.locator('#all-charts').click();
    await settled(page);
    assert.deepEqual((await page.locator('figure.chart .title').allInnerTexts()).sort(), invented.map((one) => one.title).sort());
    for (const { title, name } of invented) {
      const names = await showsValue(page, cursor, title, async () => ({ time, value: time.map(invented.find((one) => one.name === name).at) }));
      assert.deepEqual(names, [name]);
    }
  }, { before: async (page) => { time = await inventSeries(page, runs.slow, info, invented); } });
});

test('a comparison has charts, bars and the energy of them', async () => {
  const both = [runs.slow, runs.fast];
  const document = await api(`/api/compare?a=${runs.slow}&b=${runs.fast}`);
  const energy = { of: 'the GPU', a: 1200, b: 600, unit: 'J', difference: -600, ratio: 0.5, low: 0.4, high: 0.6, p_adjusted: 0.01, verdict: 'better' };
  const infos = await Promise.all(both.map((id) => api(`/api/run/${id}/info`)));
  const scaled = [1, 0.5].map((factor) => invented.map((one) => ({ ...one, at: (time) => one.at(time) * factor })));
  const shortest = Math.min(...infos.map((info) => info.run.duration_s));
  await withPage(`#/compare?a=${runs.slow}&b=${runs.fast}&range=0:${shortest}`, async (page) => {
    await page.locator('p', { hasText: 'energy of the GPU' }).filter({ hasText: /1\.2\skJ → 600\sJ/ }).waitFor();
    await settled(page);
    for (const [chart, place] of [['gpu-0', 0], ['gpu_memory', 1], ['temperature', 2], ['power', 3]]) {
      const texts = await hover(page, chart, [0.5, 0.4, 0.6], async () => {
        const now = await page.locator(`#chart-${chart} .run-values .line-value`).allInnerTexts();
        return now.length === 2 && now.every((text) => /\d/.test(text)) && now;
      });
      for (const [index, text] of texts.entries()) {
        const whole = infos[index].run.duration_s;
        const all = Array.from({ length: 200 }, (_one, step) => scaled[index][place].at((whole * (step + 0.5)) / 200));
        assert.ok(isShown(text, all), `${chart} of run ${index}: ${text}`);
      }
      assert.notEqual(texts[0], texts[1]);
    }
    const bars = await page.locator('.component-bars').innerText();
    for (const title of ['GPU 0: busy', 'GPU memory: all', 'Temperature', 'Power']) assert.ok(bars.includes(title), `${title}: ${bars}`);
  }, {
    before: async (page) => {
      for (const [index, id] of both.entries()) await inventSeries(page, id, infos[index], scaled[index]);
      await page.route('**/api/compare?*', (route) => route.fulfill({ json: { ...document, energy } }));
    },
  });
});
