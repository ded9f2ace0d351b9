// Random robots in MJCF, to be read by frix and by MuJoCo: tools/check_robots --random.
//
//   make_robot_models.mjs FOLDER FIRST COUNT
//
// writes FOLDER/N/model.xml for the seeds FIRST .. FIRST + COUNT - 1, with the meshes and parts it asks for. Every model
// takes its own choice of what the format offers: nested classes, frames, replicas, included and attached files, all
// sorts of joints, meshes, inertias, tendons, actuators, equalities, sensors, keyframes and settings of the compiler.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choices, element, makeDrives } from './make_robot_drives.mjs';

const [folder, first, count] = process.argv.slice(2);

const VERTICES = '0.05 0 0 -0.04 0.03 0.01 -0.03 -0.05 0 0.01 0.02 0.07 0.02 -0.01 -0.05';

// A tetrahedron-like mesh in a file of one of the formats.
function meshFile(c, place, name) {
  const v = [[0, 0, 0], [c.real(0.05, 0.1), 0, 0.01], [0, c.real(0.04, 0.1), 0], [0.01, 0.02, c.real(0.05, 0.1)]];
  const f = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
  if (c.chance(0.5)) {
    const wedge = c.chance(0.5); // indices of texture coordinates and normals, or from the end
    const text = v.map(p => `v ${p.join(' ')}`).join('\n') + (wedge ? '\nvt 0 0\nvn 0 0 1\n' : '\n') +
      f.map(t => `f ${t.map(i => wedge ? `${i + 1}/1/1` : c.chance(0.5) ? `${i + 1}` : `${i - 4}`).join(' ')}`).join('\n');
    writeFileSync(join(place, `${name}.obj`), `# mesh\no part\n${text}\n`);
    return `${name}.obj`;
  }
  const bytes = Buffer.alloc(84 + 50 * f.length);
  bytes.writeUInt32LE(f.length, 80);
  f.forEach((t, k) => t.forEach((i, n) => v[i].forEach((x, a) => bytes.writeFloatLE(x, 84 + 50 * k + 12 + 12 * n + 4 * a))));
  writeFileSync(join(place, `${name}.stl`), bytes);
  return `${name}.stl`;
}

class Maker {
  constructor(seed, place) {
    const c = this.c = choices(seed);
    this.place = place;
    this.seed = seed;
    this.radian = c.chance(0.5);
    this.autolimits = !c.chance(0.15);
    this.classes = []; // with the level that they extend
    this.bodies = []; this.joints = []; this.geoms = []; this.sensed = []; this.sites = []; this.cameras = []; this.meshes = [];
    this.mocap = 0; this.nq = []; this.counter = 0; this.replicas = false;
    this.inertiaFromGeom = c.pick(['auto', 'auto', 'auto', 'true']);
  }
  // a number at the end could be taken for that of a replica
  name(kind) { return `${kind}${this.counter++}_`; }
  angle(low, high, n = 1) { return this.radian ? this.c.text(low, high, n) : this.c.text(low * 57.2957795, high * 57.2957795, n); }
  // maybe a class that exists
  class(p = 0.3) { return this.classes.length && this.c.chance(p) ? this.c.pick(this.classes) : undefined; }
  turn() {
    const c = this.c;
    switch (c.whole(0, 6)) {
      case 0: return { quat: c.text(-1, 1, 4) };
      case 1: return { axisangle: `${c.text(-1, 1, 3)} ${this.angle(-3, 3)}` };
      case 2: return { xyaxes: c.text(-1, 1, 6) };
      case 3: return { zaxis: c.text(-1, 1, 3) };
      case 4: return { euler: this.angle(-2, 2, 3) };
      default: return {};
    }
  }
  maybe(p, value) { return this.c.chance(p) ? value : undefined; }
  range(low, high, angle = false) {
    const a = this.c.real(low, 0.3 * low), b = this.c.real(0.3 * high, high), f = angle && !this.radian ? 57.29577951 : 1;
    return `${Number((a * f).toFixed(5))} ${Number((b * f).toFixed(5))}`;
  }
  limits(a, key, limited) { if (!this.autolimits && a[key]) a[limited] = this.c.pick(['true', 'true', 'false']); else if (a[key] && this.c.chance(0.1)) a[limited] = this.c.pick(['true', 'false', 'auto']); }

