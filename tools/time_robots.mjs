// Time per step beside MuJoCo: the same file from the same keyframe, its controls held, over the same simulated time.
//
//   time_robots.mjs FRIX PACKAGE [trot:]FILE[=KEY]...
//
// trot: a quadruped lifts its legs in turn, two and two: servos whose names say hip or knee, and which leg, follow a script.
// The best of three. frix: CPU time of certified steps (frix run --json). MuJoCo: mj_step in WebAssembly; native code is expected to be about
// twice as fast.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [frix, folder, ...files] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(join(folder, 'mujoco.js')))).default();
const { load, release } = openModels(mujoco);
const TIME = 1;

// Controls of a trot: what a servo adds to its keyframe's control at a time, held for BEAT seconds.
const BEAT = 0.01;
function lift(name, time) {
  const phase = /front_left|hind_right/.test(name) ? 0 : Math.PI, size = /hip/.test(name) ? 0.15 : /knee/.test(name) ? 0.35 : 0;
  return size * Math.max(0, Math.sin(4 * Math.PI * Math.floor(time / BEAT + 1e-9) * BEAT + phase));
}

function rival(path, key, trots) {
  const loaded = load(path, key), { model, data } = loaded;
  const names = Array.from({ length: model.nu }, (_, k) => model.actuator(k).name), home = [...data.ctrl];
  const h = model.opt.timestep, steps = Math.round(TIME / h), start = process.cpuUsage();
  for (let k = 0; k < steps; k++) {
    for (let n = 0; trots && n < names.length; n++) data.ctrl[n] = home[n] + lift(names[n], k * h);
    mujoco.mj_step(model, data);
  }
  const used = process.cpuUsage(start), result = { us: (used.user + used.system) / steps, nv: model.nv, names, home };
  release(loaded);
  return result;
}

function script({ names, home }, file) {
  const rows = [['time', ...names]];
  for (let k = 0; k * BEAT < TIME; k++) rows.push([k * BEAT, ...names.map((name, n) => home[n] + lift(name, k * BEAT))]);
  writeFileSync(file, rows.map(row => row.join(',') + '\n').join(''));
}

function own(path, key, control) {
  const args = ['run', path, '--time', String(TIME), '--json', '--quiet', '--allow-missing', '--allow-outside'];
  if (key) args.push('--key', key);
  if (control) args.push('--ctrl-file', control);
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

const scratch = mkdtempSync(join(tmpdir(), 'robots-'));
process.on('exit', () => rmSync(scratch, { recursive: true }));
console.log('model | velocities | contacts | frix, certified, us | MuJoCo, us | ratio');
console.log('---|---|---|---|---|---');
for (const word of files) {
  const trots = word.startsWith('trot:'), rest = trots ? word.slice(5) : word, at = rest.indexOf('=');
  const path = at < 0 ? rest : rest.slice(0, at), key = at < 0 ? null : rest.slice(at + 1);
  try {
    const best = f => [f(), f(), f()].reduce((x, y) => y.us < x.us ? y : x);
    rival(path, key, trots); // the engine compiles what runs often
    const b = best(() => rival(path, key, trots)), control = trots ? join(scratch, 'control.csv') : null;
    if (trots) script(b, control);
    const a = best(() => own(path, key, control));
    const share = a.certified === 1 ? '' : ` (${(100 * a.certified).toFixed(1)} % certified)`;
    console.log(`${path.split('/').slice(-2).join('/')}${key ? ' ' + key : ''}${trots ? ', trots in place' : ''} | ${b.nv} | ${a.contacts.toFixed(1)} | ` +
                `${a.us.toFixed(0)}${share} | ${b.us.toFixed(0)} | ${(a.us / b.us).toFixed(2)}`);
  } catch (e) {
    console.log(`${word} | failed: ${String(e.message ?? e).slice(0, 200)}`);
    process.exitCode = 1;
  }
}
