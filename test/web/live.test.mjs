// A run that is being recorded: appended as it happens, and nothing that the user chose is reset.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { api, drawn, eventually, isDrawn, isForEveryone, params, replies, runs, start, stop, watchColumns, withPage } from './browser.mjs';

before(start);
after(stop);

// Reports a step every 20 ms until its standard input ends; once it reads "wait" there, also how long it waited for input.
const job = `
import os, select, sys
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
step = 0
is_waiting = False
while True:
    if select.select([sys.stdin], [], [], 0.02)[0]:
        if os.read(0, 4) != b"wait": break
        is_waiting = True
    step += 1
    os.write(pipe, f"step {step} loss={1 / step:.4f}\\n".encode())
    if is_waiting: os.write(pipe, b"phase input 0.005\\n")
    print("line", step, flush=True)
`;

/** Records a job while `act(id, end, wait)` runs; `end` ends the job, with `wait` it reports waits. */
async function whileRecording(name, act) {
  const idFile = join(process.env.PAGE_FOLDER, `${name}-id`);
  const child = spawn(process.env.TRAINSCOPE_BIN, ['run', '--quiet', '--name', name, '--id-file', idFile, '--', 'python3', '-c', job], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.resume(); // what goes to /dev/null is not recorded
  child.stdin.on('error', () => {}); // of a job that ended meanwhile: the test says what it misses
  const isOver = once(child, 'exit');
  try {
    await act(await eventually(() => readFileSync(idFile, 'utf8').trim(), 'the id of the run'), () => child.stdin.end('x'), () => child.stdin.write('wait'));
  } finally {
    child.stdin.end();
    child.kill('SIGTERM');
    await isOver;
  }
}

/** Ten minutes pass whenever the page reads a clock: every event makes it read the verdict, the metrics and the marks again and draw. */
const hurryClock = (page) => page.evaluate(() => {
  for (const clock of [performance, Date]) {
    let now = clock.now();
    clock.now = () => (now += 600_000);
  }
});

test('a live run grows, keeps what was chosen, follows again and says that it ended', () => whileRecording('live', (id, end) => withPage(`#/run/${id}`, async (page) => {
  const status = page.locator('.status.live');
  await status.waitFor();
  await isDrawn(page, 'step_time');
  const steps = async () => Number((await status.innerText()).match(/([\d,]+) steps/)?.[1]?.replaceAll(',', ''));
  const first = await eventually(steps, 'steps');
  await page.locator('#range-to').focus(); // nothing is typed
  const shown = await page.locator('#range-to').inputValue();
  await eventually(async () => (await steps()) > first + 50, 'more steps');
  assert.equal(await page.locator('#range-to').inputValue(), shown);
  await page.locator('h1').click();
  await eventually(async () => (await page.locator('#range-to').inputValue()) !== shown, 'the end of the range is that of the run');
  await page.getByRole('button', { name: 'following', exact: true }).waitFor();
  assert.equal((await params(page)).from, undefined);
  await page.keyboard.press('w'); // the user zooms: the range is theirs now
  const chosen = await params(page);
  assert.ok(chosen.from !== undefined && chosen.follow === undefined);
  await page.locator('#range-from').fill('half-typ');
  const before_ = await eventually(steps, 'steps');
  await eventually(async () => (await steps()) > before_ + 20, 'it goes on');
  const { from, to } = await params(page);
  assert.deepEqual([from, to], [chosen.from, chosen.to]);
  assert.equal(await page.locator('#range-from').inputValue(), 'half-typ');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'follow', exact: true }).click();
  await eventually(async () => Number((await params(page)).to) > Number(to), 'it follows');
  await page.locator('h1').click();
  await page.keyboard.press('a'); // who pans looks at what was: the range stays
  await page.getByRole('button', { name: 'follow', exact: true }).waitFor();
  const panned = (await params(page)).to;
  const last = await eventually(steps, 'steps');
  await eventually(async () => (await steps()) > last + 20, 'it goes on');
  assert.equal((await params(page)).to, panned);
  end();
  await page.getByText('ended while you watched').waitFor();
  await page.locator('.run-header').getByText('exit code 0').waitFor();
})));

test('axe finds nothing on a live page, in either theme', () => whileRecording('for everyone', (id) => withPage(`#/run/${id}`, async (page) => {
  await page.locator('.status.live').waitFor();
  await isDrawn(page, 'step_time');
  await page.getByRole('button', { name: 'following', exact: true }).waitFor();
  await isForEveryone(page);
})));

