// Rapier (npm @dimforge/rapier3d-deterministic-compat), single precision, WebAssembly. Defaults, sleep off; ITERATIONS: of its
// solver.
import R from '@dimforge/rapier3d-deterministic-compat';

const vec = x => ({ x: x[0], y: x[1], z: x[2] }), quat = q => ({ w: q[0], x: q[1], y: q[2], z: q[3] });

function colliderOf(b) {
  const upright = { w: Math.SQRT1_2, x: Math.SQRT1_2, y: 0, z: 0 }; // its axis is y, ours is z
  if (b.shape === 'plane') return new R.ColliderDesc(new R.HalfSpace(vec([0, 0, 1])));
  if (b.shape === 'box') return R.ColliderDesc.cuboid(...b.size);
  if (b.shape === 'sphere') return R.ColliderDesc.ball(b.size[0]);
  if (b.shape === 'capsule') return R.ColliderDesc.capsule(b.size[1], b.size[0]).setRotation(upright);
  return R.ColliderDesc.cylinder(b.size[1], b.size[0]).setRotation(upright);
}

function addBody(world, b, mu) {
  const about = b.dynamic ? R.RigidBodyDesc.dynamic() : R.RigidBodyDesc.fixed();
  about.setTranslation(...b.p).setRotation(quat(b.q)).setLinvel(...b.v).setAngvel(vec(b.w)).setCanSleep(false);
  if (b.dynamic) about.setAdditionalMassProperties(b.mass, vec([0, 0, 0]), vec(b.inertia), quat([1, 0, 0, 0]));
  const body = world.createRigidBody(about);
  world.createCollider(colliderOf(b).setDensity(0).setFriction(mu).setRestitution(0), body);
  return body;
}

export async function open(scene, iterations) {
  await R.init();
  const world = new R.World(vec(scene.gravity));
  world.timestep = scene.h;
  if (iterations > 0) world.numSolverIterations = iterations;
  const all = scene.body.map(b => addBody(world, b, scene.mu)), moving = all.filter((_, k) => scene.body[k].dynamic);
  const xyz = v => [v.x, v.y, v.z];
  const pushed = [];
  return {
    step() {
      world.step();
      while (pushed.length > 0) pushed.pop().resetForces(true);
    },
    look(k, out) {
      const b = moving[k], q = b.rotation();
      out.set(xyz(b.translation()), 0);
      out.set([q.w, q.x, q.y, q.z], 3);
      out.set(xyz(b.linvel()), 7);
      out.set(xyz(b.angvel()), 10);
    },
    put(k, s) {
      moving[k].setTranslation(vec(s.p), true);
      moving[k].setRotation(quat(s.q), true);
      moving[k].setLinvel(vec(s.v), true);
      moving[k].setAngvel(vec(s.w), true);
    },
    push(k, f) {
      moving[k].addForce(vec(f), true);
      pushed.push(moving[k]);
    },
  };
}
