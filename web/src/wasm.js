/* The WebAssembly core that a page carries: packed bytes of the module, and the script of a worker that unpacks and loads it. */

import { fromText } from './base85.js';

const stream = (text) => new Blob([fromText(text.trim())]).stream().pipeThrough(new DecompressionStream('gzip'));

/** @param {string} text of packed bytes @returns {Promise<Uint8Array>} */
export async function unpacked(text) {
  return new Uint8Array(await new Response(stream(text)).arrayBuffer());
}

/** @param {string} text of packed bytes of a text @returns {Promise<string>} */
export const unpackedText = (text) => new Response(stream(text)).text();

const packedIn = (page, id) => page.getElementById(id)?.textContent;
const address = async (text) => URL.createObjectURL(new Blob([await unpacked(text)], { type: 'text/javascript' }));

/** The core of the page: the address of its worker, and the module as packed text, which the worker unpacks.
 * @param {Document} page @returns {Promise<{worker: string, wasm: string}|null>} null where it carries none */
export async function carriedCore(page) {
  const wasm = packedIn(page, 'frix-wasm');
  return wasm ? { wasm, worker: await address(packedIn(page, 'frix-worker')) } : null;
}

/** The replay page without a run. Its script is that of this page, which shows runs too. @param {Document} page @returns {Promise<string>} */
export async function replayTemplate(page) {
  const [frame, script] = await Promise.all(['frix-replay', 'frix-script'].map((id) => unpackedText(packedIn(page, id))));
  return frame.replace('@SCRIPT@', () => script);
}

const MOST_THREADS = 8;

/* The core with threads, from beside the page: where the page is cross-origin isolated and the file is there. */
async function threadedCore() {
  if (!self.crossOriginIsolated || !(navigator.hardwareConcurrency > 1)) return null;
  const answer = await fetch('playground-threads.json').catch(() => null);
  if (!answer?.ok) return null;
  const { wasm, worker, glue, thread } = await answer.json();
  const threads = { count: Math.min(navigator.hardwareConcurrency, MOST_THREADS), glue: await address(glue), thread: await address(thread) };
  return { wasm, worker: await address(worker), threads };
}

/** Starts a worker with the core that suits the page, with threads where it may have them. `ready` is what the worker says when it
 * is loaded. @param {Document} page */
export async function startCore(page) {
  const core = (await threadedCore()) ?? (await carriedCore(page));
  const first = new Worker(core.worker);
  const ready = new Promise((done, failed) => {
    first.addEventListener('message', ({ data }) => (data.type === 'ready' ? done(data) : data.type === 'error' && failed(new Error(data.text))));
  });
  first.postMessage({ type: 'init', wasm: core.wasm, threads: core.threads });
  return { ...core, first, ready };
}
