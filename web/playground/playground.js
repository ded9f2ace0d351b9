/* The playground: scenes, sliders, hands and two worlds side by side, each in a worker that holds the same core as the
 * command line. */
import * as THREE from 'three';
import { count, element, number, power } from '../src/text.js';
import { readFiles } from './files.js';
import { LESSONS } from './scenes.js';
import { readLink, writeLink } from './link.js';
import { replayTemplate } from '../src/wasm.js';
import { View } from './view.js';

const by = (id) => document.getElementById(id);
const LIVE = ['mu']; /* parameters that change under way; all others start the world anew */
const METHODS = {
  auto: ['exact (auto)', []],
  newton: ['exact: newton', ['--solver', 'newton']],
  nsgs: ['exact: nsgs', ['--solver', 'nsgs']],
  lemke: ['pyramid, pivoting (lemke)', ['--solver', 'lemke']],
  associated: ['relaxed law (associated)', ['--law', 'associated']],
  pgs: ['game engines (pgs)', ['--solver', 'pgs']],
};

let tables, views = [], scene = 'arch', values = {}, file = null, playing = true, theme = 'light', recording = false;
let core; /* what loader.js started */
let opened = []; /* the words the world was opened with; what was changed under way is among the actions */

const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;
const both = () => views.filter(Boolean);
const first = () => views[0];
function say(text) {
  by('message').hidden = !text;
  by('message').classList.toggle('note', Boolean(first()?.frame)); /* the world stays in sight */
  by('message').textContent = text.replace(/\x1b\[[\d;]*m/g, '').replace(/^frix: /, ''); /* the command's colours and name */
}

/* ---- the world as words of the command */

const rowOf = (name) => tables.scenes.find((row) => row.name === name);
const shown = (p, value) => (p.kind === 'choice' ? p.choices.split('|')[value] : p.kind === 'boolean' ? (value ? 'true' : 'false') : String(Number(value.toPrecision(6))));

function worldWords() {
  if (file) return file.words;
  const row = rowOf(scene);
  const changed = row.parameters.filter((p) => values[p.name] !== p.initial);
  return [scene, ...changed.flatMap((p) => ['--set', `${p.name}=${shown(p, values[p.name])}`])];
}

const methodWords = (name) => METHODS[name]?.[1] ?? [];

function showWords() {
  const words = file ? file.native : worldWords();
  by('words').hidden = !words;
  by('words').textContent = words ? `frix run ${[...words, ...methodWords(by('method').value)].join(' ')}` : '';
}

/* ---- opening */

function open(view, method, more = {}) {
  view.method = method;
  view.open([...worldWords(), ...methodWords(method)], { files: file?.files, ...more });
}

function restart(actions = []) {
  say('');
  by('verdict').textContent = '';
  opened = worldWords();
  both().forEach((view, k) => open(view, k ? by('beside').value : by('method').value, { actions }));
  /* neither starts before the other is there */
  if (views[1]) for (const view of both()) view.send('upTo', { time: 0.05 });
  tellTags();
  showWords();
  recording = false;
  by('record').setAttribute('aria-pressed', 'false');
  setPlaying(playing);
}

function tellTags() {
  both().forEach((view, k) => (by(k ? 'tag-b' : 'tag-a').textContent = METHODS[view.method]?.[0] ?? view.method));
}

function setBeside(name) {
  by('second').hidden = !name;
  if (name && !views[1]) {
    views[1] = newView('canvas-b', 1, () => new Worker(core.worker));
    views[1].send('init', { wasm: core.wasm, threads: core.threads });
  }
  if (!name && views[1]) {
    views[1].destroy();
    views[1] = null;
    by('canvas-b').replaceWith(by('canvas-b').cloneNode());
    by('numbers-b').replaceChildren();
  }
}

/* ---- controls */

function chooseScene(name, given = {}) {
  scene = name;
  file = null;
  const row = rowOf(name);
  values = Object.fromEntries(row.parameters.map((p) => [p.name, given[p.name] ?? p.initial]));
  by('scene').value = name;
  const [attempt, exact] = LESSONS[name] ?? [row.summary, ''];
  by('lesson').replaceChildren(element('b', {}, attempt), ` ${exact}`);
  by('parameters').replaceChildren(...row.parameters.map(control));
  by('gravity').value = '9.81';
  by('tilt').value = '0';
  showGravity();
}

/* A slider over a range that is worth trying: what may be 0 to a million starts near its initial value. */
function range(p) {
  const most = p.kind === 'integer' ? Math.min(p.maximum, Math.max(4 * p.initial, p.initial + 4)) : Math.min(p.maximum, Math.max(3 * p.initial, 1));
  return [Math.max(p.minimum, Math.min(0, p.initial)), most].map((x, k) => (k ? x : Math.max(p.minimum, x)));
}

function control(p) {
  const id = `p-${p.name}`;
  const row = element('div', { class: 'row', title: p.summary });
  row.append(element('label', { for: id }, p.name));
  const change = (value, done) => {
    values[p.name] = value;
    showWords();
    if (LIVE.includes(p.name) && first().steps > 0) later(p.name, () => actAll('set', [p.name, value]));
    else if (done) restart();
  };
  if (p.kind === 'choice' || p.kind === 'boolean') {
    const list = element('select', { id });
    (p.choices ?? 'false|true').split('|').forEach((name, k) => list.append(element('option', { value: k }, name)));
    list.value = String(values[p.name]);
    list.onchange = () => change(Number(list.value), true);
    row.append(list);
    return row;
  }
  const [low, high] = range(p);
  const slider = element('input', { id, type: 'range', min: low, max: high, step: p.kind === 'integer' ? 1 : 10 ** Math.floor(Math.log10((high - low) / 300)) });
  const out = element('output', { for: id }, shown(p, values[p.name]));
  slider.value = String(values[p.name]);
  const read = () => Number(Number(slider.value).toPrecision(4));
  slider.oninput = () => {
    out.textContent = shown(p, read());
    change(read(), false);
  };
  slider.onchange = () => !LIVE.includes(p.name) && change(read(), true);
  if (LIVE.includes(p.name)) slider.onchange = () => first().steps === 0 && restart();
  row.append(slider, out);
  return row;
}

/* At most ten times a second, and the last value in any case. */
const pending = new Map();
function later(name, action) {
  const known = pending.has(name);
  pending.set(name, action);
  if (!known)
    setTimeout(() => {
      const due = pending.get(name);
      pending.delete(name);
      due();
    }, 100);
}

function actAll(kind, given) {
  for (const view of both()) view.send('act', { kind, values: given });
}

/* Gravity turns towards +x: a slope by its load. */
function gravityVector() {
  const g = Number(by('gravity').value);
  const angle = (Number(by('tilt').value) * Math.PI) / 180;
  const down = first().live?.index.gravity ?? [0, 0, -9.81];
  const flat = first().bodies?.hasFlat || Math.abs(down[1]) > Math.abs(down[2]);
  return flat ? [g * Math.sin(angle), -g * Math.cos(angle), 0] : [g * Math.sin(angle), 0, -g * Math.cos(angle)];
}

function showGravity() {
  by('gravity').nextElementSibling.textContent = Number(by('gravity').value).toFixed(2);
  by('tilt').nextElementSibling.textContent = `${Number(by('tilt').value).toFixed(1)}°`;
}

function setPlaying(on) {
  playing = on;
  by('play').setAttribute('aria-pressed', on);
  by('play').setAttribute('aria-label', on ? 'Pause' : 'Play');
  for (const view of both()) view.send(on ? 'play' : 'pause');
}

/* ---- dropping, pushing */

function topmost(view) {
  const { poses } = view.frame;
  const axis = view.stage.up.y > 0.5 ? 1 : 2;
  let best = 0;
  for (let i = 1; i < poses.count; i++) if (poses.position[3 * i + axis] > poses.position[3 * best + axis]) best = i;
  return { row: best, slot: poses.slot[best], axis };
}

function drop() {
  const { row, slot, axis } = topmost(first());
  const size = first().bodies.box().getSize(new THREE.Vector3());
  const p = [0, 1, 2].map((c) => first().frame.poses.position[3 * row + c]);
  p[axis] += 0.5 * Math.max(size.x, size.y, size.z) + 0.05;
  actAll('drop', [slot, ...p.map((x) => Number(x.toPrecision(6)))]);
}

function push() {
  const { slot } = topmost(first());
  const size = first().bodies.box().getSize(new THREE.Vector3()).length();
  const speed = Number(Math.sqrt(4 * size).toPrecision(3));
  actAll('push', [slot, speed, 0, 0]);
}

/* ---- does it stand */

function verdict(...lines) {
  by('verdict').replaceChildren(...lines.map(([text, kind]) => element('div', kind ? { class: kind } : {}, text)));
}

async function judge(words) {
  const { out, err, code } = await first().ask('command', { words });
  if (code === 2 || !out) throw new Error(err || 'the check failed');
  return JSON.parse(out);
}

/* How far from falling: least friction, largest tilt, and what is nearest to slipping (1: it slides) or turning over (0: it turns). */
function margins({ least_mu: friction, tilt = {}, interfaces = [] }) {
  const slips = [...interfaces].sort((a, b) => b.slip - a.slip)[0];
  const turns = [...interfaces].filter(({ topple }) => topple !== null).sort((a, b) => a.topple - b.topple)[0];
  return [
    ...(friction?.stands > 0 ? [[`margin of friction: stands down to mu ${friction.stands.toFixed(5)}, a reserve of ${friction.reserve.toFixed(2)}`]] : []),
    ...Object.entries(tilt).filter(([, found]) => found?.stands > 0).map(([side, { stands }]) => [`margin of tilt: to ${side} it stands up to ${stands.toFixed(3)}°`]),
    ...(slips ? [[`nearest to slipping: ${slips.a} / ${slips.b} at ${number(slips.slip)} of its cone`]] : []),
    ...(turns ? [[`nearest to turning over: ${turns.a} / ${turns.b}, ${number(turns.topple)} left`]] : []),
  ];
}

const PATIENCE = 500; /* milliseconds of a first check; where it takes longer the search for margins would stop the world */

async function check() {
  verdict(['asking for an equilibrium …']);
  const show = (found) =>
    verdict(
      [found.stands ? 'It stands: forces within all friction cones exist, and the simulation stays.' : 'It does not stand.', found.stands ? 'stands' : 'falls'],
      ...margins(found),
      ...(found.equilibrium?.mechanism ?? []).slice(0, 3).map((m) => [`moves: ${m.body ?? m.name ?? ''}`]),
    );
  try {
    const began = performance.now();
    const found = await judge(['check', ...worldWords(), '--quick', '--json']);
    show(found);
    if (found.stands && performance.now() - began < PATIENCE) show(await judge(['check', ...worldWords(), '--json']));
  } catch (error) {
    verdict([error.message, 'falls']);
  }
}

function showFriction(mu) {
  values.mu = mu;
  const slider = by('p-mu');
  slider.value = String(mu);
  slider.nextElementSibling.textContent = shown({ kind: 'real' }, mu);
}

/* Bisects the friction with the reader watching: every trial is shown, world and slider take its friction. At the end they take back
 * that from before. */
async function limit() {
  const p = rowOf(scene)?.parameters.find(({ name }) => name === 'mu');
  if (!p || file) return verdict(['this scene has no friction to vary']);
  const kept = values.mu;
  const lines = [];
  const stands = async (mu) => {
    showFriction(mu);
    const found = await judge(['check', ...worldWords(), '--quick', '--json']);
    const good = found.equilibrium?.verdict === 'stands';
    lines.unshift([`mu ${mu.toFixed(6)}: it ${good ? 'stands' : 'falls'}`, good ? 'stands' : 'falls']);
    restart();
    verdict(...lines.slice(0, 7));
    await new Promise((done) => setTimeout(done, 350));
    return good;
  };
  try {
    let low = 0, high = Math.max(kept, 0.05);
    if (!(await stands(high))) lines.unshift(['it falls at the present friction: raise mu first']);
    else if (await stands(0)) lines.unshift(['it stands without friction']);
    else {
      while (high - low > 2e-5 * high && lines.length < 24) {
        const middle = (low + high) / 2;
        if (await stands(middle)) high = middle;
        else low = middle;
      }
      lines.unshift([`limit: an equilibrium exists from mu ${high.toFixed(5)} on`]);
    }
  } catch (error) {
    lines.unshift([error.message, 'falls']);
  }
  showFriction(kept);
  restart();
  verdict(...lines.slice(0, 8));
}

/* ---- numbers */

const LEDGER = ['kinetic', 'potential', 'work', 'friction', 'impact', 'damping', 'joint', 'contact', 'scheme', 'error'];

function numbers(view, home) {
  const s = view.frame.state;
  const tolerance = view.live.index.tolerance;
  const held = s.certified_steps === s.steps;
  const home_ = by(home);
  const rows = [
    ['residual now', power(s.residual)], ['worst so far', power(s.worst)], ['certified', `${count(s.certified_steps)} of ${count(s.steps)}`],
    ['contacts', count(s.touching)], ['deepest overlap', number(s.penetration, 'm')], ['time a step', number(1000 * s.seconds, 'ms')],
  ];
  const table = (list) => {
    const out = element('table', { class: 'ledger' });
    for (const [name, value] of list) out.append(element('tr', {}, element('td', {}, name), element('td', {}, value)));
    return out;
  };
  home_.replaceChildren(
    element('h2', {}, s.steps === 0 ? 'No step yet' : held ? `Certified to ${power(tolerance)}` : s.approximate ? 'Approximate, and not certified' : 'Not certified'),
    table(rows), element('h2', {}, 'Energy ledger, J'), table(LEDGER.map((name) => [name, number(s[name])])),
  );
  const tag = by(home === 'numbers-b' ? 'tag-b' : 'tag-a');
  tag.className = `tag ${s.steps === 0 ? '' : held ? 'good' : 'bad'}`;
}

let lastNumbers = 0;
function onFrame(k) {
  const view = views[k];
  const now = performance.now();
  /* two worlds go side by side: none runs ahead */
  const other = views[1 - k];
  if (other) other.send('upTo', { time: view.frame.state.time + 0.05 });
  if (k === 0) {
    by('clock').textContent = `${view.frame.state.time.toFixed(2)} s`;
    const s = view.frame.state;
    by('badges').replaceChildren(element('span', { class: `badge ${s.steps === 0 ? '' : s.certified_steps === s.steps ? 'good' : 'bad'}` }, s.steps ? `${count(s.certified_steps)} of ${count(s.steps)} steps certified` : 'at the start'));
    by('rate').textContent = s.steps ? `${many(view.frame.poses.count, 'body', 'bodies')}, ${many(view.frame.contacts.count, 'contact', 'contacts')}` : '';
  }
  if (now - lastNumbers > 120 || !playing) {
    if (k === both().length - 1) lastNumbers = now;
    both().forEach((v, i) => v.frame && numbers(v, i ? 'numbers-b' : 'numbers-a'));
  }
}

/* ---- hands */

function connectHands(view) {
  const { canvas } = view;
  let held = null;
  const place = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const target = (e) => {
    const ray = view.stage.ray(...place(e)).ray;
    return ray.intersectPlane(held.plane, new THREE.Vector3()) ?? held.point;
  };
  const hold = (slot, at) => actAll('hold', slot < 0 ? [-1, 0, 0, 0, 0, 0, 0] : [slot, ...held.local.toArray(), ...at.toArray()].map((x, k) => (k ? Number(x.toPrecision(6)) : x)));
  canvas.addEventListener('pointerdown', (e) => {
    if (!e.isPrimary || e.button !== 0 || !view.bodies) return;
    const found = view.pick(...place(e));
    if (!found) return;
    view.stage.controls.enabled = false;
    canvas.setPointerCapture(e.pointerId);
    const normal = view.stage.camera.getWorldDirection(new THREE.Vector3());
    held = { ...found, plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, found.point) };
    hold(found.slot, found.point);
    e.stopImmediatePropagation();
  }, { capture: true });
  canvas.addEventListener('pointermove', (e) => {
    if (!held) return;
    const at = target(e);
    later('hold', () => held && hold(held.slot, at));
  });
  const release = () => {
    if (!held) return;
    held = null;
    pending.delete('hold');
    hold(-1);
    view.stage.controls.enabled = true;
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
}

/* ---- files, link, record */

async function take(list) {
  try {
    const got = await readFiles(list);
    if (got.kind === 'problem') {
      const { out, err } = await first().ask('command', { words: got.words, files: got.files });
      const found = out ? JSON.parse(out) : null;
      const residual = found?.certificate?.residual ?? found?.residual;
      verdict([found ? `${got.name}: ${found.contacts} contacts, ${found.outcome ?? 'solved'} by ${found.finisher}, residual ${residual == null ? '–' : power(residual)}` : err, found ? 'stands' : 'falls']);
      return;
    }
    await first().ask('probe', { words: got.words, files: got.files }); /* what cannot be opened changes nothing */
    file = got;
    by('scene').selectedIndex = -1; /* any scene may be chosen again */
    by('lesson').replaceChildren(element('b', {}, got.name), ' from your disk; nothing leaves this page.');
    by('parameters').replaceChildren();
    restart();
  } catch (error) {
    say(error.message);
  }
}

async function share() {
  if (file) return verdict(['A world from a file of yours has no link: send the file itself.']);
  const { log, steps } = await first().ask('log');
  const hash = writeLink({ words: [...opened, ...methodWords(by('method').value)], beside: by('beside').value, steps, log });
  history.replaceState(null, '', hash);
  try {
    await navigator.clipboard.writeText(location.href);
    by('share').textContent = 'Copied';
  } catch {
    by('share').textContent = 'In the address';
  }
  setTimeout(() => (by('share').textContent = 'Share'), 1500);
}

function download(name, bytes) {
  const link = element('a', { href: URL.createObjectURL(new Blob([bytes])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function toggleRecord() {
  recording = !recording;
  by('record').setAttribute('aria-pressed', recording);
  by('record').textContent = recording ? 'Stop' : 'Record';
  const meta = JSON.stringify({ program: 'frix playground', scene, arguments: worldWords() });
  first().send('record', { on: recording, meta, template: recording ? null : await replayTemplate(document) });
}

/* The run itself is saved; its replay page, one file for any browser, is offered. */
function keepRecording({ bytes, page }) {
  recording = false;
  by('record').setAttribute('aria-pressed', 'false');
  by('record').textContent = 'Record';
  download(`${scene}.frx`, bytes);
  if (!page) return;
  const save = element('button', { id: 'save-page' }, `Save its replay page (${number(page.length / 1e6, 'MB')})`);
  save.onclick = () => download(`${scene}.html`, page);
  by('verdict').replaceChildren(element('div', {}, `${scene}.frx is saved.`), save);
}

/* ---- start */

function setTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name;
  for (const view of both()) view.paint(name);
}

function toggleMark(name) {
  const on = by(name).getAttribute('aria-pressed') !== 'true';
  by(name).setAttribute('aria-pressed', on);
  for (const view of both()) name === 'through' ? view.seeThrough(on) : view.toggle(name, on);
}

function changeSpeed(by_) {
  const list = by('speed');
  list.selectedIndex = Math.max(0, Math.min(list.options.length - 1, list.selectedIndex + by_));
  list.onchange();
}

const KEYS = {
  ' ': () => setPlaying(!playing),
  ArrowRight: () => by('step').click(),
  ArrowUp: () => changeSpeed(1),
  ArrowDown: () => changeSpeed(-1),
  Home: () => restart(),
  f: () => both().forEach((view) => view.fit()),
  c: () => toggleMark('points'), v: () => toggleMark('forces'), k: () => toggleMark('cones'), n: () => toggleMark('chains'), x: () => toggleMark('through'),
  t: () => by('theme').click(), d: drop, p: push, l: share, o: () => by('files').click(), r: toggleRecord,
};

function connect() {
  by('scene').append(...tables.scenes.map((row) => element('option', { value: row.name, title: row.summary }, row.name)));
  for (const [id, none] of [['method', null], ['beside', 'nothing']]) {
    if (none) by(id).append(element('option', { value: '' }, none));
    by(id).append(...Object.entries(METHODS).map(([name, [label]]) => element('option', { value: name }, label)));
  }
  by('scene').onchange = () => {
    chooseScene(by('scene').value);
    restart();
  };
  by('method').onchange = () => restart();
  by('beside').onchange = () => {
    setBeside(by('beside').value);
    restart();
  };
  for (const id of ['gravity', 'tilt'])
    by(id).oninput = () => {
      showGravity();
      later('gravity', () => actAll('gravity', gravityVector()));
    };
  by('play').onclick = () => setPlaying(!playing);
  by('step').onclick = () => {
    setPlaying(false);
    for (const view of both()) view.send('steps', { count: 1 });
  };
  by('restart').onclick = () => restart();
  by('speed').onchange = () => both().forEach((view) => view.send('speed', { speed: Number(by('speed').value) }));
  by('drop').onclick = drop;
  by('push').onclick = push;
  by('check').onclick = check;
  by('limit').onclick = limit;
  by('open').onclick = () => by('files').click();
  by('files').onchange = (e) => {
    const chosen = [...e.target.files];
    e.target.value = ''; /* the same file may be chosen again */
    if (chosen.length) take(chosen);
  };
  by('share').onclick = share;
  by('record').onclick = toggleRecord;
  by('fit').onclick = () => both().forEach((view) => view.fit());
  for (const name of ['points', 'forces', 'cones', 'chains', 'through']) by(name).onclick = () => toggleMark(name);
  by('theme').onclick = () => setTheme(theme === 'dark' ? 'light' : 'dark');
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target.matches('select, input') && e.key.startsWith('Arrow'))) return;
    if (e.key === ' ' && e.target.matches('button, select') && e.target.id !== 'play') return;
    const action = KEYS[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action) return;
    e.preventDefault();
    action();
  });
  document.addEventListener('dragover', (e) => {
    e.preventDefault();
    document.body.classList.add('dropping');
  });
  document.addEventListener('dragleave', (e) => e.relatedTarget === null && document.body.classList.remove('dropping'));
  document.addEventListener('drop', (e) => {
    e.preventDefault();
    document.body.classList.remove('dropping');
    take([...e.dataTransfer.files]);
  });
}

