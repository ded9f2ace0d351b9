/* Bundles the replay page into one file without its run: node build.mjs FOLDER [WASM-FOLDER]
 *   FOLDER/replay.html   the template: app/page.c puts a run in place of @PAYLOAD@
 *   FOLDER/replay_page.c the same as text for the compiler
 *   FOLDER/replay_core.c the WebAssembly core of WASM-FOLDER, for pages that run their run again */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replayPage, script, wasmElements } from './bundle.mjs';

const [out, wasm] = process.argv.slice(2);
if (!out) throw new Error('usage: node build.mjs FOLDER [WASM-FOLDER]');

const page = await replayPage(await script('src/page.js'));

/** A text for the compiler. */
function literal(name, text) {
  const lines = text.match(/[^\n]{1,2000}|\n/gu).map((part) => {
    const bytes = [...Buffer.from(part)];
    return `"${bytes.map((c) => (c === 10 ? '\\n' : c === 34 || c === 92 ? `\\${String.fromCharCode(c)}` : c === 63 || c < 32 || c > 126 ? `\\${c.toString(8).padStart(3, '0')}` : String.fromCharCode(c))).join('')}"`;
  });
  return `const char ${name}[] =\n${lines.join('\n')};\n`;
}

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'replay.html'), page);
writeFileSync(join(out, 'replay_page.c'), literal('fx_replay_page', page));
console.log(`replay page: ${(page.length / 1024).toFixed(0)} KB without its run`);
if (wasm) {
  const core = await wasmElements(wasm, 'src/prove_worker.js');
  writeFileSync(join(out, 'replay_core.c'), literal('fx_replay_core', core));
  console.log(`core for pages that prove themselves: ${(core.length / 1024).toFixed(0)} KB`);
}
