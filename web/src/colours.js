/* Colours of bodies by what they are or do, the same as in pictures of frix render (app/tones.c). The scale runs from dark blue over
 * green to yellow (as viridis), which colour-blind eyes read too; stick and slip have the colours of contacts. */
import * as THREE from 'three';
import { number } from './text.js';

const RAMP_TEXT = ['#3b4a8c', '#2f7e8e', '#35b779', '#a5db36', '#fde725'];
const RAMP = RAMP_TEXT.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255));
const NAMES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#7f7f7f'].map((text) => new THREE.Color(text));
const STATE = { open: new THREE.Color('#8a94a3'), stick: new THREE.Color('#1f6fd1'), slip: new THREE.Color('#e0631b') };

/** @param {number} part 0 .. 1 */
function ramp(part) {
  const at = Math.max(0, Math.min(1, part || 0)) * (RAMP.length - 1);
  const k = Math.min(RAMP.length - 2, Math.floor(at));
  const mixed = RAMP[k].map((low, c) => low + (at - k) * (RAMP[k + 1][c] - low));
  return new THREE.Color().setRGB(...mixed, THREE.SRGBColorSpace);
}

const LOOKS = 9; /* frames, evenly spread over the run, whose largest speed and force are the ends of the scales */

/* The sum of forces on every slot, and the last of open, stick, slip among its contacts. */
function addContacts(replay, contacts) {
  const sum = new Float32Array(replay.slotCount);
  const state = new Uint8Array(replay.slotCount);
  for (let i = 0; i < contacts.count; i++) {
    const size = Math.hypot(contacts.force[3 * i], contacts.force[3 * i + 1], contacts.force[3 * i + 2]);
    for (const end of [contacts.a[i], contacts.b[i]]) {
      if (!replay.moves(end)) continue;
      sum[end] += size;
      state[end] = Math.max(state[end], contacts.state[i]);
    }
  }
  return { sum, state };
}

const largest = (list, least) => list.reduce((a, b) => Math.max(a, b), least);

/* Scales hold for the whole run, so that its frames can be compared. */
function ends(replay) {
  const out = { speed: 0, force: 0 };
  for (let k = 0; k < LOOKS; k++) {
    const at = Math.floor(((replay.frameCount - 1) * k) / (LOOKS - 1));
    out.speed = largest(replay.poses(at).speed ?? [], out.speed);
    out.force = largest(addContacts(replay, replay.contacts(at)).sum, out.force);
  }
  return out;
}

/** What the colours of a mode mean: a scale, or names with their colours; null where there is nothing to tell.
 * @param {string} mode @param {import('./payload.js').Replay} replay @returns {{scale: string[], from: string, to: string}|{names: [string, string][]}|null} */
export function legendOf(mode, replay) {
  const scale = (from, to, unit) => ({ scale: RAMP_TEXT, from: number(from), to: number(to, unit) });
  if (mode === 'size') return scale(...sizeRange(replay), 'm');
  if (mode === 'speed') return scale(0, (replay.ends ??= ends(replay)).speed, 'm/s');
  if (mode === 'force') return scale(0, (replay.ends ??= ends(replay)).force, 'N');
  if (mode === 'name') return { names: stemsOf(replay).slice(0, 8).map((name, k) => [name || 'body', `#${NAMES[k % NAMES.length].getHexString()}`]) };
  return null;
}

const stemsOf = (replay) => (replay.stems ??= [...new Set(replay.names.map(stem))]);

/* Least and largest size of what forces move. */
function sizeRange(replay) {
  const all = (replay.sizes ??= sizes(replay));
  const seen = [...new Set(replay.slotPattern)].filter((body) => replay.bodyKind[body] === 0).map((body) => all[body]);
  return [Math.min(...seen), Math.max(...seen)];
}

/* Largest side of the shapes of each body. */
function sizes(replay) {
  const body = replay.column('shape.body');
  const size = replay.column('shape.size');
  const out = new Float32Array(replay.bodyKind.length);
  body.forEach((b, s) => b >= 0 && (out[b] = Math.max(out[b], size[3 * s], size[3 * s + 1], size[3 * s + 2])));
  return out;
}

/** pebble_12 and pebble_7 are of one kind. */
const stem = (name) => name.replace(/[_#\s-]*\d+.*$/, '');

/** Colour of a slot in a mode; null: bodies one after the other.
 * @param {string} mode @param {import('./payload.js').Replay} replay @param {import('./payload.js').Poses} poses @param {import('./payload.js').Contacts} contacts */
export function toneOf(mode, replay, poses, contacts) {
  const { slotPattern } = replay;
  if (mode === 'size') {
    const [low, high] = sizeRange(replay);
    const all = replay.sizes;
    return (slot) => ramp(high > low ? (all[slotPattern[slot]] - low) / (high - low) : 0.5);
  }
  if (mode === 'name') {
    const stems = stemsOf(replay);
    return (slot) => NAMES[stems.indexOf(stem(replay.names[slotPattern[slot]] ?? '')) % NAMES.length];
  }
  if (mode === 'speed' && poses.speed) {
    const top = (replay.ends ??= ends(replay)).speed || 1;
    const of = new Map(Array.from(poses.slot, (slot, i) => [slot, poses.speed[i] / top]));
    return (slot) => ramp(Math.sqrt(of.get(slot) ?? 0));
  }
  if (mode === 'force' || mode === 'state') {
    const { sum, state } = addContacts(replay, contacts);
    if (mode === 'state') return (slot) => [STATE.open, STATE.stick, STATE.slip][state[slot]];
    const top = (replay.ends ??= ends(replay)).force || 1;
    return (slot) => ramp(Math.sqrt(sum[slot] / top));
  }
  return null;
}
