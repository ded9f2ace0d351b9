"""A pole is balanced on a cart whose rail has dry friction, by a linear controller; then the friction is raised."""
import frix.gym

gains = (4.0, 6.0, 80.0, 16.0)

for friction in (0.0, 0.5, 2.0):
    env = frix.gym.Env(frix.gym.CartPole(friction=friction))
    state, _ = env.reset(seed=3)
    total = 0.0
    for _ in range(env.task.length):
        force = sum(g * x for g, x in zip(gains, state)) / 20
        state, reward, over, out_of_time, info = env.step([force])
        assert info["certified"]
        total += reward
        if over or out_of_time:
            break
    print(f"friction {friction:g} N: balanced for {total:.0f} of {env.task.length} steps, cart at {state[0]:+.3f} m")
    assert total == env.task.length
