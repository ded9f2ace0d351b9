"""How steps and runs depend on their data, with a verdict: smooth, kink, not unique.

A puck thrown at 2 m/s over a plane, by its friction and its speed:

>>> import frix
>>> def world(p):
...     b = frix.Builder()
...     ice = b.material(mu=p[0])
...     b.shape("plane", material=ice)
...     puck = b.body("puck", (0, 0, 0.1), velocity=(p[1], 0, 0), mass=1, inertia=(1e6, 1e6, 1e6))
...     puck.shape("sphere", radius=0.1, material=ice)
...     return b
>>> run = frix.Sensitivity(world, [0.3, 2.0], step=0.01)
>>> run.step(30).run_verdict
'smooth'
>>> run.body("puck", 0).place.round(4).tolist()[0]  # -g h^2 30 31 / 2
-0.4562
>>> back = frix.Sensitivity(world, [0.3, 2.0], step=0.01, backward=True)
>>> back.step(30).certified
True
>>> back.adjoint({"puck": dict(place=(1, 0, 0))}).round(4).tolist()
[-0.4562, 0.3]
"""
from typing import NamedTuple

import numpy as np

from . import _frix as lib
from ._library import Context, Handle, array3, choose, encode, enum, fill, reals, vec3, view
from .world import Builder

__all__ = ["Gradient", "Motion", "Sensitivity", "SensitivityResult", "StepGradient", "step_gradient"]

_restitutions = enum("frix_restitution", "FRIX_RESTITUTION_")
_verdicts = ("smooth", "kink", "not unique", "smoothed")


class Motion(NamedTuple):
    """Derivatives of a body's centre, turn (rotation vector), velocity and spin; world frame."""

    place: np.ndarray
    turn: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray


class SensitivityResult(NamedTuple):
    """Of the last step and (run_) of the run so far: verdict, distance to the nearest change of mode."""

    verdict: str
    run_verdict: str
    distance: float
    run_distance: float
    steps: int
    kinks: int
    first_kink: int
    certified: bool


class _Worlds:
    """What the library calls: worlds for given values, and what acts on them."""

    def __init__(self, build, drive, count):
        self.make, self.act, self.count = build, drive, count
        self.contexts, self.model, self.error = [], None, None

    def _values(self, pointer):
        return view(self, pointer, (self.count,)).copy()

    def build(self, pointer):
        try:
            builder = self.make(self._values(pointer))
            if not isinstance(builder, Builder):
                raise TypeError(f"build must return a Builder, not {type(builder).__name__}")
            if self.model is None:
                self.model = builder.compile()
            out = lib.cell_pointer()
            builder._context.check(lib.frix_builder_compile(builder._handle.pointer, out))
            self.contexts.append(builder._context)
            return out.value
        except Exception as error:
            self.error = error
            return None

    def drive(self, sim, h, pointer):
        try:
            loads = self.act(lib.frix_sim_time(sim), h, self._values(pointer)) or {}
            for name, load in loads.items():
                force, torque = load if np.ndim(load) == 2 else (load, (0, 0, 0))
                status = lib.frix_sim_add_force(sim, self.identity(name), vec3(force), vec3(torque))
                if status:
                    raise ValueError(f"{name}: {lib.frix_status_name(status)}")
            return True
        except Exception as error:
            self.error = error
            return False

    def identity(self, name):
        found = lib.frix_model_find_body(self.model._handle.pointer, encode(name))
        if not found.index:
            raise KeyError(f"no body {name!r}")
        return found


