/* The core with threads: node threads.mjs WASM-FOLDER THREADS-FOLDER PAGE-FOLDER PICTURES. State hashes of worlds on 1, 2 and 4 threads
 * are those of the core without; the playground takes it where it is served cross-origin isolated, and only there. */
import { counter, launch, LOADING } from './browser.mjs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { loadCore } from '../src/core.js';

const [single, threaded, pages, pictures] = process.argv.slice(2);
const WORLDS = [['pile', '--set', 'n=300'], ['cardhouse', '--set', 'blow=1'], ['wall'], ['balls']];
const STEPS = 60;
const { check, end } = counter('threads');
mkdirSync(pictures, { recursive: true });

/* ---- bits, and time by the clock: threads share the work of a step */
const open = async (folder, threads) => loadCore(createRequire(import.meta.url)(resolve(folder, 'frix-core.js')), readFileSync(join(folder, 'frix-core.wasm')), threads);
const cores = [await open(single), await open(threaded, { count: 4 })];
function run(core, words) {
  const world = core.open(words), begun = performance.now();
  for (let k = 0; k < STEPS; k++) world.step();
  const out = { hash: world.hash, ms: (performance.now() - begun) / STEPS };
  world.close();
  return out;
}
for (const words of WORLDS) {
  for (const core of cores) run(core, words); /* compiled by the browser's second compiler from here on */
  const alone = run(cores[0], words);
  const rows = [1, 2, 4].map((n) => [n, run(cores[1], [...words, '--threads', String(n)])]);
  for (const [n, row] of rows) check(`${words[0]} on ${n} threads has the same bits`, row.hash === alone.hash, `${row.hash} ${alone.hash}`);
  console.log(`threads: ${words[0].padEnd(10)} ms a step: without threads ${alone.ms.toFixed(2)}, ${rows.map(([n, row]) => `on ${n} ${row.ms.toFixed(2)}`).join(', ')}; same bits`);
}

/* ---- the page, served with and without isolation */
const serve = (isolated) => new Promise((done) => {
  const server = createServer((request, answer) => {
    const headers = isolated ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' } : {};
    try {
      const body = readFileSync(join(pages, new URL(request.url, 'http://page').pathname));
      answer.writeHead(200, { 'Content-Type': request.url.endsWith('.json') ? 'application/json' : 'text/html', ...headers }).end(body);
    } catch {
      answer.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1', () => done(server));
});
const browser = await launch();
const seen = [];
for (const isolated of [false, true]) {
  const server = await serve(isolated);
  const tab = await browser.newPage({ viewport: { width: 1200, height: 720 } });
  tab.on('console', (message) => message.type() === 'error' && check(`console: ${message.text()}`, false));
  tab.on('pageerror', (error) => check(error.message, false));
  await tab.goto(`http://127.0.0.1:${server.address().port}/playground.html#run=cardhouse`);
  await tab.waitForFunction(() => window.frix?.first?.frame?.state.steps > 20, null, { timeout: 120000 });
  const many = /on (\d+) threads/.exec(await tab.textContent('#subtitle'))?.[1];
  check(isolated ? 'the isolated page has threads' : 'the other page has none', Boolean(many) === isolated, many);
  seen.push(await tab.evaluate(() => window.frix.first.ask('hashes', { words: ['cardhouse'], at: [30] })));
  await tab.screenshot({ path: join(pictures, isolated ? 'isolated.png' : 'plain.png'), timeout: LOADING });
  if (isolated) console.log(`threads: the isolated page runs on ${many} threads`);
  await tab.close();
  server.close();
}
check('both pages find the same hash', seen[0].hashes.join() === seen[1].hashes.join());
await browser.close();
end(`; pictures in ${pictures}`);
