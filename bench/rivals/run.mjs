// A moving scene in an engine that is a WebAssembly module, one thread.
//
//   node --no-liftoff --no-wasm-lazy-compilation run.mjs ENGINE SCENE STEPS ITERATIONS BUDGET
//
// ENGINE: jolt, rapier, mujoco. SCENE: a file of bench/motion_scene.h. ITERATIONS 0: the engine's default. Standard output, in
// doubles of this machine: for each step the seconds of processor time it took, 1 or 0, and after 1 the state of every
// dynamic body before the step (x y z, qw qx qy qz, vx vy vz, wx wy wz); at the end -1, 1 and the last state. States come for
// every step of scenes of up to 300 bodies, for every tenth of others, and where the last tenth of the steps begins.
import { writeSync } from 'node:fs';
import { readScene } from './scene.mjs';

console.log = console.error; // standard output is for records

const [engine, file, steps, iterations, budget] = process.argv.slice(2);
const scene = readScene(file);
const { open } = await import(`./${engine}.mjs`);
const world = await open(scene, Number(iterations));

const count = Number(steps), every = scene.dynamic.length <= 300 ? 1 : 10, lastTenth = count - Math.floor(count / 10);
const record = new Float64Array(2 + 13 * scene.dynamic.length);

// a pipe takes what it has room for
function send(numbers) {
  const bytes = new Uint8Array(record.buffer, 0, 8 * numbers);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

const seconds = () => { const used = process.cpuUsage(); return 1e-6 * (used.user + used.system); };

let used = 0;
for (let k = 0; k < count && used < Number(budget); k++) {
  const time = k * scene.h, known = k % every === 0 || k === lastTenth;
  if (known) for (let b = 0; b < scene.dynamic.length; b++) world.look(b, record.subarray(2 + 13 * b));
  for (const e of scene.put) if (Math.abs(e.time - time) < 0.5 * scene.h) world.put(e.body, e.state);
  for (const e of scene.push)
    if (time > e.from - 0.5 * scene.h && time < e.to - 0.5 * scene.h) world.push(e.body, e.force);
  const before = seconds();
  world.step();
  record[0] = seconds() - before;
  record[1] = known ? 1 : 0;
  used += record[0];
  send(known ? record.length : 2);
}
record[0] = -1;
record[1] = 1;
for (let b = 0; b < scene.dynamic.length; b++) world.look(b, record.subarray(2 + 13 * b));
send(record.length);
