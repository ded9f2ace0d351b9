"""Calls of the package with values that make no sense end in exceptions, never in a crash: fuzz.py SECONDS_OF_CPU [SEED]"""
import math
import random
import sys
import time
import warnings

import numpy as np

import frix

seconds, seed = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = random.Random(seed)
odd = [None, 0, -1, 1, 2, 1e-300, 1e300, math.nan, math.inf, -math.inf, "", "x", "box", b"x", (), (1, 2), (0, 0, 0),
       (1, 2, 3), (1, 0, 0, 0), (math.nan, 0, 0), [], [(1, 2, 3)] * 5, np.zeros((2, 3)), np.full((2, 3), np.nan),
       np.zeros(0), {}, {"mu": 1}, True, 2**40, -(2**63), object(), "ä", "\0", 3.5]
kinds = ["sphere", "capsule", "box", "cylinder", "ellipsoid", "plane", "hull", "mesh", "disc", "half_plane"]
quiet = (Exception,)


def some(*good):
    return rng.choice(odd) if rng.random() < 0.2 else rng.choice(good)


def attempt(call, *arguments, **names):
    try:
        return call(*arguments, **names)
    except quiet:
        return None


def vector():
    return tuple(rng.choice((0, 0.1, 0.5, -0.3, 1)) for _ in range(3))


def build():
    world = frix.Builder()
    elements = [None]
    geometry = attempt(world.geometry, some("hull", "mesh", "polygon"), some([vector() for _ in range(6)]),
                       some(None, [(0, 1, 2), (2, 1, 3)], [(0, 1, 99)], [(-1, 0, 1)]))
    material = attempt(world.material, mu=some(0.5, 0), restitution=some(0, 0.5), stiffness=some(0, 1e4))
    attempt(world.shape, "plane")
    for k in range(rng.randrange(6)):
        body = attempt(world.body, some(f"b{k}"), some(vector()), kind=some("dynamic", "dynamic", "static", "kinematic"),
                       mass=some(1.0, 0), velocity=some(vector()))
        if body is not None:
            elements.append(body)
            attempt(body.shape, some(*kinds), radius=some(0.1, 0.2), half_length=some(0.1), half=some((0.1, 0.1, 0.1)),
                    material=material, geometry=geometry)
    for _ in range(rng.randrange(3)):
        attempt(world.joint, some("hinge", "ball", "slider", "fixed", "distance", "universal"), rng.choice(elements),
                rng.choice(elements), some(vector()), motor=some("velocity", "force", "servo"), target=some(0, 1),
                max_force=some(1, 10), gain=some(1, 100))
    return attempt(world.compile)


def change(sim, saved):
    """One or two changes, applied or not; then perhaps back to a snapshot."""
    now = attempt(sim.change)
    for _ in range(rng.randrange(1, 4) if now is not None else 0):
        what = rng.randrange(9)
        if what == 0:
            attempt(now.remove_shape, some(0, 1, 2))
        elif what == 1:
            attempt(now.remove_joint, some(0, 1))
        elif what == 2:
            attempt(now.set_body, some(0, 1), kind=some("static", "dynamic", "kinematic"))
        elif what == 3:
            attempt(now.set_body, some(0, 1), mass=some(2.0), center=some(vector()))
        elif what == 4:
            attempt(now.set_material, some(0, None), mu=some(0.1), stiffness=some(0, 1e4))
        elif what == 5:
            attempt(now.set_shape, some(0, 1), mask=some(0, 1), radius=some(0.2))
        elif what == 6:
            attempt(lambda: now.joint(some("ball", "fixed"), now.find(0), now.find(some(1)), some(vector())))
        elif what == 7:
            attempt(lambda: now.find(some(0)).shape(some(*kinds), radius=some(0.1), half=some((0.1, 0.1, 0.1))))
        else:
            body = attempt(now.body, some("new"), some(vector()), mass=some(1.0))
            attempt(lambda: body.shape("sphere", radius=0.1))
    if rng.random() < 0.8:
        attempt(lambda: now.apply())
    attempt(sim.step, 0.01)
    if rng.random() < 0.3:
        attempt(sim.restore, saved)


