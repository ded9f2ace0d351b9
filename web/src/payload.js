/* What a run brings along: an index (JSON) and one long row of bytes, cut into base64 pieces so that no string gets too
 * long for the browser. app/page.c writes it; every column is little-endian and starts at a multiple of 8. */

/**
 * @typedef {object} Poses      where the bodies of one frame are
 * @property {number} count
 * @property {Uint32Array} slot     which body stands in row i
 * @property {Float32Array} position 3 per row
 * @property {Float32Array} turn    quaternions x y z w, 4 per row
 * @property {Float32Array|null} speed null in coarse pages
 * @property {Uint32Array} gone  static bodies that were taken away
 * @property {Float32Array} [amplitude]  of soft bodies
 *
 * @typedef {object} Contacts
 * @property {number} count
 * @property {Float32Array} point @property {Float32Array} force @property {Float32Array} gap
 * @property {Float32Array} mu @property {Float32Array} margin @property {Float32Array} slip
 * @property {Uint32Array} a @property {Uint32Array} b  slot; STATIC + body of the model; WORLD
 * @property {Uint32Array} id @property {Int16Array} normal @property {Uint8Array} state
 */

import { contactsAt, posesAt } from './frame_bytes.js';
import { inflate, unpack } from './unpack.js';

export const WORLD = 0xffffffff;
export const STATIC = 0x80000000;
export const STATES = ['open', 'stick', 'slip'];

const TYPES = { u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };

/** @param {string} text base64 @returns {Uint8Array} */
export function decode(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
  return out;
}

/* Packed pieces, one after the other. */
async function readPacked(page, index, parts, progress) {
  const pieces = [...page.querySelectorAll('script.frix-packed')];
  const streams = [];
  for (const piece of pieces) {
    streams.push(await inflate(decode(piece.textContent.trim())));
    piece.remove();
    progress((0.7 * streams.length) / pieces.length);
  }
  const stream = new Uint8Array(streams.reduce((sum, part) => sum + part.length, 0));
  streams.reduce((at, part) => (stream.set(part, at), at + part.length), 0);
  return unpack(index, parts, stream);
}

/** Reads the page's own script elements. @param {Document} page @param {(part: number) => void} progress */
export async function readPayload(page, progress) {
  const index = JSON.parse(page.getElementById('frix-index').textContent);
  if (index.format !== 'frix-replay' || index.version !== 1) throw new Error(`unknown payload ${index.format} ${index.version}`);
  const packed = page.getElementById('frix-packed');
  if (packed) return new Replay(index, await readPacked(page, index, JSON.parse(packed.textContent), progress));
  const bytes = new Uint8Array(index.bytes);
  let at = 0;
  let rested = performance.now();
  for (const piece of page.querySelectorAll('script.frix-bytes')) {
    const part = decode(piece.textContent.trim());
    bytes.set(part, at);
    at += part.length;
    piece.remove();
    if (performance.now() - rested > 100) {
      progress(at / index.bytes);
      await new Promise((done) => setTimeout(done));
      rested = performance.now();
    }
  }
  if (at !== index.bytes) throw new Error(`the page is incomplete: ${at} of ${index.bytes} bytes`);
  return new Replay(index, bytes.buffer);
}

/* What is known about the run; nothing where the text is no JSON object. */
function parsed(text) {
  try {
    const out = JSON.parse(text);
    return out && typeof out === 'object' && !Array.isArray(out) ? out : {};
  } catch {
    return {};
  }
}

/* Names of the joints and actuators whose numbers each frame has; none where they do not fit. */
function mechanismOf({ mechanism }, wide) {
  const { joints, actuators } = mechanism ?? {};
  const fits = Array.isArray(joints) && Array.isArray(actuators) && 3 * joints.length + actuators.length === wide;
  return fits ? { joints, actuators } : { joints: [], actuators: [] };
}

/** Bodies, shapes and names: what a run and a live world have in common. */
export class ModelView {
  /** @param {any} index @param {ArrayBuffer} buffer */
  constructor(index, buffer) {
    this.index = index;
    this.buffer = buffer;
    this.names = this.text('body.names').split('\n');
    this.bodyKind = this.column('body.kind');
    this.bodyMass = this.column('body.mass');
    this.bodyPose = this.column('body.pose');
    this.slotPattern = new Uint32Array(0);
    this.slotCount = 0;
  }

  /** @param {string} name */
  column(name) {
    const row = this.index.columns[name];
    if (!row) throw new Error(`no column ${name}`);
    return new TYPES[row[0]](this.buffer, row[1], row[2]);
  }

  /** @param {string} name */
  text(name) {
    return new TextDecoder().decode(this.column(name));
  }

