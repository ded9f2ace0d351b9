/* The playground as one file: node build_playground.mjs FOLDER WASM-FOLDER [THREADS-FOLDER] makes FOLDER/playground.html, and beside
 * it playground-threads.json, the core with threads. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here, packedScript, replayElement, script, style, threadsFile, wasmElements } from './bundle.mjs';

const [out, wasm, threads] = process.argv.slice(2);
if (!wasm) throw new Error('usage: node build_playground.mjs FOLDER WASM-FOLDER [THREADS-FOLDER]');
const core = `${await wasmElements(wasm, 'playground/worker.js')}\n${await replayElement()}`;
const code = packedScript(await script('playground/entry.js'), await script('playground/loader.js'));
const look = await style(['./src/style.css', './playground/playground.css']);
const page = readFileSync(join(here, 'playground/playground.html'), 'utf8')
  .replace('@STYLE@', () => look)
  .replace('@WASM@', () => core)
  .replace('@SCRIPT@', () => code);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'playground.html'), page);
console.log(`playground: ${(page.length / 1e6).toFixed(2)} MB`);
const beside = join(out, 'playground-threads.json');
if (threads) writeFileSync(beside, await threadsFile(threads, join(wasm, 'sources'), 'playground/worker.js'));
else rmSync(beside, { force: true }); /* that of another build */
