/* Contacts of a frame: points, force arrows, force chains and friction cones, coloured by what the contact does. A chain is a bar
 * along the force through the contact, as thick as the force is large: bars of neighbours join to the paths that carry a load. */
import * as THREE from 'three';
import { mergeGeometries } from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import { PICKED } from './bodies.js';

/* open, stick, slip: told apart by colour-blind eyes as well */
export const STATE_COLOURS = {
  light: ['#8a94a3', '#1f6fd1', '#e0631b'],
  dark: ['#8b97a8', '#5aa7ff', '#ff8f4a'],
};

const Z = new THREE.Vector3(0, 0, 1);

function arrowGeometry() {
  const shaft = new THREE.CylinderGeometry(0.022, 0.022, 0.78, 10).translate(0, 0.39, 0);
  const head = new THREE.ConeGeometry(0.07, 0.22, 14).translate(0, 0.89, 0);
  return mergeGeometries([shaft, head]).rotateX(Math.PI / 2);
}

function coneGeometry() {
  return new THREE.ConeGeometry(1, 1, 36, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
}

export class ContactMarks {
  /** @param {import('./payload.js').Replay} replay @param {number} scale size of the scene @param {THREE.Vector3} up */
  constructor(replay, scale, up) {
    this.replay = replay;
    this.up = up;
    this.scale = scale;
    this.group = new THREE.Group();
    this.group.renderOrder = 10;
    this.on = { points: true, forces: true, cones: false, chains: false };
    this.stretch = 1;
    this.theme = 'light';
    this.reference = referenceForce(replay);
    const capacity = Math.max(1, replay.mostContacts);
    const top = { transparent: true };
    this.points = this.layer(new THREE.SphereGeometry(1, 14, 10), new THREE.MeshBasicMaterial(top), capacity, 12);
    this.arrows = this.layer(arrowGeometry(), new THREE.MeshBasicMaterial(top), capacity, 11);
    this.chains = this.layer(new THREE.CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2), new THREE.MeshBasicMaterial(top), capacity, 11);
    this.cones = this.layer(
      coneGeometry(),
      new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.22, side: THREE.DoubleSide, depthWrite: false }),
      capacity,
      10,
    );
    this.ring = new THREE.Mesh(
      new THREE.RingGeometry(0.7, 1, 40),
      new THREE.MeshBasicMaterial({ color: PICKED, depthTest: false, transparent: true, side: THREE.DoubleSide }),
    );
    this.ring.renderOrder = 13;
    this.ring.visible = false;
    this.group.add(this.ring);
  }

  layer(geometry, material, capacity, order) {
    const mesh = new THREE.InstancedMesh(geometry, material, capacity);
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    mesh.raycast = () => {};
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.setColorAt(0, new THREE.Color());
    this.group.add(mesh);
    return mesh;
  }

  /** Marks behind bodies are hidden unless one looks through them. @param {boolean} on */
  seeThrough(on) {
    for (const { material } of [this.points, this.arrows, this.chains]) {
      material.depthTest = !on;
      material.needsUpdate = true;
    }
  }

  /** @param {import('./payload.js').Contacts} contacts */
  show(contacts) {
    this.contacts = contacts;
    this.draw();
  }

  draw() {
    const { contacts: c, on } = this;
    if (!c) return;
    const tones = STATE_COLOURS[this.theme].map((text) => new THREE.Color(text));
    this.points.visible = on.points;
    this.arrows.visible = on.forces;
    this.cones.visible = on.cones;
    this.chains.visible = on.chains;
    const p = new THREE.Vector3();
    const v = new THREE.Vector3();
    const s = new THREE.Vector3();
    const q = new THREE.Quaternion();
    const m = new THREE.Matrix4();
    const size = this.markSize();
    const layers = [this.points, this.arrows, this.cones, this.chains];
    for (const mesh of layers) mesh.count = c.count;
    for (let i = 0; i < c.count; i++) {
      p.fromArray(c.point, 3 * i);
      const tone = tones[c.state[i]];
      const side = this.side(i);
      if (on.points) this.set(this.points, i, m.compose(p, q.identity(), s.setScalar(size)), tone);
      if (on.forces) {
        const length = this.arrowLength(v.fromArray(c.force, 3 * i).length());
        q.setFromUnitVectors(Z, v.normalize().multiplyScalar(side));
        const thick = Math.min(length, 0.16 * this.scale);
        this.set(this.arrows, i, m.compose(p, q, s.set(thick, thick, length)), tone);
      }
      if (on.chains) {
        const force = v.fromArray(c.force, 3 * i).length();
        const thick = 0.02 * this.scale * Math.sqrt(Math.min(4, force / this.reference));
        q.setFromUnitVectors(Z, v.normalize());
        this.set(this.chains, i, m.compose(p, q, s.set(thick, thick, 0.16 * this.scale)), tone);
      }
      if (on.cones) {
        q.setFromUnitVectors(Z, v.set(c.normal[3 * i], c.normal[3 * i + 1], c.normal[3 * i + 2]).normalize().multiplyScalar(side));
        const height = 0.11 * this.scale;
        const wide = Math.max(1e-6, c.mu[i]) * height;
        this.set(this.cones, i, m.compose(p, q, s.set(wide, wide, height)), tone);
      }
    }
    for (const mesh of layers) {
      mesh.instanceMatrix.needsUpdate = true;
      mesh.instanceColor.needsUpdate = true;
    }
  }

  /* Arrows and cones show what holds a body up: they act on the one that can move, of two such on the upper one. The
   * numbers in the page are of a: 1, or -1 where b is shown. */
  side(i) {
    const { a, b, normal } = this.contacts;
    const moves = (end) => this.replay.moves(end);
    if (moves(a[i]) !== moves(b[i])) return moves(a[i]) ? 1 : -1;
    const { x, y, z } = this.up;
    return normal[3 * i] * x + normal[3 * i + 1] * y + normal[3 * i + 2] * z >= 0 ? 1 : -1;
  }

  set(mesh, i, matrix, tone) {
    mesh.setMatrixAt(i, matrix);
    mesh.setColorAt(i, tone);
  }

  markSize() {
    const many = this.contacts.count > 300 ? Math.sqrt(300 / this.contacts.count) : 1;
    return Math.max(0.25, many) * 0.011 * this.scale;
  }

  arrowLength(force) {
    const length = (0.32 * this.scale * this.stretch * force) / this.reference;
    return Math.max(1e-6 * this.scale, Math.min(length, 1.2 * this.scale));
  }

  paint(theme) {
    this.theme = theme;
    this.draw();
  }

  /** A ring around a contact that faces the camera; i < 0: none. */
  mark(i, camera) {
    this.ring.visible = i >= 0;
    if (i < 0) return;
    this.ring.position.fromArray(this.contacts.point, 3 * i);
    this.ring.quaternion.copy(camera.quaternion);
    this.ring.scale.setScalar(2.6 * this.markSize());
  }

  /** The contact nearest to a place on the screen, -1 where none is near. x, y, radius in pixels. */
  pick(x, y, radius, camera, width, height) {
    if (!this.contacts || !(this.on.points || this.on.forces || this.on.cones)) return -1;
    const v = new THREE.Vector3();
    let best = -1;
    let least = radius * radius;
    for (let i = 0; i < this.contacts.count; i++) {
      v.fromArray(this.contacts.point, 3 * i).project(camera);
      if (v.z > 1 || v.z < -1) continue;
      const dx = (v.x * 0.5 + 0.5) * width - x;
      const dy = (0.5 - v.y * 0.5) * height - y;
      if (dx * dx + dy * dy < least) [least, best] = [dx * dx + dy * dy, i];
    }
    return best;
  }
}

/* Arrows are to scale all through the run. One blow must not make all others vanish, so the length that fits is that of
 * the middle of the largest forces of the frames. */
function referenceForce(replay) {
  const largest = [];
  const stride = Math.max(1, Math.floor(replay.frameCount / 200));
  for (let k = 0; k < replay.frameCount; k += stride) {
    const { count, force } = replay.contacts(k);
    let top = 0;
    for (let i = 0; i < count; i++) top = Math.max(top, Math.hypot(force[3 * i], force[3 * i + 1], force[3 * i + 2]));
    if (top > 0) largest.push(top);
  }
  largest.sort((a, b) => a - b);
  return largest[largest.length >> 1] || 1;
}
