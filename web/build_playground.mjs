/* The playground as one file: node build_playground.mjs FOLDER WASM-FOLDER makes FOLDER/playground.html. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { here, packedScript, script, style, wasmElements } from './bundle.mjs';

const [out, wasm] = process.argv.slice(2);
if (!wasm) throw new Error('usage: node build_playground.mjs FOLDER WASM-FOLDER');
const core = await wasmElements(wasm, 'playground/worker.js');
const code = packedScript(await script('playground/main.js'));
const look = await style(['./src/style.css', './playground/style.css']);
const page = readFileSync(join(here, 'playground/page.html'), 'utf8')
  .replace('@STYLE@', () => look)
  .replace('@WASM@', () => core)
  .replace('@SCRIPT@', () => code);
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'playground.html'), page);
console.log(`playground: ${(page.length / 1024 / 1024).toFixed(2)} MB`);
