/* A moving picture of PNG files of one size: node apng.mjs OUT.png MILLISECONDS FRAME.png...
 * APNG: the first picture as it is, the data of the others in fdAT chunks. Browsers and README pages play it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { crc32 } from './crc.mjs';

function chunk(name, data) {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(name, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}

function chunksOf(png) {
  const out = [];
  for (let at = 8; at < png.length; ) {
    const size = png.readUInt32BE(at);
    out.push({ name: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + size) });
    at += 12 + size;
  }
  return out;
}

function control(number, head, milliseconds) {
  const out = Buffer.alloc(26);
  out.writeUInt32BE(number, 0);
  head.copy(out, 4, 0, 8); /* width, height */
  out.writeUInt16BE(milliseconds, 20);
  out.writeUInt16BE(1000, 22);
  return chunk('fcTL', out);
}

/** @param {Buffer[]} pictures @param {number} milliseconds a picture */
export function apng(pictures, milliseconds) {
  const first = chunksOf(pictures[0]);
  const head = first.find(({ name }) => name === 'IHDR').data;
  const count = Buffer.alloc(8);
  count.writeUInt32BE(pictures.length, 0);
  const parts = [pictures[0].subarray(0, 8), chunk('IHDR', head), chunk('acTL', count)];
  let number = 0;
  pictures.forEach((png, k) => {
    parts.push(control(number++, head, k === pictures.length - 1 ? 1500 : milliseconds));
    for (const { name, data } of chunksOf(png)) {
      if (name !== 'IDAT') continue;
      if (k === 0) parts.push(chunk('IDAT', data));
      else {
        const numbered = Buffer.alloc(4 + data.length);
        numbered.writeUInt32BE(number++, 0);
        data.copy(numbered, 4);
        parts.push(chunk('fdAT', numbered));
      }
    }
  });
  return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
}

if (process.argv[1]?.endsWith('apng.mjs')) {
  const [out, milliseconds, ...files] = process.argv.slice(2);
  writeFileSync(out, apng(files.map((file) => readFileSync(file)), Number(milliseconds)));
}