  jointNumbers(type, inClass, several = false) {
    const c = this.c, a = {}, angle = type === 'hinge' || type === 'ball';
    const poly = (p, high) => this.maybe(p, c.chance(0.3) ? c.text(0, high, c.whole(2, 3)) : c.text(0, high));
    if (!inClass) {
      if (type === 'ball') a.range = this.maybe(0.3, `0 ${this.radian ? 1.5 : 80}`);
      else a.range = this.maybe(0.5, this.range(angle ? -2 : -0.2, angle ? 2 : 0.2, angle));
      this.limits(a, 'range', 'limited');
      if (type !== 'ball') a.ref = this.maybe(0.25, angle ? this.angle(-0.5, 0.5) : c.text(-0.1, 0.1));
      if (type !== 'ball') a.springref = this.maybe(0.3, angle ? this.angle(-0.5, 0.5) : c.text(-0.1, 0.1));
      if (type !== 'ball') a.springdamper = this.maybe(0.08, `${c.text(0.05, 0.4)} ${c.text(0.3, 1.5)}`);
      if (type !== 'ball') { a.actuatorfrcrange = this.maybe(0.2, this.range(-3, 3)); this.limits(a, 'actuatorfrcrange', 'actuatorfrclimited'); }
      a.margin = this.maybe(0.1, c.text(0, 0.02));
      a.axis = type === 'ball' ? undefined : this.maybe(several ? 1 : 0.8, c.text(-1, 1, 3));
    }
    a.stiffness = poly(0.35, 5);
    a.damping = poly(0.4, 0.5);
    a.armature = this.maybe(0.3, c.text(0, 0.05));
    a.frictionloss = this.maybe(0.2, c.text(0, 0.5));
    a.actuatorgravcomp = this.maybe(0.15, c.pick(['true', 'false']));
    return a;
  }

  geom(a = {}) {
    const c = this.c, name = this.name('g');
    const kinds = ['sphere', 'capsule', 'ellipsoid', 'cylinder', 'box', 'box', 'capsule', ...(this.meshes.length ? ['mesh', 'mesh', 'fit'] : [])];
    let type = c.pick(kinds);
    Object.assign(a, { name, class: this.class() });
    if (type === 'mesh') Object.assign(a, { type, mesh: c.pick(this.meshes) });
    else if (type === 'fit') Object.assign(a, { type: c.pick(['box', 'sphere', 'capsule', 'cylinder', 'ellipsoid']), mesh: c.pick(this.meshes), fitscale: this.maybe(0.3, c.text(0.7, 1.3)) });
    else {
      const n = { sphere: 1, capsule: 2, ellipsoid: 3, cylinder: 2, box: 3 }[type];
      a.type = type;
      if (['capsule', 'cylinder', 'box', 'ellipsoid'].includes(type) && c.chance(0.3)) {
        a.fromto = `${c.text(-0.1, 0.1, 3)} ${c.text(-0.1, 0.1, 2)} ${c.text(0.15, 0.3)}`;
        a.size = c.text(0.02, 0.06);
      } else a.size = c.text(0.02, 0.12, n);
      this.geoms.push({ name, type, radius: Number(a.size.split(' ')[0]) });
    }
    this.sensed.push(name);
    if (!a.fromto) Object.assign(a, { pos: this.maybe(0.7, c.text(-0.1, 0.1, 3)) }, this.turn());
    if (c.chance(0.25)) a.mass = c.text(0.05, 2); else if (c.chance(0.3)) a.density = c.text(100, 3000);
    if (!a.mesh && c.chance(0.1)) a.shellinertia = 'true';
    a.friction = this.maybe(0.3, c.text(0.1, 1, c.whole(1, 3)));
    a.group = this.maybe(0.2, c.whole(0, 4));
    a.condim = this.maybe(0.2, c.pick([1, 3, 4, 6]));
    a.contype = this.maybe(0.2, c.whole(0, 3)); a.conaffinity = this.maybe(0.2, c.whole(0, 3));
    a.priority = this.maybe(0.1, c.whole(0, 2));
    a.margin = this.maybe(0.1, c.text(0, 0.01)); a.gap = this.maybe(0.1, c.text(0, 0.02));
    a.surfacevel = this.maybe(0.08, c.text(-1, 1, c.pick([3, 6]))); a.adhesion = this.maybe(0.08, c.text(0, 5));
    a.solref = this.maybe(0.1, '0.01 1'); a.solimp = this.maybe(0.1, '0.9 0.95 0.001'); a.rgba = this.maybe(0.1, '1 0 0 1');
    if (this.fluid && !a.mesh && c.chance(0.3)) { a.fluidshape = 'ellipsoid'; a.fluidcoef = this.maybe(0.4, c.text(0.1, 1, 5)); }
    return element('geom', a);
  }

