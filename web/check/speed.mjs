/* Time of a step in WebAssembly beside the native build, one thread each, CPU time: native the best of several runs, in WebAssembly
 * every step as fast as in its best run (other programs disturb each run elsewhere; the first runs hold the browser's compiler, too).
 *   node speed.mjs FRIX WASM-FOLDER [RUNS]
 * Also whether a page can show 60 pictures a second in real time: the cost of all steps of a sixtieth of a second, its mean and 99th
 * percentile, and the share of pictures that are ready within a sixtieth of a second. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { loadCore } from '../src/core.js';

const [frix, folder, runs = '3'] = process.argv.slice(2);
const factory = createRequire(import.meta.url)(resolve(join(folder, 'frix-core.js')));
const core = await loadCore(factory, readFileSync(join(folder, 'frix-core.wasm')));
const ROWS = [
  ['card house, standing', ['cardhouse'], 400],
  ['card house struck', ['cardhouse', '--set', 'blow=3'], 400],
  ['arch, falling', ['arch', '--set', 'mu=0.3'], 150],
  ['arch, standing', ['arch'], 300],
  ['pile of 300', ['pile', '--set', 'n=300'], 300],
  ['pile of 1,000', ['pile', '--set', 'n=1000'], 80],
];

function native(words, time) {
  /* cpu_seconds is of the steps alone */
  const code = (error) => {
    if (error.status !== 1) throw error;
    return error.stdout;
  };
  let out;
  try {
    out = execFileSync(frix, ['run', ...words, '--time', String(time), '--json'], { encoding: 'utf8' });
  } catch (error) {
    out = code(error);
  }
  const told = JSON.parse(out);
  return (1000 * told.cpu_seconds) / told.steps;
}

/** Milliseconds of every step. */
function wasm(words, steps) {
  const world = core.open(words);
  const { h } = world;
  const costs = Array.from({ length: steps }, () => {
    const start = process.cpuUsage();
    world.step();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  });
  world.close();
  return { costs, h };
}

/** Of a run: mean, 99th percentile, and share below a sixtieth of a second. @param {number[]} list milliseconds */
function judge(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  const late = sorted[Math.min(sorted.length - 1, Math.floor(0.99 * sorted.length))];
  return `${mean.toFixed(1)} (${late.toFixed(1)}) | ${Math.floor((100 * list.filter((x) => x < 1000 / 60).length) / list.length)} %`;
}

const best = (list) => Math.min(...list);
console.log('| scene | steps | native, ms | WebAssembly, ms | ratio | picture of 1/60 s in WebAssembly, ms (99 %) | pictures in time |\n|---|---|---|---|---|---|---|');
for (const [name, words, steps] of ROWS) {
  const tries = Array.from({ length: Number(runs) }, () => wasm(words, steps));
  const h = tries[0].h;
  const costs = tries[0].costs.map((_, k) => best(tries.map((run) => run.costs[k])));
  const own = costs.reduce((a, b) => a + b, 0) / steps;
  const pictures = Array(Math.ceil(steps * h * 60)).fill(0);
  costs.forEach((cost, k) => (pictures[Math.floor(k * h * 60)] += cost));
  const other = best(tries.map(() => native(words, steps * h)));
  console.log(`| ${name} | ${steps} | ${other.toFixed(3)} | ${own.toFixed(3)} | ${(own / other).toFixed(2)} | ${judge(pictures)} |`);
}
