// Articulated trees of frix beside MuJoCo: random configurations, velocities, controls and activations in every model.
//
//   check_robots.mjs FRIX PACKAGE [--verbose] [--random] FILE...
//
// Compared: masses and inertias, poses of bodies and sites, mass matrix, bias, passive forces, tendon lengths and moments,
// actuator lengths, moments and forces, activation rates, smooth accelerations, sensors, and rows of equalities. What
// differs by intent is told with --verbose. --random: files of make_robot_models.mjs; those that MuJoCo refuses are passed
// over. An exit code of 1: something is further apart than its tolerance.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openModels } from './mujoco_models.mjs';

const [frix, folder, ...rest] = process.argv.slice(2);
const verbose = rest.includes('--verbose'), random = rest.includes('--random'), files = rest.filter(f => !f.startsWith('--'));
const mujoco = await (await import(pathToFileURL(join(folder, 'mujoco.js')))).default();
const { load, release } = openModels(mujoco);
const STATES = 3;

// relative to the largest number of the list, or to 1
const TOLERANCE = { mass: 1e-9, inertia: 1e-9, axes: 1e-9, pose: 1e-9, site: 1e-9, matrix: 1e-9, bias: 1e-9, passive: 1e-9, tendon: 1e-9,
  moment: 1e-9, 'actuator length': 1e-9, 'actuator moment': 1e-9, 'actuator force': 1e-9, 'act rate': 1e-9, acceleration: 1e-8,
  sensor: 1e-8, equality: 1e-9, key: 1e-12 };

// reproducible numbers in (-1, 1)
function generator(seed) {
  let x = seed >>> 0 || 1;
  return () => {
    x ^= x << 13; x >>>= 0; x ^= x >>> 17; x ^= x << 5; x >>>= 0;
    return x / 2 ** 31 - 1;
  };
}

// flags of limits cannot be read here; a range that is none has equal ends
const rangeOf = (list, k) => list[2 * k] < list[2 * k + 1] ? [list[2 * k], list[2 * k + 1]] : [-1, 1];

function randomState(model, data, random) {
  const FREE = 0, BALL = 1;
  const turn = q => {
    const v = Array.from({ length: 4 }, random), n = Math.hypot(...v);
    v.forEach((x, k) => { q[k] = x / n; });
  };
  for (let j = 0; j < model.njnt; j++) {
    const a = model.jnt_qposadr[j], q = data.qpos;
    if (model.jnt_type[j] === FREE) {
      for (let k = 0; k < 3; k++) q[a + k] = model.qpos0[a + k] + 0.3 * random();
      turn(q.subarray(a + 3, a + 7));
    } else if (model.jnt_type[j] === BALL) {
      turn(q.subarray(a, a + 4));
    } else {
      const [low, high] = rangeOf(model.jnt_range, j);
      q[a] = 0.5 * (low + high) + 0.5 * (high - low) * random();
    }
  }
  for (let i = 0; i < model.nv; i++) data.qvel[i] = random();
  for (let i = 0; i < model.nu; i++) {
    const [low, high] = rangeOf(model.actuator_ctrlrange, i);
    data.ctrl[i] = 0.5 * (low + high) + 0.6 * (high - low) * random();
  }
  for (let i = 0; i < model.na; i++) data.act[i] = 0.5 + 0.5 * random();
}

const matrix = ([w, x, y, z]) => [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
  2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
  2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];

// R diag(d) R' as xx yy zz xy xz yz
const tensor = (R, d) => [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]].map(([i, j]) =>
  [0, 1, 2].reduce((s, k) => s + R[3 * i + k] * d[k] * R[3 * j + k], 0));

// eigenvalues of a symmetric matrix, largest first, by Jacobi rotations
function moments([xx, yy, zz, xy, xz, yz]) {
  const a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
  for (let sweep = 0; sweep < 12; sweep++)
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (a[p][q] === 0) continue;
      const tau = (a[q][q] - a[p][p]) / (2 * a[p][q]), t = (tau >= 0 ? 1 : -1) / (Math.abs(tau) + Math.hypot(tau, 1));
      const c = 1 / Math.hypot(t, 1), s = t * c;
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
    }
  return [a[0][0], a[1][1], a[2][2]].sort((p, q) => q - p);
}

