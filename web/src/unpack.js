/* The way back from packed pages (app/page_pack.c): frames as differences to the frame before become the row of bytes that
 * the index speaks of. */

/** @param {Uint8Array} packed @returns {Promise<Uint8Array>} */
export async function inflate(packed) {
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer());
}

const ARRAYS = { 4: Uint32Array, 2: Uint16Array, 1: Uint8Array };

/** Reads one field of frame after frame. step 0: words as they are; else floats that are multiples of step. */
class Field {
  constructor(bytes, at, step) {
    this.bytes = bytes;
    this.at = at;
    this.step = step;
    this.last = null;
    this.earlier = null;
  }

  /* Words of one field: cut into bytes, folded, less those of the frame before. like: which thing of it, -1: none; null:
   * the one in its place. twice: less those that two frames before promise. */
  words(n, width, size, like, twice) {
    const count = n * width;
    const { bytes, at, last, earlier } = this;
    const out = new ARRAYS[size](count);
    for (let k = 0; k < count; k++) {
      let d = 0;
      for (let b = 0; b < size; b++) d |= bytes[at + b * count + k] << (8 * b);
      const plain = d & 1 ? ~(d >>> 1) : d >>> 1;
      const from = !last ? -1 : !like ? k : like[(k / width) | 0] < 0 ? -1 : like[(k / width) | 0] * width + (k % width);
      out[k] = from < 0 ? plain : plain + (twice ? 2 * last[from] - earlier[from] : last[from]);
    }
    this.at += count * size;
    this.earlier = this.last;
    this.last = out;
    return out;
  }

  /* The same, written to a place of the buffer. */
  take(buffer, place, n, [width, size], like, twice) {
    const words = this.words(n, width, size, like, twice && this.step > 0);
    if (!this.step) return void new ARRAYS[size](buffer, place, words.length).set(words);
    const out = new Float32Array(buffer, place, words.length);
    for (let k = 0; k < words.length; k++) out[k] = (words[k] | 0) * this.step;
  }

  /* The next frame is like no other. */
  forget() {
    this.last = this.earlier = null;
  }
}

const FIELDS = [[3, 4], [3, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [3, 2], [1, 1]];
const POSES = [[3, 4], [1, 4], [4, 2]];

function takeGroup(fields, plan, buffer, at, n, like, twice) {
  let place = at;
  plan.forEach((layout, k) => {
    fields[k].take(buffer, place, n, layout, like, twice);
    place += n * layout[0] * layout[1];
  });
}

/** @param {any} index @param {{head: number, tail: number, streams: number[], steps: number[]}} parts @param {Uint8Array} stream @returns {ArrayBuffer} */
export function unpack(index, { head, tail, streams, steps }, stream) {
  const bytes = new Uint8Array(index.bytes);
  const { buffer } = bytes;
  const rest = index.bytes - tail;
  bytes.set(stream.subarray(0, head));
  bytes.set(stream.subarray(head, head + rest), tail);
  const column = (name, Type) => new Type(buffer, index.columns[name][1], index.columns[name][2]);
  const poseAt = column('frame.poses', Float64Array);
  const contactAt = column('frame.contacts', Float64Array);
  const kept = column('frame.contacts_kept', Uint32Array);
  const lists = column('frame.list', Uint32Array);
  const start = column('list.start', Uint32Array);
  let from = head + rest;
  const fields = streams.map((size, k) => {
    from += size;
    return new Field(stream, from - size, steps[k]);
  });
  const [poses, links, contacts] = [fields.slice(0, 3), fields[3], fields.slice(4)];
  for (let k = 0; k < poseAt.length; k++) {
    const n = start[lists[k] + 1] - start[lists[k]];
    const same = k > 0 && lists[k] === lists[k - 1];
    const twice = same && k > 1 && lists[k] === lists[k - 2];
    if (!same) poses.forEach((field) => field.forget());
    takeGroup(poses, POSES, buffer, poseAt[k], n, null, twice);
    const m = kept[k];
    links.forget();
    const jump = links.words(m, 1, 4, null, false);
    const like = new Int32Array(m);
    let last = 0;
    for (let i = 0; i < m; i++) {
      last = (last + 1 + jump[i]) >>> 0;
      like[i] = last - 1;
    }
    takeGroup(contacts, FIELDS, buffer, contactAt[k], m, like, false);
  }
  return buffer;
}
