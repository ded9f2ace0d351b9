/* The page: reads the run, sets the stage, and connects buttons, keys, plots and picking with the player. */
import * as THREE from 'three';
import { Bodies } from './bodies.js';
import { ContactMarks } from './contacts.js';
import { aboutRun, bodyCard, contactCard, frameCard } from './panel.js';
import { readPayload } from './payload.js';
import { legendOf, toneOf } from './colours.js';
import { followLive } from './live.js';
import { offerProof } from './prove.js';
import { series, Trail } from './track.js';
import { Player } from './player.js';
import { Plots } from './plots.js';
import { Stage } from './stage.js';
import { count, decimals, element, number, power } from './text.js';

const by = (id) => document.getElementById(id);
const SHADOWS = 4000; /* bodies up to which shadows are worth their price */

/** What is picked: a body, or a contact that is followed through time by its id. */
let picked = null;
let replay, player, bodies, marks, stage, plots;
let theme = 'light';
let tones = 'body';
let following = false;
let trail = null;

/* ---- what the page says about the run */

function header() {
  const { index, meta } = replay;
  const name = meta.scene ?? meta.name ?? replay.file;
  document.title = `${name} – frix replay`;
  by('title').textContent = name;
  const parts = [];
  if (index.h) parts.push(`h = ${number(index.h, 's')}`);
  parts.push(index.solver, index.integrator);
  parts.push(`${count(index.steps)} steps`, `${count(replay.slotCount)} bodies`);
  by('subtitle').textContent = parts.join(' · ');
  const all = index.certified === index.steps;
  const share = index.steps ? (100 * index.certified) / index.steps : 0;
  const shown = all ? '100' : Math.min(99.99, share).toFixed(2);
  if (index.steps) {
    badge(all ? 'good' : 'bad', `${shown} % certified`, `${count(index.certified)} of ${count(index.steps)} recorded steps satisfy Coulomb's law to the tolerance`);
    badge('', `worst residual ${power(index.worst.residual)}`, `at step ${count(index.worst.step)}, t = ${index.worst.time} s`);
  }
  if (index.approximate) badge('warn', 'approximate', `${count(index.approximate)} steps were computed with a method or law chosen as an approximation`);
  if (index.truncated) badge('warn', 'unfinished', 'the file ends in the middle of a block: the run was stopped, or is still going');
  by('run').replaceChildren(aboutRun(replay));
}

function badge(kind, text, hint) {
  by('badges').append(element('span', { class: `badge ${kind}`, title: hint }, text));
}

/* ---- the shown frame */

function poseOf({ body, pose, slot }) {
  const at = (p, pi, q, qi) => new THREE.Matrix4().compose(new THREE.Vector3().fromArray(p, pi), new THREE.Quaternion().fromArray(q, qi), new THREE.Vector3(1, 1, 1));
  const local = at(pose, 0, pose, 3);
  const row = slot >= 0 ? bodies.row[slot] : -1;
  if (row >= 0) return at(bodies.poses.position, 3 * row, bodies.poses.turn, 4 * row).multiply(local);
  return body < 0 ? local : at(replay.bodyPose, 7 * body, replay.bodyPose, 7 * body + 3).multiply(local);
}

let shownFrame = -1;
function showFrame() {
  if (player.frame === shownFrame) return;
  shownFrame = player.frame;
  const before = following && picked?.slot >= 0 ? placeOf(picked.slot) : null;
  bodies.show(replay.poses(shownFrame));
  if (['speed', 'force', 'state'].includes(tones)) paintBodies();
  if (before) moveCamera(before, placeOf(picked.slot));
  trail?.show(shownFrame);
  marks?.show(replay.contacts(shownFrame));
  stage?.planes?.forEach((plane, k) => {
    if (bodies.endless[k].slot >= 0) plane.matrix.copy(poseOf(bodies.endless[k]));
    plane.matrixWorldNeedsUpdate = true;
  });
  showPicked();
  stage?.refresh();
}

/* ---- colours, following */

function paintBodies() {
  bodies.tone = toneOf(tones, replay, bodies.poses, replay.contacts(shownFrame < 0 ? 0 : shownFrame));
  bodies.paint(theme);
}

