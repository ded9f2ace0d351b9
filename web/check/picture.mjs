/* A picture of a replay page: node picture.mjs PAGE.html OUT.png [WIDTHxHEIGHT [#t=1.2&theme=dark&...]] */
import { launch } from './browser.mjs';
import { resolve } from 'node:path';

const [page, out, size = '1280x800', hash = ''] = process.argv.slice(2);
const [width, height] = size.split('x').map(Number);
const phone = width < 600;
const browser = await launch();
const context = await browser.newContext({ viewport: { width, height }, isMobile: phone, hasTouch: phone, deviceScaleFactor: phone ? 2 : 1 });
const tab = await context.newPage();
tab.on('pageerror', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
await tab.goto(`file://${resolve(page)}${hash}`);
await tab.waitForFunction(() => window.frix?.stage?.drawn > 0, null, { timeout: 90000 });
await tab.waitForTimeout(300);
await tab.screenshot({ path: out });
await browser.close();
