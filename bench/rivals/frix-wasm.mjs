// frix itself as WebAssembly (./dev wasm), double precision, one thread. Its defaults; ITERATIONS do not count.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadCore } from '../../web/src/core.js';
import { sceneXml } from './mujoco_xml.mjs';

const folder = fileURLToPath(new URL('../../build/wasm/', import.meta.url));
const state = s => [...s.p, ...s.q, ...s.v, ...s.w];

export async function open(scene) {
  const core = await loadCore(createRequire(import.meta.url)(`${folder}frix-core.js`), readFileSync(`${folder}frix-core.wasm`));
  core.write('/scene.xml', sceneXml(scene, ''));
  const world = core.open(['/scene.xml', '--dt', String(scene.h), '--allow-missing']);
  scene.dynamic.forEach((b, k) => world.setState(k, state(b)));
  return {
    step: () => world.step(),
    look: (k, out) => out.set(world.state(k)),
    put: (k, s) => world.setState(k, state(s)),
    push: (k, f) => world.push(k, ...f),
  };
}
