/* Contact problems of fclib (HDF5) as the JSON that the core reads: docs/formats.md has both. */
import { Hdf5 } from './hdf5.js';

/** [row, column, value] of a matrix: nz = -1 columns, -2 rows, otherwise triplets (i row, p column). */
function entriesOf({ m, n, nz, p, i, x }, path) {
  const outer = nz === -1 ? n : m;
  const count = nz >= 0 ? nz : p[outer];
  const rising = nz >= 0 || (p[0] === 0 && p.slice(0, outer).every((at, k) => at <= p[k + 1]));
  if (nz < -2 || !rising || !(count <= Math.min(i.length, x.length)) || (nz >= 0 && nz > p.length)) throw new Error(`${path}: its arrays do not belong together`);
  const out = [];
  if (nz >= 0) for (let k = 0; k < nz; k++) out.push([i[k], p[k], x[k]]);
  else for (let a = 0; a < outer; a++) for (let k = p[a]; k < p[a + 1]; k++) out.push(nz === -1 ? [i[k], a, x[k]] : [a, i[k], x[k]]);
  if (!x.slice(0, count).every(Number.isFinite)) throw new Error(`${path}/x: not all are finite numbers`);
  return { rows: m, cols: n, entries: out };
}

async function matrixOf(file, path) {
  const parts = {};
  for (const name of ['m', 'n', 'nz', 'p', 'i', 'x']) {
    parts[name] = await file.numbers(`${path}/${name}`);
    if (!parts[name]) throw new Error(`${path}/${name} is missing`);
  }
  for (const name of ['m', 'n', 'nz']) [parts[name]] = parts[name];
  return entriesOf(parts, path);
}

/** Some files hold one triangle of M only. */
function mirrored(matrix) {
  const sides = new Set(matrix.entries.filter(([r, c]) => r !== c).map(([r, c]) => r > c));
  if (sides.size === 1) for (const [r, c, x] of [...matrix.entries]) if (r !== c) matrix.entries.push([c, r, x]);
  return matrix;
}

/** @param {Uint8Array} bytes @param {string} name of the file, for messages @returns {Promise<string>} JSON */
export async function problemOf(bytes, name) {
  try {
    const file = new Hdf5(bytes);
    const root = ['fclib_local', 'fclib_global', 'fclib_local_rolling', 'fclib_global_rolling'].find((path) => file.find(path) >= 0);
    if (!root) throw new Error('no group fclib_local or fclib_global, plain or _rolling');
    const need = async (path) => {
      const list = await file.numbers(path);
      if (!list) throw new Error(`${path} is missing`);
      return list;
    };
    const [dim] = await need(`${root}/spacedim`);
    const cone = { 2: 'planar', 3: 'circular', 5: 'rolling' }[dim];
    if (!cone) throw new Error(`${root}/spacedim is ${dim}`);
    const mu = await need(`${root}/vectors/mu`);
    const rolling = dim === 5 ? await need(`${root}/vectors/mu_r`) : null;
    const out = { format: 'frix-problem-1', contacts: mu.map((value, k) => ({ cone, mu: value, ...(rolling && { mu_r: rolling[k] }) })) };
    if (root.includes('local')) {
      out.W = await matrixOf(file, `${root}/W`);
      out.q = await need(`${root}/vectors/q`);
    } else {
      out.M = mirrored(await matrixOf(file, `${root}/M`));
      out.H = await matrixOf(file, `${root}/H`);
      for (const key of ['f', 'w']) out[key] = await need(`${root}/vectors/${key}`);
      if (file.find(`${root}/G`) >= 0) {
        out.G = await matrixOf(file, `${root}/G`);
        out.b = await need(`${root}/vectors/b`);
      }
    }
    const guess = await file.numbers('guesses/1/r');
    if (guess) out.guess = guess;
    return JSON.stringify(out);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof RangeError ? 'damaged or cut short' : error.message}`);
  }
}
