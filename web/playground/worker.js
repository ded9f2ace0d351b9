/* A world in a worker: steps it in step with the clock, does to it what the reader does, and sends what is to be seen.
 * Actions are kept with the number of the step they came before, so that a link replays them bit for bit. */
import { loadCore } from '../src/core.js';

const BUDGET = 14; /* milliseconds of stepping between two pictures */

let core = null;
let crew = []; /* words: how many threads a world has, which changes no bit */
let world = null;
let words = [];
let steps = 0;
let playing = false;
let speed = 1;
let goal = 0; /* simulated time that should have been reached */
let upTo = Infinity; /* the other world is no farther than that */
let waiting = false; /* for the page to have drawn the last frame */
let dirty = false;
let log = [];
let script = []; /* actions that came with the link */
let recording = null;
let serial = 0; /* of the opened world: answers that come late are told apart */

const post = (type, data = {}, transfer = []) => self.postMessage({ type, serial, ...data }, transfer);

const ACTIONS = {
  gravity: (x, y, z) => world.number('core_gravity', x, y, z),
  hold: (slot, ...rest) => world.number('core_hold', slot, ...rest),
  push: (slot, x, y, z) => world.number('core_push', slot, x, y, z),
  drop: (slot, x, y, z) => world.number('core_drop', slot, x, y, z),
  /* a parameter changes under way: the world goes on with the materials that the same words with the new value give */
  set(name, value) {
    const setting = `${name}=${value}`;
    const at = words.findIndex((word) => word.startsWith(`${name}=`));
    const next = at < 0 ? [...words, '--set', setting] : words.with(at, setting);
    if (recording) record({ on: false }); /* a file holds one model */
    const fresh = core.open(next);
    const failed = world.number('core_take_materials', fresh.at);
    fresh.close();
    if (failed) throw new Error(`${name} changes the bodies themselves, so the world starts anew`);
    words = next;
  },
};

function act(kind, values) {
  if (!ACTIONS[kind]) return;
  /* slots are named by what was shown last: they are the same whenever the steps are */
  if (kind !== 'gravity' && kind !== 'set') world.text('core_frame');
  ACTIONS[kind](...values);
  log.push([steps, kind, ...values]);
}

/* What the link says was done behind this step. */
function replay() {
  while (script.length && script[0][0] <= steps) {
    const [, kind, ...values] = script.shift();
    act(kind, values);
  }
}

function step() {
  world.step();
  steps++;
  replay();
  dirty = true;
}

function send() {
  if (waiting || !dirty || !world) return;
  dirty = false;
  waiting = true;
  post('frame', { frame: world.frame(), steps, log: log.length, behind: Math.max(0, goal - world.time) });
}

let before = 0;
function tick() {
  if (!playing || !world) return;
  const now = performance.now();
  goal += (Math.min(100, now - before) / 1000) * speed;
  before = now;
  try {
    while (world.time + world.h / 2 < Math.min(goal, upTo) && performance.now() - now < BUDGET) step();
  } catch (error) {
    playing = false;
    post('error', { text: error.message });
  }
  if (world.time + world.h / 2 < goal) goal = world.time + world.h / 2; /* too slow for the clock: goes on from here */
  send();
  setTimeout(tick, Math.max(0, 15 - (performance.now() - now)));
}

function play() {
  if (playing) return;
  playing = true;
  goal = world ? world.time : 0;
  before = performance.now();
  tick();
}

function open({ words: given, files = [], actions = [], serial: number }) {
  for (const { path, bytes } of files) core.write(path, bytes);
  const fresh = core.open([...given, ...crew]);
  world?.close();
  world = fresh;
  words = given;
  serial = number;
  steps = 0;
  log = [];
  script = actions.slice();
  recording = null;
  waiting = false;
  goal = world.time;
  upTo = Infinity;
  post('model', { model: world.model() });
  replay();
  dirty = true;
  send();
}

function record({ on, meta, template }) {
  if (on) {
    recording = '/run.frx';
    if (core.call('core_record', 'number', ['number', 'string', 'string'], world.at, recording, meta)) {
      recording = null;
      throw new Error(core.complaint());
    }
  } else if (recording) {
    core.call('core_record', 'number', ['number', 'string', 'string'], world.at, '', '');
    const bytes = core.read(recording);
    const page = template ? core.page(recording, template) : null;
    recording = null;
    post('recorded', { bytes, page });
  }
}

const HANDLERS = {
  async init({ wasm, threads }) {
    core = await loadCore(self.frixCore, wasm, threads);
    if (threads) crew = ['--threads', String(threads.count)];
    post('ready', { tables: core.tables(), threads: threads?.count ?? 1 });
  },
  open,
  play,
  pause: () => (playing = false),
  speed: (data) => (speed = data.speed),
  steps({ count }) {
    for (let k = 0; k < count; k++) step();
    goal = world.time;
    send();
  },
  /* whether a world can be opened */
  probe({ id, words, files }) {
    for (const { path, bytes } of files) core.write(path, bytes);
    core.open(words).close();
    post('answer', { id });
  },
  act({ kind, values }) {
    if (!world) return;
    act(kind, values);
    dirty = true;
    if (!playing) send();
  },
  drawn() {
    waiting = false;
    send();
  },
  upTo: ({ time }) => (upTo = time),
  log: ({ id }) => post('answer', { id, log: [...log, ...script], steps }),
  hash: ({ id }) => post('answer', { id, hash: world.hash, steps }),
  /* hashes after so many steps of a scene, for the comparison with native builds */
  hashes({ id, words, at }) {
    const own = core.open(words);
    const out = [];
    for (let k = 1; k <= Math.max(...at); k++) {
      own.step();
      if (at.includes(k)) out.push(`${k}:${own.hash}`);
    }
    own.close();
    post('answer', { id, hashes: out });
  },
  record,
  command: ({ id, words, files = [] }) => {
    for (const { path, bytes } of files) core.write(path, bytes);
    post('answer', { id, ...core.run(words) });
  },
};

/* In the order they come; what comes before the core is loaded waits. */
let queue = Promise.resolve();
self.onmessage = ({ data }) => {
  queue = queue
    .then(() => HANDLERS[data.type](data))
    .catch((error) => {
      if (data.id) post('answer', { id: data.id, error: error.message });
      else post('error', { text: error.message });
    });
};