class Sensitivity:
    """Derivatives of a run by parameters. build(values) returns a Builder with the same bodies in the same order;
    drive(time, h, values) (or None) returns the forces of the coming step, {body: force} or {body: (force, torque)}.
    step_parameter: which parameter is the step. backward: adjoint() instead of body(). restitution and other settings
    of Sim as keywords."""

    def __init__(self, build, parameters, step=0.01, drive=None, backward=False, step_parameter=None, increments=None,
                 apart=16, **config):
        values = reals(parameters, (-1,), "parameters")
        self.parameters: np.ndarray = values.copy()
        self._context, self._worlds = Context(), _Worlds(build, drive, len(values))
        sim = fill(lib.frix_sim_default(), config, {"restitution": lambda x: choose(_restitutions, x, "restitution")})
        c = lib.frix_sensitivity_default()
        c.parameter_count, c.parameter, c.step, c.backward, c.apart = len(values), values, float(step), backward, apart
        if step_parameter is not None:
            c.step_parameter = step_parameter
        if increments is not None:
            increments = reals(increments, (len(values),), "increments")
            c.increment = increments
        lib.listen(c, self._worlds, "build")
        if drive is not None:
            lib.listen(c, self._worlds, "drive")
        out = lib.cell_pointer()
        self._check(lib.frix_sensitivity_create(self._context.pointer, sim, c, out))
        self._handle = Handle(out.value, "frix_sensitivity_destroy", (self._context, *self._worlds.contexts))
        self.steps: int = 0

    def _check(self, status):
        error, self._worlds.error = self._worlds.error, None
        if error is not None:
            raise error
        self._context.check(status)

    def step(self, count=1) -> SensitivityResult:
        """Makes steps; the verdict of the last and of all."""
        r = lib.frix_sensitivity_result()
        for _ in range(count):
            self._check(lib.frix_sensitivity_step(self._handle.pointer, r))
        self.steps = r.step
        return SensitivityResult(_verdicts[r.verdict], _verdicts[r.run_verdict], r.distance, r.run_distance, r.step,
                                 r.kinks, r.first_kink, bool(r.certified))

    def body(self, name, parameter) -> Motion:
        """Derivatives of a body's state by a parameter."""
        out = lib.frix_sensitivity_motion()
        self._check(lib.frix_sensitivity_body(self._handle.pointer, self._worlds.identity(name), parameter, out))
        return Motion(array3(out.place), array3(out.turn), array3(out.velocity), array3(out.spin))

    def adjoint(self, weights, pushed=None):
        """The gradient of one number by all parameters, backward. weights: {body: dict(place=, turn=, velocity=, spin=)}
        of the last step, or {(body, step): ...}. With pushed, a body: also by the force and the torque on it in every
        step, arrays of steps x 3."""
        rows = lib.frix_sensitivity_weight.array(len(weights))
        for k, (key, weight) in enumerate(weights.items()):
            name, step = key if isinstance(key, tuple) else (key, 0)
            rows[k].body, rows[k].step = self._worlds.identity(name), step
            for part, value in weight.items():
                setattr(rows[k].weight, part, vec3(value, part))
        gradient, force, torque = np.zeros(len(self.parameters)), np.zeros((self.steps, 3)), np.zeros((self.steps, 3))
        c = lib.frix_sensitivity_adjoint_config()
        c.size, c.weight_count, c.weight, c.parameter = c._size_, len(weights), rows, gradient
        if pushed is not None:
            c.pushed, c.force, c.torque = self._worlds.identity(pushed), force, torque
        self._check(lib.frix_sensitivity_adjoint(self._handle.pointer, c))
        return gradient if pushed is None else (gradient, force, torque)


