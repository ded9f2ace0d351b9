"""Environments keep the protocol of Gymnasium: its checker where the package is installed, its rules here."""
import numpy as np

import frix.gym

try:
    from gymnasium.utils.env_checker import check_env
except ImportError:
    check_env = None

for task in (frix.gym.CartPole(), frix.gym.Push()):
    env = frix.gym.Env(task)
    if check_env:
        check_env(env)
    assert env.unwrapped is env and "render_modes" in env.metadata
    first, info = env.reset(seed=7)
    assert isinstance(info, dict) and env.observation_space.contains(first)
    again, _ = env.reset(seed=7)
    other, _ = env.reset(seed=8)
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    env.reset(seed=7)
    for _ in range(20):
        action = env.action_space.sample()
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation) and observation.dtype == env.observation_space.dtype
        assert isinstance(reward, float) and isinstance(terminated, bool) and isinstance(truncated, bool)
        assert info["certified"]
    # the same actions, the same bits
    one, two = frix.gym.Env(task), frix.gym.Env(task)
    one.reset(seed=1)
    two.reset(seed=1)
    for k in range(10):
        action = np.full(task.action_size, 0.1 * k)
        assert np.array_equal(one.step(action)[0], two.step(action)[0])
    # many at once, as one by one
    many = frix.gym.VectorEnv(task, 3)
    seen, _ = many.reset(seed=1)
    assert seen.shape == (3, task.observation_size)
    seen = many.step(np.zeros((3, task.action_size)))[0]
    single = frix.gym.Env(task)
    single.reset(seed=2)
    assert np.array_equal(single.step(np.zeros(task.action_size))[0], seen[1])
print("with gymnasium's checker" if check_env else "by protocol; gymnasium is not installed")
