/* fclib files as the playground reads them: node fclib.mjs FRIX FOLDER FILE.hdf5... The JSON that the page makes of a file has the
 * certificate of the file itself, number by number, and damaged files end in an error that names them. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { problemOf } from '../playground/fclib.js';
import { counter } from './browser.mjs';

const [frix, folder, ...files] = process.argv.slice(2);
const { check, end } = counter('fclib');

function solved(path) {
  const { certificate, iterations, contacts } = JSON.parse(execFileSync(frix, ['solve', path, '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return JSON.stringify({ certificate, iterations, contacts });
}

/* the same numbers in every run */
let seed = 1;
const random = (n) => (seed = (seed * 48271) % 2147483647) % n;

for (const path of files) {
  const bytes = new Uint8Array(readFileSync(path));
  const own = join(folder, 'fclib.json');
  writeFileSync(own, await problemOf(bytes, path));
  check(`${path}: the page reads what the command reads`, solved(own) === solved(path));
  let refused = 0;
  for (let k = 0; k < 60; k++) {
    const damaged = bytes.slice(0, k % 3 ? bytes.length : random(bytes.length));
    for (let j = 0; j < 8; j++) damaged[random(Math.min(damaged.length, 4000))] = random(256);
    try {
      await problemOf(damaged, 'damaged.hdf5');
    } catch (error) {
      refused++;
      check('a damaged file is named', error.message.startsWith('damaged.hdf5: '), error.message);
    }
  }
  check(`${path}: damage is noticed`, refused > 0);
}
end(` of ${files.length} files`);
