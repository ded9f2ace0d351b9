/* Numbers out of an HDF5 file, for contact problems that are dropped on the page: the parts of the format that programs write by
 * default. Groups by symbol tables or link messages; datasets of integers and IEEE numbers, scalar or one-dimensional, contiguous,
 * compact, or in chunks through deflate, shuffle and fletcher32. Links out of the file are not followed. Anything else is refused by name.
 * HDF5 File Format Specification, version 3. */

const SIGNATURE = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a];
const UNDEFINED = 0xffffffffffffffffn;
const MESSAGE = { space: 0x01, links: 0x02, type: 0x03, link: 0x06, layout: 0x08, filters: 0x0b, more: 0x10, table: 0x11 };
const LARGEST_RATIO = 1100; /* by which deflate can shrink */
const FILTER = { deflate: 1, shuffle: 2, fletcher32: 3 };

/** @param {Uint8Array} bytes */
export const isHdf5 = (bytes) => SIGNATURE.every((b, k) => bytes[k] === b);

async function inflate(bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer());
}

/** Bytes of each number were put together by their place. */
function unshuffle(bytes, size) {
  const out = new Uint8Array(bytes.length);
  const count = Math.floor(bytes.length / size);
  for (let b = 0; b < size; b++) for (let k = 0; k < count; k++) out[k * size + b] = bytes[b * count + k];
  return out;
}

export class Hdf5 {
  /** @param {Uint8Array} bytes the whole file */
  constructor(bytes) {
    this.bytes = bytes;
    this.visited = 0; /* nodes of trees: no more than there are bytes */
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const version = this.u8(8);
    if (version > 3) throw new Error(`HDF5 superblock version ${version} is not read`);
    const old = version < 2;
    if (this.u8(old ? 13 : 9) !== 8 || this.u8(old ? 14 : 10) !== 8) throw new Error('HDF5 with addresses of other than 8 bytes is not read');
    const first = version === 1 ? 28 : 24; /* version 1 has a field more */
    this.root = old ? this.at(first + 32 + 8) : this.at(12 + 24);
  }

  u8(p) {
    return this.view.getUint8(p);
  }
  u16(p) {
    return this.view.getUint16(p, true);
  }
  u32(p) {
    return this.view.getUint32(p, true);
  }
  /** An address or length; the format's "undefined" is -1. */
  at(p) {
    const value = this.view.getBigUint64(p, true);
    if (value === UNDEFINED) return -1;
    if (value > BigInt(2 ** 50)) throw new Error('an address beyond the file');
    return Number(value);
  }

  /** Messages of an object: [type, first byte, length]. @param {number} header its address */
  *messages(header) {
    const blocks = [];
    const fresh = String.fromCharCode(...this.bytes.subarray(header, header + 4)) === 'OHDR';
    let ordered = 0;
    if (fresh) {
      const flags = this.u8(header + 5);
      let p = header + 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
      const wide = 1 << (flags & 3);
      const size = wide === 8 ? this.at(p) : wide === 4 ? this.u32(p) : wide === 2 ? this.u16(p) : this.u8(p);
      p += wide;
      ordered = flags & 4 ? 2 : 0;
      blocks.push([p, p + size]);
    } else {
      if (this.u8(header) !== 1) throw new Error('an object header of unknown version');
      blocks.push([header + 16, header + 16 + this.u32(header + 8)]);
    }
    for (let k = 0; k < blocks.length && k < 1000; k++) {
      let [p, end] = blocks[k];
      const head = fresh ? 4 + ordered : 8;
      while (p + head <= end) {
        const type = fresh ? this.u8(p) : this.u16(p);
        const size = fresh ? this.u16(p + 1) : this.u16(p + 2);
        const body = p + head;
        if (type === MESSAGE.more) {
          const [where, length] = [this.at(body), this.at(body + 8)];
          blocks.push(fresh ? [where + 4, where + length - 4] : [where, where + length]);
        } else yield [type, body, size];
        p = body + size;
      }
    }
  }

  /** The object that a group has under this name, -1 where there is none. */
  child(group, name) {
    for (const [type, p] of this.messages(group)) {
      if (type === MESSAGE.table) return this.inTable(this.at(p), this.at(p + 8), name);
      if (type === MESSAGE.links && this.at(p + (this.u8(p + 1) & 1 ? 10 : 2)) >= 0) throw new Error('a group of very many members is not read');
      if (type === MESSAGE.link) {
        const found = this.inLink(p, name);
        if (found >= 0) return found;
      }
    }
    return -1;
  }

