"""A puck is thrown over planes of different friction; where it stops is known: v^2 / (2 mu g), taken at whole steps."""
import frix
import frix.gym

for mu in (0.2, 0.4, 0.8):
    sim = frix.Sim(frix.gym.Push(mu).model())
    sim.set_bodies(center=[(0, 0, 0.02)], velocity=[(1, 0, 0)])
    sim.run(1.0, h=0.001)
    stopped, law = sim.center[0, 0], 1 / (2 * mu * 9.81)
    print(f"mu {mu}: stops after {stopped:.4f} m, by the law {law:.4f} m")
    assert abs(stopped - law) < 0.002
