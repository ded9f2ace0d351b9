// MuJoCo (npm @mujoco/mujoco), double precision, WebAssembly. Defaults; ITERATIONS: of its solver.
import init from '@mujoco/mujoco';
import { sceneXml } from './mujoco_xml.mjs';

export async function open(scene, iterations) {
  const mujoco = await init();
  const solver = iterations > 0 ? `iterations="${iterations}" ` : '';
  const model = mujoco.MjModel.from_xml_string(sceneXml(scene, solver));
  const data = new mujoco.MjData(model);
  // velocities of free joints: of the centre in the world, spin in the body
  const turn = (q, w, back) => {
    const [a, x, y, z] = back ? [q[0], -q[1], -q[2], -q[3]] : q, t = [y * w[2] - z * w[1], z * w[0] - x * w[2], x * w[1] - y * w[0]];
    return [w[0] + 2 * (a * t[0] + y * t[2] - z * t[1]), w[1] + 2 * (a * t[1] + z * t[0] - x * t[2]),
      w[2] + 2 * (a * t[2] + x * t[1] - y * t[0])];
  };
  const put = (k, s) => {
    data.qpos.set([...s.p, ...s.q], 7 * k);
    data.qvel.set([...s.v, ...turn(s.q, s.w, true)], 6 * k);
  };
  scene.dynamic.forEach((b, k) => put(k, b));
  const bodies = scene.dynamic.length;
  let pushed = false;
  return {
    step() {
      mujoco.mj_step(model, data);
      if (pushed) data.xfrc_applied.fill(0);
      pushed = false;
    },
    look(k, out) {
      const q = data.qpos.subarray(7 * k, 7 * k + 7), v = data.qvel.subarray(6 * k, 6 * k + 6);
      out.set(q, 0);
      out.set(v.subarray(0, 3), 7);
      out.set(turn(q.subarray(3), v.subarray(3), false), 10);
    },
    put,
    push(k, f) {
      data.xfrc_applied.set(f, 6 * (data.xfrc_applied.length / 6 - bodies + k));
      pushed = true;
    },
  };
}
