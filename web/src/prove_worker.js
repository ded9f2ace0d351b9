/* Runs the run of a page again, with the core that the page carries, and compares what it finds with what the page shows:
 * the state's hash and every byte of poses and contacts, frame by frame; at the end how many steps are certified. */
import { loadCore } from './core.js';
import { Replay } from './payload.js';

const post = (type, data = {}) => self.postMessage({ type, ...data });

/* Bytes of one body and one contact, as app/page_frames.c writes them. */
const FINE_BODY = 24;
const COARSE_BODY = 10;
const COARSE_HEAD = 24;
const CONTACT = 59;

/** Where two rows of bytes first differ, -1 where they do not. */
function firstDifference(a, ai, b, bi, count) {
  for (let k = 0; k < count; k++) if (a[ai + k] !== b[bi + k]) return k;
  return -1;
}

const hex = (low, high) => high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');

/* The model's columns, byte by byte. */
function modelDifference(world, replay, bytes) {
  const { index, buffer } = world.model();
  const own = new Uint8Array(buffer);
  for (const [name, [type, at, count]] of Object.entries(index.columns)) {
    const shown = replay.index.columns[name];
    const size = { u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, f32: 4, f64: 8 }[type] * count;
    if (!shown || shown[2] !== count || firstDifference(own, at, bytes, shown[1], size) >= 0) return name;
  }
  return null;
}

function frameDifference(world, replay, bytes, k) {
  const hash = replay.column('frame.hash');
  const wanted = hex(hash[2 * k], hash[2 * k + 1]);
  const found = world.hash;
  if (found !== wanted) return { what: 'the state', wanted, found };
  const f = JSON.parse(world.text('core_frame'));
  const heap = world.core.module.HEAPU8;
  const { count } = replay.poses(k);
  const size = replay.index.coarse ? COARSE_HEAD + COARSE_BODY * f.body_count : FINE_BODY * f.body_count;
  if (count !== f.body_count || firstDifference(heap, f.poses, bytes, replay.poseAt[k], size) >= 0) return { what: 'a pose that the page shows' };
  if (replay.contactKept[k] !== f.contact_count || firstDifference(heap, f.contacts, bytes, replay.contactAt[k], CONTACT * f.contact_count) >= 0)
    return { what: 'a contact that the page shows' };
  return null;
}

async function prove({ wasm, index, buffer }) {
  const core = await loadCore(self.frixCore, wasm);
  const replay = new Replay(index, buffer);
  const bytes = new Uint8Array(buffer);
  if (replay.step[0] !== 0) throw new Error('the first frame is not the start of the run, so it cannot be run again from here');
  const world = core.open(replay.text('proof.words').split('\n'), replay.column('proof.model'));
  core.module._core_layout(world.at, Number(index.coarse), Number(index.rounded));
  const column = modelDifference(world, replay, bytes);
  if (column) return post('differs', { frame: 0, step: 0, time: 0, what: `the model (${column})` });
  let steps = 0;
  let told = 0;
  let state = null;
  for (let k = 0; k < replay.frameCount; k++) {
    for (; steps < replay.step[k]; steps++) world.step();
    const difference = frameDifference(world, replay, bytes, k);
    if (difference) return post('differs', { frame: k, step: replay.step[k], time: replay.time[k], ...difference });
    if (performance.now() - told > 50 || k === replay.frameCount - 1) {
      told = performance.now();
      state = JSON.parse(world.text('core_frame')).state;
      post('progress', { frame: k, step: steps, certified: state.certified_steps, worst: state.worst });
    }
  }
  if (index.frames_in_file === replay.frameCount && state.certified_steps !== index.certified)
    return post('differs', { frame: replay.frameCount - 1, step: steps, time: replay.time.at(-1), what: `the verdict: ${state.certified_steps} certified steps, the page says ${index.certified}` });
  post('proved', { steps, frames: replay.frameCount, certified: state.certified_steps, worst: state.worst, hash: world.hash });
}

self.onmessage = ({ data }) => prove(data).catch((error) => post('failed', { text: error.message }));
