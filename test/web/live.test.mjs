// A run that is being recorded: appended as it happens, and nothing that the user chose is reset.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { api, eventually, isDrawn, params, runs, start, stop, withPage } from './browser.mjs';

before(start);
after(stop);

// Reports a step every 20 ms until its standard input ends.
const job = `
import os, select, sys
pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
step = 0
while not select.select([sys.stdin], [], [], 0.02)[0]:
    step += 1
    os.write(pipe, f"step {step} loss={1 / step:.4f}\\n".encode())
    print("line", step, flush=True)
`;

test('a live run grows, keeps what was chosen, follows again and says that it ended', async () => {
  const idFile = join(process.env.PAGE_FOLDER, 'live-id');
  const child = spawn(process.env.TRAINSCOPE_BIN, ['run', '--quiet', '--name', 'live', '--id-file', idFile, '--', 'python3', '-c', job], { stdio: ['pipe', 'ignore', 'inherit'] });
  try {
    const id = await eventually(() => readFileSync(idFile, 'utf8').trim(), 'the id of the run');
    await withPage(`#/run/${id}`, async (page) => {
      const status = page.locator('.status.live');
      await status.waitFor();
      await isDrawn(page, 'step_time');
      const steps = async () => Number((await status.innerText()).match(/([\d,]+) steps/)?.[1]?.replace(',', ''));
      const first = await eventually(steps, 'steps');
      await eventually(async () => (await steps()) > first, 'more steps');
      await page.locator('h1').click();
      await page.keyboard.press('w'); // the user zooms: the range is theirs now
      const chosen = await params(page);
      assert.ok(chosen.from !== undefined && chosen.follow === undefined);
      await page.locator('#range-from').fill('half-typ');
      const before_ = await steps();
      await eventually(async () => (await steps()) > before_ + 20, 'it goes on');
      const { from, to } = await params(page);
      assert.deepEqual([from, to], [chosen.from, chosen.to]);
      assert.equal(await page.locator('#range-from').inputValue(), 'half-typ');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'follow', exact: true }).click();
      await eventually(async () => Number((await params(page)).to) > Number(to), 'it follows');
      child.stdin.end('x');
      await page.getByText('ended while you watched').waitFor();
    });
  } finally {
    child.stdin.end();
    child.kill('SIGTERM');
  }
});

/** A run that ended, as it looked while it ran; `event` is what the server says next. */
async function beforeItEnded(page, event) {
  const head = await api(`/api/run/${runs.slow}`);
  await page.route(`**/api/run/${runs.slow}`, (route) => route.fulfill({ json: { ...head, run: { ...head.run, status: 'running' } } }));
  await page.route('**/live', (route) => (event ? route.fulfill({ contentType: 'text/event-stream', body: event }) : route.abort()));
}

test('a page says that the recorder is gone', () => withPage(`#/run/${runs.slow}`, (page) => page.getByText('the recorder is gone').waitFor(), {
  before: (page) => beforeItEnded(page, `event: ended\ndata: ${JSON.stringify({ duration_s: 2, status: 'ended', samples: 20, missed: 0, steps: 9, recorder_gone: true })}\n\n`),
}));

test('a page says that the connection is lost', () => withPage(`#/run/${runs.slow}`, (page) => page.getByText('connection lost at').waitFor(), {
  before: (page) => beforeItEnded(page, ''), allow: /ERR_FAILED/,
}));
