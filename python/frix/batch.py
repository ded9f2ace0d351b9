"""Many sims at once: steps and rollouts on several threads, each with the bits it would have alone.

>>> import frix, frix.gym, numpy as np
>>> batch = frix.Batch(frix.gym.CartPole().model(), 8, threads=2)
>>> push = np.zeros((8, 20, 1))
>>> push[:, :, 0] = np.arange(8)[:, None]
>>> out = batch.rollout(0.01, push, control=[("target", "rail")], watch=[("q", "rail"), ("rate", "hinge")])
>>> out.values.shape, bool(out.certified.all())
((8, 20, 2), True)
"""
import numpy as np

from . import _frix as lib
from ._library import Context, choose, encode, enum, fill, reals
from .sim import Sim, _laws, _policies, _restitutions, make_options
from .world import Model

_kinds = enum("frix_channel_kind", "FRIX_CHANNEL_")
_kinds["q"] = _kinds["coordinate"]
_robot_kinds = ("ctrl", "qpos", "qvel", "sensor")
_joint_kinds = ("target", "target_rate", "coordinate", "rate", "q")


class Rollout:
    """What a rollout gave: values (sims x steps x watched), residual and certified (sims x steps)."""

    def __init__(self, values, residual, certified):
        self.values, self.residual, self.certified = values, residual, certified


class _Member(Sim):
    """A sim of a batch."""

    def __init__(self, batch, k):
        self._context, self.model, self._root = batch._context, batch.model, batch.model
        self._open(lib.frix_batch_sim(batch._handle.pointer, k), batch._handle)
        self._views, self._generation, self._hooks = {}, None, None
        self.tolerance = batch.tolerance


class Batch:
    """`count` sims of a model; configuration by name as for Sim. len(), iteration and batch[k] give its sims."""

    def __init__(self, model: Model, count: int, threads: int = 1, options: dict = None, **config):
        if not isinstance(model, Model):
            raise TypeError(f"a Model is needed, not {type(model).__name__}")
        convert = {
            "integrator": encode, "solver": encode, "law": lambda v: choose(_laws, v, "law"),
            "policy": lambda v: choose(_policies, v, "policy"),
            "restitution": lambda v: choose(_restitutions, v, "restitution"),
        }
        self._context, self.model = Context(), model
        own = fill(lib.frix_sim_default(), config, convert)
        chosen = make_options(self._context, options)
        own.options = chosen.pointer if chosen else None
        c = lib.frix_batch_default()
        c.count, c.thread_count, c.sim = count, threads, own
        owners = [model._handle] + ([chosen] if chosen else [])
        self._handle = self._context.make(lib.frix_batch_create, self._context.pointer, model._handle.pointer,
                                          c, destroy="frix_batch_destroy", owners=owners)
        self.tolerance: float = own.tolerance
        self._sims = [_Member(self, k) for k in range(count)]

    def __len__(self):
        return len(self._sims)

    def __getitem__(self, k) -> Sim:
        return self._sims[k]

    def _work(self, call, *arguments):
        """A long call, during which no sim of the batch can be used."""
        if any(s._busy for s in self._sims):
            raise RuntimeError("the batch is at work in another thread")
        for s in self._sims:
            s._busy = True
        try:
            status = call(self._handle.pointer, *arguments)
        finally:
            for s in self._sims:
                s._busy = False
        self._context.check(status)

    def step(self, h: float, steps: int = 1) -> np.ndarray:
        """Every sim takes so many steps; whether all steps of each were certified."""
        reports = lib.frix_step_report.array(len(self))
        self._work(lib.frix_batch_step, h, steps, reports)
        return np.array([r.certified for r in reports], dtype=bool)

    def _channel(self, channel):
        """('target', 'rail'), ('force', 'box', 2), ('center', 0, 'z')."""
        kind, key, axis = channel if len(channel) == 3 else (*channel, 0)
        number = choose(_kinds, kind, "channel")
        axis = "xyz".index(axis) if isinstance(axis, str) and axis in "xyz" and axis else int(axis)
        out = lib.frix_channel(kind=number, axis=axis)
        model = self.model
        if kind in _robot_kinds:
            out.axis = self._robot_place(kind, key) + axis
        elif kind in _joint_kinds:
            k = model._find(model.joint_index, key, model.joint_count, "joint")
            out.joint = lib.frix_model_joint_at(model._handle.pointer, k)
        else:
            k = model._find(model.body_index, key, model.body_count, "body")
            out.body = lib.frix_model_body_at(model._handle.pointer, k)
        return out

    def _channels(self, list_):
        out = lib.frix_channel.array(len(list_))
        for k, channel in enumerate(list_):
            out[k] = self._channel(channel)
        return out

    def _robot_place(self, kind, key):
        """A number of the robot's array: itself, or the first of what has that name."""
        robot = self._sims[0].robot
        if robot is None:
            raise ValueError(f"channel '{kind}': the model has no robot in reduced coordinates")
        if not isinstance(key, str):
            return int(key)
        if kind == "ctrl":
            return robot.actuator.index(key)
        row = robot.sensor.row(key) if kind == "sensor" else robot.joint[key]._row
        return {"qpos": lambda: row.q, "qvel": lambda: row.v, "sensor": lambda: row.first}[kind]()

    def rollout(self, h: float, values=None, control=(), watch=(), steps: int = None, start=None) -> Rollout:
        """Steps all sims with control values (sims x steps x channels) and watches others. Channels are (kind, name or
        number[, axis]): to be set 'target', 'target_rate' (joints), 'force', 'torque' (bodies), 'ctrl' (actuators of a
        robot); to be watched 'q', 'rate', 'center', 'orientation', 'velocity', 'spin', and of a robot 'qpos', 'qvel',
        'sensor'. start: a snapshot, or one per sim."""
        n = len(self)
        if values is not None:
            values = reals(values, (n, -1, len(control)), "values")
            steps = values.shape[1] if steps is None else steps
            if values.shape[1] != steps:
                raise ValueError(f"values for {values.shape[1]} steps, not {steps}")
        elif control:
            raise ValueError("values are needed for the control")
        if steps is None:
            raise ValueError("steps, or values, are needed")
        r = lib.frix_rollout_default()
        set_, seen = self._channels(control), self._channels(watch)
        out = np.empty((n, steps, len(watch)))
        residual, certified = np.empty((n, steps)), np.empty((n, steps), dtype=bool)
        r.h, r.step_count, r.control_count, r.watch_count = h, steps, len(control), len(watch)
        r.control, r.value = set_, values
        r.watch, r.out = seen, out
        r.residual, r.certified = residual, certified
        if start is not None:
            states = list(start) if isinstance(start, (list, tuple)) else [start] * n
            if len(states) != n:
                raise ValueError(f"{len(states)} starts for {n} sims")
            r.start = np.array([s._of(self.model) for s in states], dtype=np.uintp)
        self._work(lib.frix_batch_rollout, r)
        return Rollout(out, residual, certified)


__all__ = ["Batch", "Rollout"]
