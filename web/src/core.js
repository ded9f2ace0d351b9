/* The WebAssembly module from JavaScript: worlds that are opened by the words of `frix run`, and the command itself.
 * The other side is web/core/. Runs in a page, in a worker and in node. */
import { contactsAt, posesAt } from './frame_bytes.js';
import { unpacked } from './wasm.js';

/**
 * @param {(options: object) => Promise<any>} factory  what emscripten made
 * @param {BufferSource|string} wasm bytes, or packed as text
 * @param {{count: number, glue?: string, thread?: string}} [threads] of a module that has them: how many, and where their scripts are
 */
export async function loadCore(factory, wasm, threads) {
  const said = { out: [], err: [] };
  const places = threads?.glue ? { mainScriptUrlOrBlob: threads.glue, locateFile: (name) => (name.endsWith('.worker.js') ? threads.thread : name) } : {};
  const module = await factory({
    wasmBinary: typeof wasm === 'string' ? await unpacked(wasm) : wasm,
    frixThreads: threads?.count,
    ...places,
    print: (line) => said.out.push(line),
    /* a line of progress, which the command overwrites, stands before the first message behind it */
    printErr: (line) => said.err.push(line.replace(/^[^]*(?:\r|\x1b\[K)/, '')),
  });
  return new Core(module, said);
}

export class Core {
  constructor(module, said) {
    this.module = module;
    this.said = said;
  }

  call(name, type, types, ...values) {
    return this.module.ccall(name, type, types, values);
  }

  /** What was said on stderr since the last question. */
  complaint() {
    return this.said.err.splice(0).join('\n').replace(/^frix: /, '') || 'failed without a word';
  }

  /** Scenes and solvers. */
  tables() {
    const text = this.module.ccall('core_tables', 'number', [], []);
    const out = JSON.parse(this.module.UTF8ToString(text));
    this.module._free(text);
    return out;
  }

  /** The frix command, for example ['limit', 'arch', '--vary', 'mu', '--json']. */
  run(words) {
    this.said.out.length = this.said.err.length = 0;
    let code;
    try {
      code = this.module.callMain(words);
    } catch (error) {
      if (error?.name !== 'ExitStatus') throw error;
      code = error.status;
    }
    return { code, out: this.said.out.splice(0).join('\n'), err: this.said.err.splice(0).join('\n') };
  }

  /** @param {string} path @param {Uint8Array|string} bytes */
  write(path, bytes) {
    this.module.FS.writeFile(path, bytes);
  }

  /** @param {string} path @returns {Uint8Array} */
  read(path) {
    return this.module.FS.readFile(path);
  }

  /** The replay page of a run in the module's memory. @param {string} run @param {string} template the page without a run */
  page(run, template) {
    const { module } = this;
    if (!this.template) {
      const bytes = new TextEncoder().encode(template);
      this.template = module._malloc(bytes.length + 1);
      module.HEAPU8.set(bytes, this.template);
      module.HEAPU8[this.template + bytes.length] = 0;
      module._core_page(this.template);
    }
    const { code, err } = this.run(['view', run, '--no-open', '--out', '/page.html']);
    if (code > 1) throw new Error(err);
    return this.read('/page.html');
  }

  /** @param {string[]} words as behind `frix run` @param {Uint8Array} [model] bytes that take the place of the model */
  open(words, model) {
    const { module } = this;
    this.said.err.length = 0;
    let at = 0;
    if (model) {
      at = module._malloc(model.length);
      module.HEAPU8.set(model, at);
    }
    const world = this.call('core_open', 'number', ['string', 'number', 'number'], words.join('\n'), at, model?.length ?? 0);
    if (at) module._free(at);
    if (!world) throw new Error(this.complaint());
    return new World(this, world);
  }
}

export class World {
  constructor(core, at) {
    this.core = core;
    this.at = at;
  }

  number(name, ...values) {
    return this.core.call(name, 'number', Array(values.length + 1).fill('number'), this.at, ...values);
  }

  text(name) {
    return this.core.call(name, 'string', ['number'], this.at);
  }

  close() {
    this.core.call('core_close', null, ['number'], this.at);
    if (this.room) this.core.module._free(this.room);
    this.at = 0;
  }

  step() {
    if (this.core.module._core_step(this.at)) throw new Error(this.core.complaint());
  }

  get hash() {
    return this.text('core_hash');
  }

  get time() {
    return this.core.module._core_time(this.at);
  }

  get h() {
    return this.core.module._core_step_length(this.at);
  }

  /** State of body k of the model: position 3, quaternion 4 (scalar first), velocity 3, spin 3. @returns {Float64Array} */
  state(k) {
    const { module } = this.core;
    this.room ??= module._malloc(13 * 8);
    if (this.number('core_state', k, this.room)) throw new Error(this.core.complaint());
    return new Float64Array(module.HEAPU8.buffer, this.room, 13).slice();
  }

  /** @param {number} k @param {ArrayLike<number>} state as above */
  setState(k, state) {
    const { module } = this.core;
    this.room ??= module._malloc(13 * 8);
    new Float64Array(module.HEAPU8.buffer, this.room, 13).set(state);
    if (this.number('core_put_state', k, this.room)) throw new Error(this.core.complaint());
  }

  /** A force on the centre of mass in the coming step. */
  push(k, x, y, z) {
    if (this.number('core_force', k, x, y, z)) throw new Error(this.core.complaint());
  }

  /** The model as an index of columns and its bytes, in the layout of replay pages. */
  model() {
    const index = JSON.parse(this.text('core_model'));
    return { index, buffer: this.core.module.HEAPU8.slice(index.at, index.at + index.bytes).buffer };
  }

  /** Poses, contacts and numbers of now. Copies: they stay when the world goes on. */
  frame() {
    return frameOf(JSON.parse(this.text('core_frame')), this.core.module.HEAPU8.buffer);
  }
}

/* Copies of all columns. */
const kept = (parts) => Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, ArrayBuffer.isView(part) ? part.slice() : part]));

/** A frame from the places of its parts in a buffer (app/page_live.c), as copies. @param {any} f @param {ArrayBuffer} buffer */
export function frameOf(f, buffer) {
  return {
    state: f.state,
    slotPattern: new Uint32Array(buffer, f.slot_pattern, f.slot_count).slice(),
    poses: { gone: [], ...kept(posesAt(buffer, f.poses, new Uint32Array(buffer, f.slots, f.body_count))) },
    contacts: kept(contactsAt(buffer, f.contacts, f.contact_count)),
  };
}
