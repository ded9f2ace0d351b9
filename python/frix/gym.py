"""Environments of the Gymnasium protocol: one world, or many at once. Where the package gymnasium is installed, its base
classes and spaces are used; without it the classes here have the same attributes and methods.

A task is a class with a few methods, see Task; `CartPole` and `Push` are examples.

>>> import frix.gym
>>> env = frix.gym.Env(frix.gym.CartPole())
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape, info["certified"]
((4,), True)
"""
import numpy as np

from .sim import Sim
from .world import Builder

try:
    import gymnasium

    _Env, _VectorEnv, Box = gymnasium.Env, gymnasium.vector.VectorEnv, gymnasium.spaces.Box
except ImportError:

    class _Env:
        """Stands for gymnasium.Env."""

        metadata: dict = {"render_modes": []}
        render_mode = None
        spec = None

        @property
        def unwrapped(self):
            return self

        @property
        def np_random(self):
            return self._np_random

        def reset(self, *, seed=None, options=None):
            if seed is not None or not hasattr(self, "_np_random"):
                self._np_random = np.random.default_rng(seed)

    _VectorEnv = _Env

    class Box:
        """Stands for gymnasium.spaces.Box: arrays between two bounds."""

        def __init__(self, low, high, shape=None, dtype=np.float64, seed=None):
            self.dtype = np.dtype(dtype)
            self.shape = tuple(shape) if shape is not None else np.shape(low)
            self.low = np.broadcast_to(np.asarray(low, dtype=dtype), self.shape)
            self.high = np.broadcast_to(np.asarray(high, dtype=dtype), self.shape)
            self.seed(seed)

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)

        def sample(self):
            low = np.where(np.isfinite(self.low), self.low, -1.0)
            high = np.where(np.isfinite(self.high), self.high, 1.0)
            return self._random.uniform(low, high).astype(self.dtype)

        def contains(self, x):
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))

        def __contains__(self, x):
            return self.contains(x)


class Task:
    """What an environment is about. A task is shared by many sims and keeps nothing of a single one."""

    h: float = 0.01  # s, of a step
    steps: int = 1  # per action
    length: int = 500  # actions until truncation
    action_size: int = 1
    action_limit: float = 1.0
    observation_size: int = 1

    def model(self):
        """The world."""
        raise NotImplementedError

    def start(self, sim: Sim, random: np.random.Generator) -> None:
        """Sets the first state of an episode; the sim is as it was created."""

    def act(self, sim: Sim, action: np.ndarray) -> None:
        """Before every step."""
        raise NotImplementedError

    def observe(self, sim: Sim) -> np.ndarray:
        raise NotImplementedError

    def judge(self, sim: Sim, action: np.ndarray) -> tuple:
        """(reward, whether the episode is over)."""
        raise NotImplementedError


