// Jolt (npm jolt-physics), single precision, WebAssembly. Defaults but for damping (none), sleep (off) and the round edge of thin
// boxes; ITERATIONS: velocity steps.
import init from 'jolt-physics/wasm-compat';

const FIXED = 0, MOVING = 1;

function settingsOf(J, count) {
  const settings = new J.JoltSettings();
  const pairs = new J.ObjectLayerPairFilterTable(2), broad = new J.BroadPhaseLayerInterfaceTable(2, 2);
  pairs.EnableCollision(FIXED, MOVING);
  pairs.EnableCollision(MOVING, MOVING);
  broad.MapObjectToBroadPhaseLayer(FIXED, new J.BroadPhaseLayer(0));
  broad.MapObjectToBroadPhaseLayer(MOVING, new J.BroadPhaseLayer(1));
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = broad;
  settings.mObjectVsBroadPhaseLayerFilter = new J.ObjectVsBroadPhaseLayerFilterTable(broad, 2, pairs, 2);
  // its memory for a step is taken by these bounds
  settings.mMaxBodies = count;
  settings.mMaxBodyPairs = settings.mMaxContactConstraints = Math.max(1024, 8 * count);
  return settings;
}

function shapeOf(J, b) {
  const upright = new J.Quat(Math.SQRT1_2, 0, 0, Math.SQRT1_2), none = new J.Vec3(0, 0, 0); // its axis is y, ours is z
  const turned = settings => new J.RotatedTranslatedShapeSettings(none, upright, settings).Create().Get();
  if (b.shape === 'plane') return new J.PlaneShape(new J.Plane(new J.Vec3(0, 0, 1), 0), null, 1000);
  if (b.shape === 'box') return new J.BoxShape(new J.Vec3(...b.size), Math.min(0.05, 0.1 * Math.min(...b.size)), null);
  if (b.shape === 'sphere') return new J.SphereShape(b.size[0], null);
  if (b.shape === 'capsule') return turned(new J.CapsuleShapeSettings(b.size[1], b.size[0]));
  return turned(new J.CylinderShapeSettings(b.size[1], b.size[0], 0.1 * Math.min(...b.size)));
}

function addBody(J, bodies, b, mu) {
  const kind = b.dynamic ? J.EMotionType_Dynamic : J.EMotionType_Static;
  const settings = new J.BodyCreationSettings(shapeOf(J, b), new J.RVec3(...b.p), new J.Quat(b.q[1], b.q[2], b.q[3], b.q[0]),
    kind, b.dynamic ? MOVING : FIXED);
  settings.mFriction = mu;
  settings.mRestitution = settings.mLinearDamping = settings.mAngularDamping = 0;
  settings.mAllowSleeping = false;
  if (b.dynamic) {
    settings.mOverrideMassProperties = J.EOverrideMassProperties_MassAndInertiaProvided;
    settings.mMassPropertiesOverride.mMass = b.mass;
    settings.mMassPropertiesOverride.mInertia = J.Mat44.prototype.sScaleVec3(new J.Vec3(...b.inertia));
    settings.mLinearVelocity = new J.Vec3(...b.v);
    settings.mAngularVelocity = new J.Vec3(...b.w);
  }
  const body = bodies.CreateBody(settings);
  bodies.AddBody(body.GetID(), b.dynamic ? J.EActivation_Activate : J.EActivation_DontActivate);
  J.destroy(settings);
  return body;
}

export async function open(scene, iterations) {
  const J = await init();
  const jolt = new J.JoltInterface(settingsOf(J, scene.body.length)), system = jolt.GetPhysicsSystem(), bodies = system.GetBodyInterface();
  system.SetGravity(new J.Vec3(...scene.gravity));
  const physics = system.GetPhysicsSettings();
  if (iterations > 0) physics.mNumVelocitySteps = iterations;
  physics.mAllowSleeping = false;
  system.SetPhysicsSettings(physics);
  const all = scene.body.map(b => addBody(J, bodies, b, scene.mu)), moving = all.filter((_, k) => scene.body[k].dynamic);
  system.OptimizeBroadPhase();
  const xyz = v => [v.GetX(), v.GetY(), v.GetZ()];
  return {
    step: () => jolt.Step(scene.h, 1),
    look(k, out) {
      const b = moving[k], q = b.GetRotation();
      out.set(xyz(b.GetCenterOfMassPosition()), 0);
      out.set([q.GetW(), q.GetX(), q.GetY(), q.GetZ()], 3);
      out.set(xyz(b.GetLinearVelocity()), 7);
      out.set(xyz(b.GetAngularVelocity()), 10);
    },
    put: (k, s) => bodies.SetPositionRotationAndVelocity(moving[k].GetID(), new J.RVec3(...s.p),
      new J.Quat(s.q[1], s.q[2], s.q[3], s.q[0]), new J.Vec3(...s.v), new J.Vec3(...s.w)),
    push: (k, f) => moving[k].AddForce(new J.Vec3(...f)),
  };
}
