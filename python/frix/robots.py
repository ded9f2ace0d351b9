"""Robots in reduced coordinates: files whose joints are the coordinates of trees, as `frix run` reads them.

>>> import frix, numpy as np
>>> arm = frix.load("arm.xml", coordinates="reduced", xml='''<mujoco><worldbody><body pos="0 0 1"><joint name="elbow" axis="0 1 0"
... damping=".1"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".03"/></body></worldbody><actuator><motor name="pull" joint="elbow"/>
... </actuator><sensor><jointpos name="angle" joint="elbow"/></sensor></mujoco>''')
>>> sim = arm.sim()
>>> robot = sim.robot
>>> robot.qpos.shape, robot.qvel.shape, robot.ctrl.shape
((1,), (1,), (1,))
>>> robot.joint["elbow"].q = 0.5                          # where it starts; links follow at once
>>> robot.actuator["pull"].ctrl = 2.0
>>> report = sim.run(0.1, h=0.002)
>>> bool(robot.qvel[0] == robot.joint["elbow"].v)
True
>>> bool(robot.sensor["angle"][0] == robot.qpos[0])
True
>>> robot.mass_matrix().shape
(1, 1)
>>> batch = frix.Batch(arm.model, 4)
>>> out = batch.rollout(0.002, np.ones((4, 10, 1)), control=[("ctrl", "pull")], watch=[("qpos", "elbow"), ("sensor", "angle")])
>>> bool((out.values[:, :, 0] == out.values[:, :, 1]).all())
True
"""
import numpy as np

from . import _frix as lib
from ._library import encode, enum, view
from .sim import Sim

_parts = enum("frix_robot_part", "FRIX_ROBOT_")


class _Table:
    """Parts of a robot by name or number."""

    __slots__ = ("_robot", "_part", "_count", "_make")

    def __init__(self, robot, part, count, make):
        self._robot, self._part, self._count, self._make = robot, part, count, make

    def __len__(self):
        return self._count

    def names(self) -> list:
        return [lib.frix_robot_name(self._robot._model, _parts[self._part], k) for k in range(self._count)]

    def index(self, key) -> int:
        if isinstance(key, str):
            k = lib.frix_robot_find(self._robot._model, _parts[self._part], encode(key))
            if k < 0:
                raise KeyError(f"no {self._part} '{key}': {', '.join(filter(None, self.names())) or 'none has a name'}")
            return k
        k = int(key)
        if not -self._count <= k < self._count:
            raise IndexError(f"{self._part} {k} of {self._count}")
        return k % self._count

    def __getitem__(self, key):
        return self._make(self._robot, self.index(key))


class RobotJoint:
    """A joint: its coordinate and rate (arrays for ball and free joints), limits."""

    __slots__ = ("_robot", "_row", "_wide")

    def __init__(self, robot, k):
        self._robot, self._row = robot, lib.frix_robot_joint()
        robot._sim._check(lib.frix_robot_get_joint(robot._model, k, self._row))
        self._wide = {lib.FRIX_ROBOT_FREE: (7, 6), lib.FRIX_ROBOT_BALL: (4, 3)}.get(self._row.kind, (1, 1))

    def _part(self, array, first, count):
        part = array[first : first + count]
        return float(part[0]) if count == 1 else part

    @property
    def q(self):
        return self._part(self._robot.qpos, self._row.q, self._wide[0])

    @q.setter
    def q(self, value):
        self._robot.qpos[self._row.q : self._row.q + self._wide[0]] = value
        self._robot.place()

    @property
    def v(self):
        return self._part(self._robot.qvel, self._row.v, self._wide[1])

    @v.setter
    def v(self, value):
        self._robot.qvel[self._row.v : self._row.v + self._wide[1]] = value
        self._robot.place()

    @property
    def limits(self):
        """(lower, upper), None: it has none."""
        return tuple(self._row.range) if self._row.limited else None


