/* A run that goes on in another process: the page shows its frames as they come (app/live.c, frix run --live). */
import { View } from '../playground/view.js';
import { frameOf } from './core.js';
import { count, element, number, power } from './text.js';

const LEDGER = ['kinetic', 'potential', 'work', 'friction', 'impact', 'damping', 'joint', 'contact', 'scheme', 'error'];
const by = (id) => document.getElementById(id);

/** Messages of a response: two lengths, JSON, bytes. */
async function* messages(response) {
  const reader = response.body.getReader();
  let kept = new Uint8Array(0);
  for (;;) {
    while (kept.length >= 8) {
      const head = new DataView(kept.buffer, kept.byteOffset, 8);
      const text = head.getUint32(0, true);
      const size = 8 + text + head.getUint32(4, true);
      if (kept.length < size) break;
      if (!text) return;
      yield { index: JSON.parse(new TextDecoder().decode(kept.subarray(8, 8 + text))), buffer: kept.slice(8 + text, size).buffer };
      kept = kept.subarray(size);
    }
    const { done, value } = await reader.read();
    if (done) throw new Error('the program ended');
    const more = new Uint8Array(kept.length + value.length);
    more.set(kept);
    more.set(value, kept.length);
    kept = more;
  }
}

function badge(kind, text, hint) {
  return element('span', { class: `badge ${kind}`, title: hint }, text);
}

function table(rows) {
  const list = element('dl');
  for (const [name, value] of rows) list.append(element('dt', {}, name), element('dd', {}, value));
  return list;
}

function showNumbers(state, model) {
  const all = state.certified_steps === state.steps;
  by('badges').replaceChildren(
    badge(all ? 'good' : 'bad', `${count(state.certified_steps)} of ${count(state.steps)} steps certified`, "steps that satisfy Coulomb's law to the tolerance"),
    badge('', `worst residual ${power(state.worst)}`, 'of all steps so far'),
  );
  by('clock').textContent = `${state.time.toFixed(3)} s`;
  by('span').textContent = ` / ${model.end} s`;
  by('scrub').value = String(model.end ? state.time / model.end : 1);
  by('card').replaceChildren(
    element('h2', {}, `Step ${count(state.step)}`),
    table([['residual', power(state.residual)], ['contacts', count(state.touching)], ['penetration', number(state.penetration, 'm')], ['computed in', number(1000 * state.seconds, 'ms')]]),
    element('h2', {}, 'Energy ledger, J'),
    table(LEDGER.filter((name) => state[name]).map((name) => [name, number(state[name])])),
  );
}

/* Buttons that make sense for a run that is not over. */
function connect(view) {
  for (const id of ['follow', 'tones', 'png', 'link', 'prove', 'about', 'play', 'back', 'on', 'speed', 'stretch-label']) by(id).hidden = true;
  document.body.classList.add('live');
  by('scrub').max = '1';
  by('scrub').step = 'any';
  by('scrub').disabled = true;
  for (const name of ['points', 'forces', 'cones'])
    by(name).onclick = () => {
      view.toggle(name);
      by(name).setAttribute('aria-pressed', view.on[name]);
    };
  by('through').onclick = () => {
    view.seeThrough(!view.through);
    by('through').setAttribute('aria-pressed', view.through);
  };
  by('fit').onclick = () => view.fit();
  by('full').onclick = () => by('view').requestFullscreen?.().catch(() => {});
  const paint = (theme) => {
    document.documentElement.dataset.theme = theme;
    view.paint(theme);
  };
  by('theme').onclick = () => paint(view.theme === 'dark' ? 'light' : 'dark');
  paint(matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
}

/** @param {(text: string) => void} say */
export async function followLive(say) {
  const view = new View(by('canvas'), () => ({ postMessage() {}, terminate() {} }));
  connect(view);
  window.frix = { view, frames: 0, over: false };
  const { value } = await messages(await fetch('model')).next();
  const model = value.index;
  document.title = `${model.name} – frix live`;
  by('title').textContent = model.name;
  by('subtitle').textContent = [`live`, `h = ${number(model.h, 's')}`, model.solver, model.integrator].join(' · ');
  view.hear({ type: 'model', serial: 0, model: { index: model, buffer: value.buffer } });
  say('');
  try {
    for await (const { index, buffer } of messages(await fetch('frames'))) {
      const frame = frameOf(index, buffer);
      view.hear({ type: 'frame', serial: 0, frame, steps: frame.state.steps, behind: 0 });
      showNumbers(frame.state, model);
      window.frix.frames++;
      /* pictures take their time, and the newest frame is the one to show */
      await new Promise((next) => requestAnimationFrame(next));
    }
    by('subtitle').textContent += ' · run over';
  } catch (error) {
    say(`The connection is lost: ${error.message}. What is shown is the last frame that came.`);
  }
  window.frix.over = true;
}
