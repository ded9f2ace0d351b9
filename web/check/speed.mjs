/* Time of a step in WebAssembly beside the native build, one thread each, CPU time, the best of several runs:
 *   node speed.mjs FRIX WASM-FOLDER [RUNS]
 * Also whether a page could show 60 pictures a second: simulated time a step over its cost. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { loadCore } from '../src/core.js';

const [frix, folder, runs = '3'] = process.argv.slice(2);
const factory = createRequire(import.meta.url)(resolve(join(folder, 'frix-core.js')));
const core = await loadCore(factory, readFileSync(join(folder, 'frix-core.wasm')));
const ROWS = [
  ['card house struck', ['cardhouse', '--set', 'blow=3'], 400],
  ['arch, falling', ['arch', '--set', 'mu=0.3'], 150],
  ['arch, standing', ['arch'], 300],
  ['pile of 300', ['pile', '--set', 'n=300'], 150],
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

function wasm(words, steps) {
  const world = core.open(words);
  const start = process.cpuUsage();
  for (let k = 0; k < steps; k++) world.step();
  const { user } = process.cpuUsage(start);
  const { h } = world;
  world.close();
  return { cost: user / 1000 / steps, h };
}

const best = (list) => Math.min(...list);
console.log('| scene | steps | native, ms | WebAssembly, ms | ratio | real time in WebAssembly |\n|---|---|---|---|---|---|');
for (const [name, words, steps] of ROWS) {
  const tries = Array.from({ length: Number(runs) }, () => wasm(words, steps));
  const h = tries[0].h;
  const own = best(tries.map(({ cost }) => cost));
  const other = best(tries.map(() => native(words, steps * h)));
  console.log(`| ${name} | ${steps} | ${other.toFixed(3)} | ${own.toFixed(3)} | ${(own / other).toFixed(2)} | ${((1000 * h) / own).toFixed(1)}x |`);
}