  /** Body of the model behind an end of a contact, -1 for the world. @param {number} end */
  bodyOf(end) {
    if (end === WORLD) return -1;
    return end >= STATIC ? end - STATIC : this.slotPattern[end];
  }

  /** Whether an end of a contact is a dynamic body. @param {number} end */
  moves(end) {
    return end < STATIC && this.bodyKind[this.slotPattern[end]] === 0;
  }

  /** @param {number} end */
  nameOf(end) {
    const body = this.bodyOf(end);
    if (body < 0) return 'world';
    const name = this.names[body] || `body ${body + 1}`;
    const copy = end < STATIC ? this.copyNumber(end) : 0;
    return copy ? `${name} #${copy}` : name;
  }

  /* Spawned bodies share a pattern and are told apart by number. */
  copyNumber(slot) {
    if (!this.copies) {
      const seen = new Map();
      this.copies = new Uint32Array(this.slotCount);
      for (let s = 0; s < this.slotCount; s++) {
        const n = seen.get(this.slotPattern[s]) ?? 0;
        this.copies[s] = n;
        seen.set(this.slotPattern[s], n + 1);
      }
    }
    return this.copies[slot];
  }
}

export class Replay extends ModelView {
  /** @param {any} index @param {ArrayBuffer} buffer */
  constructor(index, buffer) {
    super(index, buffer);
    this.file = this.text('run.file');
    this.meta = parsed(this.text('run.meta'));
    this.time = this.column('frame.time');
    this.step = this.column('frame.step');
    this.frameCount = this.time.length;
    this.slotPattern = this.column('slot.pattern');
    this.slotCount = this.slotPattern.length;
    this.lists = this.column('frame.list');
    this.listStart = this.column('list.start');
    this.listSlot = this.column('list.slot');
    this.goneList = this.column('frame.gone');
    this.goneStart = this.column('gone.start');
    this.goneBody = this.column('gone.body');
    this.poseAt = this.column('frame.poses');
    this.contactAt = this.column('frame.contacts');
    this.contactKept = this.column('frame.contacts_kept');
    this.amplitudes = this.column('frame.amplitudes');
    this.robotNumbers = this.index.columns['frame.robot'] ? this.column('frame.robot') : new Float32Array(0);
    this.mechanism = mechanismOf(this.meta, this.robotNumbers.length / this.frameCount);
    this.mostContacts = this.contactKept.reduce((a, b) => Math.max(a, b), 0);
  }

  /** Last frame at or before a time. @param {number} t */
  frameAt(t) {
    let low = 0;
    let high = this.frameCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** @param {number} k @returns {Poses} */
  poses(k) {
    const list = this.lists[k];
    const slot = this.listSlot.subarray(this.listStart[list], this.listStart[list + 1]);
    const gone = this.goneBody.subarray(this.goneStart[this.goneList[k]], this.goneStart[this.goneList[k] + 1]);
    const wide = this.amplitudes.length / this.frameCount;
    const amplitude = this.amplitudes.subarray(k * wide, (k + 1) * wide);
    return { gone, amplitude, ...(this.index.coarse ? this.coarsePoses(this.poseAt[k], slot) : posesAt(this.buffer, this.poseAt[k], slot)) };
  }

  /* Positions in 1/65535 of the frame's box; of a turn the three smaller components, ten bits each. */
  coarsePoses(at, slot) {
    const n = slot.length;
    const box = new Float32Array(this.buffer, at, 6);
    const packed = new Uint32Array(this.buffer, at + 24, n);
    const place = new Uint16Array(this.buffer, at + 24 + 4 * n, 3 * n);
    const position = new Float32Array(3 * n);
    const turn = new Float32Array(4 * n);
    for (let i = 0; i < 3 * n; i++) position[i] = box[i % 3] + (place[i] * box[3 + (i % 3)]) / 65535;
    const scale = Math.SQRT1_2 / 511;
    for (let i = 0; i < n; i++) {
      const largest = packed[i] & 3;
      let rest = 1;
      for (let c = 0, shift = 2; c < 4; c++) {
        if (c === largest) continue;
        const value = (((packed[i] >>> shift) & 1023) - 511) * scale;
        turn[4 * i + c] = value;
        rest -= value * value;
        shift += 10;
      }
      turn[4 * i + largest] = Math.sqrt(Math.max(0, rest));
    }
    return { count: n, slot, position, speed: null, turn };
  }

  /** Numbers of the robot: position, velocity and actuators' force of each hinge and slide, then the force of each actuator. @param {number} k */
  robot(k) {
    const wide = this.robotNumbers.length / this.frameCount;
    return this.robotNumbers.subarray(k * wide, (k + 1) * wide);
  }

  /** @param {number} k @returns {Contacts} */
  contacts(k) {
    return contactsAt(this.buffer, this.contactAt[k], this.contactKept[k]);
  }
}
