"""Steps and rollouts from Python beside the same in C, in one run: bench_python.py BENCH_PYTHON CART_POLE.xml [WORLDS STEPS]"""
import json
import subprocess
import sys
import time

import frix

BALL_STEPS, ATTEMPTS = 100000, 5
program, path = sys.argv[1:3]
worlds, steps = (int(w) for w in sys.argv[3:5]) if len(sys.argv) > 4 else (1000, 50)


def best(attempt):
    return min(attempt() for _ in range(ATTEMPTS))


def ball():
    world = frix.Builder()
    world.body("ball", mass=1).shape("sphere", radius=0.1)
    sim = frix.Sim(world.compile())
    begun = time.process_time()
    for _ in range(BALL_STEPS):
        sim.step(0.001)
    return (time.process_time() - begun) / BALL_STEPS


def rollout():
    batch = frix.Batch(frix.load(path, coordinates="reduced").model, worlds)
    begun = time.process_time()
    batch.rollout(0.01, steps=steps, watch=[("qpos", 1)])
    return time.process_time() - begun


rows = [json.loads(subprocess.run([program, path, str(worlds), str(steps)], capture_output=True, text=True).stdout)]
step, roll = 1e6 * best(ball), best(rollout)
rows.append(json.loads(subprocess.run([program, path, str(worlds), str(steps)], capture_output=True, text=True).stdout))
c_step, c_roll = (min(row[name] for row in rows) for name in ("step_us", "rollout_s"))
print(f"step of one ball: C {c_step:.2f} us, Python {step:.2f} us, {step - c_step:.2f} us more")
print(f"rollout of {worlds} cart-poles over {steps} steps: C {c_roll:.4f} s, Python {roll:.4f} s, {100 * (roll / c_roll - 1):+.1f} %")
