"""Views keep what they show alive, allocate nothing, and show the state to the bit; errors carry the library's text."""
import copy
import gc
import pickle
import resource
import sys
import threading

import numpy as np

import frix
from refusal import refused


def falling(count=2, **config):
    world = frix.Builder()
    world.shape("plane")
    for k in range(count):
        world.body(f"ball {k}", position=(0.3 * k, 0, 1), mass=1).shape("sphere", radius=0.1)
    return frix.Sim(world.compile(), **config)


# a view outlives everything that Python knows of its sim
view = falling().center
gc.collect()
assert view.shape == (2, 3) and view[1, 2] == 1.0
answer = frix.Problem.example("cardhouse", levels=1).solve()
r = answer.r
certificate = answer.certificate.residual
del answer
gc.collect()
assert np.isfinite(r).all() and certificate < 1e-8

# views are the state
sim = falling()
center, velocity = sim.center, sim.velocity
for _ in range(10):
    sim.step(0.01)
assert center is sim.center
assert np.array_equal(center[1], sim.body["ball 1"].center)
assert np.array_equal(velocity[0], sim.body[0].velocity)
refused(ValueError, lambda: center.__setitem__((0, 0), 1.0), "read-only")
sim.force[0] = (0, 5, 0)
sim.step(0.01)
assert velocity[0, 1] > 0 and velocity[1, 1] == 0

# growth: old views stay readable, new ones show everything
old = sim.center
for k in range(50):
    sim.spawn("ball 0", (0, 0, 3 + k))
assert sim.center.shape == (52, 3) and old.shape == (2, 3) and np.isfinite(old).all()

# a million steps through views allocate nothing: neither Python (blocks) nor the library (pages of the process)
sim = falling(1)
sim.set_bodies(center=[(0, 0, 1e4)])
z, step = sim.center[0], sim.step
last = 0.0
for _ in range(1000):
    step(1e-6)
blocks, pages = sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(1000000):
    step(1e-6)
    last = z[2]
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - pages
assert last < 1e4 and sys.getallocatedblocks() - blocks < 20, sys.getallocatedblocks() - blocks
assert grown < 256, f"{grown} kB"

# bulk: equal to the bit, all or nothing
a, b = falling(3), falling(3)
a.step(0.01)
b.set_bodies(a.center, a.orientation, a.velocity, a.spin)
assert np.array_equal(a.center, b.center) and np.array_equal(a.velocity, b.velocity)
wrong = np.array(a.velocity)
wrong[2, 0] = np.nan
refused(frix.InputError, lambda: b.set_bodies(velocity=wrong), "body 2")
refused(ValueError, lambda: b.set_bodies(velocity=np.zeros((3, 2))), "shape")

# snapshots and pickles go on with the same bits
sim = frix.Scene("stack", n=4).sim()
sim.run(0.1)
saved = sim.save()
model, state = pickle.loads(pickle.dumps((sim.model, saved)))
sim.run(0.1)
twin = frix.Sim(model)
twin.restore(state)
twin.run(0.1)
assert twin.hash == sim.hash
sim.restore(copy.deepcopy(saved))
sim.run(0.1)
assert twin.hash == sim.hash

# errors have the library's words, and near names
refused(frix.InputError, lambda: falling(integrator="moreaux"), "moreau")
refused(KeyError, lambda: sim.body["cub"], "no body")
refused(TypeError, lambda: falling(tolerence=1), "tolerance")
refused(ValueError, lambda: frix.Scene("cardhous"), "cardhouse")
refused(frix.FileError, lambda: frix.load("not_there.xml"), "not_there.xml")
body = sim.body[0]
body.remove()
refused(frix.InputError, lambda: body.position, "no such body")

# an exception in the force callback comes out of the step
def force(s, time):
    if time > 0.015:
        raise ZeroDivisionError("in the callback")
    s.body[0].add_force((0, 0, 1))


sim = falling(force=force)
sim.step(0.01)
refused(ZeroDivisionError, lambda: [sim.step(0.01) for _ in range(3)], "callback")

# sims in several threads at once have the bits of single ones; one sim in two threads is refused
alone = falling(20)
alone.run(1.0)
many = [falling(20) for _ in range(4)]
threads = [threading.Thread(target=s.run, args=(1.0,)) for s in many]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert all(s.hash == alone.hash for s in many)

