/* Runs that were never simulated, as pages: to look at the page itself, at any size. Writes the layout that
 * src/payload.js reads, independently of app/page_*.c. */

const TYPES = { u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };
const PIECE = 3 << 20;
const SERIES = ['residual', 'contacts', 'stick', 'slip', 'open', 'penetration', 'iterations', 'kinetic', 'potential', 'friction', 'impact', 'work', 'damping', 'joint', 'contact', 'scheme', 'error'];
export const WORLD = 0xffffffff;

class Bytes {
  constructor() {
    this.parts = [];
    this.count = 0;
    this.columns = {};
  }

  put(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.parts.push(bytes);
    this.count += bytes.length;
  }

  align() {
    this.put(new Uint8Array(-this.count & 7));
    return this.count;
  }

  column(name, type, values) {
    const array = values instanceof TYPES[type] ? values : TYPES[type].from(values);
    this.columns[name] = [type, this.align(), array.length];
    this.put(array);
  }

  text(name, value) {
    this.column(name, 'u8', new TextEncoder().encode(value));
  }

  scripts() {
    const all = Buffer.concat(this.parts);
    const out = [];
    for (let at = 0; at < all.length; at += PIECE) out.push(`<script type="text/plain" class="frix-bytes">${all.subarray(at, at + PIECE).toString('base64')}</script>\n`);
    return out.join('');
  }
}

/**
 * @param {string} template of web/build.mjs
 * @param {object} run
 *   name, gravity, bodies [{name, kind, mass, pose}], shapes [{body, kind, size, geometry, pose}],
 *   geometries [{points, triangles}], frames [{time, position, turn, contacts: [{point, force, gap, mu, margin, a, b, normal, state}]}]
 */
export function makePage(template, run) {
  const bytes = new Bytes();
  const at0 = [0, 0, 0, 0, 0, 0, 1];
  bytes.text('run.meta', JSON.stringify({ scene: run.name, note: '</script><b>not HTML</b>' }));
  bytes.text('run.file', `${run.name}.frx`);
  bytes.column('body.kind', 'u8', run.bodies.map((b) => b.kind ?? 0));
  bytes.column('body.mass', 'f32', run.bodies.map((b) => b.mass ?? 1));
  bytes.column('body.pose', 'f32', run.bodies.flatMap((b) => b.pose ?? at0));
  bytes.text('body.names', run.bodies.map((b) => b.name).join('\n'));
  bytes.column('shape.kind', 'u8', run.shapes.map((s) => s.kind));
  bytes.column('shape.body', 'i32', run.shapes.map((s) => s.body));
  bytes.column('shape.geometry', 'i32', run.shapes.map((s) => s.geometry ?? -1));
  bytes.column('shape.size', 'f32', run.shapes.flatMap((s) => s.size ?? [0, 0, 0]));
  bytes.column('shape.pose', 'f32', run.shapes.flatMap((s) => s.pose ?? at0));
  (run.geometries ?? []).forEach(({ points, triangles }, k) => {
    bytes.column(`geometry.${k}.points`, 'f32', points);
    bytes.column(`geometry.${k}.triangles`, 'u32', triangles);
  });
  for (const name of ['soft.first', 'soft.like']) bytes.column(name, 'i32', []);
  putFrames(bytes, run);
  const index = {
    format: 'frix-replay', version: 1, made_by: 'check', bytes: bytes.count, coarse: false, truncated: false, h: 0.01, tolerance: 1e-8,
    solver: 'auto', integrator: 'moreau', frames_in_file: run.frames.length, steps: run.frames.length - 1, certified: run.frames.length - 1,
    approximate: 0, penetration: 0, worst: { residual: 1e-9, step: 1, time: 0.01 }, gravity: run.gravity ?? [0, 0, -9.81], columns: bytes.columns,
  };
  const payload = `${bytes.scripts()}<script type="application/json" id="frix-index">${JSON.stringify(index)}</script>\n`;
  return template.replace('@PAYLOAD@', () => payload);
}

function putFrames(bytes, { bodies, frames }) {
  const moving = bodies.map((b, k) => (b.kind === 2 ? -1 : k)).filter((k) => k >= 0);
  const poses = [];
  const contacts = [];
  for (const frame of frames) {
    poses.push(bytes.align());
    bytes.put(Float32Array.from(frame.position));
    bytes.put(new Float32Array(moving.length).fill(0.5));
    bytes.put(Int16Array.from(frame.turn, (x) => Math.round(32767 * x)));
    contacts.push(bytes.align());
    const list = frame.contacts;
    const put = (Type, of) => bytes.put(Type.from(list.flatMap(of)));
    put(Float32Array, (c) => [...c.point]);
    put(Float32Array, (c) => c.force);
    for (const name of ['gap', 'mu', 'margin', 'slip']) put(Float32Array, (c) => c[name] ?? 0);
    put(Uint32Array, (c) => c.a);
    put(Uint32Array, (c) => c.b);
    put(Uint32Array, (_, i) => i);
    put(Int16Array, (c) => c.normal.map((x) => Math.round(32767 * x)));
    put(Uint8Array, (c) => c.state);
  }
  const n = frames.length;
  bytes.column('slot.pattern', 'u32', moving);
  bytes.column('list.start', 'u32', [0, moving.length]);
  bytes.column('list.slot', 'u32', moving.map((_, k) => k));
  bytes.column('gone.start', 'u32', [0, 0]);
  bytes.column('gone.body', 'u32', []);
  for (const name of ['frame.list', 'frame.gone']) bytes.column(name, 'u32', new Uint32Array(n));
  bytes.column('frame.amplitudes', 'f32', []);
  bytes.column('frame.time', 'f64', frames.map((f) => f.time));
  bytes.column('frame.step', 'f64', frames.map((_, k) => k));
  bytes.column('frame.poses', 'f64', poses);
  bytes.column('frame.contacts', 'f64', contacts);
  bytes.column('frame.contacts_kept', 'u32', frames.map((f) => f.contacts.length));
  for (const name of SERIES) bytes.column(`series.${name}`, 'f32', frames.map((f, k) => (name === 'residual' ? 1e-9 * (1 + (k % 7)) : name === 'contacts' ? f.contacts.length : k)));
}

