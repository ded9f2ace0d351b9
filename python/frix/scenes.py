"""Scenes: the worlds of the table, and worlds from files.

>>> import frix
>>> scene = frix.Scene("cardhouse", levels=2)
>>> sim = scene.sim()
>>> report = scene.run(sim, 0.1)
>>> report.certified
True
"""
import numpy as np

from . import _frix as lib
from ._library import Context, Handle, array3, choose, encode, enum
from .sim import Sim
from .world import Model

_coordinates = enum("frix_coordinates", "FRIX_COORDINATES_")
_tables = {"scene": lib.frix_scene, "example": lib.frix_example}


def rows(kind):
    """Pairs of a row of the table and its address."""
    table, k = getattr(lib, f"frix_{kind}_table"), 0
    while True:
        pointer = table(k)
        if not pointer:
            return
        yield _tables[kind].at(pointer, None), pointer
        k += 1


def find_row(kind, name):
    for row, pointer in rows(kind):
        if row.name == name:
            return row, pointer
    import difflib

    near = difflib.get_close_matches(str(name), [r.name for r, _ in rows(kind)], 1)
    raise ValueError(f"no {kind} '{name}'" + (f", did you mean '{near[0]}'?" if near else f": frix.{kind}s() lists them"))


def parameters_of(row, struct):
    size = struct._size_
    return [struct.at(row.parameter + k * size, None) for k in range(row.parameter_count)]


def values_of(row, given, struct):
    """Values of all parameters, those that are not given at their initial ones; choices by name."""
    known = parameters_of(row, struct)
    names = [p.name for p in known]
    for name in given:
        if name not in names:
            raise TypeError(f"'{row.name}' has no parameter '{name}': {', '.join(names) or 'none'}")
    out = np.zeros(max(len(known), 1))
    for k, p in enumerate(known):
        value = given.get(names[k], p.initial)
        if isinstance(value, str):
            choices = (getattr(p, "choices", None) or "").split("|")
            if value not in choices:
                raise ValueError(f"{names[k]}: one of {', '.join(choices)} is needed, not '{value}'")
            value = choices.index(value)
        out[k] = value
    return out


def scenes() -> dict:
    """Names and summaries of the scenes.

    >>> "cardhouse" in scenes()
    True
    """
    return {row.name: row.summary for row, _ in rows("scene")}


def examples() -> dict:
    """Names and summaries of the generated contact problems, for Problem.example."""
    return {row.name: row.summary for row, _ in rows("example")}


class Scene:
    """A world of the table, with its parameters: Scene('arch', blow='keystone'). model, step (s), time (s)."""

    def __init__(self, name: str, seed: int = 0, **parameters):
        self.name = name
        self._row, self._pointer = find_row("scene", name)
        self._values = values_of(self._row, parameters, lib.frix_option_info)
        for k, p in enumerate(parameters_of(self._row, lib.frix_option_info)):
            if not lib.frix_scene_allows(self._pointer, k, self._values[k]):
                raise ValueError(f"{p.name} = {self._values[k]:g} is out of range: {p.minimum:g} to {p.maximum:g}")
        context = Context()
        self.model = Model(context, context.make(lib.frix_scene_build, self._pointer, context.pointer,
                                                 self._values, seed, destroy="frix_model_destroy"))
        self.step: float = self._row.step
        self.time: float = self._row.time

    @property
    def parameters(self) -> dict:
        names = [p.name for p in parameters_of(self._row, lib.frix_option_info)]
        return dict(zip(names, self._values.tolist()))

    def sim(self, **config) -> Sim:
        return Sim(self.model, **config)

    def drive(self, sim: Sim, h: float = None) -> None:
        """What happens to the world in the coming step: blows, shaking, refuelling."""
        sim._check(lib.frix_scene_drive(self._pointer, sim._pointer(), self.model._handle.pointer,
                                          self._values, self.step if h is None else h))

    def run(self, sim: Sim, time: float = None, h: float = None, each=None):
        """Drives and steps; returns the worst report."""
        h = self.step if h is None else h
        worst = None
        for _ in range(int(round((self.time if time is None else time) / h))):
            self.drive(sim, h)
            report = sim.step(h)
            if worst is None or (report.certified, -report.residual) < (worst.certified, -worst.residual):
                worst = report
            if each is not None:
                each(sim, report)
        return worst

    def __repr__(self):
        return f"<frix.Scene '{self.name}': {self.model.body_count} bodies>"


class File:
    """A world that was read from an MJCF or URDF file: model, timestep, keys, and what the file asks for that frix does not do."""

    def __init__(self, path: str, strict: bool = False, key: str = None, allow_outside: bool = False,
                 friction: float = 1.0, xml: str = None, coordinates: str = "maximal", soft_modes: int = 0):
        context = Context()
        config = lib.frix_mjcf_default()
        config.soft_modes = soft_modes
        config.coordinates = choose(_coordinates, coordinates, "coordinates")
        config.strict, config.key, config.allow_outside = strict, encode(key), allow_outside
        config.friction = friction
        if xml is not None:
            data = encode(xml)
            handle = context.make(lib.frix_mjcf_read_memory, context.pointer, encode(path), data, len(data),
                                  config, destroy="frix_mjcf_destroy")
        else:
            handle = context.make(lib.frix_mjcf_read, context.pointer, encode(path), config,
                                  destroy="frix_mjcf_destroy")
        info = lib.frix_mjcf_view(handle.pointer)
        self.name: str = info.name
        self.timestep: float = info.timestep
        self.gravity = array3(info.gravity)
        size = lib.frix_mjcf_note._size_
        notes = [lib.frix_mjcf_note.at(info.note + k * size, handle) for k in range(info.note_count)]
        self.unsupported: list = [f"{n.file}:{n.line}: {n.name}: {n.text}" for n in notes
                                  if n.kind == lib.FRIX_MJCF_UNSUPPORTED]
        size = lib.frix_mjcf_key._size_
        self.keys: list = [lib.frix_mjcf_key.at(info.key + k * size, handle).name
                           for k in range(info.key_count)]
        taken = lib.frix_mjcf_take_model(handle.pointer)
        self.model = Model(context, Handle(taken, "frix_model_destroy", (context,)))

    def sim(self, **config) -> Sim:
        return Sim(self.model, **config)


def load(path: str, **options) -> File:
    """Reads an MJCF or URDF file; coordinates="reduced": joints are coordinates of trees (URDF always), and sim.robot has them.

    >>> tower = load("tower.xml", xml='<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1">'
    ...              '<freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>')
    >>> tower.model.body_count
    1
    """
    return File(path, **options)


__all__ = ["Scene", "File", "load", "scenes", "examples"]
