// A moving scene as MJCF.

function geomOf(b, mu) {
  const size = { plane: '0 0 1', box: b.size.join(' '), sphere: b.size[0], capsule: b.size.join(' '), cylinder: b.size.join(' ') };
  return `<geom type="${b.shape}" size="${size[b.shape]}" friction="${mu} 0.005 0.0001"`;
}

function bodyOf(b, mu) {
  const place = `pos="${b.p.join(' ')}" quat="${b.q.join(' ')}"`;
  if (!b.dynamic) return `${geomOf(b, mu)} ${place}/>`;
  return `<body ${place}><freejoint/><inertial pos="0 0 0" mass="${b.mass}" diaginertia="${b.inertia.join(' ')}"/>` +
    `${geomOf(b, mu)}/></body>`;
}

/** options: of the solver, as attributes. */
export function sceneXml(scene, options) {
  return `<mujoco><option timestep="${scene.h}" gravity="${scene.gravity.join(' ')}" ${options}/><size memory="600M"/>` +
    `<worldbody>${scene.body.map(b => bodyOf(b, scene.mu)).join('\n')}</worldbody></mujoco>`;
}