function dense(nrow, nv, value, nnz, adr, ind) {
  const out = new Float64Array(nrow * nv);
  for (let r = 0; r < nrow; r++)
    for (let k = 0; k < nnz[r]; k++) out[r * nv + ind[adr[r] + k]] = value[adr[r] + k];
  return out;
}

function compare(file) {
  const world = load(file), { model, data } = world, worst = {};
  const see = (what, a, b, where = '', scale = 1) => {
    let size = scale;
    for (const x of b) size = Math.max(size, Math.abs(x));
    if (a.length !== b.length) throw new Error(`${what} ${where}: ${a.length} numbers against ${b.length}`);
    for (let k = 0; k < b.length; k++) {
      const d = Math.abs(a[k] - b[k]) / size;
      if (!(d <= (worst[what]?.d ?? -1))) worst[what] = { d: Number.isNaN(d) ? Infinity : d, where: `${where}[${k}] ${a[k]} against ${b[k]}` };
    }
  };
  const list = a => Array.from(a).join(' ');
  const rootFlags = model.opt.disableflags;
  let keys = [];
  try {
    for (let n = 0; n < STATES; n++) {
      randomState(model, data, generator(7919 * (n + 1)));
      const args = ['robot', file, '--json'];
      if (model.nq) args.push('--qpos', list(data.qpos));
      if (model.nv) args.push('--qvel', list(data.qvel));
      if (model.nu) args.push('--ctrl', list(data.ctrl));
      if (model.na) args.push('--act', list(data.act));
      const ours = JSON.parse(execFileSync(frix, args, { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] }));
      keys = ours.keys;
      model.opt.disableflags = rootFlags | 1; // constraint
      mujoco.mj_forward(model, data);
      compareState(model, data, ours, see);
      model.opt.disableflags = rootFlags;
      compareEqualities(model, data, ours, see);
      mujoco.mj_resetData(model, data);
    }
    compareKeys(file, keys, model, data, see);
  } finally {
    release(world);
  }
  return worst;
}

// these read rows of constraints
const LIMITS = ['jointlimitpos', 'jointlimitvel', 'tendonlimitpos', 'tendonlimitvel'];

