/* Bytes as text, five characters for four bytes: a sixteenth shorter than base64. Characters that mean something in HTML or in C are left
 * out. The last n bytes are n + 1 characters. */
const ALPHABET = Array.from({ length: 94 }, (_, k) => String.fromCharCode(33 + k)).filter((c) => !'"\\<&\'`?'.includes(c)).slice(0, 85);
const DIGIT = new Uint8Array(128);
ALPHABET.forEach((c, k) => (DIGIT[c.charCodeAt(0)] = k));

/** @param {Uint8Array} bytes */
export function toText(bytes) {
  const out = [];
  for (let k = 0; k < bytes.length; k += 4) {
    const count = Math.min(4, bytes.length - k);
    let value = 0;
    for (let j = 0; j < 4; j++) value = value * 256 + (j < count ? bytes[k + j] : 0);
    const group = [];
    for (let j = 0; j < 5; j++, value = Math.floor(value / 85)) group.unshift(ALPHABET[value % 85]);
    out.push(group.slice(0, count + 1).join(''));
  }
  return out.join('');
}

/** @param {string} text @returns {Uint8Array} */
export function fromText(text) {
  const rest = text.length % 5;
  const whole = text.length - rest;
  const out = new Uint8Array((4 * whole) / 5 + (rest ? rest - 1 : 0));
  const digit = (k) => DIGIT[text.charCodeAt(k)];
  let at = 0;
  for (let k = 0; k < whole; k += 5, at += 4) {
    /* four digits are below 2^31, the fifth wraps as 32 bits do */
    const value = (Math.imul(((digit(k) * 85 + digit(k + 1)) * 85 + digit(k + 2)) * 85 + digit(k + 3), 85) + digit(k + 4)) | 0;
    out[at] = value >>> 24;
    out[at + 1] = value >>> 16;
    out[at + 2] = value >>> 8;
    out[at + 3] = value;
  }
  let value = 0;
  for (let j = 0; rest && j < 5; j++) value = value * 85 + (j < rest ? digit(whole + j) : 84);
  for (let j = 0; at + j < out.length; j++) out[at + j] = Math.floor(value / 2 ** (24 - 8 * j)) & 255;
  return out;
}
