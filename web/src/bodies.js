/* The bodies of a frame as instances: one draw call per geometry, however many bodies share it. */
import * as THREE from 'three';
import { isEndless, isFlat, KINDS, lookOf, softSurface } from './shapes.js';
import { deform, isSoft, softOf } from './softs.js';
import { SphereCloud } from './spheres.js';

/* From so many spheres on they are drawn as pictures of spheres, two triangles each. */
const CLOUD = 1500;

const PALETTE = { /* as app/tones.c */
  light: ['#7f9cc0', '#c8b28c', '#9bb28f', '#c09a94', '#a9a2c6', '#8fb3b5'],
  dark: ['#7d9ac2', '#b9a37c', '#86a37c', '#b0877f', '#9b93bd', '#7aa3a6'],
};
const STILL = { light: '#c9cfd8', dark: '#4b5563' };
export const PICKED = '#e5397f';

/**
 * @typedef {object} Instance
 * @property {number} slot   -1: does not move
 * @property {number} body   of the model, -1: the world
 * @property {Float32Array} local  pose in the body: position, quaternion x y z w
 * @property {number[]} scale
 */

/* LineSegments that the renderer draws like an InstancedMesh. */
class InstancedLines extends THREE.LineSegments {
  constructor(geometry, material, mesh) {
    super(geometry, material);
    this.isInstancedMesh = true;
    this.instanceMatrix = mesh.instanceMatrix;
    this.instanceColor = null;
    this.morphTexture = null;
    this.count = mesh.count;
    this.frustumCulled = false;
    this.raycast = () => {};
  }
}

export class Bodies {
  /** @param {import('./payload.js').Replay} replay */
  constructor(replay) {
    this.replay = replay;
    this.group = new THREE.Group();
    this.theme = 'light';
    this.picked = { slot: -1, body: -2 };
    this.tone = null; /* (slot) => colour, null: one after the other */
    this.row = new Int32Array(replay.slotCount);
    this.endless = [];
    this.parts = [];
    this.cloud = null;
    this.hasFlat = false;
    this.collect();
  }

  /* Every shape of every body that is ever there, sorted by geometry. */
  collect() {
    const { replay } = this;
    const bodyOf = replay.column('shape.body');
    const kinds = replay.column('shape.kind');
    const sizes = replay.column('shape.size');
    const geometry = replay.column('shape.geometry');
    const local = replay.column('shape.pose');
    const slots = Array.from({ length: replay.bodyKind.length }, () => []);
    replay.slotPattern.forEach((body, slot) => slots[body].push(slot));
    const looks = new Map();
    for (let s = 0; s < kinds.length; s++) {
      const kind = KINDS[kinds[s]];
      const body = bodyOf[s];
      const pose = poseAt(local, 7 * s);
      const fixed = body < 0 || replay.bodyKind[body] === 2;
      if (isFlat(kind)) this.hasFlat = true;
      if (isEndless(kind)) {
        this.endless.push({ kind, body, pose, slot: fixed ? -1 : (slots[body][0] ?? -1) });
        continue;
      }
      const size = sizes.subarray(3 * s, 3 * s + 3);
      const soft = isSoft(replay, body);
      const look = soft
        ? { key: `soft ${body}`, scale: [1, 1, 1], make: () => softSurface(replay, geometry[s]), edges: false, soft: [body, geometry[s]] }
        : lookOf(replay, kind, size, geometry[s]);
      const still = body < 0 || replay.bodyKind[body] !== 0;
      const key = `${look.key} ${still}`;
      if (!looks.has(key)) looks.set(key, { look, kind, still, instances: [] });
      const list = looks.get(key).instances;
      if (fixed) list.push({ slot: -1, body, local: pose, scale: look.scale });
      if (body >= 0) for (const slot of slots[body]) list.push({ slot, body, local: pose, scale: look.scale });
    }
    for (const { look, kind, still, instances } of looks.values()) this.add(look, kind, still, instances);
  }

