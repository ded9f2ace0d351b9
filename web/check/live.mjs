/* frix run --live in a real browser: node live.mjs FRIX FOLDER. The page shows frames while the run goes on, says when it is
 * over, and strangers get no answer. Pictures go to FOLDER. */
import { spawn } from 'node:child_process';
import { counter, launch } from './browser.mjs';
import { get } from 'node:http';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const [frix, folder] = process.argv.slice(2);
const { check, end } = counter('live');
mkdirSync(folder, { recursive: true });

/** A run that waits for its page. @param {string[]} words */
function begin(words) {
  const program = spawn(frix, ['run', ...words, '--live', '--no-open'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((done) => program.on('close', done));
  const address = new Promise((done, no) => {
    let said = '';
    program.stderr.on('data', (part) => {
      said += part;
      const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(said);
      if (found) done(found[0]);
    });
    program.on('close', () => no(new Error(`ended before it listened: ${said}`)));
  });
  return { program, ended, address };
}

const statusOf = (address, headers) => new Promise((done, no) => get(address, { headers }, (r) => done(r.resume().statusCode)).on('error', no));

const browser = await launch();
const run = begin(['cardhouse', '--set', 'blow=1', '--time', '3']);
const address = await run.address;
check('a request by another name is refused', (await statusOf(address, { host: 'evil.example' })) === 403);
check('what is not there is not found', (await statusOf(`${address}secret`, {})) === 404);
const tab = await browser.newPage({ viewport: { width: 1200, height: 720 } });
tab.on('console', (message) => message.type() === 'error' && check(`console: ${message.text()}`, false));
tab.on('pageerror', (error) => check(error.message, false));
tab.on('request', (request) => !request.url().startsWith(address) && !request.url().startsWith('data:') && check(`asks for ${request.url()}`, false));
await tab.goto(address);
await tab.waitForFunction(() => window.frix?.view?.frame?.state.time > 1.2, null, { timeout: 90000 });
await tab.screenshot({ path: join(folder, 'live.png') });
check('it is shown before it is over', (await tab.evaluate(() => window.frix.over)) === false);
await tab.waitForFunction(() => window.frix.over, null, { timeout: 90000 });
const { state, frames } = await tab.evaluate(() => ({ state: window.frix.view.frame.state, frames: window.frix.frames }));
check('the last frame is that of the end', Math.abs(state.time - 3) < 1e-9 && state.certified_steps === state.steps, JSON.stringify(state));
check('many frames were shown', frames > 20, String(frames));
check('the page says that it is over', /over/.test(await tab.textContent('#subtitle')) && (await tab.evaluate(() => document.getElementById('message').hidden)));
await tab.screenshot({ path: join(folder, 'live_over.png') });
check('the program ends well', (await run.ended) === 0);

/* a reader that goes away does not stop the run; Ctrl-C does */
const second = begin(['stack', '--time', '60']);
const other = await browser.newPage();
await other.goto(await second.address);
await other.waitForFunction(() => window.frix?.frames > 3, null, { timeout: 90000 });
await other.close();
second.program.kill('SIGINT');
check('Ctrl-C ends it', (await second.ended) === 1);
await browser.close();
end(`; ${frames} frames of 3 s shown, pictures in ${folder}`);
