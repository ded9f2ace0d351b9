/* The address of a world: words of the command, the method beside it, and what the reader did, step by step.
 *   #run=arch+--set+mu%3D0.3&beside=pgs&steps=240&do=BASE64URL(JSON) */
const code = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const plain = (text) => new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)));

/** @param {{words: string[], beside: string, steps: number, log: any[]}} what */
export function writeLink({ words, beside, steps, log }) {
  const out = new URLSearchParams({ run: words.join(' ') });
  if (beside) out.set('beside', beside);
  if (log.length) {
    out.set('steps', String(steps));
    out.set('do', code(JSON.stringify(log)));
  }
  return `#${out}`;
}

/** @returns {{words: string[], beside: string, steps: number, log: any[]}|null} null where the address says nothing */
export function readLink(hash) {
  const given = new URLSearchParams(hash.slice(1));
  if (!given.get('run')) return null;
  let log = [];
  try {
    log = given.has('do') ? JSON.parse(plain(given.get('do'))) : [];
  } catch {
    log = [];
  }
  const good = Array.isArray(log) && log.every((row) => Array.isArray(row) && Number.isInteger(row[0]) && typeof row[1] === 'string');
  return { words: given.get('run').split(' ').filter(Boolean), beside: given.get('beside') ?? '', steps: Number(given.get('steps')) || 0, log: good ? log : [] };
}