def use(sim):
    saved = None
    views = [attempt(getattr, sim, name) for name in ("center", "velocity", "force", "torque", "ctrl", "q", "asleep")]
    for _ in range(rng.randrange(12)):
        body = attempt(lambda: rng.choice(sim.bodies()))
        joint = attempt(lambda: sim.joint[some(0, 1)])
        what = rng.randrange(22)
        if what < 4:
            attempt(sim.step, some(0.01, 0.001))
        elif what == 4:
            attempt(sim.spawn, some(0, 1), some(vector()))
        elif what == 5 and body:
            attempt(body.set_pose, some(vector()), some((1, 0, 0, 0)))
        elif what == 6 and body:
            attempt(body.set_velocity, some(vector()), some(vector()))
        elif what == 7 and body:
            attempt(body.remove)
        elif what == 8:
            n = rng.randrange(5)
            attempt(sim.set_bodies, some(np.zeros((n, 3))), None, some(None, np.ones((n, 3))))
        elif what == 9:
            array = rng.choice(views[2:5])
            if array is not None and array.size:
                attempt(array.__setitem__, (0, 0), some(0.0, 1.0))
        elif what == 10:
            saved = attempt(sim.save)
            attempt(sim.restore, saved)
        elif what == 11:
            attempt(lambda: sim.contacts["force"].sum())
        elif what == 12:
            attempt(lambda: sim.problem.solve(solver=some("auto", "newton"), max_iterations=some(10)))
        elif what == 13 and joint:
            attempt(joint.set, axis=some(0, 1), target=some(0.5), limits=some((-1, 1)))
        elif what == 14:
            attempt(sim.set_gravity, some(vector()))
        elif what == 15:
            attempt(sim.ray, some(vector()), some((0, 0, -1)), some(10.0))
        elif what == 16:
            attempt(sim.rays, some([vector()] * 3), some([(0, 0, 1)] * 3), some(5.0))
        elif what == 17:
            attempt(sim.cast, some(*kinds), some(vector()), some((0, 0, -5)), radius=some(0.1), half=some((0.1, 0.2, 0.1)),
                    half_length=some(0.1), geometry=some(None, 1))
        elif what == 20:
            change(sim, saved)
        elif what == 19:
            attempt(sim.own, body)
        elif what == 18:
            attempt(sim.nearest, some(*kinds), some(vector()), limit=some(1.0, math.inf), radius=some(0.1), half=some((0.1, 0.2, 0.1)))
            attempt(sim.overlap, some(*kinds), some(vector()), radius=some(0.1), half=some((0.1, 0.2, 0.1)))
        else:
            attempt(lambda: (sim.distance(body), sim.energy.imbalance, sim.hash, repr(sim), sim.pair_force(body)))
    return [v.sum() for v in views if v is not None]


ROBOT = '''<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 {z}"><joint name="a" type="{kind}" axis="0 1 0" range="-1 1"
 frictionloss=".1" damping=".1"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/><body pos=".3 0 0"><joint name="b" type="hinge"/>
 <geom type="box" size=".1 .1 .1"/></body></body><body pos="1 0 {z}"><freejoint/><geom size=".1"/></body></worldbody>
 <actuator><motor joint="b" name="m"/><position joint="b" kp="10"/></actuator><sensor><jointpos joint="b"/><touch site="none"/></sensor></mujoco>'''