/* A bar with its ends, or names with their dots. */
function showScale() {
  const told = legendOf(tones, replay);
  by('scale').hidden = !told;
  if (told?.scale) {
    const bar = element('i', { class: 'bar' });
    bar.style.background = `linear-gradient(90deg, ${told.scale.join(', ')})`;
    by('scale').replaceChildren(told.from, bar, told.to);
  } else if (told)
    by('scale').replaceChildren(
      ...told.names.map(([name, colour]) => {
        const dot = element('i', { class: 'dot' });
        dot.style.background = colour;
        return element('b', {}, dot, name);
      }),
    );
}

function setTones(name) {
  tones = name;
  by('tones').value = name;
  showScale();
  paintBodies();
  stage?.refresh();
}

function nextTones() {
  const list = by('tones');
  setTones(list.options[(list.selectedIndex + 1) % list.options.length].value);
}

const placeOf = (slot) => (bodies.row[slot] >= 0 ? new THREE.Vector3().fromArray(bodies.poses.position, 3 * bodies.row[slot]) : null);

function moveCamera(from, to) {
  if (!stage || !from || !to) return;
  const way = to.sub(from);
  stage.camera.position.add(way);
  stage.controls.target.add(way);
}

function setFollowing(on) {
  following = on;
  by('follow').setAttribute('aria-pressed', on);
  if (trail) stage?.scene.remove(trail.line);
  trail = on && picked?.slot >= 0 && stage ? new Trail(replay, picked.slot) : null;
  if (trail) {
    stage.scene.add(trail.line);
    trail.show(shownFrame);
  }
  stage?.refresh();
}

/* ---- pictures and links */

