// Many worlds of one model beside MuJoCo (npm @mujoco/mujoco, WebAssembly), one thread each, in one run: processor time of a
// step of one world, native and compiled to WebAssembly (where ./dev wasm built it).
//
//   node batch.mjs BENCH_BATCH WORLDS STEPS REPEAT [--wasm FOLDER] FILE.xml...
//
// Worlds differ by the velocity that their first coordinate starts with: 0.01 k, as in bench/bench_batch.c.
import { execFileSync } from 'node:child_process';
import { basename, join, resolve } from 'node:path';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import init from '@mujoco/mujoco';
import { loadCore } from '../../web/src/core.js';

const [program, worlds, steps, repeat, ...rest] = process.argv.slice(2);
const folder = rest[0] === '--wasm' ? rest.splice(0, 2)[1] : null;
const count = Number(worlds), length = Number(steps);
const mujoco = await init();
const core = folder && existsSync(join(folder, 'frix-core.wasm'))
  ? await loadCore(createRequire(import.meta.url)(resolve(folder, 'frix-core.js')), readFileSync(join(folder, 'frix-core.wasm'))) : null;

/** The least of some attempts, in microseconds for a step of a world. @param {(k: number) => {step: () => void, close: () => void}} open */
function best(open) {
  let least = Infinity;
  for (let n = 0; n < Number(repeat); n++) {
    const list = Array.from({ length: count }, (_, k) => open(k));
    const start = process.cpuUsage();
    for (const world of list) for (let k = 0; k < length; k++) world.step();
    const used = process.cpuUsage(start);
    least = Math.min(least, (used.user + used.system) / count / length);
    for (const world of list) world.close();
  }
  return least;
}

function rival(text) {
  const model = mujoco.MjModel.from_xml_string(text);
  const us = best((k) => {
    const data = new mujoco.MjData(model);
    data.qvel[0] = 0.01 * k;
    return { step: () => mujoco.mj_step(model, data), close: () => data.delete() };
  });
  model.delete();
  return us;
}

function own(path, text) {
  if (!core) return null;
  core.write(`/${basename(path)}`, text);
  return best(() => core.open([`/${basename(path)}`]));
}

console.log('model | frix, native, us | frix, WebAssembly, us | MuJoCo, WebAssembly, us | steps certified | same bits, 1 to 8 threads');
console.log('---|---|---|---|---|---');
for (const path of rest) {
  const text = readFileSync(path, 'utf8');
  const words = ['--worlds', worlds, '--steps', steps, '--repeat', repeat, path];
  const native = JSON.parse(execFileSync(program, words, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const there = own(path, text);
  const theirs = rival(text);
  console.log(`${basename(path, '.xml')} | ${native.us.toFixed(2)} | ${there === null ? '–' : there.toFixed(2)} | ${theirs.toFixed(2)} | ` +
              `${(100 * native.certified).toFixed(1)} % of worlds | ${native.same ? 'yes' : 'NO'}`);
  if (!native.same) process.exitCode = 1;
}
