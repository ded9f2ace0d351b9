/* State hashes in WebAssembly beside those of the native build: node bits.mjs FOLDER NATIVE.txt...
 * FOLDER holds frix-core.js and frix-core.wasm; NATIVE.txt is what bench_scene_hashes printed. Every hash must be the
 * same. Prints the time of a step beside the native one. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { loadCore } from '../src/core.js';

const [folder, ...files] = process.argv.slice(2);
const factory = createRequire(import.meta.url)(resolve(join(folder, 'frix-core.js')));
const core = await loadCore(factory, readFileSync(join(folder, 'frix-core.wasm')));

/** "scene 100:hash 200:hash ... milliseconds" */
function parse(line) {
  const [scene, ...rest] = line.trim().split(' ');
  const cost = Number(rest.pop());
  return { scene, cost, hashes: rest.map((pair) => pair.split(':')).map(([step, hash]) => ({ step: Number(step), hash })) };
}

const native = files.map((file) => readFileSync(file, 'utf8').trim().split('\n').map(parse));
let different = 0;
let compared = 0;
let steps = 0;
const ratios = [];
for (const row of native[0]) {
  const world = core.open([row.scene]);
  const last = row.hashes.at(-1).step;
  const found = new Map();
  const start = process.cpuUsage();
  for (let k = 1; k <= last; k++) {
    world.step();
    const hash = world.hash;
    if (row.hashes.some(({ step }) => step === k)) found.set(k, hash);
  }
  const used = process.cpuUsage(start);
  const cost = (used.user + used.system) / 1000 / last;
  world.close();
  steps += last;
  ratios.push(cost / row.cost);
  let verdict = 'same';
  for (const [k, build] of native.entries())
    for (const { step, hash } of build.find(({ scene }) => scene === row.scene).hashes) {
      compared++;
      if (found.get(step) === hash) continue;
      if (verdict === 'same') verdict = `differs from ${files[k]} at step ${step}: ${found.get(step)} instead of ${hash}`;
      different++;
    }
  console.log(`${row.scene.padEnd(14)} ${String(last).padStart(5)} steps  native ${row.cost.toFixed(2).padStart(8)} ms  wasm ${cost.toFixed(2).padStart(8)} ms  x ${(cost / row.cost).toFixed(2)}  ${verdict}`);
}
ratios.sort((a, b) => a - b);
console.log(`wasm bits: ${compared} hashes of ${native[0].length} scenes over ${steps} steps, ${different} different; time x ${ratios[ratios.length >> 1].toFixed(2)} in the middle`);
process.exit(different ? 1 : 0);
