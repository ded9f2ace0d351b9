/* The WebAssembly core that a page carries: packed bytes of the module, and the script of a worker that loads it. */

import { decode } from './payload.js';

/** @param {string} text base64 @returns {Promise<Uint8Array>} */
async function unpacked(text) {
  const packed = decode(text.trim());
  return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
}

/** @param {Document} page @returns {Promise<{worker: string, wasm: Uint8Array}|null>} null where it carries none */
export async function unpackWasm(page) {
  const module = page.getElementById('frix-wasm');
  if (!module) return null;
  const wasm = await unpacked(module.textContent);
  const script = await unpacked(page.getElementById('frix-worker').textContent);
  return { wasm, worker: URL.createObjectURL(new Blob([script], { type: 'text/javascript' })) };
}
