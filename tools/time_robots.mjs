// Time per step beside MuJoCo: the same file from the same keyframe, its controls held, over the same simulated time.
//
//   time_robots.mjs FRIX PACKAGE FILE[=KEY]...
//
// The best of three. frix: CPU time of certified steps (frix run --json). MuJoCo: mj_step in WebAssembly; native code is expected to be about
// twice as fast.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [frix, folder, ...files] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(join(folder, 'mujoco.js')))).default();
const { load, release } = openModels(mujoco);
const TIME = 1;

function rival(path, key) {
  const loaded = load(path, key), { model, data } = loaded;
  const h = model.opt.timestep, steps = Math.round(TIME / h), start = process.cpuUsage();
  for (let k = 0; k < steps; k++) mujoco.mj_step(model, data);
  const used = process.cpuUsage(start), result = { us: (used.user + used.system) / steps, nv: model.nv };
  release(loaded);
  return result;
}

function own(path, key) {
  const args = ['run', path, '--time', String(TIME), '--json', '--quiet', '--allow-missing', '--allow-outside'];
  if (key) args.push('--key', key);
  let text;
  try {
    text = execFileSync(frix, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (e) {
    if (!e.stdout?.length) throw new Error(String(e.stderr).trim()); // a file or a keyframe that is not there
    text = e.stdout; // exit code 1: some steps are not certified, which is told
  }
  const d = JSON.parse(text);
  return { us: 1e6 * d.cpu_seconds / d.steps, certified: d.certified_steps / d.steps, contacts: d.contacts_mean };
}

console.log('model | velocities | contacts | frix, certified, us | MuJoCo, us | ratio');
console.log('---|---|---|---|---|---');
for (const word of files) {
  const at = word.indexOf('='), path = at < 0 ? word : word.slice(0, at), key = at < 0 ? null : word.slice(at + 1);
  try {
    const best = (f) => [f(path, key), f(path, key), f(path, key)].reduce((x, y) => y.us < x.us ? y : x);
    const b = best(rival), a = best(own);
    const share = a.certified === 1 ? '' : ` (${(100 * a.certified).toFixed(1)} % certified)`;
    console.log(`${path.split('/').slice(-2).join('/')}${key ? ' ' + key : ''} | ${b.nv} | ${a.contacts.toFixed(1)} | ` +
                `${a.us.toFixed(0)}${share} | ${b.us.toFixed(0)} | ${(a.us / b.us).toFixed(2)}`);
  } catch (e) {
    console.log(`${word} | failed: ${String(e.message ?? e).slice(0, 200)}`);
    process.exitCode = 1;
  }
}
