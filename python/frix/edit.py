"""Worlds that change while they run: sim.change() gives the world as it is now, and all that is done to it happens at the end
of the block, or nothing where it fails.

>>> import frix
>>> world = frix.Builder()
>>> wood = world.material("wood", mu=0.5)
>>> world.shape("plane", material=wood)
>>> box = world.body("box", position=(0, 0, 0.1))
>>> box.shape("box", half=(0.1, 0.1, 0.1), material=wood, name="crate")
>>> hinge = world.joint("fixed", None, box, anchor=(0, 0, 0.1), name="weld", collide=True)
>>> sim = frix.Sim(world.compile())
>>> sim.set_gravity((3, 0, -9))
>>> with sim.change() as now:
...     now.remove_joint("weld")
...     now.set_material("wood", mu=0.1)
>>> report = sim.run(0.5, h=0.01)
>>> round(float(sim.body["box"].velocity[0]), 2)        # (3 - 0.1 * 9) / 2
1.05
>>> with sim.change() as now:
...     now.set_body("box", kind="static")
>>> float(sim.body["box"].velocity[0])
0.0
"""
from . import _frix as lib
from ._library import choose, fill, pose, sym3, vec3
from .hooks import _shape_id
from .sim import BodyRef, Sim
from .world import Body, Builder, Model, _bodies



class Change(Builder):
    """The world of a sim as it is now, to be changed: all that a Builder does, and what is below. Elements are named as in
    the sim; each is set at most once."""

    def __init__(self, sim):
        self._sim, self._context = sim, sim._context
        self._handle = sim._context.make(lib.frix_sim_begin_change, sim._pointer(), owners=[sim._handle],
                                         destroy="frix_builder_destroy")

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None:
            self.apply()

    def apply(self) -> None:
        """Changes the sim; the end of a with block calls it."""
        sim = self._sim
        sim._check(lib.frix_sim_change(sim._pointer(), self._handle.pointer))
        sim._take_model()

    def find(self, name) -> Body:
        """A body of the sim, by name, by number or as what sim.own gave, for joints and shapes."""
        if isinstance(name, BodyRef):
            return Body(self, name._id)
        model = self._sim.model
        k = model._find(model.body_index, name, model.body_count, "body")
        return Body(self, lib.frix_model_body_at(model._handle.pointer, k))

    def set_body(self, name, kind: str = None, **values) -> None:
        """kind, mass, center, inertia, gravity_scale, can_sleep; what is not named stays. A new mass without inertia scales
        what the shapes have."""
        sim, body = self._sim, self.find(name)
        config = sim.model._body(body._id.index - 1)
        state = sim.body[body._id.index - 1]._state() if lib.frix_sim_alive(sim._pointer(), body._id) else None
        if state is not None:
            config.pose, config.velocity, config.spin = state.pose, state.velocity, state.spin
        if "mass" in values and "inertia" not in values:
            config.inertia = lib.frix_sym3()
        fill(config, values, {"center": vec3, "inertia": sym3})
        if kind is not None:
            config.kind = choose(_bodies, kind, "kind")
        if config.kind == _bodies["static"]:
            config.velocity = config.spin = lib.frix_vec3()
        self._check(lib.frix_builder_set_body(self._handle.pointer, body._id, config))

    def set_shape(self, shape, position=None, orientation=(1.0, 0.0, 0.0, 0.0), material=None, **values) -> None:
        """group, mask, material, position, radius, half_length, half, density; what is not named stays."""
        sim, config = self._sim, lib.frix_shape_config()
        identity = _shape_id(sim, shape)
        sim._check(lib.frix_model_shape(sim.model._handle.pointer, identity, config, None))
        fill(config, values, {"half": vec3})
        if position is not None:
            config.pose = pose(position, orientation)
        if material is not None:
            config.material = self._added(material, lib.frix_material_id, "a material")
        self._check(lib.frix_builder_set_shape(self._handle.pointer, identity, config))

    def _material(self, name):
        pointer, config, k = self._sim.model._handle.pointer, lib.frix_material_config(), 0
        if name is None:
            identity = lib.frix_material_id()
            self._check(lib.frix_model_material(pointer, identity, config))
            return identity, config
        while True:
            identity = lib.frix_model_material_at(pointer, k)
            if not identity.index:
                raise KeyError(f"no material {name!r}")
            self._check(lib.frix_model_material(pointer, identity, config))
            if config.name == name or k == name:
                return identity, config
            k += 1

    def set_material(self, name, **values) -> None:
        """mu, restitution, rolling and the rest, of a material by its name or number (None: of shapes without
        one); what is not named stays."""
        identity, config = self._material(name)
        fill(config, values, {"axis": vec3})
        self._check(lib.frix_builder_set_material(self._handle.pointer, identity, config))

    def remove_shape(self, shape) -> None:
        self._check(lib.frix_builder_remove_shape(self._handle.pointer, _shape_id(self._sim, shape)))

    def remove_joint(self, name) -> None:
        model = self._sim.model
        k = model._find(model.joint_index, name, model.joint_count, "joint")
        self._check(lib.frix_builder_remove_joint(self._handle.pointer, lib.frix_model_joint_at(model._handle.pointer, k)))

    def compile(self):
        raise TypeError("a change is applied to its sim, not compiled")


def change(self) -> Change:
    """The world as it is now, to be changed: with sim.change() as now: now.set_material("floor", mu=0.05)"""
    return Change(self)


def own(self, body: BodyRef) -> BodyRef:
    """A spawned body goes on as a body of the model, so that joints can hold it: now.joint("ball", None, now.find(mine), ...)

    >>> import frix
    >>> sim = frix.Scene("stack").sim()
    >>> mine = sim.own(sim.spawn(0, (5, 0, 2)))
    >>> with sim.change() as now:
    ...     hook = now.joint("ball", None, now.find(mine), anchor=(5, 0, 3))
    >>> report = sim.run(0.5, h=0.01)
    >>> round(float(mine.position[2]), 3)
    2.0
    """
    if not isinstance(body, BodyRef) or body._sim is not self:
        raise TypeError("a body of this sim is needed")
    out = lib.frix_body_id()
    self._check(lib.frix_sim_own(self._pointer(), body._id, out))
    self._take_model()
    return BodyRef(self, out)


def _take_model(self):
    """The model that the library has now."""
    handle = self._context.make(lib.frix_sim_keep_model, self._pointer(), destroy="frix_model_destroy")
    if handle.pointer != self.model._handle.pointer:
        self.model = Model(self._context, handle)
        self._generation = None


Sim.change, Sim.own, Sim._take_model = change, own, _take_model

__all__ = ["Change"]
