/* A file of glTF is read by three.js: node gltf.mjs FILE.glb BODIES SECONDS. Exit code 0 where it has as many moving bodies and
 * lasts as long as said. */
import { readFileSync } from 'node:fs';

globalThis.self = globalThis; /* what the loader takes for a browser */
const { GLTFLoader } = await import('three/examples/jsm/loaders/GLTFLoader.js');
const [file, bodies, seconds] = process.argv.slice(2);
const bytes = readFileSync(file);
const scene = await new GLTFLoader().parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length), '');
const [run] = scene.animations;
let meshes = 0;
scene.scene.traverse((thing) => (meshes += thing.isMesh ? 1 : 0));
const good = run.tracks.length === 2 * Number(bodies) && Math.abs(run.duration - Number(seconds)) < 1e-6 && meshes >= Number(bodies);
console.log(`gltf: ${meshes} meshes, ${run.tracks.length} tracks, ${run.duration} s: ${good ? 'as they should be' : 'WRONG'}`);
process.exit(good ? 0 : 1);
