/* Numbers as an engineer reads them. */
const DIGITS = 4;

/** @param {number} x @param {string} [unit] */
export function number(x, unit = '') {
  if (!Number.isFinite(x)) return '–';
  const size = Math.abs(x);
  let text;
  if (x === 0) text = '0';
  else if (size >= 1e5 || size < 1e-3) {
    const [head, power] = x.toExponential(2).split('e');
    text = `${head.replace('-', '−')}×10${superscript(Number(power))}`;
  } else text = String(Number(x.toPrecision(DIGITS))).replace('-', '−');
  return unit ? `${text} ${unit}` : text;
}

/** 1e-8 rather than 1×10⁻⁸, for the header and the axes. @param {number} x */
export function power(x) {
  return x === 0 ? '0' : x.toExponential(1).replace('.0e', 'e').replace('e+', 'e');
}

function superscript(n) {
  return String(n).replace(/[-\d]/g, (c) => (c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(c)]));
}

/** @param {ArrayLike<number>} v @param {number} at @param {string} unit */
export function vector(v, at, unit) {
  return `${number(v[at])}, ${number(v[at + 1])}, ${number(v[at + 2])} ${unit}`;
}

export const count = (n) => Math.round(n).toLocaleString('en-US');

/** Decimals that tell frames apart. @param {ArrayLike<number>} times */
export function decimals(times) {
  const step = times.length > 1 ? (times[times.length - 1] - times[0]) / (times.length - 1) : 1;
  return Math.max(1, Math.min(4, Math.ceil(-Math.log10(step))));
}

/** An element with text or children. @returns {HTMLElement} */
export function element(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) out.setAttribute(name, value);
  out.append(...children);
  return out;
}
