// Pictures of the pages:   node screenshots.mjs FOLDER
import { join } from 'node:path';
import { isDrawn, runs, settled, start, stop, withFile, withPage } from './browser.mjs';

const folder = process.argv[2];
const pages = [
  { name: 'runs', fragment: '#/', ready: (page) => page.locator('.spark svg').first().waitFor({ state: 'attached' }) },
  { name: 'run', fragment: `#/run/${runs['slow-input']}`, ready: (page) => isDrawn(page, 'processor') },
  { name: 'compare', fragment: `#/compare?a=${runs['slow-input']}&b=${runs['fast-input']}`, ready: (page) => page.locator('.ecdf').waitFor() },
];

await start();
for (const { name, fragment, ready } of pages) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [width, height] of [[1280, 1000], [400, 900]]) {
      await withPage(fragment, async (page) => {
        await ready(page);
        await page.evaluate(() => { scrollTo(0, 0); return document.fonts.ready; });
        await settled(page); // charts below the first ones fill in
        await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
      }, { width, height, colorScheme });
    }
  }
}
await withFile(process.env.PAGE_REPORT, async (page) => {
  await page.locator('.ecdf').waitFor();
  await settled(page);
  await page.screenshot({ path: join(folder, 'report-demo.png') });
});
await stop();