function savePicture() {
  if (!stage) return;
  stage.renderer.render(stage.scene, stage.camera);
  stage.canvas.toBlob((blob) => {
    const link = element('a', { href: URL.createObjectURL(blob), download: `${by('title').textContent}-${replay.step[player.frame]}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

function makeLink() {
  const where = new URLSearchParams({ t: String(replay.time[player.frame]), theme });
  if (tones !== 'body') where.set('colour', tones);
  if (stage) where.set('camera', [...stage.camera.position.toArray(), ...stage.controls.target.toArray(), stage.camera.zoom].map((x) => Number(x.toPrecision(5))).join(','));
  history.replaceState(null, '', `#${where}`);
  navigator.clipboard?.writeText(location.href).catch(() => {});
}

function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else by('view').requestFullscreen?.().catch(() => {});
}

function contactIndex() {
  const { contacts } = marks;
  for (let i = 0; i < contacts.count; i++) if (contacts.id[i] === picked.id && contacts.a[i] === picked.a && contacts.b[i] === picked.b) return i;
  return -1;
}

function showPicked() {
  if (!marks) return;
  const { contacts } = marks;
  let card;
  let ringed = -1;
  if (picked?.kind === 'body') card = bodyCard(replay, picked, bodies.poses, contacts, picked.slot >= 0 ? bodies.row[picked.slot] : -1, player.frame);
  else if (picked?.kind === 'contact') {
    ringed = contactIndex();
    if (ringed >= 0) card = contactCard(replay, contacts, ringed);
  }
  card ??= frameCard(replay, player.frame, bodies.poses, contacts);
  by('card').replaceChildren(card);
  if (stage) marks.mark(ringed, stage.camera);
}

function pick(what) {
  picked = what;
  bodies.paint(theme, picked?.kind === 'body' ? picked : { slot: -1, body: -2 });
  if (following) setFollowing(true);
  plots.extra(series(replay, picked));
  showPicked();
  stage?.refresh();
}

/* x, y in pixels of the canvas. */
function pickAt(x, y, radius) {
  const { clientWidth, clientHeight } = stage.canvas;
  const i = marks.pick(x, y, radius, stage.camera, clientWidth, clientHeight);
  if (i >= 0) {
    const { id, a, b } = marks.contacts;
    pick({ kind: 'contact', id: id[i], a: a[i], b: b[i] });
    return;
  }
  const body = bodies.pick(stage.ray(x, y));
  pick(body ? { kind: 'body', ...body } : null);
}

/* The contact of this frame that is nearest to a point of the world. */
function pickNearest([x, y, z]) {
  const { id, a, b, point, count } = marks.contacts;
  const apart = (i) => Math.hypot(point[3 * i] - x, point[3 * i + 1] - y, point[3 * i + 2] - z);
  let best = -1;
  for (let i = 0; i < count; i++) if (best < 0 || apart(i) < apart(best)) best = i;
  if (best >= 0) pick({ kind: 'contact', id: id[best], a: a[best], b: b[best] });
}

/* ---- buttons, keys, pointer */

function toggleMark(name) {
  marks.on[name] = !marks.on[name];
  by(name).setAttribute('aria-pressed', marks.on[name]);
  marks.draw();
  stage?.refresh();
}

function toggleThrough() {
  const on = by('through').getAttribute('aria-pressed') !== 'true';
  by('through').setAttribute('aria-pressed', on);
  bodies.seeThrough(on);
  marks.seeThrough(on);
  stage?.refresh();
}

function changeSpeed(by_) {
  const list = by('speed');
  list.selectedIndex = Math.max(0, Math.min(list.options.length - 1, list.selectedIndex + by_));
  player.setSpeed(Number(list.value));
}

function setTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name;
  bodies.paint(name);
  marks.paint(name);
  stage?.paint(name);
  plots.paint(name);
}

const fit = () => stage?.fit(bodies.box());
const switchTheme = () => setTheme(theme === 'dark' ? 'light' : 'dark');

function connect() {
  by('play').onclick = () => player.toggle();
  by('back').onclick = () => player.step(-1);
  by('on').onclick = () => player.step(1);
  by('fit').onclick = fit;
  by('theme').onclick = switchTheme;
  by('about').onclick = () => by('sheet').showModal();
  by('through').onclick = toggleThrough;
  by('follow').onclick = () => setFollowing(!following);
  by('tones').onchange = () => setTones(by('tones').value);
  by('png').onclick = savePicture;
  by('link').onclick = makeLink;
  by('full').onclick = fullScreen;
  for (const name of ['points', 'forces', 'cones']) by(name).onclick = () => toggleMark(name);
  by('speed').onchange = () => player.setSpeed(Number(by('speed').value));
  by('stretch').oninput = () => {
    marks.stretch = 10 ** (Number(by('stretch').value) / 2);
    marks.draw();
    stage?.refresh();
  };
  const scrub = by('scrub');
  scrub.max = String(player.last);
  scrub.oninput = () => {
    player.pause();
    player.seek(Number(scrub.value));
  };
  const digits = decimals(replay.time);
  by('span').textContent = ` / ${replay.time[player.last].toFixed(digits)} s`;
  player.listen(() => {
    scrub.value = String(player.frame);
    const now = `${replay.time[player.frame].toFixed(digits)} s`;
    scrub.setAttribute('aria-valuetext', now);
    by('clock').textContent = now;
    by('play').setAttribute('aria-pressed', player.playing);
    by('play').setAttribute('aria-label', player.playing ? 'Pause' : 'Play');
    showFrame();
  });
  document.addEventListener('keydown', onKey);
  if (stage) connectPointer(stage.canvas);
}

const KEYS = {
  ' ': () => player.toggle(),
  ArrowLeft: (e) => player.step(e.shiftKey ? -10 : -1),
  ArrowRight: (e) => player.step(e.shiftKey ? 10 : 1),
  ArrowUp: () => changeSpeed(1),
  ArrowDown: () => changeSpeed(-1),
  Home: () => player.step(-Infinity),
  End: () => player.step(Infinity),
  f: fit,
  c: () => toggleMark('points'),
  v: () => toggleMark('forces'),
  k: () => toggleMark('cones'),
  x: toggleThrough,
  g: () => setFollowing(!following),
  b: nextTones,
  s: savePicture,
  l: makeLink,
  Enter: fullScreen,
  t: switchTheme,
  i: () => by('sheet').showModal(),
  '?': () => by('sheet').showModal(),
  Escape: () => pick(null),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || by('sheet').open) return;
  const { target, key } = event;
  const own = target.matches('select, input') && key.startsWith('Arrow') && target.id !== 'scrub';
  if (own || ((key === ' ' || key === 'Enter') && target.matches('button, select') && target.id !== 'play')) return;
  const action = KEYS[key.length === 1 ? key.toLowerCase() : key];
  if (!action) return;
  event.preventDefault();
  action(event);
}

/* A press that does not move picks. */
function connectPointer(canvas) {
  let start = null;
  canvas.addEventListener('pointerdown', (e) => (start = e.isPrimary && e.button === 0 ? { x: e.clientX, y: e.clientY, at: e.timeStamp } : null));
  canvas.addEventListener('pointerup', (e) => {
    const touch = e.pointerType === 'touch';
    if (!start || Math.hypot(e.clientX - start.x, e.clientY - start.y) > (touch ? 10 : 4) || e.timeStamp - start.at > 600) return;
    const box = canvas.getBoundingClientRect();
    pickAt(e.clientX - box.left, e.clientY - box.top, touch ? 20 : 9);
  });
  canvas.addEventListener('dblclick', fit);
}

/* page.html#t=1.5&theme=dark&play&colour=speed&hide=forces,points&show=cones&mark=0,0,0.5 */
function followAddress() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const dark = matchMedia('(prefers-color-scheme: dark)');
  setTheme(wanted.get('theme') ?? (dark.matches ? 'dark' : 'light'));
  dark.addEventListener('change', () => setTheme(dark.matches ? 'dark' : 'light'));
  for (const name of (wanted.get('hide') ?? '').split(',')) if (marks.on[name]) toggleMark(name);
  for (const name of (wanted.get('show') ?? '').split(',')) if (marks.on[name] === false) toggleMark(name);
  if (wanted.get('speed')) player.setSpeed(Number(wanted.get('speed')));
  if (wanted.get('colour')) setTones(wanted.get('colour'));
  if (wanted.has('t')) player.seekTime(Number(wanted.get('t')));
  /* opens playing, unless the link names a moment or the reader wants no motion */
  if (wanted.has('play') || !(wanted.has('t') || wanted.has('pause') || matchMedia('(prefers-reduced-motion: reduce)').matches)) player.play();
  return { camera: wanted.get('camera')?.split(',').map(Number), mark: wanted.get('mark')?.split(',').map(Number) };
}