/* Two worlds are seen from the same place. */
function lookAlike(from) {
  const to = both().find((view) => view !== from)?.stage;
  const { stage } = from;
  if (!to || to.flat !== stage.flat || stage.silent) return;
  to.silent = true;
  to.look(stage);
  to.silent = false;
}

function newView(id, k, makeWorker) {
  const view = new View(by(id), makeWorker);
  view.leads = k === 0;
  view.paint(theme);
  view.listen('frame', () => onFrame(k));
  view.listen('error', ({ text }) => say(text));
  view.listen('recorded', keepRecording);
  view.listen('stage', () => view.stage.controls.addEventListener('change', () => lookAlike(view)));
  connectHands(view);
  return view;
}

/* The values of --set among words, as the sliders want them. */
function valuesOf(words) {
  const row = rowOf(words[0]);
  const out = {};
  const rest = [];
  for (let k = 1; k < words.length; k++) {
    const [name, text] = words[k] === '--set' ? (words[k + 1] ?? '').split('=') : [];
    const p = row.parameters.find((q) => q.name === name);
    if (!p) rest.push(words[k]);
    else {
      out[name] = p.kind === 'choice' ? p.choices.split('|').indexOf(text) : p.kind === 'boolean' ? Number(text === 'true') : Number(text);
      k++;
    }
  }
  const method = Object.entries(METHODS).find(([, [, words_]]) => words_.length && words_.every((w) => rest.includes(w)));
  return { given: out, method: method?.[0] ?? 'auto' };
}

async function show() {
  core = await window.frixStarted; /* loader.js */
  const dark = matchMedia('(prefers-color-scheme: dark)');
  theme = dark.matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme;
  views = [newView('canvas-a', 0, () => core.first), null];
  ({ tables } = await core.ready);
  if (core.threads) by('subtitle').textContent += `, on ${core.threads.count} threads`;
  connect();
  const link = readLink(location.hash);
  const known = link && rowOf(link.words[0]);
  const { given, method } = known ? valuesOf(link.words) : { given: {}, method: 'auto' };
  chooseScene(known ? link.words[0] : 'arch', given);
  by('method').value = method;
  by('beside').value = link?.beside ?? '';
  setBeside(by('beside').value);
  restart(known ? link.log : []);
  setTheme(theme);
  window.frix = { views, share, take, by, actAll, restart, get first() { return first(); }, get playing() { return playing; }, setPlaying };
}

export function startPlayground() {
  show().catch((error) => {
    say(`This page cannot be shown: ${error.message}`);
    throw error;
  });
}