  site() {
    const c = this.c, name = this.name('s'), type = c.pick(['sphere', 'box', 'capsule', 'cylinder', 'ellipsoid']);
    const a = { name, type: this.maybe(0.6, type), size: c.text(0.02, 0.2, 3), class: this.class(0.15) };
    if (c.chance(0.2) && type !== 'sphere') { a.type = type; a.fromto = c.text(-0.2, 0.2, 6); } else Object.assign(a, { pos: c.text(-0.15, 0.15, 3) }, this.turn());
    this.sites.push(name);
    return element('site', a);
  }

  camera() {
    const c = this.c, name = this.name('c');
    this.cameras.push(name);
    const a = { name, pos: c.text(-0.3, 0.3, 3), ...this.turn() };
    if (c.chance(0.5)) a.fovy = this.c.text(30, 80);
    else Object.assign(a, { sensorsize: '0.01 0.008', focal: c.text(0.005, 0.02, 2), principal: c.text(-0.001, 0.001, 2), resolution: '640 480' });
    return element('camera', a);
  }

  inertial() {
    const c = this.c, a = { pos: c.text(-0.1, 0.1, 3), mass: c.text(0.1, 3) };
    if (c.chance(0.5)) {
      a.fullinertia = `${c.text(0.02, 0.03, 3)} ${c.text(-0.004, 0.004, 3)}`;
    } else {
      Object.assign(a, this.turn());
      a.diaginertia = this.balance && c.chance(0.5) ? c.text(0.001, 0.05, 3) : c.text(0.02, 0.038, 3);
    }
    return element('inertial', a);
  }

  jointsOf(depth, worldChild) {
    const c = this.c;
    if (worldChild && c.chance(0.3)) {
      const name = this.name('j'), free = c.chance(0.6);
      this.joints.push({ name, type: 'free' });
      this.nq.push('free');
      if (free) return element('freejoint', { name, align: this.maybe(0.4, c.pick(['true', 'false', 'auto'])) });
      return element('joint', { name, type: 'free', class: this.class(), armature: this.maybe(0.2, '0.01'), damping: this.maybe(0.2, c.text(0, 1)), frictionloss: 0, stiffness: 0 });
    }
    const n = c.chance(0.15) ? 0 : c.chance(0.7) ? 1 : c.whole(2, 3);
    let text = '', turns = false;
    for (let k = 0; k < n; k++) {
      const type = !turns && k + 1 === n && c.chance(n > 1 ? 0.5 : 0.2) ? 'ball' : c.chance(0.7) ? 'hinge' : 'slide', name = this.name('j');
      const a = { name, type: type === 'hinge' && !this.jointTypeInClass ? this.maybe(0.5, type) : type, class: this.class(), pos: this.maybe(0.4, c.text(-0.1, 0.1, 3)), ...this.jointNumbers(type, false, n > 1), group: this.maybe(0.05, 1) };
      turns ||= type !== 'slide';
      this.joints.push({ name, type, range: a.range, limited: a.range && a.limited !== 'false' && (this.autolimits || a.limited === 'true') });
      this.nq.push(type);
      text += element('joint', a);
    }
    return text;
  }

  body(depth, worldChild) {
    const c = this.c, name = this.name('b');
    const a = { name, pos: c.text(-0.3, 0.3, 3), ...this.turn(), gravcomp: this.compiler.fusestatic ? undefined : this.maybe(0.25, c.text(0, 1.5)), childclass: this.class(0.2) };
    this.bodies.push(name);
    if (worldChild && c.chance(0.08)) {
      this.mocap++;
      return element('body', { ...a, mocap: 'true', gravcomp: undefined }, this.geom() + this.site());
    }
    let inside = this.jointsOf(depth, worldChild);
    if (this.inertiaFromGeom === 'auto' && c.chance(0.3)) inside += this.inertial();
    for (let n = c.whole(1, 3); n > 0; n--) inside += c.chance(0.15) ? this.frame(() => this.geom()) : this.geom();
    for (let n = c.whole(0, 2); n > 0; n--) inside += c.chance(0.2) ? this.frame(() => this.site()) : this.site();
    if (c.chance(0.15)) inside += this.camera();
    if (c.chance(0.05)) inside += element('light', { pos: '0 0 1', dir: '0 0 -1' });
    const children = depth > 4 ? 0 : c.chance(0.6) ? 1 : c.whole(0, 2);
    for (let n = children; n > 0 && this.bodies.length < 14; n--) inside += c.chance(0.15) ? this.frame(() => this.body(depth + 1, false)) : this.body(depth + 1, false);
    return element('body', a, inside);
  }