function compareState(model, data, ours, see) {
  const nv = model.nv, urdf = ours.file.endsWith('.urdf'), names = new Map(ours.bodies.map((b, k) => [b.name, k]));
  for (let b = 1; b < model.nbody; b++) {
    const name = model.body(b).name;
    const x = ours.bodies[name ? names.get(name) : b];
    if (!x && urdf && model.body_mass[b] === 0) continue; // a root without mass is the world
    if (!x) throw new Error(`no body '${name}'`);
    const R = matrix(model.body_iquat.slice(4 * b, 4 * b + 4));
    const q = data.xquat.slice(4 * b, 4 * b + 4), sign = x.quat.reduce((s, v, k) => s + v * q[k], 0) < 0 ? -1 : 1;
    if (urdf || ours.bodies.length === model.nbody) { // otherwise some were fused
      const J = tensor(R, model.body_inertia.slice(3 * b, 3 * b + 3));
      see('mass', [x.mass], [model.body_mass[b]], name, 1e-300);
      if (x.mass > 0) see('inertia', x.center, model.body_ipos.slice(3 * b, 3 * b + 3), `centre of ${name}`);
      see('inertia', moments(x.inertia), [...model.body_inertia.slice(3 * b, 3 * b + 3)].sort((p, q) => q - p), name, 1e-300);
      see('axes', x.inertia, J, name, 1e-300);
    }
    see('pose', x.pos, data.xpos.slice(3 * b, 3 * b + 3), name);
    see('pose', x.quat.map(v => sign * v), q, name);
  }
  const sites = new Map(ours.sites.map(s => [s.name, s]));
  for (let k = 0; k < model.nsite; k++) {
    const name = model.site(k).name, s = sites.get(name);
    if (!name) continue;
    if (!s) throw new Error(`no site '${name}'`);
    see('site', s.pos, data.site_xpos.slice(3 * k, 3 * k + 3), name);
    see('site', matrix(s.quat), data.site_xmat.slice(9 * k, 9 * k + 9), name);
  }
  if (nv) {
    const M = new mujoco.DoubleBuffer(nv * nv);
    mujoco.mj_fullM(model, data, M);
    see('matrix', ours.mass_matrix, M.GetView(), '', 1e-300);
    M.delete();
  }
  see('bias', ours.bias, data.qfrc_bias);
  see('passive', ours.passive, data.qfrc_passive);
  if (model.ntendon) {
    see('tendon', ours.tendon_length, data.ten_length);
    see('tendon', ours.tendon_velocity, data.ten_velocity, 'velocity');
    const J = dense(model.ntendon, nv, data.ten_J, model.ten_J_rownnz ?? data.ten_J_rownnz, model.ten_J_rowadr ?? data.ten_J_rowadr,
      model.ten_J_colind ?? data.ten_J_colind);
    see('moment', ours.tendons.flatMap(t => t.moment), J);
  }
  if (model.nu) {
    see('actuator length', ours.actuator_length, data.actuator_length);
    see('actuator moment', ours.actuators.flatMap(a => a.moment),
      dense(data.actuator_force.length, nv, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind));
    see('actuator force', ours.actuator_force, data.actuator_force);
    see('actuator force', ours.actuator_torque, data.qfrc_actuator, 'torque');
  }
  if (model.na) { // activations of actuators in groups that are off do not change, whatever the rate that is told
    const rate = [...data.act_dot];
    for (let i = 0; i < model.actuator_group.length; i++) {
      const group = model.actuator_group[i], first = model.actuator_actadr[i];
      if (first >= 0 && group >= 0 && group <= 30 && model.opt.disableactuator >> group & 1) rate.fill(0, first, first + model.actuator_actnum[i]);
    }
    see('act rate', ours.act_rate, rate);
  }
  see('acceleration', ours.acceleration, data.qacc_smooth);
  // those that read 0, and those that need shapes, which a state by itself does not have (test/test_robot_looks.c)
  const SHAPES = ['other', 'touch', 'contact', 'rangefinder', 'distance', 'normal', 'fromto', 'tactile', ...LIMITS];
  const OTHER = new Set(ours.sensors.filter(s => SHAPES.includes(s.type)).flatMap(s => Array.from({ length: s.count }, (_, k) => s.first + k)));
  if (model.nsensordata) {
    const theirs = Array.from(data.sensordata).map((v, k) => OTHER.has(k) ? 0 : v);
    // quaternions mean the same with either sign
    const mine = Array.from(ours.sensor_data, (v, k) => OTHER.has(k) ? 0 : v);
    for (const s of ours.sensors)
      if (s.type === 'framequat' && [0, 1, 2, 3].reduce((t, k) => t + mine[s.first + k] * theirs[s.first + k], 0) < 0)
        for (let k = 0; k < 4; k++) mine[s.first + k] *= -1;
    for (const s of ours.sensors)
      see('sensor', mine.slice(s.first, s.first + s.count), theirs.slice(s.first, s.first + s.count), `${s.type} ${s.name}`);
  }
}

// rows of equalities, which stand first among the constraints
function compareEqualities(model, data, ours, see) {
  const stiff = k => ours.tendons[k].moment.every(v => v === 0); // of a tendon that nothing moves there is no row
  const limits = ours.sensors.filter((s, k) => LIMITS.includes(s.type) && !(s.type.startsWith('tendon') && stiff(model.sensor_objid[k])));
  if (!model.nv || (!model.neq && !limits.length)) return;
  const flags = model.opt.disableflags;
  model.opt.disableflags = flags | 1 << 4; // no contact
  model.opt.jacobian = 0;                  // dense
  mujoco.mj_forward(model, data);
  model.opt.disableflags = flags;
  const pos = [], J = [];
  for (const e of ours.equalities) {
    const n = e.violation.length, from = pos.length * model.nv, theirs = data.efc_J.slice(from, from + n * model.nv);
    // nothing moves it: MuJoCo leaves it out where its own numbers are zero without rounding
    if (e.jacobian.every(v => Math.abs(v) < 1e-12) && (data.efc_pos.length < pos.length + n || theirs.length < n * model.nv || theirs.some(v => Math.abs(v) > 1e-12))) continue;
    // the turn of a weld means the same with either sign of its quaternion
    const turn = n === 6 && [3, 4, 5].reduce((t, k) => t + e.violation[k] * data.efc_pos[pos.length + k], 0);
    const sign = k => (turn < 0 && k >= 3 ? -1 : 1);
    pos.push(...e.violation.map((v, k) => sign(k) * v));
    J.push(...e.jacobian.map((v, i) => sign(Math.floor(i / model.nv)) * v));
  }
  see('equality', pos, data.efc_pos.slice(0, pos.length), 'violation');
  see('equality', J, data.efc_J.slice(0, J.length), 'jacobian');
  for (const s of limits) see('sensor', [ours.sensor_data[s.first]], [data.sensordata[s.first]], `${s.type} ${s.name}`);
}

