/* Scripts, styles and the core as texts for a page. */
import { build } from 'esbuild';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { toText } from './src/base85.js';

export const here = dirname(fileURLToPath(import.meta.url));

/** One script of all it imports, with the licences of what is not ours. @param {string} entry within web/ */
export async function script(entry) {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    write: false,
    metafile: true,
  });
  /* The licences go where the code goes. */
  const credits = [...new Set(Object.keys(metafile.inputs).map((path) => /node_modules\/([^/]+)\//.exec(path)?.[1]).filter(Boolean))].map((name) => {
    const { version, license } = JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json')));
    return `${name} ${version}, ${license}\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`;
  });
  const text = outputFiles[0].text.replaceAll('</script', '<\\/script').trim();
  return credits.length ? `/* This page holds:\n\n${credits.join('\n')}*/\n${text}` : text;
}

/** @param {string[]} imports */
export async function style(imports) {
  const { outputFiles } = await build({
    stdin: { contents: imports.map((name) => `@import '${name}';`).join(' '), resolveDir: here, loader: 'css' },
    bundle: true,
    minify: true,
    write: false,
  });
  return outputFiles[0].text.trim();
}

const packed = (bytes) => toText(gzipSync(bytes, { level: 9 }));

/** A packed script, and the one that unpacks and runs it: two elements. @param {string} code @param {string} loader */
export function packedScript(code, loader) {
  const credits = /^\/\*[\s\S]*?\*\//.exec(code)?.[0] ?? ''; /* licences stay readable */
  return `<script type="text/plain" id="frix-script">${packed(Buffer.from(code))}</script>
<script>${credits}
${loader}</script>`;
}

/* The script of a worker with the core's own, and the licences of what the module holds. */
async function workerCode(sources, glue, worker) {
  const licences = ['qhull/COPYING.txt', 'expat/COPYING'].map((name) => `${name.split('/')[0]}\n\n${readFileSync(join(sources, name), 'latin1').trim()}`);
  return `/* The module holds:\n\n${licences.join('\n\n').replaceAll('*/', '* /')}\n*/\n${glue}\nself.frixCore = frixCore;\n${await script(worker)}`;
}

/** The core as script elements that a page unpacks (src/wasm.js). @param {string} folder of ./dev wasm @param {string} worker */
export async function wasmElements(folder, worker) {
  const code = await workerCode(join(folder, 'sources'), readFileSync(join(folder, 'frix-core.js'), 'utf8'), worker);
  return `<script type="text/plain" id="frix-wasm">${packed(readFileSync(join(folder, 'frix-core.wasm')))}</script>
<script type="text/plain" id="frix-worker">${packed(Buffer.from(code))}</script>`;
}

/** The core with threads as one file beside the page. @param {string} folder of ./dev wasm --threads @param {string} sources @param {string} worker */
export async function threadsFile(folder, sources, worker) {
  const read = (name) => readFileSync(join(folder, name));
  const glue = read('frix-core.js').toString();
  return JSON.stringify({
    wasm: packed(read('frix-core.wasm')),
    worker: packed(Buffer.from(await workerCode(sources, glue, worker))),
    glue: packed(Buffer.from(glue)),
    thread: packed(read('frix-core.worker.js')),
  });
}

/** The replay page without its run; with @SCRIPT@ where it is to be the script of another page. */
export async function replayPage(code = '@SCRIPT@') {
  const look = await style(['uplot/dist/uPlot.min.css', './src/style.css']);
  return readFileSync(join(here, 'src/page.html'), 'utf8')
    .replace('@STYLE@', () => look)
    .replace('@SCRIPT@', () => code);
}

/** The replay page without its script as an element of another page, packed. */
export async function replayElement() {
  return `<script type="text/plain" id="frix-replay">${packed(Buffer.from(await replayPage()))}</script>`;
}