def robots():
    """A file in either kind of coordinates, its arrays written to."""
    xml = ROBOT.format(z=some(0.1, 1), kind=some("hinge", "slide", "ball", "free"))
    if rng.random() < 0.7:
        xml = xml.replace('<touch site="none"/>', "")
    world = attempt(frix.load, "r.xml", xml=xml, coordinates=some("reduced", "reduced", "maximal"))
    sim = attempt(lambda: world.sim())
    robot = attempt(lambda: sim.robot)
    for _ in range(rng.randrange(8) if robot is not None else 0):
        what = rng.randrange(8)
        if what == 0:
            attempt(lambda: robot.qpos.__setitem__(rng.randrange(4), some(0.1, 3.0)))
        elif what == 1:
            attempt(lambda: setattr(robot.joint[some("a", "b", 0)], some("q", "v"), some(0.1, 0.2)))
        elif what == 2:
            attempt(lambda: setattr(robot.actuator[some(0, "m")], "ctrl", some(1.0, 100.0)))
        elif what == 3:
            attempt(lambda: (robot.sensor[some(0)], robot.array(some("bias", "act", "mocap")), robot.mass_matrix()))
        elif what == 4:
            attempt(robot.reset, some(None, 0))
        elif what == 5:
            attempt(robot.place)
        else:
            attempt(sim.step, some(0.01))
    if sim is not None:
        use(sim)


def batch(model):
    """Several sims of one model: steps, rollouts with channels that may not be there, starts, use of single ones."""
    many = attempt(frix.Batch, model, some(1, 3), threads=some(1, 2), tolerance=some(1e-8))
    for _ in range(rng.randrange(4) if many is not None else 0):
        n, steps = len(many), rng.randrange(4)
        control, watch = some([("force", 0, "z")], [("target", 0)], []), some([("center", 0, "x")], [("q", 0)], [("qpos", 0)], [])
        start = attempt(lambda: many[some(0, 1)].save())
        attempt(many.rollout, some(0.01), some(None, np.zeros((n, steps, 1))), control, watch, some(None, steps),
                some(None, start, [start] * n))
        attempt(many.step, some(0.01), some(1, 2))
        attempt(lambda: (many[some(0, -1)].center.sum(), many[0].step(some(0.01)).residual))


def callbacks(model):
    """Forces, filters and laws that raise, keep what they were shown, and use their sim."""
    kept = []

    def force(sim, time):
        kept.append(attempt(lambda: sim.body[some(0, 1)]))
        attempt(lambda: kept[-1].add_force(some(vector())))
        if rng.random() < 0.1:
            raise ArithmeticError("force")

    def modify(pair, law):
        kept.append((pair, law, pair.point))
        attempt(setattr, law, some("mu", "restitution", "slip"), some(0.1, 0.5))

    sim = attempt(frix.Sim, model, force=some(force))
    attempt(lambda: sim.set_hooks(filter=some(None, lambda pair: kept.append(pair) or pair.gap < some(1)), modify=some(modify, None)))
    for _ in range(3):
        report = attempt(lambda: sim.step(some(0.01)))
        attempt(lambda: setattr(report, some("size", "iterations", "certified", "phase"), some(1, 2.5)))
        attempt(lambda: frix.Report(report))
    del sim
    return [attempt(lambda: k[0].normal.x + k[2].y) for k in kept]


def solve():
    n = rng.randrange(4)
    attempt(frix.solve, W=some(np.eye(3 * n)), q=some(np.ones(3 * n), -np.ones(3 * n)), mu=some(0.5, [0.1] * n),
            max_iterations=some(20))
    attempt(frix.Problem, M=some(np.eye(6)), H=some(np.ones((6, 3)), (np.ones(2), np.array([0, 9]), np.array([0, 1, 2, 2]),
                                                                    (6, 3))), f=some(np.ones(6)), w=some(np.ones(3)))
    attempt(frix.qp, some(np.eye(2)), some([1, 2]), A=some(None, [[1, 0]]), lower=some(None, [0]))


end, count = time.process_time() + seconds, 0
np.seterr(all="ignore")
warnings.simplefilter("ignore")
while time.process_time() < end:
    model = build()
    if model is not None:
        sim = attempt(frix.Sim, model, solver=some("auto"), tolerance=some(1e-8), sleep=some(True, False))
        if sim is not None:
            use(sim)
            del sim
        if count % 3 == 0:
            batch(model)
            callbacks(model)
    if count % 4 == 0:
        robots()
    solve()
    count += 1
print(f"{count} worlds")
