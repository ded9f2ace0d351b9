// The scene of tools/check_grip in MuJoCo: how far the cube creeps, without and with the noslip solver.
//
//   check_grip.mjs PACKAGE FILE SECONDS
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [folder, path, seconds] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(resolve(join(folder, 'mujoco.js'))))).default();
const { load, release } = openModels(mujoco);

for (const noslip of [0, 10]) {
  const loaded = load(resolve(path)), { model, data } = loaded;
  model.opt.noslip_iterations = noslip;
  const body = name => Array.from({ length: model.nbody }, (_, k) => k).find(k => model.body(k).name === name);
  const wrist = body('wrist'), cube = body('cube'), steps = Math.round(seconds / model.opt.timestep);
  let first;
  for (let k = 0; k < steps; k++) {
    data.ctrl[0] = data.time >= 1 ? 0.1 : 0;
    data.ctrl[1] = data.time >= 0.1 ? 255 : 0;
    mujoco.mj_step(model, data);
    if (first === undefined && data.time >= 5) first = data.xpos[3 * cube + 2] - data.xpos[3 * wrist + 2];
  }
  const way = data.xpos[3 * cube + 2] - data.xpos[3 * wrist + 2] - first;
  console.log(`MuJoCo, noslip ${noslip}: ${(1e6 * way).toFixed(2)} um, ${(1e6 * way / (seconds - 5)).toFixed(3)} um/s`);
  release(loaded);
}
