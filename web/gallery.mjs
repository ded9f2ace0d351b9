/* The gallery, a static site: node gallery.mjs FRIX FOLDER [PLAYGROUND.html]
 * Runs every scene below, makes its replay page and a moving thumbnail, and an index with one lesson each. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apng } from './apng.mjs';
import { LESSONS } from './playground/scenes.js';

const [frix, folder, playground] = process.argv.slice(2);
if (!folder) throw new Error('usage: node gallery.mjs FRIX FOLDER [PLAYGROUND.html]');
const PICTURES = 16;

/* scene, title, parameters, seconds, every how many steps a frame */
const ROWS = [
  ['cardhouse', 'A card house is struck', ['blow=3'], 3, 4],
  ['arch', 'An arch without mortar falls', ['mu=0.3'], 2.5, 2],
  ['arch', 'An arch takes a blow on its keystone', ['blow=keystone'], 2, 2],
  ['stack', 'A tower of cubes', ['n=10'], 1, 4],
  ['wall', 'A dry brick wall', [], 1, 4],
  ['loghouse', 'A house of notched logs', [], 1, 4],
  ['hexapyramid', 'Six corners, many forces, one motion', [], 1, 4],
  ['dominoes', 'A row of dominoes', [], 2, 4],
  ['funnel', 'Discs jam in a hopper', [], 2, 4],
  ['cannonball', 'A pile of discs', ['levels=8', 'mu=0.1'], 2, 4],
  ['balls', 'Balls in a cube', [], 2, 4],
  ['drop5', 'A shock passes five balls in one step', [], 1, 2],
  ['pile', 'Spheres poured into a box', ['n=200'], 1.5, 4],
  ['ellipse', 'A dropped ellipse', [], 5, 5],
  ['painleve', 'The rod of Painlevé', [], 1, 2],
  ['top', 'A tippe top turns over', [], 6, 20],
  ['grip', 'Held by friction', [], 1, 4],
  ['puck', 'A sled stops straight', [], 1.5, 4],
  ['incline', 'A block on a slope', ['angle=31', 'mu=0.6'], 1.5, 4],
  ['cradle', "Newton's cradle", [], 3, 5],
];

const text = (s) => s.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

/** Runs a command; 1 means that some step was not certified, which the page says. */
function run(...words) {
  try {
    return execFileSync(frix, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw new Error(`frix ${words.join(' ')}: ${error.stderr}`);
  }
}

function entry([scene, title, settings, seconds, every], k) {
  const name = `${String(k + 1).padStart(2, '0')}-${scene}`;
  const words = ['run', scene, ...settings.flatMap((s) => ['--set', s]), '--time', String(seconds)];
  const scratch = mkdtempSync(join(tmpdir(), 'frix-gallery-'));
  const file = join(scratch, 'run.frx');
  const summary = JSON.parse(run(...words, '--every', String(every), '--out', file, '--json'));
  run('view', file, '--no-open', '--out', join(folder, `${name}.html`));
  const frames = JSON.parse(run('info', file, '--json')).frames;
  const pictures = [];
  for (let i = 0; i < PICTURES; i++) {
    const picture = join(scratch, `${i}.png`);
    run('render', file, '--frame', String(Math.round((i * (frames - 1)) / (PICTURES - 1))), '--size', '360x225', '--out', picture);
    pictures.push(readFileSync(picture));
  }
  writeFileSync(join(folder, `${name}.png`), apng(pictures, Math.max(60, (1000 * seconds) / PICTURES)));
  rmSync(scratch, { recursive: true });
  console.error(`gallery: ${name}`);
  const [attempt, exact] = LESSONS[scene] ?? ['', ''];
  const { certified_steps: certified, steps } = summary;
  const play = playground ? ` <a href="playground.html#run=${encodeURIComponent([scene, ...settings.flatMap((s) => ['--set', s])].join(' '))}">play</a>` : '';
  return `<article><a href="${name}.html"><img src="${name}.png" width="360" height="225" loading="lazy" alt="${text(title)}"></a>
<h2>${text(title)}</h2><p>${text(exact)} <em>${text(attempt)}</em></p>
<p class="verdict">${certified} of ${steps} steps certified</p><code>frix ${text(words.join(' '))}</code><p><a href="${name}.html">replay</a>${play}</p></article>`;
}

mkdirSync(folder, { recursive: true });
const only = process.env.ONLY ? Number(process.env.ONLY) : ROWS.length;
const articles = ROWS.slice(0, only).map(entry);
const play = playground && existsSync(playground);
if (play) copyFileSync(playground, join(folder, 'playground.html'));
writeFileSync(
  join(folder, 'index.html'),
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>frix gallery</title>
<style>:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;max-width:1200px;padding:24px}main{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:24px}img{width:100%;height:auto;border-radius:10px}h2{font-size:16px;margin:6px 0}p{margin:4px 0}code{font-size:12px;overflow-wrap:anywhere}.verdict{font-size:13px;opacity:.75}</style></head><body>
<h1>frix: exact frictional contact</h1><p>Every step below carries its certificate. Each replay is one file that opens offline.${play ? ' <a href="playground.html">Playground: the same core in this browser.</a>' : ''}</p>
<main>${articles.join('\n')}</main></body></html>
`,
);
console.error(`gallery: ${articles.length} scenes, ${join(folder, 'index.html')}`);
