/* Soft bodies: modes are sent once, amplitudes with every frame; the surface is X + sum q_i U_i. */

/** @typedef {{rest: Float32Array, shape: Float32Array, point: Uint32Array, first: number, count: number}} Soft */

/** @param {import('./payload.js').ModelView} replay @param {number} body */
export function isSoft(replay, body) {
  const first = replay.column('soft.first');
  return body >= 0 && body < first.length && first[body] >= 0;
}

/** What moves the surface of a body.
 * @param {import('./payload.js').ModelView} replay @param {number} body @param {number} geometry
 * @param {import('three').BufferGeometry} surface @returns {Soft} */
export function softOf(replay, body, geometry, surface) {
  const rest = replay.column(`geometry.${geometry}.points`);
  const shape = replay.column(`soft.${replay.column('soft.like')[body]}.shape`);
  return { rest, shape, point: Uint32Array.from(surface.getAttribute('point').array), first: replay.column('soft.first')[body], count: shape.length / rest.length };
}

/** Moves the vertices of a surface. @param {Soft} soft @param {Float32Array|undefined} amplitude
 * @param {import('three').BufferGeometry} surface */
export function deform({ rest, shape, point, first, count }, amplitude, surface) {
  if (!amplitude || amplitude.length < first + count) return;
  const position = surface.getAttribute('position');
  const moved = new Float32Array(rest);
  for (let c = 0, at = 0; c < rest.length; c++) for (let i = 0; i < count; i++, at++) moved[c] += shape[at] * amplitude[first + i];
  for (let v = 0; v < point.length; v++) position.setXYZ(v, moved[3 * point[v]], moved[3 * point[v] + 1], moved[3 * point[v] + 2]);
  position.needsUpdate = true;
  surface.computeVertexNormals();
  surface.boundingBox = surface.boundingSphere = null;
}
