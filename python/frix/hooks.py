"""A say in contacts, as methods of Sim: belts, sensors, filters, changed laws, blows.

>>> import frix
>>> world = frix.Builder()
>>> world.shape("plane", name="belt")
>>> world.body("box", position=(0, 0, 0.1), mass=1).shape("box", half=(0.1, 0.1, 0.1))
>>> sim = frix.Sim(world.compile())
>>> sim.set_belt("belt", (1, 0, 0))
>>> report = sim.run(0.5, h=0.01)
>>> round(sim.body["box"].velocity[0], 9)
1.0
"""
from . import _frix as lib
from ._library import vec3
from .sim import BodyRef, Report, Sim, _phases


class _Hooks:
    """The user's say in contacts; the first exception comes out of the step."""

    __slots__ = ("_sim", "_filter", "_modify")

    def __init__(self, sim, filter, modify):
        self._sim, self._filter, self._modify = sim, filter, modify

    def filter(self, pair):
        return self._guarded(self._filter, pair)

    def modify(self, pair, law):
        self._guarded(self._modify, pair, law)

    def _guarded(self, call, *arguments):
        if self._sim._raised is not None:
            return True
        try:
            return call(*arguments)
        except BaseException as error:
            self._sim._raised = error
            return True


def _shape_id(sim, key):
    """The id of a shape by its name, or by its number in the order of adding, from 0."""
    model = sim.model
    for k in range(model.shape_count):
        identity = lib.frix_model_shape_at(model._handle.pointer, k)
        if not isinstance(key, str):
            if k == int(key):
                return identity
            continue
        config, body = lib.frix_shape_config(), lib.frix_body_id()
        sim._check(lib.frix_model_shape(model._handle.pointer, identity, config, body))
        if config.name == key:
            return identity
    raise KeyError(f"no shape {key!r}")


def set_belt(self, shape, velocity) -> None:
    """The surface of a shape (name or number) runs with this velocity, in the shape's frame."""
    self._check(lib.frix_sim_set_belt(self._pointer(), _shape_id(self, shape), vec3(velocity, "velocity")))


def set_sensor(self, shape, sensor: bool = True) -> None:
    """A sensor exerts no force; sensor_events tells what it overlaps."""
    self._check(lib.frix_sim_set_sensor(self._pointer(), _shape_id(self, shape), bool(sensor)))


def sensor_events(self) -> list:
    """After a step: (phase 'begin', 'persist' or 'end', number of the sensor's shape, body or None for the world)."""
    out, event = [], lib.frix_sensor_event()
    for k in range(lib.frix_sim_sensor_event_count(self._pointer())):
        self._check(lib.frix_sim_sensor_event(self._pointer(), k, event))
        body = event.body
        out.append((_phases[event.phase], event.sensor.index - 1,
                    BodyRef(self, lib.frix_body_id(body.index, body.generation)) if body.index else None))
    return out


def set_hooks(self, filter=None, modify=None) -> None:
    """filter(pair) says whether a contact is there; modify(pair, law) changes law.mu, law.restitution and law.slip. A pair
    has a, b, shape_a, shape_b (ids), point, normal, gap. Exceptions come out of the step."""

    listener, hooks = _Hooks(self, filter, modify), lib.frix_contact_hooks_default()
    for name, call in (("filter", filter), ("modify", modify)):
        if call is not None:
            lib.listen(hooks, listener, name)
    self._check(lib.frix_sim_set_hooks(self._pointer(), hooks))
    self._hooks = listener


def add_impulse(self, impulse, at=None) -> None:
    """A blow of so many N s, at a point in world coordinates or at the centre of mass."""
    sim = self._sim
    point = vec3(self.center if at is None else at, "at")
    sim._check(lib.frix_sim_add_impulse(sim._pointer(), self._id, vec3(impulse, "impulse"), point))


def _user_key(body):
    return body._id.index, body._id.generation


def _get_user(self):
    """Something of yours that belongs to this body in this sim, None unless it was set."""
    return self._sim.__dict__.get("_user_data", {}).get(_user_key(self))


def _set_user(self, value):
    if not self.alive:
        raise KeyError("the body is removed")
    self._sim.__dict__.setdefault("_user_data", {})[_user_key(self)] = value


def last_report(self) -> Report:
    """What the last step did.

    >>> import frix
    >>> sim = frix.Scene("stack", n=2).sim()
    >>> report = sim.step(0.01)
    >>> sim.last_report.iterations == report.iterations
    True
    """
    out = Report()
    self._check(lib.frix_sim_last_report(self._pointer(), out))
    return out


Sim.last_report = property(last_report)
BodyRef.user = property(_get_user, _set_user)
for _method in (set_belt, set_sensor, sensor_events, set_hooks):
    setattr(Sim, _method.__name__, _method)
BodyRef.add_impulse = add_impulse

__all__ = []