// states that keyframes mean, by name
function compareKeys(file, keys, model, data, see) {
  for (let k = 0; k < Math.min(model.nkey, 30); k++) {
    const name = model.key(k).name;
    // MuJoCo makes copies, with other names, of keyframes of files that are attached or replicate
    if (!name || name === 'post_up' || (!keys.includes(name) && keys.some(k => name.startsWith(k)))) continue;
    const ours = JSON.parse(execFileSync(frix, ['robot', file, '--json', '--key', name], { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] }));
    mujoco.mj_resetDataKeyframe(model, data, k);
    mujoco.mj_forward(model, data);
    const qpos = [...ours.qpos]; // quaternions mean the same with either sign
    for (let j = 0; j < model.njnt; j++) {
      const first = model.jnt_qposadr[j] + (model.jnt_type[j] === 0 ? 3 : 0), four = [0, 1, 2, 3].map(i => first + i);
      if (model.jnt_type[j] <= 1 && four.reduce((t, i) => t + qpos[i] * data.qpos[i], 0) < 0) for (const i of four) qpos[i] *= -1;
    }
    see('key', qpos, data.qpos, `${name} qpos`);
    see('key', ours.qvel, data.qvel, `${name} qvel`);
    // MuJoCo forgets controls of actuators at bodies that hold a replicate
    if (!file.endsWith('omni_wheels.xml')) see('key', ours.ctrl, data.ctrl, `${name} ctrl`);
    see('key', ours.act, data.act, `${name} act`);
    if (ours.bodies.length === model.nbody) see('key', ours.bodies.flatMap(b => b.pos), data.xpos, `${name} places`);
  }
}

// What frix says it leaves out of a file: the model is then another than MuJoCo's, and cannot be compared.
function listed(file) {
  try {
    execFileSync(frix, ['info', file, '--strict'], { stdio: ['ignore', 'pipe', 'pipe'] });
    return '';
  } catch (error) {
    return error.status === 2 ? String(error.stderr) : '';
  }
}

let failed = 0, refused = 0, partial = 0, most = 0;
for (const file of files) {
  const name = file.split('/').slice(-2).join('/');
  try {
    const worst = compare(file);
    const bad = Object.entries(worst).filter(([what, w]) => !(w.d <= TOLERANCE[what]));
    const text = Object.entries(worst).map(([what, w]) => `${what} ${w.d.toExponential(0)}`).join(', ');
    if (bad.length) {
      failed++;
      for (const [what, w] of bad) console.log(`robots: ${name}: ${what} apart by ${w.d.toExponential(2)}: ${w.where}`);
    } else {
      const here = Math.max(...Object.values(worst).map(w => w.d));
      most = Math.max(most, here);
      if (!random || verbose) console.log(`robots: ${name}: agrees with MuJoCo to ${verbose ? text : here.toExponential(1)}`);
    }
  } catch (error) {
    const text = error.stderr?.length ? String(error.stderr) : String(error.message ?? error);
    if (random && text.includes('MuJoCo Error')) {
      refused++;
      continue;
    }
    const missing = random && error.status === 2 ? listed(file) : ''; // refused input: a crash stays a failure
    if (missing) {
      partial++;
      console.log(`robots: ${name}: not compared, frix says: ${missing.trim()}`);
      continue;
    }
    failed++;
    console.log(`robots: ${name}: ${text.slice(0, 400)}`);
  }
}
if (random)
  console.log(`robots: ${files.length - refused - partial - failed} random models agree with MuJoCo to ${most.toExponential(1)}, ${failed} do not; frix tells of ${partial} what it leaves out, MuJoCo refuses ${refused}`);
process.exit(failed ? 1 : 0);
