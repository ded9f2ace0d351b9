// frix beside MuJoCo.
//
//   check_mjcf.mjs FRIX PACKAGE bodies TOL A B [A B ...]     the model frix reads from A and the one MuJoCo reads from B have
//                                                            equal bodies: names, masses, centres of mass, inertias, poses
//   check_mjcf.mjs FRIX PACKAGE motion FILE[@KEY] ...        and both move alike for a while, without contacts, limits, dry
//                                                            friction and equalities, which are soft in MuJoCo
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [frix, folder, mode, ...rest] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(join(folder, 'mujoco.js')))).default();
const { load, release } = openModels(mujoco);

// ---- MuJoCo's side

const turn = (R, d) => {  // R diag(d) R'
  const s = [0, 0, 0, 0, 0, 0], at = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];
  at.forEach(([i, j], n) => { for (let k = 0; k < 3; k++) s[n] += R[3 * i + k] * d[k] * R[3 * j + k]; });
  return s;
};
const point = (m, d) => {
  const q = d[0] ** 2 + d[1] ** 2 + d[2] ** 2;
  return [m * (q - d[0] ** 2), m * (q - d[1] ** 2), m * (q - d[2] ** 2), -m * d[0] * d[1], -m * d[0] * d[2], -m * d[1] * d[2]];
};

// A body without joints is fixed to its parent.
const moves = (model, b) => model.body_jntnum[b] > 0;

// the bodies frix has, each with all that is fixed to it: mass, centre and inertia in the world
function theirs({ model, data }) {
  const bodies = [], root = [0];
  for (let b = 1; b < model.nbody; b++) {
    const parent = model.body_parentid[b], dynamic = moves(model, b);
    root[b] = dynamic || parent === 0 ? b : root[parent];
  }
  for (let b = 1; b < model.nbody; b++) {
    if (root[b] !== b) continue;
    const part = root.map((r, k) => r === b ? k : -1).filter(k => k > 0);
    const mass = part.reduce((s, k) => s + model.body_mass[k], 0);
    const center = [0, 1, 2].map(i => part.reduce((s, k) => s + model.body_mass[k] * data.xipos[3 * k + i], 0) / mass);
    const inertia = [0, 0, 0, 0, 0, 0];
    for (const k of part) {
      const own = turn(data.ximat.slice(9 * k, 9 * k + 9), model.body_inertia.slice(3 * k, 3 * k + 3));
      const moved = point(model.body_mass[k], [0, 1, 2].map(i => data.xipos[3 * k + i] - center[i]));
      for (let i = 0; i < 6; i++) inertia[i] += own[i] + moved[i];
    }
    bodies.push({ name: model.body(b).name, dynamic: moves(model, b), mass, center, inertia,
      pos: Array.from(data.xpos.slice(3 * b, 3 * b + 3)), quat: Array.from(data.xquat.slice(4 * b, 4 * b + 4)) });
  }
  return bodies;
}

// ---- frix's side

const matrix = ([w, x, y, z]) => [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
  2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
  2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];

function ours(path) {
  const info = JSON.parse(execFileSync(frix, ['info', path, '--json'], { maxBuffer: 1 << 28 }));
  return info.bodies.map(b => {
    const R = matrix(b.quat), out = { name: b.name ?? '', dynamic: b.kind === 'dynamic', pos: b.pos, quat: b.quat };
    if (!out.dynamic) return out;
    const [xx, yy, zz, xy, xz, yz] = b.inertia, J = [xx, xy, xz, xy, yy, yz, xz, yz, zz];
    const entry = (i, j) => {
      let s = 0;
      for (let k = 0; k < 3; k++) for (let l = 0; l < 3; l++) s += R[3 * i + k] * J[3 * k + l] * R[3 * j + l];
      return s;
    };
    out.mass = b.mass;
    out.center = [0, 1, 2].map(i => b.pos[i] + R[3 * i] * b.center[0] + R[3 * i + 1] * b.center[1] + R[3 * i + 2] * b.center[2]);
    out.inertia = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]].map(([i, j]) => entry(i, j));
    return out;
  });
}

// ---- side by side

const gap = (a, b, scale) => Math.max(...a.map((x, k) => Math.abs(x - b[k]))) / scale;
let failed = 0;

function fault(file, error) {
  failed++;
  console.log(`mjcf: ${file}: ${String(error.message ?? error).slice(0, 300)}`);
}