test('lines that are read stay where they are, until the cursor moves', () => whileRecording('read', (id) => withPage(`#/run/${id}`, async (page) => {
  const lines = page.locator('.output-lines');
  const last = async () => Number(/line (\d+)/.exec(await lines.locator(':scope > div', { hasText: /line \d/ }).last().innerText())?.[1]);
  await lines.scrollIntoViewIfNeeded();
  await eventually(async () => (await last()) > 60, 'lines to scroll through');
  const before_ = await eventually(last, 'the last line');
  await eventually(async () => (await last()) > before_, 'newer lines');
  await lines.hover();
  const place = () => lines.evaluate((box) => box.scrollTop < box.scrollHeight - box.clientHeight - 100 && String(box.scrollTop));
  const scrolled = await eventually(async () => {
    const before = await place();
    if (!before) await page.mouse.wheel(0, -400); // newer lines may have come at this moment
    await drawn(page);
    return (await place()) === before && before;
  }, 'it is scrolled');
  const text = await lines.innerText();
  const grown = async () => Number((await page.locator('.status.live').innerText()).match(/([\d,]+) steps/)?.[1]?.replaceAll(',', ''));
  const steps = await eventually(grown, 'steps');
  await eventually(async () => (await grown()) > steps + 100, 'the run goes on');
  assert.equal(await lines.innerText(), text);
  assert.equal(String(await lines.evaluate((box) => box.scrollTop)), scrolled);
  await page.locator('#chart-loss .plot').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowRight');
  await eventually(async () => (await lines.innerText()) !== text, 'the lines at the cursor');
})));

test('a chart stays as it is when a new series of a live run moves its number', () => whileRecording('renumbered', (id, _end, startWaiting) => withPage(`#/run/${id}`, async (page) => {
  const queries = watchColumns(page);
  const loss = async () => (await api(`/api/run/${id}/info`)).metrics.findIndex((metric) => metric.name === 'train.loss');
  const wait = page.locator('#chart-step_time').getByText('waiting for input');
  await isDrawn(page, 'loss');
  await page.getByRole('button', { name: 'Options of Loss' }).click();
  await page.getByRole('menuitem', { name: 'Show as table' }).click();
  const table = page.locator('#chart-loss .data-table');
  await table.waitFor();
  const before_ = await loss();
  assert.equal(await wait.count(), 0);
  startWaiting();
  await wait.waitFor();
  const after_ = await loss();
  assert.notEqual(after_, before_);
  await eventually(() => queries.some((query) => query.series.split(',').includes(String(after_)) && Number(query.from) > 1), 'it grows');
  assert.equal(await table.count(), 1);
  const values = async () => (await table.locator('tbody td').allInnerTexts()).map(Number);
  await eventually(async () => (await values()).some((value) => value > 0 && value < 1 / 100), 'a loss of the steps after the first hundred');
})));

test('a comparison grows with its live run, keeps what was chosen and notices the end', () => whileRecording('compared', (id, end) => withPage(`#/compare?a=${id}&b=${runs.slow}`, async (page) => {
  const queries = watchColumns(page);
  await page.locator('.chip .status.live').waitFor();
  await hurryClock(page); // otherwise a busy machine makes the page wait for a minute before it reads again
  await isDrawn(page, 'memory');
  const steps = async () => Number((await page.getByRole('row', { name: /^compared/ }).locator('td').first().innerText()).replaceAll(',', ''));
  const first = await eventually(steps, 'steps of the live run');
  await eventually(async () => (await steps()) > first, 'more steps');
  const shownEnds = () => queries.filter((query) => query.run === id).map((query) => Number(query.to));
  await eventually(() => Math.max(...shownEnds()) > Math.min(...shownEnds()), 'charts that grow');
  await page.locator('#chart-memory canvas').evaluate((canvas) => { canvas.dataset.isSame = 'no'; });
  await page.getByLabel('Series of Memory').selectOption({ index: 1 });
  await page.locator('#chart-memory canvas:not([data-is-same])').waitFor(); // the other series is drawn
  await page.getByLabel('Filter metrics').fill('half-typ');
  await page.locator('h2').first().click();
  await page.keyboard.press('w');
  const chosen = await params(page);
  assert.ok(chosen.range !== undefined && chosen.series.startsWith('memory '));
  const known = queries.length;
  const grows = async () => {
    const before = await eventually(steps, 'steps');
    await eventually(async () => (await steps()) > before, 'it goes on');
    await replies(page);
    await drawn(page);
  };
  await grows(); // by now it shows what was chosen: of a long run values instead of windows, which is another plot
  await page.locator('#chart-memory canvas').evaluate((canvas) => { canvas.dataset.isSame = 'yes'; });
  await grows();
  assert.equal(await page.locator('#chart-memory canvas').getAttribute('data-is-same'), 'yes');
  end();
  await eventually(async () => (await page.locator('.chip .status.live').count()) === 0, 'the end');
  const asked = queries.slice(known).filter((query) => query.run === runs.slow).map((query) => JSON.stringify(query));
  assert.deepEqual(asked, [...new Set(asked)]); // only the live run is read again
  assert.deepEqual(await params(page), chosen);
  assert.equal(await page.getByLabel('Filter metrics').inputValue(), 'half-typ');
  await page.getByText((await api(`/api/compare?a=${id}&b=${runs.slow}`)).speed.sentence, { exact: true }).waitFor();
})));

