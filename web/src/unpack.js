/* The way back from packed pages (app/page_pack.c): frames as differences to the frame before become the row of bytes that
 * the index speaks of. */

/** @param {Uint8Array} packed @returns {Promise<Uint8Array>} */
export async function inflate(packed) {
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).arrayBuffer());
}

const ARRAYS = { 4: Uint32Array, 2: Uint16Array, 1: Uint8Array };

/** Reads one field of frame after frame. */
class Field {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  /* Words of one field: cut into bytes, folded, less those of another. like(i): which thing of the other one, -1: none. */
  take(out, other, like, n, width, size) {
    const count = n * width;
    const { bytes, at } = this;
    for (let k = 0; k < count; k++) {
      let d = 0;
      for (let b = 0; b < size; b++) d |= bytes[at + b * count + k] << (8 * b);
      const plain = d & 1 ? ~(d >>> 1) : d >>> 1;
      const twin = other ? like((k / width) | 0) : -1;
      out[k] = plain + (twin >= 0 ? other[twin * width + (k % width)] : 0);
    }
    this.at += count * size;
  }
}

const FIELDS = [[3, 4], [3, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [1, 4], [3, 2], [1, 1]];
const POSES = [[3, 4], [1, 4], [4, 2]];

function takeGroup(fields, plan, buffer, at, n, before, like) {
  let k = 0;
  let from = at;
  let other = before?.at ?? 0;
  for (const [width, size] of plan) {
    const Type = ARRAYS[size];
    const past = before ? new Type(buffer, other, before.n * width) : null;
    fields[k++].take(new Type(buffer, from, n * width), past, like, n, width, size);
    from += n * width * size;
    other += (before?.n ?? 0) * width * size;
  }
}

/** @param {any} index @param {{head: number, tail: number, streams: number[]}} parts @param {Uint8Array} stream @returns {ArrayBuffer} */
export function unpack(index, { head, tail, streams }, stream) {
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
  const fields = streams.map((size) => {
    from += size;
    return new Field(stream, from - size);
  });
  const [poses, links, contacts] = [fields.slice(0, 3), fields[3], fields.slice(4)];
  for (let k = 0; k < poseAt.length; k++) {
    const n = start[lists[k] + 1] - start[lists[k]];
    const same = k > 0 && lists[k] === lists[k - 1];
    takeGroup(poses, POSES, buffer, poseAt[k], n, same ? { at: poseAt[k - 1], n } : null, (i) => i);
    const m = kept[k];
    const jump = new Uint32Array(m);
    links.take(jump, null, null, m, 1, 4);
    const like = new Int32Array(m);
    let last = 0;
    for (let i = 0; i < m; i++) {
      last = (last + 1 + jump[i]) >>> 0;
      like[i] = last - 1;
    }
    takeGroup(contacts, FIELDS, buffer, contactAt[k], m, k > 0 ? { at: contactAt[k - 1], n: kept[k - 1] } : null, (i) => like[i]);
  }
  return buffer;
}
