// Random robots in URDF, to be read by frix and by MuJoCo: tools/check_robots --random-urdf.
//
//   make_robot_urdfs.mjs FOLDER FIRST COUNT
//
// writes FOLDER/N/model.urdf: a tree of links that starts at a massless one, all types of joints, inertials turned and
// off the diagonal, primitive shapes and meshes, transmissions and Gazebo tags. MuJoCo is told to keep links as they are.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { choices } from './make_robot_drives.mjs';

const [folder, first, count] = process.argv.slice(2);

function makeRobot(seed, place) {
  const c = choices(seed), links = [], joints = [];
  const origin = () => c.chance(0.8) ? `<origin xyz="${c.text(-0.3, 0.3, 3)}"${c.chance(0.7) ? ` rpy="${c.text(-3, 3, 3)}"` : ''}/>` : '';
  const shape = () => {
    switch (c.whole(0, 3)) {
      case 0: return `<box size="${c.text(0.05, 0.2, 3)}"/>`;
      case 1: return `<sphere radius="${c.text(0.03, 0.1)}"/>`;
      case 2: return `<cylinder radius="${c.text(0.03, 0.1)}" length="${c.text(0.05, 0.3)}"/>`;
      default: return `<mesh filename="wedge.obj"${c.chance(0.5) ? ` scale="${c.text(0.5, 1.5, 3)}"` : ''}/>`;
    }
  };
  const inertial = () => `<inertial>${origin()}<mass value="${c.text(0.1, 3)}"/><inertia ixx="${c.text(0.02, 0.03)}" iyy="${c.text(0.02, 0.03)}" izz="${c.text(0.02, 0.03)}" ixy="${c.text(-0.003, 0.003)}" ixz="${c.text(-0.003, 0.003)}" iyz="${c.text(-0.003, 0.003)}"/></inertial>`;
  const link = (name, empty) => `<link name="${name}">${empty ? '' : inertial()}${!empty && c.chance(0.6) ? `<collision>${origin()}<geometry>${shape()}</geometry></collision>` : ''}${!empty && c.chance(0.3) ? `<visual>${origin()}<geometry>${shape()}</geometry><material name="m"><color rgba="1 0 0 1"/></material></visual>` : ''}</link>\n`;
  links.push(link('base', true));
  const n = c.whole(2, 10), scalar = [];
  for (let k = 0; k < n; k++) {
    const parent = k === 0 || c.chance(0.15) ? 'base' : `l${c.chance(0.7) ? k - 1 : c.whole(0, k - 1)}`, name = `j${k}`;
    const type = parent === 'base' && c.chance(0.2) ? 'floating' : c.pick(['revolute', 'revolute', 'continuous', 'prismatic', 'fixed', 'planar']);
    links.push(link(`l${k}`, false));
    let text = `<parent link="${parent}"/><child link="l${k}"/>${origin()}`;
    if (type !== 'fixed' && type !== 'floating' && type !== 'planar' && c.chance(0.85)) text += `<axis xyz="${c.text(-1, 1, 3)}"/>`;
    if (type === 'planar') text += '<axis xyz="0 0 1"/>';
    if (type === 'revolute' || type === 'prismatic') text += `<limit lower="${c.text(-1, 0)}" upper="${c.text(0.1, 1)}" effort="${c.text(1, 50)}" velocity="2"/>`;
    if (['revolute', 'prismatic', 'continuous'].includes(type) && c.chance(0.5)) text += `<dynamics damping="${c.text(0, 1)}"${c.chance(0.5) ? ` friction="${c.text(0, 0.5)}"` : ''}/>`;
    if (c.chance(0.1)) text += '<safety_controller k_velocity="1"/>';
    joints.push(`<joint name="${name}" type="${type}">${text}</joint>\n`);
    if (['revolute', 'prismatic', 'continuous'].includes(type)) scalar.push(name);
  }
  let rest = '';
  if (scalar.length && c.chance(0.4)) rest += `<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="${scalar[0]}"/><actuator name="m"/></transmission>\n`;
  if (c.chance(0.4)) rest += '<gazebo reference="base"><material>Gazebo/Red</material></gazebo>\n';
  writeFileSync(join(place, 'wedge.obj'), 'v 0 0 0\nv 0.1 0 0\nv 0 0.12 0\nv 0.02 0.01 0.15\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n');
  return `<?xml version="1.0"?>\n<robot name="random${seed}">\n<mujoco><compiler fusestatic="false" discardvisual="true" strippath="false"/></mujoco>\n${c.chance(0.5) ? links.join('') + joints.join('') : joints.join('') + links.join('')}${rest}</robot>\n`;
}

for (let seed = Number(first); seed < Number(first) + Number(count); seed++) {
  const place = join(folder, String(seed));
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'model.urdf'), makeRobot(seed, place));
}