  frame(make) {
    const c = this.c, a = { pos: this.maybe(0.7, c.text(-0.2, 0.2, 3)), ...this.turn(), childclass: this.class(0.2), name: this.maybe(0.2, this.name('f')) };
    return element('frame', a, c.chance(0.2) ? this.frame(make) : make());
  }

  // bodies whose names are not used elsewhere, since every replica has its own
  replicate() {
    const c = this.c;
    const save = { bodies: this.bodies, joints: this.joints, geoms: this.geoms, sensed: this.sensed, sites: this.sites, cameras: this.cameras };
    Object.assign(this, { bodies: [], joints: [], geoms: [], sensed: [], sites: [], cameras: [] });
    this.replicas = true;
    const text = element('replicate', { count: c.whole(1, 4), offset: this.maybe(0.7, c.text(-0.3, 0.3, 3)), euler: this.maybe(0.6, this.angle(-1, 1, 3)), sep: this.maybe(0.3, '_') }, this.body(3, true));
    Object.assign(this, save);
    return text;
  }

  defaults() {
    const c = this.c;
    const inside = level => {
      let text = '';
      if (c.chance(0.6)) text += element('joint', this.jointNumbers('hinge', true));
      if (c.chance(0.5)) text += element('geom', { density: this.maybe(0.5, c.text(100, 2000)), friction: this.maybe(0.5, c.text(0.2, 1, c.whole(1, 3))), type: this.maybe(0.3, 'capsule'), group: this.maybe(0.2, c.whole(0, 3)), condim: this.maybe(0.3, 4), mass: this.maybe(0.1, c.text(0.1, 1)), fluidcoef: this.maybe(0.1, c.text(0.1, 1, 3)) });
      if (c.chance(0.3)) text += element('site', { size: c.text(0.01, 0.1, c.whole(1, 3)), group: 3 });
      if (c.chance(0.3)) text += element('mesh', { scale: c.text(0.5, 1.5, 3) });
      if (c.chance(0.3)) text += element('tendon', { stiffness: c.text(0, 5), damping: c.text(0, 1), frictionloss: this.maybe(0.5, c.text(0, 0.3)) });
      if (c.chance(0.2)) text += element('equality', { solref: '0.01 1' });
      if (c.chance(0.2)) text += element('pair', { condim: 3, friction: '0.5' });
      if (c.chance(0.6)) text += this.drives.inClass();
      return text;
    };
    const tree = level => {
      const name = this.name('d');
      const text = inside(level);
      this.classes.push(name);
      return element('default', { class: name }, text + (level < 3 && c.chance(0.5) ? tree(level + 1) : '') + ' ');
    };
    let text = c.chance(0.6) ? inside(0) : '';
    for (let n = c.whole(0, 2); n > 0; n--) text += tree(1);
    return element('default', { class: this.maybe(0.3, 'main') }, text + ' ');
  }

  assets() {
    const c = this.c;
    let text = '';
    for (let n = c.whole(0, 3); n > 0; n--) {
      const name = this.name('m'), a = { name, class: this.class(0.2), scale: this.maybe(0.4, c.chance(0.2) ? '-1 0.8 1.2' : c.text(0.5, 1.5, 3)), inertia: this.maybe(0.5, c.pick(['convex', 'exact', 'legacy', 'shell'])), refpos: this.maybe(0.3, c.text(-0.1, 0.1, 3)), refquat: this.maybe(0.3, c.text(-1, 1, 4)) };
      if (c.chance(0.25)) { // vertices are of single precision: other exponents round differently
        [a.builtin, a.params] = c.pick([['sphere', c.whole(0, 2)], ['hemisphere', c.whole(0, 4)], ['cone', `${c.whole(3, 9)} ${c.chance(0.3) ? 0 : c.text(0.1, 1)}`], ['supersphere', `${c.whole(3, 12)} ${c.pick([1, 2])} ${c.pick([1, 2])}`], ['supertorus', `${c.whole(3, 9)} ${c.text(0.1, 0.9)} ${c.pick([1, 2])} ${c.pick([1, 2])}`]]);
        a.scale = c.text(0.03, 0.12, 3);
      } else if (c.chance(0.5)) a.file = meshFile(c, this.meshPlace, name);
      else { a.vertex = VERTICES.split(' ').map(v => (Number(v) * c.real(0.8, 1.2)).toFixed(5)).join(' '); if (a.inertia && a.inertia !== 'convex') a.inertia = undefined; }
      if (a.file && c.chance(0.2)) a.name = undefined; // that of the file
      this.meshes.push(name);
      text += element('mesh', a);
    }
    return text && element('asset', {}, text);
  }

