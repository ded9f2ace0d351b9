/* Pages that prove themselves, in a real browser: node prove.mjs FOLDER PAGE.html... Each must find its own run again, frame
 * by frame; the same page with one byte of its data altered must say where it differs. */
import { counter, launch, LOADING } from './browser.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

const [folder, ...pages] = process.argv.slice(2);
const { check, end } = counter('prove');
const browser = await launch();

/** Presses the button and waits for the verdict. */
async function prove(path, name) {
  const context = await browser.newContext({ viewport: { width: 1000, height: 640 }, offline: true });
  const tab = await context.newPage();
  tab.on('pageerror', (error) => check(`${basename(path)}: ${error.message}`, false));
  await tab.goto(`file://${resolve(path)}#pause`);
  await tab.waitForFunction(() => !document.getElementById('prove').hidden, null, { timeout: LOADING });
  await tab.click('#prove');
  await tab.waitForFunction(() => ['proved', 'differs', 'failed'].includes(document.getElementById('prove').dataset.state), null, { timeout: LOADING });
  const out = await tab.evaluate(() => ({ state: document.getElementById('prove').dataset.state, text: document.getElementById('proof').textContent, hint: document.querySelector('#proof span').title, frame: window.frix.player.frame }));
  await tab.screenshot({ path: join(folder, `${name}.png`), timeout: LOADING });
  await context.close();
  return out;
}

/** One bit of the middle of a stream of positions. @param {string} html */
function altered(html) {
  const { head, tail, streams } = JSON.parse(/id="frix-packed">(.*?)<\/script>/.exec(html)[1]);
  const index = JSON.parse(/id="frix-index">(.*?)<\/script>/s.exec(html)[1]);
  const target = head + (index.bytes - tail) + (streams[0] >> 1);
  let at = 0;
  return html.replace(/(class="frix-packed">)(.*?)(<\/script>)/gs, (all, open, text, close) => {
    const part = inflateRawSync(Buffer.from(text, 'base64'));
    if (target >= at && target < at + part.length) part[target - at] ^= 1;
    at += part.length;
    return open + deflateRawSync(part).toString('base64') + close;
  });
}

for (const page of pages) {
  const name = basename(page, '.html');
  const good = await prove(page, `${name}_proved`);
  check(`${name} proves itself`, good.state === 'proved', JSON.stringify(good));
  console.log(`prove: ${name}: ${good.text} (${good.hint})`);
  const path = join(folder, `${name}_altered.html`);
  writeFileSync(path, altered(readFileSync(page, 'utf8')));
  const bad = await prove(path, `${name}_altered`);
  check(`${name} with one altered byte is caught`, bad.state === 'differs' && bad.frame > 0, JSON.stringify(bad));
  console.log(`prove: ${name}, altered: ${bad.text} (${bad.hint})`);
}
await browser.close();
end();
