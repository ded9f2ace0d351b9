"""Two fingers hold a block between them: it stays while 2 mu N carries its weight, and slips below."""
import frix


def slipped(squeeze, mu=0.5, mass=1.0):
    """How far the block sinks in a second under this squeezing force."""
    world = frix.Builder()
    rubber = world.material(mu=mu)
    block = world.body("block", mass=mass)
    block.shape("box", half=(0.05, 0.05, 0.05), material=rubber)
    for side in (-1, 1):
        finger = world.body(f"finger {side}", position=(0.07 * side, 0, 0), mass=0.1, gravity_scale=0)
        finger.shape("box", half=(0.02, 0.04, 0.04), material=rubber)
        world.joint("slider", None, finger, anchor=(0.07 * side, 0, 0), axis=(-side, 0, 0), motor="force",
                    target=squeeze)
    sim = frix.Sim(world.compile())
    worst = sim.run(1.0, h=0.005)
    assert worst.certified
    return -sim.body["block"].position[2]


limit = 1.0 * 9.81 / (2 * 0.5)
for factor in (1.05, 0.95):
    print(f"{factor:.2f} of the force it needs: sinks {abs(slipped(factor * limit)):.6f} m")
assert abs(slipped(1.05 * limit)) < 1e-4
assert slipped(0.95 * limit) > 0.1
