/* Numbers of what is picked, and of the run. */
import { STATES, STATIC } from './payload.js';
import { count, element, number, power, vector } from './text.js';

const KIND = ['dynamic', 'kinematic', 'static'];

function table(rows) {
  const list = element('dl');
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

/* Place, rate and actuators' force of the hinges and slides that move a body. */
function jointRows(replay, frame, name) {
  const now = replay.robot(frame);
  return replay.mechanism.joints.flatMap((joint, k) => {
    if (!joint.body || joint.body !== name || now.length < 3 * k + 3) return [];
    const [unit, force] = joint.kind === 'slide' ? ['m', 'N'] : ['rad', 'N m'];
    return [[`joint ${joint.name || k}`, `${number(now[3 * k], unit)}, ${number(now[3 * k + 1], `${unit}/s`)}`], ['its actuators', number(now[3 * k + 2], force)]];
  });
}

/** @param {import('./payload.js').Replay} replay */
export function bodyCard(replay, picked, poses, contacts, row, frame = -1) {
  const end = picked.slot >= 0 ? picked.slot : picked.body < 0 ? 0xffffffff : STATIC + picked.body;
  const rows = [];
  if (picked.body >= 0) {
    rows.push(['kind', KIND[replay.bodyKind[picked.body]]]);
    if (replay.bodyKind[picked.body] === 0) rows.push(['mass', number(replay.bodyMass[picked.body], 'kg')]);
  }
  if (picked.slot >= 0 && row < 0) rows.push(['', 'not there at this time']);
  if (row >= 0) {
    rows.push(['position', vector(poses.position, 3 * row, 'm')]);
    if (poses.speed) rows.push(['speed', number(poses.speed[row], 'm/s')]);
  }
  if (row >= 0 && frame >= 0) rows.push(...jointRows(replay, frame, replay.nameOf(end)));
  const sum = [0, 0, 0];
  let touching = 0;
  let nearest = -1;
  for (let i = 0; i < contacts.count; i++) {
    if (contacts.a[i] !== end && contacts.b[i] !== end) continue;
    touching++;
    const sign = contacts.a[i] === end ? 1 : -1;
    for (let c = 0; c < 3; c++) sum[c] += sign * contacts.force[3 * i + c];
    if (nearest < 0 || contacts.margin[i] > contacts.margin[nearest]) nearest = i;
  }
  rows.push(['contacts', count(touching)]);
  if (touching) {
    rows.push(['contact force', number(Math.hypot(...sum), 'N')]);
    rows.push(['largest margin', number(contacts.margin[nearest])]);
  }
  return card('Body', replay.nameOf(end), table(rows));
}

/** @param {import('./payload.js').Replay} replay @param {import('./payload.js').Contacts} c */
export function contactCard(replay, c, i) {
  const f = c.force.subarray(3 * i, 3 * i + 3);
  const size = Math.hypot(...c.normal.subarray(3 * i, 3 * i + 3)) || 1;
  const normal = Array.from(c.normal.subarray(3 * i, 3 * i + 3), (x) => x / size);
  const along = f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2];
  const across = Math.sqrt(Math.max(0, f[0] ** 2 + f[1] ** 2 + f[2] ** 2 - along * along));
  const state = element('span', { class: `state ${STATES[c.state[i]]}` }, STATES[c.state[i]]);
  const margin = element('span', { class: 'meter' }, element('span', {}), number(c.margin[i]));
  margin.firstChild.style.setProperty('--part', String(Math.min(1, c.margin[i])));
  const rows = [
    ['state', state],
    ['margin |r_T| / (μ r_N)', margin],
    ['force', number(Math.hypot(...f), 'N')],
    ['normal', number(along, 'N')],
    ['tangential', number(across, 'N')],
    ['friction μ', number(c.mu[i])],
    ['gap', number(c.gap[i], 'm')],
    ['slip speed', number(c.slip[i], 'm/s')],
    ['point', vector(c.point, 3 * i, 'm')],
  ];
  return card('Contact', `${replay.nameOf(c.a[i])} on ${replay.nameOf(c.b[i])}`, table(rows));
}

export function card(kind, title, ...content) {
  return element('section', { class: 'card' }, element('h2', {}, element('small', {}, kind), element('span', {}, title)), ...content);
}

/** Nothing picked: the frame itself. @param {import('./payload.js').Replay} replay */
export function frameCard(replay, k, poses, contacts) {
  const at = (name) => replay.column(`series.${name}`)[k];
  const kept = contacts.count;
  const all = at('contacts');
  const begins = replay.step[k] === 0; /* nothing has been looked for yet */
  const rows = [
    ['step', count(replay.step[k])],
    ['bodies', count(poses.count)],
    ['contacts', begins ? 'no step yet' : kept < all ? `${count(all)}, strongest ${count(kept)} shown` : count(all)],
    ['residual', begins ? 'no step yet' : power(at('residual'))],
    ['deepest penetration', begins ? 'no step yet' : number(at('penetration'), 'm')],
    ['iterations', begins ? 'no step yet' : count(at('iterations'))],
  ];
  return card('Frame', `${count(k + 1)} of ${count(replay.frameCount)}`, table(rows), element('p', { class: 'hint' }, 'Pick a body or a contact to see its numbers.'));
}

/** The run as a table. @param {import('./payload.js').Replay} replay */
export function aboutRun(replay) {
  const { index, meta } = replay;
  const plain = Object.entries(meta).flatMap(([key, value]) =>
    key === 'mechanism' ? [] : value && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).map(([inner, v]) => [`${key}.${inner}`, typeof v === 'object' ? JSON.stringify(v) : String(v)])
      : [[key, typeof value === 'object' ? JSON.stringify(value) : String(value)]],
  );
  const rows = [
    ['file', replay.file],
    ['recorded steps', count(index.steps)],
    ['certified', `${count(index.certified)} of ${count(index.steps)}`],
    ['worst residual', index.steps ? `${power(index.worst.residual)} at step ${count(index.worst.step)}, t = ${number(index.worst.time, 's')}` : '–'],
    ['deepest penetration', number(index.penetration, 'm')],
    ['frames shown', index.frames_in_file > replay.frameCount ? `${count(replay.frameCount)} of ${count(index.frames_in_file)}, more where things move` : count(replay.frameCount)],
    ['positions', index.coarse ? '16 bits of the box of a frame' : 'single precision'],
    ['step h', number(index.h, 's')],
    ['solver', index.solver],
    ['integrator', index.integrator],
    ['contact', index.contact ?? '–'],
    ['tolerance', power(index.tolerance)],
    ...plain,
    ['page made by', index.made_by],
  ];
  return table(rows);
}