  inLink(p, name) {
    const flags = this.u8(p + 1);
    let q = p + 2;
    const kind = flags & 8 ? this.u8(q++) : 0;
    q += (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    const wide = 1 << (flags & 3);
    const length = wide === 1 ? this.u8(q) : this.u16(q);
    const label = new TextDecoder().decode(this.bytes.subarray(q + wide, q + wide + length));
    return kind === 0 && label === name ? this.at(q + wide + length) : -1;
  }

  /** A symbol table: a tree of nodes whose names lie in a heap. */
  inTable(tree, heap, name) {
    const texts = this.at(heap + 24);
    const label = (offset) => {
      const begin = texts + offset;
      const end = this.bytes.indexOf(0, begin);
      return new TextDecoder().decode(this.bytes.subarray(begin, end));
    };
    for (const node of this.leaves(tree, 8)) {
      const count = this.u16(node + 6);
      for (let k = 0; k < count; k++) {
        const entry = node + 8 + 40 * k;
        const soft = this.u32(entry + 16) === 2;
        if (!soft && label(this.at(entry)) === name) return this.at(entry + 8);
      }
    }
    return -1;
  }

  /** What the leaves of a tree point to: nodes of a symbol table (keys of 8 bytes), or chunks with their keys. */
  *leaves(tree, keySize, depth = 0) {
    if (depth > 32 || ++this.visited > this.bytes.length) throw new Error('a tree that does not end');
    const level = this.u8(tree + 5);
    const count = this.u16(tree + 6);
    for (let k = 0; k < count; k++) {
      const key = tree + 24 + k * (keySize + 8);
      const child = this.at(key + keySize);
      if (level > 0) yield* this.leaves(child, keySize, depth + 1);
      else if (keySize === 8) yield child;
      else yield [key, child];
    }
  }

  /** The object at a path, -1. @param {string} path */
  find(path) {
    return path.split('/').filter(Boolean).reduce((group, name) => (group < 0 ? -1 : this.child(group, name)), this.root);
  }

  /** The numbers of a dataset; null where there is none. @param {string} path */
  async numbers(path) {
    const object = this.find(path);
    if (object < 0) return null;
    const found = {};
    for (const [type, p, size] of this.messages(object)) found[type] ??= [p, size];
    if (!found[MESSAGE.space] || !found[MESSAGE.type] || !found[MESSAGE.layout]) throw new Error(`${path} is not a dataset`);
    const count = this.count(found[MESSAGE.space][0], path);
    const kind = this.kind(found[MESSAGE.type][0], path);
    if (count * kind.size > LARGEST_RATIO * this.bytes.length) throw new Error(`${path} claims more data than the file holds`);
    const data = await this.data(found, count * kind.size, path);
    if (data.length < count * kind.size) throw new Error(`${path} claims more data than the file holds`);
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    return Array.from({ length: count }, (_, k) => kind.read(view, k * kind.size));
  }

  count(p, path) {
    const rank = this.u8(p + 1);
    if (rank > 1) throw new Error(`${path} is not a list of numbers`);
    return rank === 0 ? 1 : this.at(p + (this.u8(p) === 1 ? 8 : 4));
  }

  kind(p, path) {
    const what = this.u8(p) & 15;
    const flags = this.u8(p + 1);
    const size = this.u32(p + 4);
    const little = !(flags & 1);
    const name = what === 0 && { 1: 'Int8', 2: 'Int16', 4: 'Int32', 8: 'BigInt64' }[size];
    const unsigned = name && !(flags & 8) ? name.replace('Int', 'Uint') : name;
    const method = unsigned || (what === 1 && { 4: 'Float32', 8: 'Float64' }[size]);
    if (!method) throw new Error(`${path} is not made of numbers`);
    return { size, read: (view, at) => Number(view[`get${method}`](at, little)) };
  }

  async data(found, size, path) {
    const [p] = found[MESSAGE.layout];
    const version = this.u8(p);
    if (version !== 3 && version !== 4) throw new Error(`${path}: a layout of version ${version} is not read`);
    const layout = this.u8(p + 1);
    if (layout === 0) return this.bytes.subarray(p + 4, p + 4 + this.u16(p + 2));
    if (layout === 1) {
      const where = this.at(p + 2);
      return where < 0 ? new Uint8Array(size) : this.bytes.subarray(where, where + size);
    }
    if (layout !== 2 || version !== 3) throw new Error(`${path}: its chunks are not read`);
    return this.chunks(p, this.filters(found[MESSAGE.filters]?.[0], path), size);
  }

  /** [filter, its first value] in the order in which they were applied. */
  filters(p, path) {
    if (p === undefined) return [];
    const [version, count] = [this.u8(p), this.u8(p + 1)];
    const out = [];
    let q = p + (version === 1 ? 8 : 2);
    for (let k = 0; k < count; k++) {
      const id = this.u16(q);
      if (!Object.values(FILTER).includes(id)) throw new Error(`${path}: a filter that is not known (${id})`);
      const named = version === 1 || id >= 256;
      const name = named ? this.u16(q + 2) : 0;
      const values = this.u16(q + (named ? 6 : 4));
      q += named ? 8 : 6;
      q += version === 1 ? Math.ceil(name / 8) * 8 : name;
      out.push([id, values ? this.u32(q) : 0]);
      q += 4 * values + (version === 1 && values % 2 ? 4 : 0);
    }
    return out;
  }

  async chunks(p, filters, size) {
    const rank = this.u8(p + 2); /* of the data, and one for the number itself */
    const tree = this.at(p + 3);
    const width = this.u32(p + 11 + 4 * (rank - 1));
    const out = new Uint8Array(size);
    if (tree < 0) return out;
    for (const [key, where] of this.leaves(tree, 8 + 8 * rank)) {
      let part = this.bytes.subarray(where, where + this.u32(key));
      const skipped = this.u32(key + 4);
      for (let k = filters.length - 1; k >= 0; k--) {
        const [id, value] = filters[k];
        if (skipped & (1 << k)) continue;
        if (id === FILTER.deflate) part = await inflate(part);
        else if (id === FILTER.shuffle) part = unshuffle(part, value || width);
        else part = part.subarray(0, part.length - 4);
      }
      const first = this.at(key + 8) * width;
      out.set(part.subarray(0, Math.max(0, Math.min(part.length, size - first))), first);
    }
    return out;
  }
}
