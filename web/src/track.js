/* What one body or contact does over the whole run: its path, its speed, its force. */
import * as THREE from 'three';
import { PICKED } from './bodies.js';

const MOST = 2000; /* frames that are looked at */

const stride = (replay) => Math.max(1, Math.ceil(replay.frameCount / MOST));

function rowOf(poses, slot) {
  return poses.slot[slot] === slot ? slot : poses.slot.indexOf(slot);
}

/** The path of a body up to the shown frame. */
export class Trail {
  constructor(replay, slot) {
    this.step = stride(replay);
    const points = [];
    this.count = [];
    for (let k = 0; k < replay.frameCount; k += this.step) {
      const poses = replay.poses(k);
      const row = rowOf(poses, slot);
      if (row >= 0) points.push(...poses.position.subarray(3 * row, 3 * row + 3));
      this.count.push(points.length / 3);
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: PICKED, transparent: true, opacity: 0.8 }));
    this.line.frustumCulled = false;
  }

  show(frame) {
    this.line.geometry.setDrawRange(0, this.count[Math.floor(frame / this.step)] ?? 0);
  }
}

/** Number k of the robot in every frame. */
const robotSeries = (replay, k) => Array.from({ length: replay.frameCount }, (_, frame) => replay.robot(frame)[k]);

/** Plots of the hinges and slides that move a body, with the forces of their actuators. */
function jointPlots(replay, slot) {
  const { joints, actuators } = replay.mechanism;
  const name = replay.nameOf(slot);
  return joints.flatMap((joint, k) => {
    if (!joint.body || joint.body !== name) return [];
    const [unit, force] = joint.kind === 'slide' ? ['m', 'N'] : ['rad', 'N m'];
    const title = `Joint ${joint.name || k}`;
    const along = actuators.some(({ at }) => at && at === joint.name) || robotSeries(replay, 3 * k + 2).some((x) => x !== 0);
    return [
      [`${title}, ${unit}`, [['position', robotSeries(replay, 3 * k)]]],
      [`${title}, ${unit}/s`, [['velocity', robotSeries(replay, 3 * k + 1)]]],
      ...(along ? [[`Actuators of ${title.toLowerCase()}, ${force}`, [['force', robotSeries(replay, 3 * k + 2)]]]] : []),
    ];
  });
}

const MOST_ACTUATORS = 10;

/** The forces of all actuators, or of those that push most. @returns {[string, [string, number[]][]][]} */
export function actuatorPlots(replay) {
  const { joints, actuators } = replay.mechanism;
  const all = actuators.map(({ name }, k) => [name || String(k), robotSeries(replay, 3 * joints.length + k)]);
  const most = (list) => list.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  const shown = all.length > MOST_ACTUATORS ? all.sort((a, b) => most(b[1]) - most(a[1])).slice(0, MOST_ACTUATORS) : all;
  return shown.length ? [[all.length > shown.length ? `Forces of ${shown.length} of ${all.length} actuators` : 'Forces of actuators', shown]] : [];
}

/** Titles and series of what is picked, in every frame. @returns {[string, [string, (number|null)[]][]][]} */
export function series(replay, picked) {
  const own = ownSeries(replay, picked);
  const joints = picked?.kind === 'body' && picked.slot >= 0 ? jointPlots(replay, picked.slot) : [];
  return [...joints, ...(own[1].length ? [own] : [])];
}

function ownSeries(replay, picked) {
  if (picked?.kind === 'body' && picked.slot >= 0 && !replay.index.coarse) {
    const speed = [];
    for (let k = 0; k < replay.frameCount; k++) {
      const poses = replay.poses(k);
      const row = rowOf(poses, picked.slot);
      speed.push(row >= 0 ? poses.speed[row] : null);
    }
    return ['Speed of the body, m/s', [['speed', speed]]];
  }
  if (picked?.kind === 'contact') {
    const [normal, tangential] = [[], []];
    for (let k = 0; k < replay.frameCount; k++) {
      const c = replay.contacts(k);
      let i = c.id.indexOf(picked.id);
      while (i >= 0 && (c.a[i] !== picked.a || c.b[i] !== picked.b)) i = c.id.indexOf(picked.id, i + 1);
      if (i < 0) {
        normal.push(null);
        tangential.push(null);
        continue;
      }
      const f = c.force.subarray(3 * i, 3 * i + 3);
      const n = c.normal.subarray(3 * i, 3 * i + 3);
      const along = (f[0] * n[0] + f[1] * n[1] + f[2] * n[2]) / (Math.hypot(...n) || 1);
      normal.push(along);
      tangential.push(Math.sqrt(Math.max(0, f[0] ** 2 + f[1] ** 2 + f[2] ** 2 - along * along)));
    }
    return ['Force of the contact, N', [['normal', normal], ['tangential', tangential]]];
  }
  return ['', []];
}