class RobotActuator:
    """An actuator: its control, its force in the last step, the range of its control."""

    __slots__ = ("_robot", "_k", "_row")

    def __init__(self, robot, k):
        self._robot, self._k, self._row = robot, k, lib.frix_robot_actuator()
        robot._sim._check(lib.frix_robot_get_actuator(robot._model, k, self._row))

    @property
    def ctrl(self) -> float:
        return float(self._robot.ctrl[self._row.ctrl_first])

    @ctrl.setter
    def ctrl(self, value):
        self._robot.ctrl[self._row.ctrl_first] = value

    @property
    def force(self) -> float:
        return float(self._robot.array("actuator_force")[self._k])

    @property
    def range(self):
        return tuple(self._row.ctrl_range) if self._row.ctrl_limited else None


class _Sensors(_Table):
    """Sensors by name or number: their values now."""

    __slots__ = ()

    def row(self, key):
        row = lib.frix_robot_sensor()
        self._robot._sim._check(lib.frix_robot_get_sensor(self._robot._model, self.index(key), row))
        return row

    def __getitem__(self, key):
        row = self.row(key)
        return self._robot.sensordata[row.first : row.first + row.count]


class Robot:
    """The robot of a sim. Arrays are views of the library's memory: qpos, qvel, ctrl, act and applied may be written to and
    count from the next step on; place() moves the links at once. joint, actuator and sensor are found by name or number."""

    _arrays = enum("frix_robot_array", "FRIX_ROBOT_")

    def __init__(self, sim):
        self._sim = sim
        self._model = lib.frix_model_robot(sim.model._handle.pointer)
        info = lib.frix_robot_view(self._model)
        self.joint = _Table(self, "joint", info.joint_count, RobotJoint)
        self.actuator = _Table(self, "actuator", info.actuator_count, RobotActuator)
        self.sensor = _Sensors(self, "sensor", info.sensor_count, None)
        self.mass: float = info.mass
        self.timestep: float = info.timestep
        self.keys: list = [lib.frix_robot_name(self._model, _parts["key"], k) for k in range(info.key_count)]
        self._v = info.v_count

    def _state(self):
        return lib.frix_sim_robot(self._sim._pointer())

    def array(self, name: str) -> np.ndarray:
        """Any array of frix_robot_array by its name in lower case: robot.array("bias")."""
        if name not in self._arrays:
            raise KeyError(f"no array '{name}': {', '.join(self._arrays)}")
        count = lib.cell_int32()
        pointer = lib.frix_robot_data(self._state(), self._arrays[name], count)
        writable = self._arrays[name] <= lib.FRIX_ROBOT_APPLIED
        return view(self._sim._handle, pointer, (count.value,), writable=writable)

    @property
    def qpos(self) -> np.ndarray:
        return self.array("qpos")

    @property
    def qvel(self) -> np.ndarray:
        return self.array("qvel")

    @property
    def ctrl(self) -> np.ndarray:
        return self.array("ctrl")

    @property
    def act(self) -> np.ndarray:
        return self.array("act")

    @property
    def applied(self) -> np.ndarray:
        """Forces along the coordinates, which stay until they are changed."""
        return self.array("applied")

    @property
    def sensordata(self) -> np.ndarray:
        """Of the state as it is, contacts of the last step included."""
        self._sim._check(lib.frix_sim_robot_sense(self._sim._pointer()))
        return self.array("sensor_data")

    def place(self) -> None:
        """Links follow coordinates and velocities that were set, now."""
        self._sim._check(lib.frix_sim_robot_place(self._sim._pointer()))

    def reset(self, key=None) -> None:
        """At a keyframe by name or number, at the reference for None."""
        k = -1 if key is None else self.keys.index(key) if isinstance(key, str) else int(key)
        self._sim._check(lib.frix_sim_robot_reset(self._sim._pointer(), k))

    def mass_matrix(self) -> np.ndarray:
        out = np.zeros((self._v, self._v))
        lib.frix_robot_mass_matrix(self._state(), out)
        return out


def robot(self):
    """The robot of a file that was read in reduced coordinates; None: there is none."""
    if not lib.frix_model_robot(self.model._handle.pointer) or not lib.frix_sim_robot(self._pointer()):
        return None
    if getattr(self, "_robot", None) is None:
        self._robot = Robot(self)
    return self._robot


Sim.robot = property(robot)

__all__ = ["Robot"]