/* ---- runs */

const turned = (angle) => [Math.sin(angle / 2), 0, 0, Math.cos(angle / 2)];

/** Every shape in space, in a row, turning; contacts of all states below them. */
export function everyShape() {
  const tetra = { points: [0, 0, 0.6, 0.5, 0, -0.3, -0.3, 0.4, -0.3, -0.3, -0.4, -0.3], triangles: [0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2] };
  const field = { points: [-1, -1, 0, 1, -1, 0.2, -1, 1, 0.2, 1, 1, 0], triangles: [0, 1, 3, 0, 3, 2] };
  const kinds = [[0, [0.5, 0, 0]], [1, [0.3, 0.4, 0]], [2, [0.5, 0.4, 0.3]], [3, [0.4, 0.4, 0]], [4, [0.6, 0.4, 0.3]], [6, null, 0], [7, null, 0]];
  const bodies = kinds.map(([kind], k) => ({ name: k === 0 ? 'first <b>' : `body ${k}`, mass: k + 1, kind: kind === 7 ? 1 : 0 }));
  bodies.push({ name: 'ground', kind: 2, pose: [0, 3, 0, 0, 0, 0, 1] });
  const shapes = kinds.map(([kind, size, geometry], body) => ({ body, kind, size: size ?? [0, 0, 0], geometry }));
  shapes.push({ body: -1, kind: 5 }, { body: kinds.length, kind: 8, geometry: 1 });
  const frames = Array.from({ length: 40 }, (_, f) => ({
    time: 0.05 * f,
    position: kinds.flatMap((_, k) => [1.5 * (k - 3), 0, 0.8 + 0.3 * Math.sin(0.3 * f + k)]),
    turn: kinds.flatMap((_, k) => turned(0.1 * f + k)),
    contacts: kinds.map((_, k) => ({ point: [1.5 * (k - 3), 0, 0.1], force: [2, 0, 9.81 * (1 + k)], gap: -1e-6, mu: 0.5, margin: 0.4, a: k, b: WORLD, normal: [0, 0, 1], state: k % 3 })),
  }));
  return { name: 'shapes', bodies, shapes, geometries: [tetra, field], frames };
}

/** Every flat shape on a half plane. */
export function everyFlatShape() {
  const polygon = { points: [0.5, 0, 0, 0, 0.5, 0, -0.5, -0.3, 0, 0.4, -0.4, 0], triangles: [] };
  const kinds = [[9, [0.4, 0, 0]], [10, [0.5, 0.3, 0]], [11, [0.5, 0.3, 0]], [12, [0, 0, 0], 0]];
  const frames = Array.from({ length: 20 }, (_, f) => ({
    time: 0.05 * f,
    position: kinds.flatMap((_, k) => [1.2 * k, 0.5 + 0.02 * f, 0]),
    turn: kinds.flatMap((_, k) => [0, 0, Math.sin(0.05 * f + k), Math.cos(0.05 * f + k)]),
    contacts: kinds.map((_, k) => ({ point: [1.2 * k, 0, 0], force: [1, 9, 0], mu: 0.3, margin: 1, a: k, b: WORLD, normal: [0, 1, 0], state: 2 })),
  }));
  return {
    name: 'flat', gravity: [0, -9.81, 0], geometries: [polygon], frames,
    bodies: kinds.map((_, k) => ({ name: `piece ${k}` })),
    shapes: [...kinds.map(([kind, size, geometry], body) => ({ body, kind, size, geometry })), { body: -1, kind: 13 }],
  };
}

/** A block of many spheres that sinks, with contacts between neighbours. @param {number} count @param {number} [contacts] */
export function manySpheres(count, contacts = 0) {
  const side = Math.ceil(Math.cbrt(count));
  const frame = (f) => {
    const position = new Float32Array(3 * count);
    const turn = new Float32Array(4 * count);
    for (let i = 0; i < count; i++) {
      position[3 * i] = (i % side) - side / 2;
      position[3 * i + 1] = (Math.floor(i / side) % side) - side / 2;
      position[3 * i + 2] = Math.floor(i / (side * side)) * (1 - 0.1 * f) + 0.5;
      turn[4 * i + 3] = 1;
    }
    const touch = Array.from({ length: contacts }, (_, k) => {
      const a = k % (count - 1);
      return { point: position.subarray(3 * a, 3 * a + 3), force: [0, 0, 1 + (k % 7)], mu: 0.5, margin: 0.3, a, b: a + 1, normal: [0, 0, 1], state: k % 3 };
    });
    return { time: 0.1 * f, position, turn, contacts: touch };
  };
  return {
    name: 'pile',
    bodies: Array.from({ length: count }, () => ({ name: '' })),
    shapes: [...Array.from({ length: count }, (_, body) => ({ body, kind: 0, size: [0.5, 0, 0] })), { body: -1, kind: 5 }],
    frames: [frame(0), frame(1)],
  };
}
