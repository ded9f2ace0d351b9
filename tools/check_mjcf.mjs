// frix beside MuJoCo: for each pair of files A B, the model frix reads from A and the one MuJoCo reads from B have equal
// bodies: names, masses, centres of mass, inertias, poses. usage: check_mjcf.mjs FRIX PACKAGE TOL A B [A B ...]
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [frix, folder, tolerance, ...files] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(join(folder, 'mujoco.js')))).default();

// ---- MuJoCo's side

// pictures are not in our copies of the models, and have no say here
const withoutPictures = text =>
  text.replace(/<texture\b[^>]*\/>/g, '').replace(/(<material\b[^>]*?)\btexture="[^"]*"/g, '$1')
    .replace(/texuniform="[^"]*"|texrepeat="[^"]*"/g, '');

function copy(from, to) {
  for (const name of readdirSync(from)) {
    const path = join(from, name), target = `${to}/${name}`;
    if (statSync(path).isDirectory()) {
      mujoco.FS.mkdir(target);
      copy(path, target);
    } else {
      const text = name.endsWith('.xml');
      mujoco.FS.writeFile(target, text ? withoutPictures(readFileSync(path, 'utf8')) : readFileSync(path));
    }
  }
}

let loaded = 0;
function load(path) {
  const place = `/m${loaded++}`;
  mujoco.FS.mkdir(place);
  copy(dirname(path), place);
  const model = mujoco.MjModel.from_xml_path(`${place}/${path.split('/').pop()}`);
  const data = new mujoco.MjData(model);
  mujoco.mj_forward(model, data);
  return { model, data };
}

const turn = (R, d) => {  // R diag(d) R'
  const s = [0, 0, 0, 0, 0, 0], at = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];
  at.forEach(([i, j], n) => { for (let k = 0; k < 3; k++) s[n] += R[3 * i + k] * d[k] * R[3 * j + k]; });
  return s;
};
const point = (m, d) => {
  const q = d[0] ** 2 + d[1] ** 2 + d[2] ** 2;
  return [m * (q - d[0] ** 2), m * (q - d[1] ** 2), m * (q - d[2] ** 2), -m * d[0] * d[1], -m * d[0] * d[2], -m * d[1] * d[2]];
};

// top bodies with all that hangs on them, at the start: mass, centre and inertia in the world
function theirs({ model, data }) {
  const bodies = [];
  for (let b = 1; b < model.nbody; b++) {
    if (model.body_parentid[b] !== 0) continue;
    const part = [];
    for (let k = 1; k < model.nbody; k++) if (model.body_rootid[k] === b) part.push(k);
    const mass = part.reduce((s, k) => s + model.body_mass[k], 0);
    const center = [0, 1, 2].map(i => part.reduce((s, k) => s + model.body_mass[k] * data.xipos[3 * k + i], 0) / mass);
    const inertia = [0, 0, 0, 0, 0, 0];
    for (const k of part) {
      const own = turn(data.ximat.slice(9 * k, 9 * k + 9), model.body_inertia.slice(3 * k, 3 * k + 3));
      const moved = point(model.body_mass[k], [0, 1, 2].map(i => data.xipos[3 * k + i] - center[i]));
      for (let i = 0; i < 6; i++) inertia[i] += own[i] + moved[i];
    }
    const free = model.body_jntnum[b] === 1 && model.jnt_type[model.body_jntadr[b]] === 0;
    bodies.push({ name: model.body(b).name, free, mass, center, inertia,
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
    const R = matrix(b.quat), out = { name: b.name ?? '', free: b.kind === 'free', pos: b.pos, quat: b.quat };
    if (!out.free) return out;
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
for (let k = 0; k + 1 < files.length; k += 2) {
  let worst = 0, place = '', bodies = 0;
  const see = (value, what) => { if (!(value <= worst)) { worst = value; place = what; } };
  try {
    const a = ours(files[k]), b = theirs(load(files[k + 1]));
    if (a.length !== b.length) throw new Error(`${a.length} bodies against ${b.length}`);
    bodies = a.length;
    a.forEach((x, i) => {
      const y = b[i], size = 1 + Math.hypot(...y.pos);
      if (x.free !== y.free || (x.name && x.name !== y.name)) throw new Error(`body ${i}: '${x.name}' against '${y.name}'`);
      const sign = x.quat.reduce((s, v, n) => s + v * y.quat[n], 0) < 0 ? -1 : 1;
      see(gap(x.pos, y.pos, size), `pos of ${i}`);
      see(gap(x.quat.map(v => sign * v), y.quat, 1), `quat of ${i}`);
      if (!x.free) return;
      see(Math.abs(x.mass / y.mass - 1), `mass of ${i}`);
      see(gap(x.center, y.center, size), `centre of ${i}`);
      see(gap(x.inertia, y.inertia, Math.max(...y.inertia.slice(0, 3))), `inertia of ${i}`);
    });
    if (!(worst < Number(tolerance))) throw new Error(`apart by ${worst.toExponential(2)} at the ${place}`);
    console.log(`mjcf: ${files[k + 1].split('/').pop()}: ${bodies} bodies agree with MuJoCo to ${worst.toExponential(1)}`);
  } catch (error) {
    failed++;
    console.log(`mjcf: ${files[k + 1]}: ${String(error.message ?? error).slice(0, 300)}`);
  }
}
process.exit(failed ? 1 : 0);
