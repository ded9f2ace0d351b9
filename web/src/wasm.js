/* The WebAssembly core that a page carries: packed bytes of the module, and the script of a worker that loads it. */

import { fromText } from './base85.js';

/** @param {string} text of packed bytes @returns {Promise<Uint8Array>} */
async function unpacked(text) {
  const packed = fromText(text.trim());
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

/** The replay page without a run, which the page brings along. @param {Document} page @returns {Promise<string>} */
export async function replayTemplate(page) {
  return new TextDecoder().decode(await unpacked(page.getElementById('frix-replay').textContent));
}

const MOST_THREADS = 8;

/* The core with threads, from beside the page: where the page is cross-origin isolated and the file is there. */
async function threadedCore() {
  if (!self.crossOriginIsolated || !(navigator.hardwareConcurrency > 1)) return null;
  const answer = await fetch('playground-threads.json').catch(() => null);
  if (!answer?.ok) return null;
  const { wasm, worker, glue, thread } = await answer.json();
  const script = async (text) => URL.createObjectURL(new Blob([await unpacked(text)], { type: 'text/javascript' }));
  const threads = { count: Math.min(navigator.hardwareConcurrency, MOST_THREADS), glue: await script(glue), thread: await script(thread) };
  return { wasm: await unpacked(wasm), worker: await script(worker), threads };
}

/** The core that suits the page: with threads where it may have them. @param {Document} page */
export async function chooseCore(page) {
  return (await threadedCore()) ?? unpackWasm(page);
}