/** A document of a run that ended says that it still runs. */
async function seemsToRun(page, document) {
  const ended = await api(document);
  await page.route(`**${document}`, (route) => route.fulfill({ json: { ...ended, run: { ...ended.run, status: 'running' } } }));
}

/** A run that ended, as it looked while it ran; `live` replies to the page that asks what is new. */
async function beforeItEnded(page, live) {
  await seemsToRun(page, `/api/run/${runs.slow}`);
  await page.route('**/live', live);
}

/** A run that was there when the page opened, and is not when the page asks why nothing is told of it. */
async function isRemoved(page) {
  let asked = 0;
  const head = await api(`/api/run/${runs.slow}`);
  await page.route(`**/api/run/${runs.slow}`, (route) => (asked++ === 0 ? route.fulfill({ json: { ...head, run: { ...head.run, status: 'running' } } }) : route.fulfill({ status: 404, json: { error: 'no run has this id' } })));
}

const eventText = (name, state) => `event: ${name}\ndata: ${JSON.stringify({ status: 'running', samples: 20, missed: 0, steps: 9, recorder_gone: false, ...state })}\n\n`;
const reply = (route, body) => route.fulfill({ contentType: 'text/event-stream', body });

test('a page says that the recorder is gone', () => withPage(`#/run/${runs.slow}`, (page) => page.getByText('the recorder is gone').waitFor(), {
  before: (page) => beforeItEnded(page, (route) => reply(route, eventText('ended', { duration_s: 2, status: 'ended', recorder_gone: true }))),
}));

test('a page says why the server refuses to tell more, and not that it tries again', () => withPage(`#/run/${runs.slow}`, async (page) => {
  await page.locator('.status', { hasText: 'no run has this id' }).waitFor();
  assert.equal(await page.getByText('trying again').count(), 0);
}, {
  before: async (page) => {
    await beforeItEnded(page, (route) => route.fulfill({ status: 404, json: { error: 'gone' } }));
    await isRemoved(page);
  },
  allow: /404/,
}));

test('a page that was refused because the server has too much to do asks again', async () => {
  let asked = 0;
  await withPage(`#/run/${runs.slow}`, (page) => page.getByText('ended while you watched').waitFor(), {
    before: (page) => beforeItEnded(page, (route) => (asked++ === 0 ? route.fulfill({ status: 503, json: { error: 'busy' } }) : reply(route, eventText('ended', { duration_s: 2, status: 'ended' })))),
    allow: /503/,
  });
  assert.ok(asked > 1);
});

test('a page says that the connection is lost', () => withPage(`#/run/${runs.slow}`, (page) => page.getByText('connection lost at').waitFor(), {
  before: (page) => beforeItEnded(page, (route) => route.abort()), allow: /ERR_FAILED/,
}));

/** Compares two runs that seem to run; `live` replies for the first, and the second is followed once the first is over. */
async function whenFirstIsOver(live, act, allow, prepare) {
  let isFollowed = false;
  await withPage(`#/compare?a=${runs.slow}&b=${runs.fast}`, async (page) => {
    await eventually(() => isFollowed, 'the page follows the second run');
    await page.locator('.chip', { hasText: 'fast' }).getByText('live').waitFor();
    await act(page.locator('.chip', { hasText: 'slow' }));
  }, {
    allow,
    before: async (page) => {
      for (const id of [runs.slow, runs.fast]) await seemsToRun(page, `/api/run/${id}`);
      await page.route(`**/api/run/${runs.fast}/live`, () => { isFollowed = true; });
      await page.route(`**/api/run/${runs.slow}/live`, live);
      await prepare?.(page);
    },
  });
}

test('a comparison follows another run when one is damaged', () => whenFirstIsOver(
  (route) => reply(route, eventText('ended', { duration_s: null, status: 'damaged' })),
  (chip) => eventually(async () => (await chip.locator('.status').count()) === 0, 'a run that is not live'),
));

test('a comparison follows another run when the server refuses to tell of one', () => whenFirstIsOver(
  (route) => route.fulfill({ status: 404, json: { error: 'no such run' } }), (chip) => chip.getByText('connection lost at').waitFor(), /404/,
  (page) => isRemoved(page),
));