# what a user hangs on a body belongs to that instance
sim = falling(2)
extra = sim.spawn(0, (3, 0, 3))
extra.user, sim.body[0].user = {"mine": 1}, "first"
assert sim.bodies()[2].user == {"mine": 1} and sim.body["ball 0"].user == "first" and sim.body[1].user is None
extra.remove()
assert sim.spawn(0, (3, 0, 3)).user is None
refused(KeyError, lambda: setattr(extra, "user", 1), "removed")
refused(frix.InputError, lambda: sim.last_report)
report = sim.step(0.01)
assert (sim.last_report.certified, sim.last_report.iterations) == (report.certified, report.iterations)

# a batch has the bits of single sims, for any number of threads
model = falling(3).model
batches = [frix.Batch(model, 6, threads=n) for n in (1, 2, 4, 8)]
for batch in batches:
    assert batch.step(0.01, 50).all()
alone = frix.Sim(model)
alone.run(0.5)
assert all(sim.hash == alone.hash for batch in batches for sim in batch)
seen = batches[0].rollout(0.01, np.ones((6, 10, 1)), [("force", "ball 1", "y")], [("velocity", "ball 1", "y")])
assert np.array_equal(seen.values[:, -1, 0], [sim.velocity[1, 1] for sim in batches[0]])
refused(ValueError, lambda: batches[0].rollout(0.01, np.ones((5, 10, 1)), [("force", 0)]), "shape")
refused(frix.InputError, lambda: batches[0].rollout(0.01, np.ones((6, 10, 1)), [("velocity", 0)]), "control")
member = batches[1][0].center
del batches, batch, sim
gc.collect()
assert np.isfinite(member).all()

# hooks: a filter lets a ball fall through, an exception in it comes out
sim = falling(2)
sim.set_hooks(filter=lambda pair: max(pair.a.index, pair.b.index) != 1)
sim.run(1.0)
assert sim.center[0, 2] < -1 and abs(sim.center[1, 2] - 0.1) < 1e-3
sim.set_hooks(modify=lambda pair, law: 1 / 0)
refused(ZeroDivisionError, lambda: sim.step(0.01), "division")
sim.set_hooks()
sim.body["ball 1"].add_impulse((0, 1, 0))
assert abs(sim.velocity[1, 1] - 1) < 1e-9

# changes: elements come and go, names follow, snapshots from before and after take the sim there and back
world = frix.Builder()
wood = world.material("wood", mu=0.5)
world.shape("plane", material=wood)
crate = world.body("crate", position=(0, 0, 0.1))
crate.shape("box", half=(0.1, 0.1, 0.1), material=wood, name="hull")
world.joint("fixed", None, crate, anchor=(0, 0, 0.1), name="weld", collide=True)
sim = frix.Sim(world.compile())
old, model = sim.center, sim.model
before = sim.save()
with sim.change() as now:
    now.remove_joint("weld")
    lid = now.body("lid", position=(0, 0, 1), mass=1)
    lid.shape("sphere", radius=0.1, name="knob")
assert sim.model is not model and "lid" in sim.body and "weld" not in sim.joint and len(sim.center) == 2
sim.run(0.2)
after, seen = sim.save(), sim.hash
refused(KeyError, lambda: sim.change().remove_joint("weld"), "weld")
refused(KeyError, lambda: sim.change().set_material("stone", mu=1), "stone")
refused(frix.InputError, lambda: sim.change().set_body("lid", mass=-1), "mass")
with sim.change() as now:
    now.remove_shape("knob")
    now.set_body("crate", kind="static")
assert sim.model.body("crate")["kind"] == "static"
sim.restore(before)
assert sim.joint["weld"].q == 0 and "lid" not in sim.body and sim.model.body("crate")["kind"] == "dynamic"
sim.restore(after)
assert sim.hash == seen and "lid" in sim.body
twin = frix.Sim(model)
twin.restore(after)
assert twin.hash == seen
kept = sim.model
del sim, twin, after, before, now, lid, world, crate, wood
gc.collect()
assert kept.body_names == ("crate", "lid") and model.joint_names == ("weld",) and np.isfinite(old).all()

# contacts as a structured array: they carry the weight
sim = frix.Scene("stack", n=5).sim()
sim.run(0.5)
ground = sim.contacts[sim.contacts["a"]["index"] == 0]
assert abs(ground["force"][:, 2].sum() + 5 * 9.81) < 1e-6, ground["force"]
assert abs(sim.energy.imbalance) < 1e-9
sim.problem.arrays["H"]
print("views, bulk, snapshots, errors, callbacks, threads, contacts")
