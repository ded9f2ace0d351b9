// A scene of tools/check_grip in MuJoCo: how far the held thing creeps in the hand, without and with the noslip solver.
//
//   check_grip.mjs PACKAGE FILE KEY CONTROLS FRAME BODY SECONDS FROM
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [folder, path, key, controls, frameName, bodyName, seconds, from] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(resolve(join(folder, 'mujoco.js'))))).default();
const { load, release } = openModels(mujoco);
const [names, ...rows] = readFileSync(controls, 'utf8').trim().split('\n').map(line => line.split(','));
const table = rows.map(row => row.map(Number));

// a point of the world in the frame of a body
function inFrame(data, frame, body) {
  const R = data.xmat.slice(9 * frame, 9 * frame + 9), d = [0, 1, 2].map(k => data.xpos[3 * body + k] - data.xpos[3 * frame + k]);
  return [0, 1, 2].map(k => R[k] * d[0] + R[3 + k] * d[1] + R[6 + k] * d[2]);
}

for (const noslip of [0, 10]) {
  const loaded = load(resolve(path), key || null), { model, data } = loaded;
  model.opt.noslip_iterations = noslip;
  const find = (count, get, name) => Array.from({ length: count }, (_, k) => k).find(k => get(k).name === name);
  const frame = find(model.nbody, k => model.body(k), frameName), body = find(model.nbody, k => model.body(k), bodyName);
  const drive = names.slice(1).map(name => find(model.nu, k => model.actuator(k), name));
  const steps = Math.round(seconds / model.opt.timestep), start = process.cpuUsage();
  let first, next = 0;
  for (let k = 0; k < steps; k++) {
    for (; next < table.length && table[next][0] <= data.time + 1e-9; next++)
      drive.forEach((a, n) => { data.ctrl[a] = table[next][n + 1]; });
    mujoco.mj_step(model, data);
    if (first === undefined && data.time >= from) first = inFrame(data, frame, body);
  }
  if (data.time < seconds - 1) {
    console.log(`MuJoCo, ${bodyName}, noslip ${noslip}: unstable, it began anew`);
    release(loaded);
    continue;
  }
  const used = process.cpuUsage(start), last = inFrame(data, frame, body);
  const way = Math.hypot(...last.map((x, k) => x - first[k]));
  console.log(`MuJoCo, ${bodyName}, noslip ${noslip}: ${(1e6 * way).toFixed(2)} um, ${(1e6 * way / (seconds - from)).toFixed(3)} um/s, ` +
              `${((used.user + used.system) / steps).toFixed(0)} us per step`);
  release(loaded);
}
