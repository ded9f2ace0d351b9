/* One world on the page: its worker, its stage, the bodies and contacts of the frame that is shown. */
import * as THREE from 'three';
import { Bodies } from '../src/bodies.js';
import { ContactMarks } from '../src/contacts.js';
import { ModelView } from '../src/payload.js';
import { newRenderer, Stage } from '../src/stage.js';

const SHADOWS = 1500;
const MOST_CONTACTS = 20000;
const FEW = 3;

/** A world that goes on, seen like a replay. */
class Live extends ModelView {
  constructor(index, buffer) {
    super(index, buffer);
    this.frameCount = 0;
    this.mostContacts = 256;
  }

  grow(slotPattern) {
    this.slotPattern = slotPattern;
    this.slotCount = slotPattern.length;
    this.copies = null;
  }
}

export class View {
  /** @param {HTMLCanvasElement} canvas @param {() => Worker} makeWorker */
  constructor(canvas, makeWorker) {
    this.canvas = canvas;
    this.worker = makeWorker();
    this.renderer = newRenderer(canvas); /* while the worker loads */
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.serial = 0;
    this.asked = new Map();
    this.theme = 'light';
    this.on = { points: true, forces: true, cones: false, chains: false };
    this.listeners = { frame: [], model: [], error: [], recorded: [], stage: [] };
    this.through = false;
    this.leads = true; /* of two worlds that are seen from one place one leads */
  }

  listen(type, listener) {
    this.listeners[type].push(listener);
  }

  tell(type, data) {
    for (const listener of this.listeners[type]) listener(data);
  }

  send(type, data = {}, transfer = []) {
    this.worker.postMessage({ type, ...data }, transfer);
  }

  /** A question that the worker answers. */
  ask(type, data = {}) {
    const id = Math.random();
    return new Promise((done, failed) => {
      this.asked.set(id, { done, failed });
      this.send(type, { id, ...data });
    });
  }

  open(words, more = {}) {
    this.serial++;
    this.send('open', { words, serial: this.serial, ...more });
  }

  hear(data) {
    if (data.type === 'answer') {
      const { done, failed } = this.asked.get(data.id) ?? {};
      this.asked.delete(data.id);
      if (data.error) failed?.(new Error(data.error));
      else done?.(data);
      return;
    }
    if (data.type === 'model' && data.serial === this.serial) this.setModel(data.model);
    if (data.type === 'frame') {
      if (data.serial === this.serial && this.live) this.setFrame(data);
      this.send('drawn');
    }
    if (this.listeners[data.type] && data.type !== 'frame') this.tell(data.type, data);
  }

  /* ---- what is seen */

  setModel({ index, buffer }) {
    this.live = new Live(index, buffer);
    this.fresh = true;
    this.bodies = null;
    this.reference = 0;
  }

  setFrame(data) {
    this.frame = data.frame;
    this.steps = data.steps;
    this.behind = data.behind;
    if (!this.bodies || data.frame.slotPattern.length !== this.live.slotCount) this.build();
    this.bodies.show(data.frame.poses);
    this.scaleForces(data.frame.contacts);
    this.showContacts();
    if (this.fresh && this.stage) {
      this.stage.fitted = false;
      this.fit();
      this.fresh = false;
    }
    if (this.leads && this.out()) this.fit();
    this.stage?.refresh();
    this.tell('frame', data);
  }

  /* Whether all that moves has left the picture; of few bodies, whether one leaves it and the user has not turned the camera. */
  out() {
    const { poses } = this.frame;
    if (!this.stage || poses.count === 0 || poses.count > 500) return false;
    const p = new THREE.Vector3();
    if (poses.count <= FEW && !this.stage.turned) {
      const { min, max } = this.bodies.box();
      for (let k = 0; k < 8; k++) {
        p.set(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).project(this.stage.camera);
        if (Math.abs(p.x) > 1 || Math.abs(p.y) > 1) return true;
      }
    }
    for (let i = 0; i < poses.count; i++) {
      p.fromArray(poses.position, 3 * i).project(this.stage.camera);
      if (Math.abs(p.x) < 0.8 && Math.abs(p.y) < 0.8 && Math.abs(p.z) < 1) return false;
    }
    return true;
  }

