// What a person chooses stays, and what belongs together is seen together.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { drawn, eventually, hover, isDrawn, params, replies, runs, settled, start, stop, withPage } from './browser.mjs';

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
  for (const share of [0.4, 0.7]) {
    await hover(page, 'step_time', share, async () => (await lines.count()) === 1);
    await replies(page);
    const seen = await lines.evaluate((line) => { const at = line.getBoundingClientRect(); const box = line.parentElement.getBoundingClientRect(); return at.top >= box.top - 1 && at.bottom <= box.bottom + 1 && at.bottom <= innerHeight; });
    assert.ok(seen, 'the line at that time is in the window');
    const { top, bottom, height } = await panel();
    const { y, height: tall } = await plot();
    assert.ok(top > y + tall && bottom <= height + 1, `it is below the chart: ${top} ${y + tall} ${bottom} ${height}`);
  }
  await page.getByRole('button', { name: 'Output', exact: true }).click();
  const step = async () => Number(/step (\d+)/.exec(await page.locator('.output-line').innerText())?.[1]);
  // Without a cursor it is the last line.
  const early = await hover(page, 'step_time', 0.3, async () => { const now = await step(); return now > 0 && now < 50 && now; });
  await hover(page, 'step_time', 0.9, async () => (await step()) > early);
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
