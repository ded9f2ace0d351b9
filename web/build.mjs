/* Bundles the replay page into one file without its run: node build.mjs FOLDER
 *   FOLDER/replay.html   the template: app/page.c puts a run in place of @PAYLOAD@
 *   FOLDER/replay_page.c the same as text for the compiler */
import { build } from 'esbuild';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) throw new Error('usage: node build.mjs FOLDER');

const { outputFiles, metafile } = await build({
  entryPoints: [join(here, 'src/main.js')],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  write: false,
  metafile: true,
});
const style = await build({
  stdin: { contents: "@import 'uplot/dist/uPlot.min.css'; @import './src/style.css';", resolveDir: here, loader: 'css' },
  bundle: true,
  minify: true,
  write: false,
});

/* The licences go where the code goes. */
const credits = [...new Set(Object.keys(metafile.inputs).map((path) => /node_modules\/([^/]+)\//.exec(path)?.[1]).filter(Boolean))].map((name) => {
  const { version, license } = JSON.parse(readFileSync(join(here, 'node_modules', name, 'package.json')));
  return `${name} ${version}, ${license}\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8').trim()}\n`;
});
const script = `/* This page holds:\n\n${credits.join('\n')}*/\n${outputFiles[0].text.replaceAll('</script', '<\\/script')}`;
const page = readFileSync(join(here, 'src/page.html'), 'utf8')
  .replace('@STYLE@', () => style.outputFiles[0].text.trim())
  .replace('@SCRIPT@', () => script.trim());

const lines = page.match(/[^\n]{1,2000}|\n/gu).map((part) => {
  const bytes = [...Buffer.from(part)];
  return `"${bytes.map((c) => (c === 10 ? '\\n' : c === 34 || c === 92 ? `\\${String.fromCharCode(c)}` : c === 63 || c < 32 || c > 126 ? `\\${c.toString(8).padStart(3, '0')}` : String.fromCharCode(c))).join('')}"`;
});
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'replay.html'), page);
writeFileSync(join(out, 'replay_page.c'), `const char fx_replay_page[] =\n${lines.join('\n')};\n`);
console.log(`replay page: ${(page.length / 1024).toFixed(0)} KB without its run`);