  build() {
    const { live, frame } = this;
    live.grow(frame.slotPattern);
    const old = this.bodies;
    this.bodies = new Bodies(live);
    this.bodies.show(frame.poses);
    this.bodies.makeGlass();
    this.bodies.paint(this.theme, { slot: -1, body: -2 });
    if (this.through) this.bodies.seeThrough(true);
    if (!this.stage || this.stage.flat !== this.bodies.hasFlat) this.makeStage();
    else if (this.group) {
      this.stage.scene.remove(this.group, this.marks.group);
      for (const plane of this.stage.planes ?? []) this.stage.scene.remove(plane);
    }
    const box = this.bodies.box();
    const radius = box.getBoundingSphere(new THREE.Sphere()).radius || 1;
    this.marks = new ContactMarks({ frameCount: 0, mostContacts: MOST_CONTACTS, moves: (end) => live.moves(end) }, radius, this.stage.up);
    Object.assign(this.marks.on, this.on);
    this.group = this.bodies.group;
    this.stage.scene.add(this.group, this.marks.group);
    if (!old || this.fresh) this.ground = box;
    this.stage.furnish(this.ground, this.bodies.endless, this.bodies.count <= SHADOWS, (shape) => this.poseOf(shape));
    this.paint(this.theme);
  }

  makeStage() {
    const g = this.live.index.gravity;
    const down = new THREE.Vector3(...g);
    const up = this.bodies.hasFlat ? new THREE.Vector3(0, 1, 0) : down.lengthSq() > 0 && Math.abs(down.y) > Math.abs(down.z) ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(0, 0, 1);
    this.stage?.leave();
    this.stage = new Stage(this.canvas, { flat: this.bodies.hasFlat, up, renderer: this.renderer });
    this.tell('stage');
  }

  poseOf({ body, pose }) {
    const at = (p, q, k) => new THREE.Matrix4().compose(new THREE.Vector3().fromArray(p, k), new THREE.Quaternion().fromArray(q, k + 3), new THREE.Vector3(1, 1, 1));
    const local = at(pose, pose, 0);
    return body < 0 ? local : at(this.live.bodyPose, this.live.bodyPose, 7 * body).multiply(local);
  }

  /* Arrows keep a scale that follows the largest forces slowly. */
  scaleForces({ count, force }) {
    let top = 0;
    for (let i = 0; i < count; i++) top = Math.max(top, Math.hypot(force[3 * i], force[3 * i + 1], force[3 * i + 2]));
    if (top > 0) this.reference = this.reference ? this.reference + 0.03 * (Math.min(top, 3 * this.reference) - this.reference) : top;
    this.marks.reference = this.reference || 1;
  }

  showContacts() {
    this.marks.show(this.frame.contacts);
  }

  toggle(name, on = !this.on[name]) {
    this.on[name] = on;
    if (this.marks) {
      this.marks.on[name] = on;
      this.marks.draw();
      this.stage.refresh();
    }
  }

  seeThrough(on) {
    this.through = on;
    this.bodies?.seeThrough(on);
    this.marks?.seeThrough(on);
    this.stage?.refresh();
  }

  paint(theme) {
    this.theme = theme;
    this.bodies?.paint(theme);
    this.marks?.paint(theme);
    this.stage?.paint(theme);
  }

  fit() {
    this.stage?.fit(this.bodies.box());
  }

  /** The dynamic body under a place of the canvas, with the point where the ray meets it. */
  pick(x, y) {
    const ray = this.stage.ray(x, y);
    const found = this.bodies.pick(ray);
    if (!found || found.slot < 0 || this.live.bodyKind[found.body] !== 0) return null;
    const row = this.bodies.row[found.slot];
    const centre = new THREE.Vector3().fromArray(this.frame.poses.position, 3 * row);
    const hits = this.bodies.parts.flatMap(({ mesh, instances }) => ray.intersectObject(mesh, false).filter(({ instanceId }) => instances[instanceId].slot === found.slot));
    const point = hits[0]?.point ?? ray.ray.closestPointToPoint(centre, new THREE.Vector3());
    const turn = new THREE.Quaternion().fromArray(this.frame.poses.turn, 4 * row);
    const local = point.clone().sub(centre).applyQuaternion(turn.invert());
    return { slot: found.slot, local, point };
  }

  destroy() {
    this.worker.terminate();
    this.stage?.leave();
    this.renderer.dispose();
  }
}
