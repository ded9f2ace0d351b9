"""The friction of a plane is found from where a thrown puck was seen: least squares over mu, by golden section."""
import numpy as np

import frix.gym


def track(mu):
    """Places of the puck, thrown at 1 m/s, every 10 ms."""
    sim = frix.Sim(frix.gym.Push(mu).model())
    sim.set_bodies(center=[(0, 0, 0.02)], velocity=[(1, 0, 0)])
    seen = sim.center[0]  # a view: it shows every step
    out = []
    for _ in range(50):
        sim.step(0.01)
        out.append(seen[0])
    return np.array(out)


truth = 0.37
measured = track(truth) + 1e-4 * np.random.default_rng(1).standard_normal(50)


def miss(mu):
    return float(((track(mu) - measured) ** 2).sum())


low, high, golden = 0.05, 1.0, (5**0.5 - 1) / 2
while high - low > 1e-5:
    a, b = high - golden * (high - low), low + golden * (high - low)
    low, high = (low, b) if miss(a) < miss(b) else (a, high)
found = (low + high) / 2
print(f"mu = {found:.4f}, made with {truth}")
assert abs(found - truth) < 0.002