  settings() {
    const c = this.c;
    this.balance = c.chance(0.3);
    const flags = { gravity: 0.06, spring: 0.06, damper: 0.06, clampctrl: 0.06, actuation: 0.04, limit: 0.1, frictionloss: 0.1, contact: 0.1, equality: 0, constraint: 0, filterparent: 0.1 };
    const flag = {};
    for (const [k, p] of Object.entries(flags)) if (c.chance(p)) flag[k] = 'disable';
    const compiler = { angle: this.radian ? 'radian' : this.maybe(0.5, 'degree'), eulerseq: this.maybe(0.4, c.pick(['xyz', 'XYZ', 'zyx', 'ZYX', 'zxz', 'XZy', 'yXz'])), autolimits: this.autolimits ? undefined : 'false',
      inertiafromgeom: this.inertiaFromGeom === 'auto' ? this.maybe(0.3, 'auto') : this.inertiaFromGeom, balanceinertia: this.balance ? 'true' : undefined, boundmass: this.maybe(0.15, c.text(0.01, 0.3)), boundinertia: this.maybe(0.15, c.text(0.0001, 0.01)),
      settotalmass: this.maybe(0.15, c.text(2, 20)),
      inertiagrouprange: this.maybe(0.1, '0 3'), alignfree: this.maybe(0.2, 'true'), fitaabb: this.maybe(0.3, 'true'), meshdir: this.subfolder ? 'meshes' : undefined,
      discardvisual: this.maybe(0.15, 'true'), fusestatic: undefined, usethread: this.maybe(0.1, 'false') };
    this.compiler = compiler;
    this.fluid = c.chance(0.3);
    if (this.fluid) compiler.discardvisual = undefined; // air goes round all geoms that ask for it in frix
    else if (!compiler.settotalmass && c.chance(0.12)) compiler.fusestatic = 'true'; // air is that of single bodies, the total mass that of all
    const option = { timestep: this.maybe(0.5, c.text(0.001, 0.01)), gravity: this.maybe(0.4, c.text(-10, 10, 3)), integrator: this.maybe(0.4, c.pick(['Euler', 'implicitfast', 'implicit', 'RK4'])), cone: this.maybe(0.3, 'elliptic'), impratio: this.maybe(0.2, '10'),
      wind: this.fluid ? this.maybe(0.5, c.text(-1, 1, 3)) : undefined, density: this.fluid ? c.text(0.5, 20) : undefined, viscosity: this.fluid ? this.maybe(0.6, c.text(0, 0.5)) : undefined, magnetic: this.maybe(0.2, c.text(-1, 1, 3)), actuatorgroupdisable: this.maybe(0.15, c.pick(['2', '1 3'])) };
    return element('compiler', compiler) + element('option', option, Object.values(flag).some(v => v) ? element('flag', flag) : '');
  }

  contact() {
    const c = this.c;
    let text = '';
    const two = list => { const a = c.whole(0, list.length - 1), b = c.whole(0, list.length - 2); return [list[a], list[b >= a ? b + 1 : b]]; };
    for (let n = c.whole(0, 2); n > 0 && this.bodies.length > 1; n--) { const [a, b] = two(this.bodies); text += element('exclude', { body1: a, body2: b }); }
    for (let n = c.whole(0, 1); n > 0 && this.geoms.length > 1; n--) { const [a, b] = two(this.geoms); text += element('pair', { geom1: a.name, geom2: b.name, condim: this.maybe(0.5, 3), friction: this.maybe(0.5, '0.7 0.7'), margin: this.maybe(0.3, c.text(0, 0.01)), adhesion: this.maybe(0.2, c.text(0, 5)), class: this.class(0.3) }); }
    return text && element('contact', {}, text);
  }

