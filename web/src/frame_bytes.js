/* Poses and contacts of one frame as they stand in memory: columns one after the other, little-endian (app/page_live.c,
 * app/page.c). The parts are views of the buffer. */

/** @param {ArrayBuffer} buffer @param {number} at @param {Uint32Array} slot which body stands in row i */
export function posesAt(buffer, at, slot) {
  const n = slot.length;
  const packed = new Int16Array(buffer, at + 16 * n, 4 * n);
  return {
    count: n,
    slot,
    position: new Float32Array(buffer, at, 3 * n),
    speed: new Float32Array(buffer, at + 12 * n, n),
    turn: Float32Array.from(packed, (x) => x / 32767),
  };
}

/** @param {ArrayBuffer} buffer @param {number} at @param {number} count */
export function contactsAt(buffer, at, count) {
  const take = (Type, width) => {
    const part = new Type(buffer, at, width * count);
    at += part.byteLength;
    return part;
  };
  return {
    count,
    point: take(Float32Array, 3),
    force: take(Float32Array, 3),
    gap: take(Float32Array, 1),
    mu: take(Float32Array, 1),
    margin: take(Float32Array, 1),
    slip: take(Float32Array, 1),
    a: take(Uint32Array, 1),
    b: take(Uint32Array, 1),
    id: take(Uint32Array, 1),
    normal: take(Int16Array, 3),
    state: take(Uint8Array, 1),
  };
}