test('a comparison that was refused because the server has too much to do asks again', async () => {
  let asked = 0;
  let giveEnd;
  const wasSeen = new Promise((resolve) => { giveEnd = resolve; });
  await withPage(`#/compare?a=${runs.slow}&b=${runs.fast}`, async (page) => {
    await page.locator('.chip').getByText('connection lost at').waitFor();
    giveEnd(); // not before: what the page says is there until it knows better
    await eventually(async () => (await page.locator('.chip .status').count()) === 0, 'the end');
  }, {
    before: (page) => beforeItEnded(page, async (route) => {
      if (asked++ === 0) return route.fulfill({ status: 503, json: { error: 'busy' } });
      await wasSeen;
      return reply(route, eventText('ended', { duration_s: 2, status: 'ended' }));
    }),
    allow: /503/,
  });
  assert.ok(asked > 1);
});

test('a comparison says that the connection is lost', () => withPage(`#/compare?a=${runs.slow}&b=${runs.fast}`, (page) => page.locator('.chip').getByText('connection lost at').waitFor(), {
  before: (page) => beforeItEnded(page, (route) => route.abort()), allow: /ERR_FAILED/,
}));

test('a comparison reads once more what it read while a run ended', async () => {
  let reads = 0;
  await withPage(`#/compare?a=${runs.slow}&b=${runs.fast}`, async (page) => {
    await eventually(() => reads > 1, 'the metrics are read again');
    await eventually(async () => (await page.locator('.chip .status').count()) === 0, 'the end, although the reply is the same');
    assert.equal(reads, 2);
  }, {
    before: async (page) => {
      await seemsToRun(page, `/api/run/${runs.slow}/info`);
      page.on('request', (request) => { reads += Number(request.url().endsWith(`${runs.slow}/info`)); });
      await page.route('**/live', (route) => reply(route, eventText('ended', { duration_s: 2, status: 'ended' })));
    },
  });
});

/** What a page holds once its garbage is collected. */
async function sizeOf(session) {
  await session.send('HeapProfiler.collectGarbage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  const { usedSize, embedderHeapUsedSize, backingStorageSize } = await session.send('Runtime.getHeapUsage');
  return { nodes, listeners: jsEventListeners, bytes: usedSize + embedderHeapUsedSize + backingStorageSize };
}

const longest = 200_000; // ms for so many redraws
const bytesPerEvent = 10_000; // what is read for one is larger

/**
 * What is under way for a while goes; what stays for every event never does. Optimised code and data that is being read are part of
 * the heap, and come at any time: bytes that stay for every event stay for those of the first half and of the second.
 */
function hasNotGrown(session, before, middle, events) {
  return eventually(async () => {
    const after_ = await sizeOf(session);
    const more = (key) => after_[key] - before[key];
    const bytes = Math.min(middle.bytes - before.bytes, after_.bytes - middle.bytes);
    if (more('nodes') < events / 2 && more('listeners') < events / 2 && bytes < events / 2 * bytesPerEvent) return true;
    throw new Error(`${JSON.stringify(before)} became ${JSON.stringify(middle)}, then ${JSON.stringify(after_)}`);
  }, `${events} events`);
}

test('a page that stays open on a live run does not grow with the events', async () => {
  const connections = []; // not yet replied to
  const connected = () => eventually(() => connections.length > 0, 'the page asks what is new');
  let duration_s = 10;
  /** One after the other: what is read and drawn for each would be done once for many that come together. */
  const send = async (page) => {
    await connected();
    await reply(connections.shift(), `retry: 1\n\n${eventText('now', { duration_s: (duration_s += 0.1) })}`);
    await connected(); // again: the page has read the event
    await replies(page);
  };
  await withPage(`#/run/${runs.slow}?select=1:2`, async (page) => {
    await isDrawn(page, 'step_time');
    await page.getByRole('button', { name: 'Options of Step time' }).click();
    await page.getByRole('menuitem', { name: 'Show as table' }).click();
    const session = await page.context().newCDPSession(page);
    await hurryClock(page);
    const queries = watchColumns(page);
    // Some bring no whole window, and what comes while a slow machine draws is drawn with the next one.
    const redraw = async (events) => {
      const known = queries.length;
      for (const until = Date.now() + longest; events > 0 || (queries.length < known + 20 && Date.now() < until); events--) await send(page);
      assert.ok(queries.length >= known + 20, `${queries.length - known} redraws`);
      return sizeOf(session);
    };
    const before_ = await redraw(30); // everything was drawn, read and compiled
    const middle = await redraw(50);
    await redraw(50);
    await hasNotGrown(session, before_, middle, 100);
  }, {
    before: async (page) => {
      await beforeItEnded(page, (route) => { connections.push(route); });
      const marks = await api(`/api/run/${runs.slow}/marks`);
      await page.route('**/marks', (route) => route.fulfill({ json: { ...marks, gaps: [{ from_s: 0.5, to_s: 0.7, reason: 'the machine was paused' }] } }));
    },
  });
});
