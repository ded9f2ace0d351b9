/* Colours of bodies by what they are or do. The scale runs from dark blue over green to yellow (as viridis), which
 * colour-blind eyes read too; stick and slip have the colours of contacts. */
import * as THREE from 'three';

const RAMP = ['#3b4a8c', '#2f7e8e', '#35b779', '#a5db36', '#fde725'].map((text) => new THREE.Color(text));
const NAMES = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#7f7f7f'].map((text) => new THREE.Color(text));
const STATE = { open: new THREE.Color('#8a94a3'), stick: new THREE.Color('#1f6fd1'), slip: new THREE.Color('#e0631b') };

/** @param {number} part 0 .. 1 */
function ramp(part) {
  const at = Math.max(0, Math.min(1, part || 0)) * (RAMP.length - 1);
  const k = Math.min(RAMP.length - 2, Math.floor(at));
  return RAMP[k].clone().lerp(RAMP[k + 1], at - k);
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
    const all = (replay.sizes ??= sizes(replay));
    const seen = [...new Set(slotPattern)].map((body) => all[body]);
    const [low, high] = [Math.min(...seen), Math.max(...seen)];
    return (slot) => ramp(high > low ? (all[slotPattern[slot]] - low) / (high - low) : 0.5);
  }
  if (mode === 'name') {
    const stems = (replay.stems ??= [...new Set(replay.names.map(stem))]);
    return (slot) => NAMES[stems.indexOf(stem(replay.names[slotPattern[slot]] ?? '')) % NAMES.length];
  }
  if (mode === 'speed' && poses.speed) {
    const top = poses.speed.reduce((a, b) => Math.max(a, b), 1e-9);
    const of = new Map(Array.from(poses.slot, (slot, i) => [slot, poses.speed[i] / top]));
    return (slot) => ramp(Math.sqrt(of.get(slot) ?? 0));
  }
  if (mode === 'force' || mode === 'state') {
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
    if (mode === 'state') return (slot) => [STATE.open, STATE.stick, STATE.slip][state[slot]];
    const top = sum.reduce((a, b) => Math.max(a, b), 1e-12);
    return (slot) => ramp(Math.sqrt(sum[slot] / top));
  }
  return null;
}
