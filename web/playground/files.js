/* Files that are dropped on the page: scenes in MJCF, meshes as one body on a floor, problems to be solved. */
import { problemOf } from './fclib.js';
import { isHdf5 } from './hdf5.js';

const text = (bytes) => new TextDecoder().decode(bytes);

/** Corners of an STL or OBJ file. @param {Uint8Array} bytes */
function corners(name, bytes) {
  const out = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length >= 84 ? view.getUint32(80, true) : 0;
  if (/\.stl$/i.test(name) && bytes.length === 84 + 50 * count)
    for (let t = 0; t < count; t++) for (let v = 1; v < 4; v++) out.push([0, 4, 8].map((k) => view.getFloat32(84 + 50 * t + 12 * v + k, true)));
  else for (const [, x, y, z] of text(bytes).matchAll(/^\s*(?:v|vertex)\s+(\S+)\s+(\S+)\s+(\S+)/gm)) out.push([x, y, z].map(Number));
  return out;
}

/** A scene in which the convex hull of a mesh falls on a floor; meshes in millimetres are scaled to metres. */
function sceneOf(name, bytes) {
  const points = corners(name, bytes);
  if (points.length < 4) throw new Error(`${name}: no corners found`);
  const low = [0, 1, 2].map((c) => Math.min(...points.map((p) => p[c])));
  const high = [0, 1, 2].map((c) => Math.max(...points.map((p) => p[c])));
  const size = Math.max(...high.map((h, c) => h - low[c]));
  const scale = size > 20 ? 0.001 : 1;
  const middle = high.map((h, c) => (scale * (h + low[c])) / 2);
  return `<mujoco><option timestep="0.005"/><asset><mesh name="m" file="${name}" scale="${scale} ${scale} ${scale}"/></asset><worldbody>
<geom type="plane" size="5 5 .1"/><body name="${name.replace(/[^\w.-]/g, '_')}" pos="${-middle[0]} ${-middle[1]} ${scale * (0.05 * size - low[2])}"><freejoint/><geom type="mesh" mesh="m"/></body>
</worldbody></mujoco>`;
}

/** native: words of the command, where there are such outside the page. @param {File[]} list
 * @returns {Promise<{kind: 'world'|'problem', words: string[], native?: string[], files: {path: string, bytes: Uint8Array}[], name: string}>} */
export async function readFiles(list) {
  const files = await Promise.all(list.map(async (file) => ({ path: `/${file.name}`, name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
  const scene = files.find(({ name }) => /\.(xml|urdf)$/i.test(name));
  if (scene) return { kind: 'world', words: [scene.path, '--allow-missing'], native: [scene.name, '--allow-missing'], files, name: scene.name };
  const mesh = files.find(({ name }) => /\.(stl|obj)$/i.test(name));
  if (mesh) {
    files.push({ path: '/mesh-scene.xml', bytes: new TextEncoder().encode(sceneOf(mesh.name, mesh.bytes)) });
    return { kind: 'world', words: ['/mesh-scene.xml', '--allow-missing'], files, name: mesh.name };
  }
  const archive = files.find(({ bytes }) => isHdf5(bytes));
  if (archive) {
    const path = `${archive.path}.json`;
    files.push({ path, bytes: new TextEncoder().encode(await problemOf(archive.bytes, archive.name)) });
    return { kind: 'problem', words: ['solve', path, '--json'], files: files.filter((f) => f !== archive), name: archive.name };
  }
  const problem = files.find(({ name }) => /\.(json|dat|txt)$/i.test(name));
  if (problem) return { kind: 'problem', words: ['solve', problem.path, '--json'], files, name: problem.name };
  throw new Error(`${files[0]?.name ?? 'nothing'}: not a scene (.xml, .urdf), mesh (.stl, .obj) or problem (fclib .hdf5, .json, .dat)`);
}