  keyframes() {
    const c = this.c;
    if (this.replicas || this.drives.unsure || this.attached) return '';
    let text = '';
    for (let k = c.whole(0, 2); k > 0; k--) {
      const q = this.nq.flatMap(t => t === 'free' ? [c.text(-1, 1, 7)] : t === 'ball' ? [c.text(-1, 1, 4)] : [c.text(-0.5, 0.5)]).join(' ');
      const nv = this.nq.reduce((s, t) => s + (t === 'free' ? 6 : t === 'ball' ? 3 : 1), 0);
      text += element('key', { name: this.name('k'), qpos: this.maybe(0.8, q || undefined), qvel: nv ? this.maybe(0.4, c.text(-1, 1, nv)) : undefined, mpos: this.mocap ? this.maybe(0.4, c.text(-1, 1, 3 * this.mocap)) : undefined, mquat: this.mocap ? this.maybe(0.4, c.text(-1, 1, 4 * this.mocap)) : undefined, time: this.maybe(0.3, '0.5') });
    }
    return text && element('keyframe', {}, text);
  }

  // a part of the tree in a file of its own, once included and once attached
  parts() {
    const c = this.c, parts = { top: '', body: '' };
    if (c.chance(0.2)) {
      const text = `<mujocoinclude>${this.frame(() => this.body(2, true))}</mujocoinclude>`;
      writeFileSync(join(this.place, 'part.xml'), text);
      parts.body += element('include', { file: 'part.xml' });
    }
    if (c.chance(0.2)) {
      this.attached = true;
      const sub = `<mujoco model="sub"><compiler angle="${c.pick(['radian', 'degree'])}" eulerseq="${c.pick(['xyz', 'ZYX'])}"/><default><joint damping="0.3"/><default class="own"><joint armature="0.02" axis="1 0 1"/><geom density="700"/></default></default>
<worldbody><body name="arm" euler="0.3 0.2 0.1" childclass="own"><joint name="one" range="-1 1"/><geom name="bone" type="capsule" size="0.03 0.1"/><site name="mark" pos="0.1 0 0.1"/>
<body name="hand" pos="0 0.1 0.2"><joint name="two" axis="0 1 0"/><geom size="0.05" class="own"/></body></body></worldbody>
<tendon><fixed name="both"><joint joint="one" coef="1"/><joint joint="two" coef="-1"/></fixed></tendon>
<actuator><position name="servo" joint="one" kp="3"/><motor name="pull" tendon="both"/></actuator><sensor><jointpos name="felt" joint="two"/></sensor></mujoco>`;
      writeFileSync(join(this.place, 'sub.xml'), sub);
      parts.top += element('asset', {}, element('model', { name: 'sub', file: 'sub.xml' }));
      parts.body += this.frame(() => element('attach', { model: 'sub', body: this.maybe(0.8, 'arm'), prefix: c.pick(['x_', 'left-']) }));
    }
    return parts;
  }

  make() {
    const c = this.c;
    this.subfolder = c.chance(0.3);
    this.meshPlace = this.subfolder ? join(this.place, 'meshes') : this.place;
    if (this.subfolder) mkdirSync(this.meshPlace);
    this.drives = makeDrives(this);
    const settings = this.settings(), defaults = this.defaults(), assets = this.assets();
    let world = element('geom', { type: 'plane', size: '5 5 0.1', name: 'floor', pos: '0 0 -3', class: this.class(0.1), density: this.maybe(0.1, '500'), mass: undefined }) + this.site();
    this.ground = this.sites.length; // sites of the world stand first
    const parts = this.parts();
    if (c.chance(0.2)) world += parts.body, parts.body = '';
    for (let n = c.whole(1, 3); n > 0; n--) world += c.chance(0.15) ? this.frame(() => this.body(0, true)) : this.body(0, true);
    if (c.chance(0.2)) world += this.replicate();
    world += parts.body;
    const rest = this.contact() + this.drives.sections() + this.keyframes();
    return `<mujoco model="random ${this.seed}">\n${settings}${parts.top}${defaults}${assets}${element('worldbody', {}, world)}${rest}</mujoco>\n`;
  }
}

for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const place = join(folder, String(seed));
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'model.xml'), new Maker(seed, place).make());
}
