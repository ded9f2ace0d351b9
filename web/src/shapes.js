/* Geometry of every kind of shape. What differs only by size shares one geometry, scaled per instance. */
import * as THREE from 'three';
import { mergeVertices } from 'three/examples/jsm/utils/BufferGeometryUtils.js';

/* In the order of frix_shape_kind. */
export const KINDS = [
  'sphere', 'capsule', 'box', 'cylinder', 'ellipsoid', 'plane', 'hull', 'mesh', 'height_field',
  'disc', 'rectangle', 'ellipse', 'polygon', 'half_plane',
];
const FLAT = new Set(['disc', 'rectangle', 'ellipse', 'polygon', 'half_plane']);

export const isFlat = (kind) => FLAT.has(kind);
export const isEndless = (kind) => kind === 'plane' || kind === 'half_plane';

/**
 * @typedef {object} Look
 * @property {string} key      shapes with the same key are instances of one geometry
 * @property {number[]} scale
 * @property {() => THREE.BufferGeometry} make
 * @property {boolean} edges   has edges worth drawing
 */

/** @param {import('./payload.js').Replay} replay @param {string} kind @param {ArrayLike<number>} size @param {number} geometry
 * @returns {Look} */
export function lookOf(replay, kind, size, geometry) {
  const [x, y, z] = size;
  switch (kind) {
    case 'sphere':
      return { key: 'sphere', scale: [x, x, x], make: () => new THREE.SphereGeometry(1, 40, 24), edges: false };
    case 'ellipsoid':
      return { key: 'ellipsoid', scale: [x, y, z], make: () => new THREE.SphereGeometry(1, 40, 24), edges: false };
    case 'capsule':
      return { key: `capsule ${(y / x).toPrecision(5)}`, scale: [x, x, x], make: () => capsule(y / x), edges: false };
    case 'box':
      return { key: 'box', scale: [x, y, z], make: () => new THREE.BoxGeometry(2, 2, 2), edges: true };
    case 'cylinder':
      return { key: 'cylinder', scale: [x, x, y], make: () => new THREE.CylinderGeometry(1, 1, 2, 48).rotateX(Math.PI / 2), edges: true };
    case 'disc':
      return { key: 'disc', scale: [x, x, x], make: () => outline(ellipsePoints(1, 1), true), edges: false };
    case 'rectangle':
      return { key: `rectangle ${x} ${y}`, scale: [1, 1, 1], make: () => outline([[-x, -y], [x, -y], [x, y], [-x, y]]), edges: false };
    case 'ellipse':
      return { key: `ellipse ${x} ${y}`, scale: [1, 1, 1], make: () => outline(ellipsePoints(x, y), true), edges: false };
    case 'polygon':
      return { key: `polygon ${geometry}`, scale: [1, 1, 1], make: () => outline(polygonPoints(replay, geometry)), edges: false };
    case 'hull':
    case 'mesh':
    case 'height_field':
      return { key: `${kind} ${geometry}`, scale: [1, 1, 1], make: () => triangles(replay, geometry), edges: kind !== 'height_field' };
    default:
      throw new Error(`no shape ${kind}`);
  }
}

function capsule(ratio) {
  return new THREE.CapsuleGeometry(1, 2 * ratio, 12, 32).rotateX(Math.PI / 2);
}

function triangles(replay, geometry) {
  const shared = new THREE.BufferGeometry();
  shared.setAttribute('position', new THREE.BufferAttribute(replay.column(`geometry.${geometry}.points`), 3));
  shared.setIndex(new THREE.BufferAttribute(replay.column(`geometry.${geometry}.triangles`), 1));
  return creased(shared);
}

