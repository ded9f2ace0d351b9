/* The button of a page that carries the core: runs the run again in a worker and says what came out. */
import { count, element, power } from './text.js';
import { carriedCore } from './wasm.js';

/** @param {HTMLButtonElement} button @param {import('./payload.js').Replay} replay @param {(frame: number) => void} show */
export async function offerProof(button, replay, show) {
  const core = replay.index.columns['proof.words'] && (await carriedCore(document));
  if (!core) return;
  button.hidden = false;
  const note = button.nextElementSibling;
  const say = (kind, text, hint = '') => note.replaceChildren(element('span', { class: `badge ${kind}`, title: hint }, text));
  button.onclick = () => {
    button.disabled = true;
    const worker = new Worker(core.worker);
    const end = (kind, text, hint) => {
      say(kind, text, hint);
      button.disabled = false;
      worker.terminate();
    };
    worker.onmessage = ({ data }) => {
      if (data.type === 'progress') {
        say('', `step ${count(data.step)}, ${count(data.certified)} certified`);
        show(data.frame);
      } else if (data.type === 'proved') {
        end('good', `proved: ${count(data.frames)} frames, ${count(data.steps)} steps the same`, `${count(data.certified)} steps certified again, worst residual ${power(data.worst)}; state ${data.hash}`);
      } else if (data.type === 'differs') {
        show(data.frame);
        end('bad', `differs at step ${count(data.step)}`, `${data.what} differs at step ${data.step}, t = ${data.time} s${data.found ? `: ${data.found} instead of ${data.wanted}` : ''}`);
      } else end('bad', data.text);
      button.dataset.state = data.type;
    };
    worker.onerror = (event) => end('bad', event.message);
    say('', 'running it again …');
    worker.postMessage({ wasm: core.wasm, index: replay.index, buffer: replay.buffer });
  };
}