function setCamera([x, y, z, tx, ty, tz, zoom]) {
  stage.camera.position.set(x, y, z);
  stage.controls.target.set(tx, ty, tz);
  stage.camera.zoom = zoom || 1;
  stage.project();
  stage.controls.update();
}

/* ---- start */

function makeStage() {
  const gravity = new THREE.Vector3(...replay.index.gravity);
  const up = gravity.length() > 0 ? gravity.clone().negate().normalize() : new THREE.Vector3(0, 0, 1);
  try {
    stage = new Stage(by('canvas'), { flat: bodies.hasFlat, up: bodies.hasFlat ? new THREE.Vector3(0, 1, 0) : nearestAxis(up) });
  } catch {
    say('This browser has no WebGL, so the scene cannot be drawn. Numbers and plots work.');
  }
}

/* Gravity may be tilted (a slope by its load); the horizon stays straight. */
function nearestAxis(v) {
  const axes = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, -1], [0, -1, 0], [-1, 0, 0]].map((a) => new THREE.Vector3(...a));
  return axes.reduce((best, axis) => (axis.dot(v) > best.dot(v) + 1e-9 ? axis : best));
}

function say(text) {
  by('message').hidden = !text;
  by('message').textContent = text;
}

async function show() {
  if (by('frix-live')) return followLive(say);
  say('Reading the run …');
  replay = await readPayload(document, (part) => say(`Reading the run … ${Math.round(100 * part)} %`));
  say('');
  player = new Player(replay);
  bodies = new Bodies(replay);
  bodies.show(replay.poses(0));
  bodies.makeGlass();
  makeStage();
  const box = bodies.box();
  marks = new ContactMarks(replay, box.getBoundingSphere(new THREE.Sphere()).radius || 1, stage?.up ?? new THREE.Vector3(0, 0, 1));
  if (stage) {
    stage.scene.add(bodies.group, marks.group);
    stage.furnish(box, bodies.endless, bodies.count <= SHADOWS, poseOf);
    stage.before.push(() => picked?.kind === 'contact' && marks.ring.quaternion.copy(stage.camera.quaternion));
  }
  plots = new Plots(by('plots'), player);
  header();
  connect();
  const { camera, mark } = followAddress();
  player.tell();
  fit();
  if (mark?.length === 3 && mark.every(Number.isFinite)) pickNearest(mark);
  if (camera?.every(Number.isFinite) && stage) setCamera(camera);
  offerProof(by('prove'), replay, (frame) => {
    player.pause();
    player.seek(frame);
  });
  window.frix = { replay, player, bodies, marks, stage, pick, pickAt, get picked() { return picked; }, get theme() { return theme; } };
}

export function startReplay() {
  show().catch((error) => {
    say(`This page cannot be shown: ${error.message}`);
    throw error;
  });
}