/** The surface of a soft body: each vertex knows the point it is, so that it can be moved. */
export function softSurface(replay, geometry) {
  const shared = new THREE.BufferGeometry();
  const points = replay.column(`geometry.${geometry}.points`);
  shared.setAttribute('position', new THREE.BufferAttribute(points, 3));
  shared.setAttribute('point', new THREE.BufferAttribute(Float32Array.from({ length: points.length / 3 }, (_, k) => k), 1));
  shared.setIndex(new THREE.BufferAttribute(replay.column(`geometry.${geometry}.triangles`), 1));
  return creased(shared);
}

/* Normals are smooth over what is nearly flat, so that a scanned surface looks round and a block has corners. */
function creased(geometry, angle = Math.PI / 6) {
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  const position = flat.getAttribute('position');
  const normal = flat.getAttribute('normal');
  const at = new Map();
  const key = (i) => `${position.getX(i)},${position.getY(i)},${position.getZ(i)}`;
  for (let i = 0; i < position.count; i++) {
    const k = key(i);
    if (at.has(k)) at.get(k).push(i);
    else at.set(k, [i]);
  }
  const limit = Math.cos(angle);
  const smooth = new Float32Array(normal.array.length);
  const own = new THREE.Vector3();
  const other = new THREE.Vector3();
  const sum = new THREE.Vector3();
  for (let i = 0; i < position.count; i++) {
    own.fromBufferAttribute(normal, i);
    sum.set(0, 0, 0);
    for (const j of at.get(key(i))) {
      other.fromBufferAttribute(normal, j);
      if (own.dot(other) >= limit) sum.add(other);
    }
    sum.normalize().toArray(smooth, 3 * i);
  }
  flat.setAttribute('normal', new THREE.BufferAttribute(smooth, 3));
  return mergeVertices(flat);
}

/* ---- flat shapes: a face with a darker rim; round ones have a spoke that shows how they turn */

function ellipsePoints(a, b) {
  return Array.from({ length: 64 }, (_, k) => [a * Math.cos((k * Math.PI) / 32), b * Math.sin((k * Math.PI) / 32)]);
}

function polygonPoints(replay, geometry) {
  const raw = replay.column(`geometry.${geometry}.points`);
  const points = Array.from({ length: raw.length / 3 }, (_, k) => [raw[3 * k], raw[3 * k + 1]]);
  const [cx, cy] = centre(points);
  return points.sort((p, q) => Math.atan2(p[1] - cy, p[0] - cx) - Math.atan2(q[1] - cy, q[0] - cx));
}

function centre(points) {
  const sum = points.reduce((s, p) => [s[0] + p[0], s[1] + p[1]], [0, 0]);
  return [sum[0] / points.length, sum[1] / points.length];
}

function outline(points, spoke = false) {
  const n = points.length;
  const [cx, cy] = centre(points);
  const rim = 0.045 * Math.min(...points.map(([x, y]) => Math.hypot(x - cx, y - cy)));
  const inner = points.map(([x, y]) => {
    const d = Math.hypot(x - cx, y - cy);
    return [cx + ((x - cx) * (d - rim)) / d, cy + ((y - cy) * (d - rim)) / d];
  });
  const position = [];
  const colour = [];
  const face = (list, tone, z) => {
    for (const [x, y] of list) {
      position.push(x, y, z);
      colour.push(tone, tone, tone);
    }
  };
  for (let k = 0; k < n; k++) {
    const m = (k + 1) % n;
    face([[cx, cy], inner[k], inner[m]], 1, 0);
    face([inner[k], points[k], points[m], inner[k], points[m], inner[m]], 0.45, 0);
  }
  if (spoke) {
    const [ex] = inner[0];
    face([[cx, -rim / 2], [ex, -rim / 2], [ex, rim / 2], [cx, -rim / 2], [ex, rim / 2], [cx, rim / 2]], 0.45, 0.001 * rim);
  }
  const out = new THREE.BufferGeometry();
  out.setAttribute('position', new THREE.Float32BufferAttribute(position, 3));
  out.setAttribute('color', new THREE.Float32BufferAttribute(colour, 3));
  out.computeVertexNormals();
  return out;
}