class Env(_Env):
    """One world. info holds `certified` and `residual` of the worst step of the action."""

    metadata = {"render_modes": [], "render_fps": 50}

    def __init__(self, task: Task, **config):
        self.task = task
        self.sim = Sim(task.model(), **config)
        self._first = self.sim.save()
        self._count = 0
        limit = task.action_limit
        self.action_space = Box(-limit, limit, (task.action_size,), np.float64)
        self.observation_space = Box(-np.inf, np.inf, (task.observation_size,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim.restore(self._first)
        self.task.start(self.sim, self.np_random)
        self._count = 0
        return self._observe(), {"certified": True, "residual": 0.0}

    def _observe(self):
        return np.array(self.task.observe(self.sim), dtype=np.float64)

    def step(self, action):
        action = np.asarray(action, dtype=np.float64).reshape(self.task.action_size)
        certified, residual = True, 0.0
        for _ in range(self.task.steps):
            self.task.act(self.sim, action)
            report = self.sim.step(self.task.h)
            certified &= report.certified
            residual = max(residual, report.residual)
        self._count += 1
        reward, over = self.task.judge(self.sim, action)
        truncated = self._count >= self.task.length and not over
        return self._observe(), float(reward), bool(over), bool(truncated), {"certified": certified, "residual": residual}

    def render(self):
        return None

    def close(self):
        pass


class VectorEnv(_VectorEnv):
    """Many worlds of one task; an episode that is over begins anew with the next step."""

    def __init__(self, task: Task, num_envs: int, **config):
        self.task, self.num_envs = task, num_envs
        self.envs = [Env(task, **config) for _ in range(num_envs)]
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        limit = task.action_limit
        self.action_space = Box(-limit, limit, (num_envs, task.action_size), np.float64)
        self.observation_space = Box(-np.inf, np.inf, (num_envs, task.observation_size), np.float64)
        self._over = np.zeros(num_envs, dtype=bool)

    def reset(self, *, seed=None, options=None):
        first = [env.reset(seed=None if seed is None else seed + k) for k, env in enumerate(self.envs)]
        self._over[:] = False
        return np.stack([o for o, _ in first]), _stacked([i for _, i in first])

    def step(self, actions):
        actions = np.asarray(actions, dtype=np.float64).reshape(self.num_envs, self.task.action_size)
        out = []
        for env, action, over in zip(self.envs, actions, self._over):
            if over:
                observation, info = env.reset()
                out.append((observation, 0.0, False, False, info))
            else:
                out.append(env.step(action))
        observations, rewards, terminated, truncated, infos = zip(*out)
        terminated, truncated = np.array(terminated), np.array(truncated)
        self._over = terminated | truncated
        return np.stack(observations), np.array(rewards), terminated, truncated, _stacked(infos)

    def close(self, **_):
        pass


def _stacked(infos):
    return {key: np.array([info[key] for info in infos]) for key in infos[0]}


class CartPole(Task):
    """A pole of 1 m on a cart with dry friction on its rail; the force on the cart is the action (times 20 N)."""

    observation_size = 4
    length = 500

    def __init__(self, friction: float = 0.5):
        self.friction = friction

    def model(self):
        world = Builder()
        cart = world.body("cart", mass=1.0)
        cart.shape("box", half=(0.2, 0.1, 0.05), mask=0)
        pole = world.body("pole", position=(0, 0, 0.5), mass=0.1)
        pole.shape("box", half=(0.01, 0.01, 0.5), mask=0)
        world.joint("slider", None, cart, axis=(1, 0, 0), name="rail", friction=self.friction, motor="force")
        world.joint("hinge", cart, pole, axis=(0, 1, 0), name="hinge")
        return world.compile()

    def start(self, sim, random):
        sim.set_bodies(spin=[(0, 0, 0), (0, random.uniform(-0.2, 0.2), 0)])

    def act(self, sim, action):
        sim.ctrl[0, 0] = 20.0 * float(np.clip(action[0], -1.0, 1.0))

    def observe(self, sim):
        return sim.q[0, 0], sim.v[0, 0], sim.q[1, 0], sim.v[1, 0]

    def judge(self, sim, action):
        over = abs(sim.q[0, 0]) > 2.4 or abs(sim.q[1, 0]) > 0.21
        return 0.0 if over else 1.0, over


class Push(Task):
    """A puck that slides on a plane is pushed to the origin by a force in the plane (times 5 N): exact friction decides
    where it stops."""

    observation_size = 4
    action_size = 2
    length = 200

    def __init__(self, mu: float = 0.3):
        self.mu = mu

    def model(self):
        world = Builder()
        surface = world.material(mu=self.mu)
        world.shape("plane", material=surface)
        world.body("puck", position=(0.5, 0.3, 0.02), mass=0.5).shape("cylinder", radius=0.05, half_length=0.02,
                                                                      material=surface)
        return world.compile()

    def start(self, sim, random):
        x, y = random.uniform(-0.6, 0.6, 2)
        sim.set_bodies(center=[(x, y, 0.02)])

    def act(self, sim, action):
        sim.force[0, :2] = 5.0 * np.clip(action, -1.0, 1.0)

    def observe(self, sim):
        return (*sim.center[0, :2], *sim.velocity[0, :2])

    def judge(self, sim, action):
        distance = float(np.hypot(*sim.center[0, :2]))
        return -distance - 0.01 * float(action @ action), distance < 0.01 and float(np.hypot(*sim.velocity[0, :2])) < 0.01


__all__ = ["Env", "VectorEnv", "Task", "CartPole", "Push", "Box"]
