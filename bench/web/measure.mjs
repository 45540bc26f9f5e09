// What pages take in Chromium:   node measure.mjs open|live|stay JSON      prints one JSON document
//
//   open  {pages, cookies, viewports, rounds, zooms}: every page in a new context, in changing order; ms until its charts are
//         painted, and from a key to the last of them painted again
//   live  {pages, cookies, viewports, seconds}: CPU time of the main thread in each second, and tasks of more than 50 ms
//   stay  {pages, cookies, speed, seconds, points}: memory of pages that stay open, at `points` times; says "now" on stderr at each
//
// pages: {name: address}; viewports: {name: [width, height]}; cookies: as Playwright wants them
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const require = createRequire(join(import.meta.dirname, '../../web/package.json'));
const { chromium } = require('playwright-core');
const quietMs = 800;
const patience = 60_000; // ms

const [kind, text] = process.argv.slice(2);
const wanted = JSON.parse(text);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

async function open(address, [width, height], before) {
  const context = await browser.newContext({ viewport: { width, height } });
  await context.addCookies(wanted.cookies);
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`${address}: ${error.stack}`));
  await before?.(page);
  await page.addInitScript({ path: join(import.meta.dirname, 'watch.js') });
  await page.goto(address);
  return page;
}

async function quiet(page) {
  const late = wait(patience, 'late', { ref: false });
  const seen = await Promise.race([page.evaluate((ms) => window.benchWatch.quiet(ms), quietMs), late]);
  if (seen === 'late') throw new Error(`${page.url()} did not become quiet`);
  return seen;
}

async function press(page, key) {
  await page.keyboard.press(key);
  return quiet(page);
}

function turned(list, by) {
  return [...list.slice(by % list.length), ...list.slice(0, by % list.length)];
}

async function openAll() {
  const found = [];
  for (const [viewport, size] of Object.entries(wanted.viewports)) {
    for (let round = 0; round < wanted.rounds; round++) {
      for (const [name, address] of turned(Object.entries(wanted.pages), round)) {
        const page = await open(address, size);
        const paint = await quiet(page);
        const zooms = [];
        for (let i = 0; i < wanted.zooms; i++) {
          zooms.push(await press(page, 'w'));
          await press(page, '0');
        }
        found.push({ viewport, round, name, paint, zooms });
        await page.context().close();
      }
    }
  }
  return found;
}

async function metrics(session) {
  const { metrics: all } = await session.send('Performance.getMetrics');
  return Object.fromEntries(all.map(({ name, value }) => [name, value]));
}

/** Of all pages: only one is open. Chromium's own TaskDuration leaves out the drawing of canvases, which comes after a task. */
async function mainThreadMs(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const pages = processInfo.filter(({ type }) => type === 'renderer');
  return pages.reduce((sum, { id }) => sum + Number(readFileSync(`/proc/${id}/task/${id}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
}

async function liveAll() {
  const found = [];
  const ofBrowser = await browser.newBrowserCDPSession();
  for (const [viewport, size] of Object.entries(wanted.viewports)) {
    for (const [name, address] of Object.entries(wanted.pages)) {
      const page = await open(address, size);
      await wait(4000); // it is drawn and follows
      await page.evaluate(() => window.benchWatch.takeLongTasks());
      const busy = [];
      let before = await mainThreadMs(ofBrowser);
      for (let i = 0; i < wanted.seconds; i++) {
        await wait(1000);
        const after = await mainThreadMs(ofBrowser);
        busy.push(after - before);
        before = after;
      }
      const longTasks = await page.evaluate(() => window.benchWatch.takeLongTasks());
      const charts = await page.locator('canvas').count();
      found.push({ viewport, name, charts, busy, longTasks });
      await page.context().close();
    }
  }
  return found;
}

async function stay() {
  const pages = [];
  for (const [name, address] of Object.entries(wanted.pages)) {
    const page = await open(address, [1280, 900], async (fresh) => {
      if (name !== wanted.hurried) return;
      await fresh.addInitScript(`window.benchSpeed = ${wanted.speed};`);
      await fresh.addInitScript({ path: join(import.meta.dirname, 'hurry.js') });
    });
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    pages.push({ name, page, session });
  }
  const found = [];
  const begin = Date.now();
  for (let i = 0; i < wanted.points; i++) {
    // The first time is not 0: a page that just opened has not drawn everything yet.
    const share = 0.1 + (0.9 * i) / (wanted.points - 1);
    await wait(Math.max(0, begin + share * wanted.seconds * 1000 - Date.now()));
    const row = { seconds: (Date.now() - begin) / 1000 };
    for (const { name, page, session } of pages) {
      await session.send('HeapProfiler.collectGarbage');
      const { JSHeapUsedSize, Nodes, JSEventListeners } = await metrics(session);
      row[name] = { heap: JSHeapUsedSize, nodes: Nodes, listeners: JSEventListeners, ticks: await page.evaluate(() => window.benchTicks ?? 0) };
    }
    found.push(row);
    console.error('now');
  }
  return found;
}

try {
  console.log(JSON.stringify(await { open: openAll, live: liveAll, stay }[kind]()));
} finally {
  await browser.close();
}