class Gradient:
    """Derivatives of the last step of a sim at its certified answer: v by forces f (impulses by degree of freedom), rows
    w and friction mu. kappa: smoothed, approximate.

    >>> import frix, numpy as np
    >>> sim = frix.Scene("painleve", mu=0.3).sim(contact=1)  # rigid
    >>> report = sim.run(0.02)
    >>> g = frix.Gradient(sim)
    >>> g.verdict, g.forward(mu=np.ones(g.contact_count)).shape
    ('smooth', (6,))
    """

    def __init__(self, sim, kappa=None):
        self._context = sim._context
        if kappa is None:
            self._handle = self._context.make(lib.frix_gradient_of_step, sim._pointer(), None,
                                              destroy="frix_gradient_destroy")
        else:
            self._handle = self._context.make(lib.frix_gradient_of_step_smoothed, sim._pointer(), None, float(kappa),
                                              destroy="frix_gradient_destroy")
        v = lib.frix_gradient_result()
        lib.frix_gradient_view(self._handle.pointer, v)
        self.verdict: str = _verdicts[v.verdict]
        self.distance: float = v.distance
        self.contact: int = v.contact
        self.forces_unique: bool = bool(v.forces_unique)
        self.contact_count, self.row_count, self.dof_count = v.contact_count, v.row_count, v.dof_count

    def _data(self, f, w, mu):
        c, keep = lib.frix_gradient_data(), []
        c.size = c._size_
        for name, value, count in (("f", f, self.dof_count), ("w", w, self.row_count), ("mu", mu, self.contact_count)):
            if value is not None:
                keep.append(reals(value, (count,), name))
                setattr(c, name, keep[-1])
        return c, keep

    def forward(self, f=None, w=None, mu=None, one_sided=False) -> np.ndarray:
        """The change of v along a change of the data; one_sided: in this direction, at kinks too."""
        c, keep = self._data(f, w, mu)
        out = np.zeros(self.dof_count)
        call = lib.frix_gradient_one_sided if one_sided else lib.frix_gradient_forward
        self._context.check(call(self._handle.pointer, c, out, None, None))
        return out

    def adjoint(self, weight) -> dict:
        """The gradient of weight . v by f, w and mu: all of it for one solution."""
        weight = reals(weight, (self.dof_count,), "weight")
        out = {"f": np.zeros(self.dof_count), "w": np.zeros(self.row_count), "mu": np.zeros(self.contact_count)}
        c = lib.frix_gradient_parts()
        c.size = c._size_
        for name, value in out.items():
            setattr(c, name, value)
        self._context.check(lib.frix_gradient_adjoint(self._handle.pointer, weight, None, c))
        return out


class StepGradient(NamedTuple):
    """Derivatives of a step: value[k, e] = d of[k] / d wrt[e], NaN unless the verdict allows them; below: as inputs shrink,
    where one-sided ones were asked for."""

    verdict: str
    distance: float
    contact: int
    forces_unique: bool
    value: np.ndarray
    below: np.ndarray


def _names(texts):
    """Addresses of C texts, and the texts."""
    keep = [np.frombuffer(encode(t) + b"\0", dtype=np.uint8) for t in texts]
    return np.array([k.__array_interface__["data"][0] for k in keep], dtype=np.uintp), keep


def step_gradient(sim, wrt, of, step=0.01, one_sided=False, kappa=0.0) -> StepGradient:
    """Derivatives of the next step of a sim, which does not move, by named inputs: h, mu, mu:A|B, force:A.x, A.x,
    A.velocity.x, ctrl:NAME, qpos:JOINT, qvel:JOINT, gravity.z, A.mass, A.inertia.x, A.mu, A.restitution, A.size.x ... Outputs:
    A.x, A.turn.x, A.vx, A.wx, qpos:JOINT, qvel:JOINT, A|B.n. All names: frix/sensitivity.h. kappa: smoothed, approximate.

    >>> import frix
    >>> sim = frix.Scene("puck", direction=0).sim(contact=1)  # rigid
    >>> g = frix.step_gradient(sim, ["puck.mu", "force:puck.x", "h"], ["puck.vx"], step=0.005)
    >>> g.verdict, g.value.round(4).tolist()
    ('smooth', [[-0.0491, 0.005, -3.924]])
    """
    (by, keep_by), (out, keep_out) = _names(wrt), _names(of)
    value, below = np.full((len(of), len(wrt)), np.nan), np.full((len(of), len(wrt)), np.nan)
    c, r = lib.frix_step_gradient_default(), lib.frix_gradient_result()
    c.step, c.one_sided, c.kappa = float(step), bool(one_sided), float(kappa)
    c.wrt_count, c.wrt, c.of_count, c.of = len(wrt), by, len(of), out
    sim._context.check(lib.frix_sim_step_gradient(sim._pointer(), c, value, below, r))
    del keep_by, keep_out
    return StepGradient(_verdicts[r.verdict], r.distance, r.contact, bool(r.forces_unique), value, below)