function compareBodies(file, other, tolerance) {
  let worst = 0, place = '';
  const see = (value, what) => { if (!(value <= worst)) { worst = value; place = what; } };
  const a = ours(file), world = load(other), b = theirs(world);
  release(world);
  if (a.length !== b.length) throw new Error(`${a.length} bodies against ${b.length}`);
  a.forEach((x, i) => {
    const y = b[i], size = 1 + Math.hypot(...y.pos);
    if (x.dynamic !== y.dynamic || (x.name && x.name !== y.name)) throw new Error(`body ${i}: '${x.name}' against '${y.name}'`);
    const sign = x.quat.reduce((s, v, n) => s + v * y.quat[n], 0) < 0 ? -1 : 1;
    see(gap(x.pos, y.pos, size), `pos of ${i}`);
    see(gap(x.quat.map(v => sign * v), y.quat, 1), `quat of ${i}`);
    if (!x.dynamic) return;
    see(Math.abs(x.mass / y.mass - 1), `mass of ${i}`);
    see(gap(x.center, y.center, size), `centre of ${i}`);
    see(gap(x.inertia, y.inertia, Math.max(...y.inertia.slice(0, 3))), `inertia of ${i}`);
  });
  if (!(worst < Number(tolerance))) throw new Error(`apart by ${worst.toExponential(2)} at the ${place}`);
  console.log(`mjcf: ${basename(other)}: ${a.length} bodies agree with MuJoCo to ${worst.toExponential(1)}`);
}

// What both do alike: rigid bodies, joints, springs, dampers, armature, servos. Everything else is switched off. Both are
// of first order in the step, so that they differ by a small part of the way.
const STEP = 1e-4, STEPS = 300, SHARE = 0.02;
const flags = `<option timestep="${STEP}" integrator="implicitfast" density="0" viscosity="0"><flag contact="disable"
  limit="disable" frictionloss="disable" equality="disable"/></option></mujoco>`;

function frixRun(path, key, time) {
  const args = ['run', path, '--poses', '--quiet', '--allow-missing', '--dt', String(STEP), '--time', String(time)];
  return JSON.parse(execFileSync(frix, key ? [...args, '--key', key] : args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })).bodies;
}

function compareMotion(file, key) {
  const place = mkdtempSync(join(tmpdir(), 'frix-mjcf-'));
  try {
    cpSync(dirname(file), place, { recursive: true });
    const path = join(place, basename(file));
    writeFileSync(path, readFileSync(file, 'utf8').replace('</mujoco>', flags));
    const world = load(path, key), { model, data } = world;
    const start = frixRun(path, key, 0), first = Array.from(data.xpos);
    for (let k = 0; k < STEPS; k++) mujoco.mj_step(model, data);
    mujoco.mj_kinematics(model, data);
    const end = frixRun(path, key, STEP * STEPS);
    let off = 0, way = 0, apart = 0, where = '', bodies = 0;
    for (let b = 1; b < model.nbody; b++) {
      const name = model.body(b).name, x = end[name];
      if (!x) continue;
      bodies++;
      const from = first.slice(3 * b, 3 * b + 3), to = data.xpos.slice(3 * b, 3 * b + 3);
      const q = data.xquat.slice(4 * b, 4 * b + 4), cosine = Math.abs(x.quat.reduce((s, v, i) => s + v * q[i], 0));
      off = Math.max(off, gap(start[name].pos, from, 1));
      way = Math.max(way, gap(to, from, 1));
      const d = gap(x.pos, to, 1) + 0.1 * Math.sqrt(Math.max(0, 8 * (1 - cosine)));
      if (d > apart) apart = d, where = name;
    }
    release(world);
    const text = `${bodies} bodies start ${off.toExponential(1)} m apart and are ${apart.toExponential(1)} m apart at ${where || 'none'} after a way of ${way.toExponential(1)} m`;
    if (!(off < 1e-9) || !(apart < SHARE * way + 1e-7)) throw new Error(text);
    console.log(`mjcf: ${basename(file)}${key ? ' at ' + key : ''}: ${text}`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (mode === 'bodies') {
  const [tolerance, ...files] = rest;
  for (let k = 0; k + 1 < files.length; k += 2)
    try { compareBodies(files[k], files[k + 1], tolerance); } catch (error) { fault(files[k + 1], error); }
} else {
  for (const file of rest)
    try { compareMotion(...file.split('@')); } catch (error) { fault(file, error); }
}
process.exit(failed ? 1 : 0);