  add(look, kind, still, instances) {
    const geometry = look.make();
    if (kind === 'sphere' && !still && instances.length > CLOUD) {
      this.cloud = new SphereCloud(instances);
      this.group.add(this.cloud.mesh);
      return;
    }
    const material = isFlat(kind)
      ? new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide })
      : new THREE.MeshStandardMaterial({ roughness: 0.72, metalness: 0, side: kind === 'mesh' || kind === 'height_field' ? THREE.DoubleSide : THREE.FrontSide });
    if (kind === 'sphere') material.map = ballTexture();
    const mesh = new THREE.InstancedMesh(geometry, material, instances.length);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = !isFlat(kind);
    this.group.add(mesh);
    let lines = null;
    if (look.edges) {
      const edges = new THREE.EdgesGeometry(geometry, 28);
      lines = new InstancedLines(edges, new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 }), mesh);
      this.group.add(lines);
      material.polygonOffset = true;
      material.polygonOffsetFactor = material.polygonOffsetUnits = 1;
    }
    const soft = look.soft ? softOf(this.replay, ...look.soft, geometry) : null;
    this.parts.push({ mesh, lines, instances, kind, still, flat: isFlat(kind), soft });
  }

  get count() {
    return this.parts.reduce((sum, part) => sum + part.instances.length, this.cloud?.instances.length ?? 0);
  }

  /** @param {import('./payload.js').Poses} poses */
  show(poses) {
    this.poses = poses;
    this.row.fill(-1);
    this.away = new Set(poses.gone);
    for (let i = 0; i < poses.count; i++) {
      this.row[poses.slot[i]] = i;
      this.away.add(this.replay.slotPattern[poses.slot[i]]); /* a static body that was moved stands there, not here */
    }
    for (const { mesh, instances, soft } of this.parts) {
      const out = mesh.instanceMatrix.array;
      if (soft) deform(soft, poses.amplitude, mesh.geometry);
      instances.forEach((instance, i) => this.place(instance, out, 16 * i));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = mesh.boundingBox = null;
    }
    this.cloud?.show(poses, this.row);
  }

  /** The matrix of an instance; nothing where its body is not there. */
  place({ slot, body, local, scale }, out, at) {
    if (slot >= 0) {
      const row = this.row[slot];
      if (row < 0) out.fill(0, at, at + 16);
      else compose(this.poses.position, 3 * row, this.poses.turn, 4 * row, local, scale, out, at);
    } else if (this.away.has(body)) out.fill(0, at, at + 16);
    else if (body < 0) compose(ORIGIN, 0, ORIGIN, 3, local, scale, out, at);
    else compose(this.replay.bodyPose, 7 * body, this.replay.bodyPose, 7 * body + 3, local, scale, out, at);
  }

  /** Colours of a theme, with what is picked. */
  paint(theme = this.theme, picked = this.picked) {
    this.theme = theme;
    this.picked = picked;
    const tones = PALETTE[theme].map((text) => new THREE.Color(text));
    const still = new THREE.Color(STILL[theme]);
    const marked = new THREE.Color(PICKED);
    const colourOf = ({ slot, body }) => {
      if (slot >= 0 ? slot === picked.slot : picked.slot < 0 && body === picked.body) return marked;
      const moves = slot >= 0 && this.replay.bodyKind[body] === 0;
      return moves ? (this.tone?.(slot) ?? tones[slot % tones.length]) : still;
    };
    for (const { mesh, lines, instances } of this.parts) {
      instances.forEach((instance, i) => mesh.setColorAt(i, colourOf(instance)));
      mesh.instanceColor.needsUpdate = true;
      lines?.material.color.set(theme === 'dark' ? '#0b0f14' : '#1f2937');
    }
    this.cloud?.paint(colourOf, theme);
  }

  /** @param {boolean} on */
  seeThrough(on) {
    for (const { mesh } of this.parts) {
      if (mesh.userData.glass) continue;
      mesh.material.transparent = on;
      mesh.material.opacity = on ? 0.32 : 1;
      mesh.material.depthWrite = !on;
      mesh.material.needsUpdate = true;
    }
    this.cloud?.seeThrough(on);
  }

  /** What a ray meets first. @param {THREE.Raycaster} raycaster @returns {{slot: number, body: number}|null} */
  pick(raycaster) {
    let best = this.cloud?.pick(raycaster.ray) ?? null;
    for (const { mesh, instances } of this.parts) {
      if (mesh.userData.glass) continue;
      const [hit] = raycaster.intersectObject(mesh, false);
      if (hit && (!best || hit.distance < best.distance)) best = { distance: hit.distance, instance: instances[hit.instanceId] };
    }
    return best && { slot: best.instance.slot, body: best.instance.body };
  }

  /** Box of the bodies of the shown frame; a few that are far away are left out. */
  box() {
    const near = this.near();
    const box = new THREE.Box3();
    const matrix = new THREE.Matrix4();
    for (const { mesh, instances, still } of this.parts) {
      if (still) continue;
      mesh.geometry.computeBoundingBox();
      instances.forEach(({ slot }, i) => {
        if (this.row[slot] < 0 || !near[this.row[slot]]) return;
        box.union(mesh.geometry.boundingBox.clone().applyMatrix4(matrix.fromArray(mesh.instanceMatrix.array, 16 * i)));
      });
    }
    this.cloud?.grow(box, (slot) => this.row[slot] >= 0 && near[this.row[slot]]);
    if (box.isEmpty()) for (const part of this.parts) box.union(boxOf(part));
    return box.isEmpty() ? new THREE.Box3(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1)) : box;
  }

  /* Per row: dynamic, and not much farther from the middle than most are. */
  near() {
    const { position, slot, count } = this.poses;
    const rows = Array.from({ length: count }, (_, i) => i).filter((i) => this.replay.bodyKind[this.replay.slotPattern[slot[i]]] === 0);
    const middle = [0, 1, 2].map((c) => Float32Array.from(rows, (i) => position[3 * i + c]).sort()[rows.length >> 1] ?? 0);
    const distance = (i) => Math.hypot(...middle.map((m, c) => position[3 * i + c] - m));
    const most = Float32Array.from(rows, distance).sort()[Math.floor(0.9 * (rows.length - 1))] ?? 0;
    const out = new Uint8Array(count);
    for (const i of rows) out[i] = rows.length < 5 || distance(i) <= 2.5 * most ? 1 : 0;
    return out;
  }

  /* A vessel would hide what is in it: where most bodies stand within what does not move, that is glass. */
  makeGlass() {
    const vessels = this.parts.filter(({ still, kind, flat }) => still && !flat && kind !== 'height_field');
    const room = new THREE.Box3();
    for (const part of vessels) room.union(boxOf(part));
    const { position, count } = this.poses;
    const p = new THREE.Vector3();
    let inside = 0;
    for (let i = 0; i < count; i++) if (room.containsPoint(p.fromArray(position, 3 * i))) inside++;
    if (!count || inside < 0.6 * count) return;
    for (const { mesh, lines } of vessels) {
      if (lines) lines.material.opacity = 0.14;
      Object.assign(mesh.material, { transparent: true, opacity: 0.14, depthWrite: false });
      mesh.castShadow = mesh.receiveShadow = false;
      mesh.renderOrder = 2;
      mesh.userData.glass = true;
    }
  }
}

