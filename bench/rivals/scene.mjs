// Reader of moving scenes; the grammar is that of bench/motion_scene.h.
import { readFileSync } from 'node:fs';

const state = x => ({ p: x.slice(0, 3), q: x.slice(3, 7), v: x.slice(7, 10), w: x.slice(10, 13) });

export function readScene(file) {
  const scene = { mu: 0.5, gravity: [0, 0, -9.81], h: 0.01, size: 0.2, body: [], put: [], push: [] };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [key, ...word] = line.replace(/#.*/, '').trim().split(/\s+/);
    const x = word.map(Number);
    if (key === 'mu' || key === 'h' || key === 'size') scene[key] = x[0];
    else if (key === 'gravity') scene.gravity = x;
    else if (key === 'at') scene.put.push({ time: x[0], body: x[1], state: state(x.slice(2)) });
    else if (key === 'push') scene.push.push({ from: x[0], to: x[1], body: x[2], force: x.slice(3, 6) });
    else if (key === 'body')
      scene.body.push({ dynamic: x[1] !== 0, mass: x[2], inertia: x.slice(3, 6), ...state(x.slice(6, 19)), shape: word[19],
        size: x.slice(20) });
  }
  scene.dynamic = scene.body.filter(b => b.dynamic);
  return scene;
}