function boxOf({ mesh }) {
  mesh.computeBoundingBox();
  return mesh.boundingBox;
}

const ORIGIN = [0, 0, 0, 0, 0, 0, 1];

/* Most shapes sit at the origin of their body, and share one array. */
function poseAt(array, at) {
  const centred = ORIGIN.every((value, k) => array[at + k] === value);
  return centred ? ORIGIN : array.subarray(at, at + 7);
}

/* body pose * local pose * scale, column by column */
function compose(p, pi, q, qi, local, scale, out, at) {
  const bx = q[qi], by = q[qi + 1], bz = q[qi + 2], bw = q[qi + 3];
  const [lx, ly, lz, ax, ay, az, aw] = local;
  const x = bw * ax + bx * aw + by * az - bz * ay;
  const y = bw * ay - bx * az + by * aw + bz * ax;
  const z = bw * az + bx * ay - by * ax + bz * aw;
  const w = bw * aw - bx * ax - by * ay - bz * az;
  const tx = 2 * (by * lz - bz * ly), ty = 2 * (bz * lx - bx * lz), tz = 2 * (bx * ly - by * lx);
  const [sx, sy, sz] = scale;
  out[at] = (1 - 2 * (y * y + z * z)) * sx;
  out[at + 1] = 2 * (x * y + w * z) * sx;
  out[at + 2] = 2 * (x * z - w * y) * sx;
  out[at + 3] = 0;
  out[at + 4] = 2 * (x * y - w * z) * sy;
  out[at + 5] = (1 - 2 * (x * x + z * z)) * sy;
  out[at + 6] = 2 * (y * z + w * x) * sy;
  out[at + 7] = 0;
  out[at + 8] = 2 * (x * z + w * y) * sz;
  out[at + 9] = 2 * (y * z - w * x) * sz;
  out[at + 10] = (1 - 2 * (x * x + y * y)) * sz;
  out[at + 11] = 0;
  out[at + 12] = p[pi] + lx + bw * tx + by * tz - bz * ty;
  out[at + 13] = p[pi + 1] + ly + bw * ty + bz * tx - bx * tz;
  out[at + 14] = p[pi + 2] + lz + bw * tz + bx * ty - by * tx;
  out[at + 15] = 1;
}

/* Two tones, so that one sees a ball roll. */
function ballTexture() {
  const data = new Uint8Array(4 * 8).fill(255);
  for (let k = 0; k < 8; k++) if (k % 4 < 2) data.fill(214, 4 * k, 4 * k + 3);
  const texture = new THREE.DataTexture(data, 8, 1);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.needsUpdate = true;
  return texture;
}
