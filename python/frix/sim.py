"""Worlds in motion: step, look, act, save.

>>> import frix
>>> world = frix.Builder()
>>> world.shape("plane")
>>> world.body("box", position=(0, 0, 0.5), mass=1).shape("box", half=(0.1, 0.1, 0.1))
>>> sim = frix.Sim(world.compile())
>>> report = sim.run(1.0, h=0.01)
>>> report.certified, round(sim.body["box"].position[2], 3)
(True, 0.1)
"""
import numpy as np

from . import _frix as lib
from ._library import (Context, array3, array4, choose, encode, enum, fill, pose, reals, vec3,
                       view)
from .world import Model, set_axis, take_bytes

_restitutions = enum("frix_restitution", "FRIX_RESTITUTION_")
_laws = enum("frix_law", "FRIX_LAW_")
_coordinates = enum("frix_coordinates", "FRIX_COORDINATES_")
_policies = enum("frix_policy", "FRIX_POLICY_")
_phases = list(enum("frix_contact_phase", "FRIX_CONTACT_"))
_states = list(enum("frix_contact_state", "FRIX_CONTACT_"))


def dtype_of(struct):
    """A struct of the headers as a numpy dtype, ids as one number each."""
    rows = []
    for name, kind, offset, length in struct._fields_:
        count = (length,) if length else ()
        if kind in (lib.frix_vec3, lib.frix_quat):
            count, inner = (*count, len(kind._fields_)), np.dtype(np.float64)
        elif not isinstance(kind, str):
            inner = np.dtype([("index", np.uint32), ("generation", np.uint32)])
        else:
            inner = np.dtype("u8" if kind in ("pointer", "text") else kind)
        rows.append((name, inner, count, offset))
    return np.dtype({"names": [r[0] for r in rows], "formats": [(r[1], r[2]) if r[2] else r[1] for r in rows],
                     "offsets": [r[3] for r in rows], "itemsize": struct._size_})


contact_dtype = dtype_of(lib.frix_contact_report)


class Report(lib.frix_step_report):
    """What a step did: certified, certificate.residual, contact_count, touching_count, iterations, seconds, ..."""

    __slots__ = ()

    @property
    def residual(self) -> float:
        """Of the certificate: how far the law is missed, relative."""
        return self.certificate.residual

    @property
    def outcome_name(self) -> str:
        return lib.frix_outcome_name(self.outcome)

    def __repr__(self):
        verdict = "certified" if self.certified else f"NOT certified ({self.outcome_name})"
        return f"<frix.Report: {verdict}, residual {self.residual:.1e}, {self.touching_count} touching contacts>"


class Energy(lib.frix_energy):
    """Joules: kinetic and potential of now, the rest summed over all steps; what comes in equals what goes out."""

    __slots__ = ()

    @property
    def imbalance(self) -> float:
        """What the ledger misses: rounding."""
        gained = self.start + self.work - self.friction - self.impact - self.damping
        return self.kinetic + self.potential - (gained + self.joint + self.contact + self.scheme + self.error)


class BodyRef:
    """A body of a sim. It keeps its sim alive, and raises once the body is removed."""

    __slots__ = ("_sim", "_id")

    def __init__(self, sim, identity):
        self._sim, self._id = sim, identity

    def _state(self):
        out, sim = lib.frix_body_state(), self._sim
        sim._check(lib.frix_sim_body(sim._pointer(), self._id, out))
        return out

    @property
    def name(self) -> str:
        out, sim = lib.frix_body_id(), self._sim
        sim._check(lib.frix_sim_pattern(sim._pointer(), self._id, out))
        return sim.model.body_names[out.index - 1]

    @property
    def alive(self) -> bool:
        return lib.frix_sim_alive(self._sim._pointer(), self._id)

    @property
    def position(self) -> np.ndarray:
        """Of the frame that was given, world coordinates."""
        return array3(self._state().pose.p)

    @position.setter
    def position(self, value):
        self.set_pose(value, self.orientation)

    @property
    def orientation(self) -> np.ndarray:
        """Unit quaternion, scalar first."""
        return array4(self._state().pose.q)

    @orientation.setter
    def orientation(self, value):
        self.set_pose(self.position, value)

    @property
    def center(self) -> np.ndarray:
        """Centre of mass, world coordinates."""
        return array3(self._state().center)

    @property
    def velocity(self) -> np.ndarray:
        """Of the centre of mass."""
        return array3(self._state().velocity)

    @velocity.setter
    def velocity(self, value):
        self.set_velocity(value, self.spin)

    @property
    def spin(self) -> np.ndarray:
        return array3(self._state().spin)

    @spin.setter
    def spin(self, value):
        self.set_velocity(self.velocity, value)

    @property
    def asleep(self) -> bool:
        return self._state().asleep

    def set_pose(self, position, orientation=(1.0, 0.0, 0.0, 0.0)) -> None:
        sim = self._sim
        sim._check(lib.frix_sim_set_pose(sim._pointer(), self._id, pose(position, orientation)))

    def set_velocity(self, velocity, spin=(0.0, 0.0, 0.0)) -> None:
        sim = self._sim
        sim._check(lib.frix_sim_set_velocity(sim._pointer(), self._id, vec3(velocity), vec3(spin)))

    def move_to(self, position, orientation=(1.0, 0.0, 0.0, 0.0), h: float = 0.01) -> None:
        """Kinematic bodies: velocities that bring it there in the time h."""
        sim = self._sim
        sim._check(lib.frix_sim_move_to(sim._pointer(), self._id, pose(position, orientation), h))

    def add_force(self, force, torque=(0.0, 0.0, 0.0), at=None) -> None:
        """For the next step; at: the point where it acts, instead of the centre of mass with a torque."""
        sim, force = self._sim, vec3(force, "force")
        if at is None:
            status = lib.frix_sim_add_force(sim._pointer(), self._id, force, vec3(torque, "torque"))
        else:
            status = lib.frix_sim_add_force_at(sim._pointer(), self._id, force, vec3(at, "at"))
        sim._check(status)

    def wake(self) -> None:
        self._sim._check(lib.frix_sim_wake(self._sim._pointer(), self._id))

    def remove(self) -> None:
        """Its contacts and joints go with it."""
        self._sim._check(lib.frix_sim_remove(self._sim._pointer(), self._id))

    def __repr__(self):
        return f"<frix body '{self.name}'>" if self.alive else "<frix body, removed>"


class JointRef:
    """A joint of a sim: coordinates, rates, forces, motors."""

    __slots__ = ("_sim", "_id", "_k")

    def __init__(self, sim, identity, k):
        self._sim, self._id, self._k = sim, identity, k

    def _state(self):
        out, sim = lib.frix_joint_state(), self._sim
        sim._check(lib.frix_sim_joint(sim._pointer(), self._id, out))
        return out

    @property
    def q(self) -> float:
        """The first coordinate: radians or metres; angles count full turns."""
        return self._state().coordinate[0]

    @property
    def rate(self) -> float:
        return self._state().rate[0]

    @property
    def force(self) -> np.ndarray:
        """Of the bilateral rows on b, at its anchor."""
        return array3(self._state().force)

    @property
    def torque(self) -> np.ndarray:
        return array3(self._state().torque)

    @property
    def axis_force(self) -> float:
        """Limits, motors, friction and springs along the first coordinate together."""
        return self._state().axis_force[0]

    @property
    def target(self) -> float:
        """Of the motor on the first coordinate."""
        return self._axis(0).target

    @target.setter
    def target(self, value):
        self.set(target=value)

    def _axis(self, k):
        out, sim = lib.frix_axis_config(), self._sim
        sim._check(lib.frix_sim_axis(sim._pointer(), self._id, k, out))
        return out

    def set(self, axis: int = 0, **values) -> None:
        """What acts along a coordinate, by name as in Builder.joint; what is not named stays."""
        sim, config = self._sim, self._axis(axis)
        set_axis(config, values)
        sim._check(lib.frix_sim_set_axis(sim._pointer(), self._id, axis, config))


class Names:
    """Elements by name or number: sim.body["cup"], sim.joint[0]; len() and iteration work."""

    __slots__ = ("_make", "_index", "_count", "_find")

    def __init__(self, make, index, count, find):
        self._make, self._index, self._count, self._find = make, index, count, find

    def __getitem__(self, key):
        return self._make(self._find(key))

    def __len__(self):
        return self._count

    def __iter__(self):
        return (self._make(k) for k in range(self._count))

    def __contains__(self, name):
        return name in self._index

    def keys(self):
        return self._index.keys()


class _Forces:
    """The user's forces of a sim, which may be used while they are asked for."""

    __slots__ = ("_sim", "_call")

    def __init__(self, sim, call):
        self._sim, self._call = sim, call

    def force(self, time):
        sim = self._sim
        sim._busy = False
        try:
            if sim._raised is None:
                self._call(sim, time)
        except BaseException as error:  # goes on behind the step
            sim._raised = error
        finally:
            sim._busy = True


class Sim(lib.SimCore):
    """A world in motion. Configuration by name, as in frix_sim_config: integrator, solver, law, tolerance, polish,
    seek_rest, max_iterations, thread_count, policy ('report', 'strict'), restitution ('newton', 'poisson', 'bounded'),
    restitution_speed, stabilisation, joint_stabilisation, margin, projections, sleep, sleep_speed, sleep_time, coordinates
    ('reduced', the default: joints of the model are coordinates of trees; 'maximal': rows between bodies); options: {'nsgs.relaxation': 1.1}. force: a function f(sim, time) that is called whenever forces are needed and may look at
    bodies and add forces.

    Arrays (center, velocity, ...) are views: they show the present state without copies and stay valid while Python
    refers to them. A sim may be used by one thread at a time; step and run let other threads go on."""

    def __init__(self, model: Model, force=None, options: dict = None, **config):
        self._context = Context()
        self.model = self._root = model  # the present one, and the one it was created with
        convert = {
            "integrator": encode, "solver": encode, "law": lambda v: choose(_laws, v, "law"),
            "policy": lambda v: choose(_policies, v, "policy"),
            "restitution": lambda v: choose(_restitutions, v, "restitution"),
            "coordinates": lambda v: choose(_coordinates, v, "coordinates"),
        }
        if not isinstance(model, Model):
            raise TypeError(f"a Model is needed, not {type(model).__name__}")
        c = fill(lib.frix_sim_default(), config, convert)
        self._options = make_options(self._context, options)
        c.options = self._options.pointer if self._options else None
        self._hooks = self._forces = None
        if force is not None:
            self._forces = _Forces(self, force)
            lib.listen(c, self._forces, "force")
        owners = [model._handle] + ([self._options] if self._options else [])
        handle = self._context.make(lib.frix_sim_create, self._context.pointer, model._handle.pointer, c,
                                    destroy="frix_sim_destroy", owners=owners)
        self._open(handle.pointer, handle)
        self._views, self._generation = {}, None
        self.tolerance: float = c.tolerance

    # ---- stepping: step and step_within are those of SimCore, which also refuses a sim that is at work

    def _check(self, status):
        if status:
            self._context.check(status)

    def _fail(self, status):
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        self._context.check(status)

    def run(self, time: float, h: float = 0.01, each=None) -> Report:
        """Steps of h until `time` seconds have passed; each(sim, report) is called after every step. The report returned
        is the worst: one that is not certified, or else the largest residual."""
        worst = None
        for _ in range(int(round(float(time) / h))):
            report = self.step(h)
            if worst is None or (report.certified, -report.residual) < (worst.certified, -worst.residual):
                worst = report
            if each is not None:
                each(self, report)
        return worst

    @property
    def time(self) -> float:
        return lib.frix_sim_time(self._pointer())

    @property
    def step_count(self) -> int:
        return lib.frix_sim_step_count(self._pointer())

    @property
    def energy(self) -> Energy:
        """The ledger: where energy came from and went."""
        out = Energy()
        lib.frix_sim_energy(self._pointer(), out)
        return out

    @property
    def hash(self) -> int:
        """Of the whole state: equal states, equal bits."""
        out = lib.cell_uint64()
        self._check(lib.frix_sim_hash(self._pointer(), out))
        return out.value

    @property
    def problem(self) -> "Problem":
        """The contact problem of the last step."""
        from .problem import Problem

        return Problem._adopt(self._context, self._context.make(lib.frix_sim_problem, self._pointer(),
                                                                destroy="frix_problem_destroy"))

    def set_gravity(self, gravity) -> None:
        self._check(lib.frix_sim_set_gravity(self._pointer(), vec3(gravity, "gravity")))

    # ---- elements by name

    @property
    def body(self) -> Names:
        """Bodies of the model by name or number; those that were spawned are known by what spawn returned."""
        model = self.model
        return Names(lambda k: BodyRef(self, lib.frix_model_body_at(model._handle.pointer, k)), model.body_index,
                     model.body_count, lambda key: model._find(model.body_index, key, model.body_count, "body"))

    @property
    def joint(self) -> Names:
        """Joints of the model by name or number."""
        model = self.model
        return Names(lambda k: JointRef(self, lib.frix_model_joint_at(model._handle.pointer, k), k),
                     model.joint_index, model.joint_count,
                     lambda key: model._find(model.joint_index, key, model.joint_count, "joint"))

    def bodies(self) -> list:
        """All living bodies, spawned ones too."""
        out, identity = [], lib.frix_sim_body_next(self._pointer(), lib.frix_body_id())
        while identity.index:
            out.append(BodyRef(self, identity))
            identity = lib.frix_sim_body_next(self._pointer(), identity)
        return out

    def spawn(self, pattern, position, orientation=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0),
              spin=(0.0, 0.0, 0.0)) -> BodyRef:
        """Another instance of a body of the model."""
        model, out = self.model, lib.frix_body_id()
        identity = lib.frix_model_body_at(model._handle.pointer,
                                            model._find(model.body_index, pattern, model.body_count, "body"))
        self._check(lib.frix_sim_spawn(self._pointer(), identity, pose(position, orientation), vec3(velocity),
                                         vec3(spin), out))
        return BodyRef(self, out)

    # ---- arrays

    def _arrays(self):
        """Views of the state, made anew where the library moved its arrays."""
        out = lib.frix_sim_arrays(size=lib.frix_sim_arrays._size_)
        self._check(lib.frix_sim_view(self._pointer(), out))
        key = (out.generation, out.slot_count)
        if key == self._generation:
            return self._views
        views, owner = {}, self._handle
        for name in ("center", "orientation", "velocity", "spin", "force", "torque", "coordinate", "rate", "target",
                     "target_rate"):
            a = getattr(out, name)
            first = 0 if a.count == out.joint_count and name in ("coordinate", "rate", "target", "target_rate") else 1
            writable = name in ("force", "torque", "target", "target_rate")
            views[name] = view(owner, (a.data or 0) + first * a.stride if a.count else None,
                               (a.count - first, a.width), strides=(a.stride, a.step), writable=writable)
        views["alive"] = view(owner, out.alive + 4, (out.slot_count - 1,), "<i4")
        views["asleep"] = view(owner, out.asleep + 1, (out.slot_count - 1,), "|b1")
        self._views, self._generation = views, key
        return views

    @property
    def center(self) -> np.ndarray:
        """Centres of mass, one row per body in the order of the model; spawned ones follow. Read only."""
        return self._arrays()["center"]

    @property
    def orientation(self) -> np.ndarray:
        """Unit quaternions, scalar first. Read only."""
        return self._arrays()["orientation"]

    @property
    def velocity(self) -> np.ndarray:
        """Of the centres of mass. Read only; set_bodies sets them."""
        return self._arrays()["velocity"]

    @property
    def spin(self) -> np.ndarray:
        """Read only; set_bodies sets them."""
        return self._arrays()["spin"]

    @property
    def force(self) -> np.ndarray:
        """On the centres of mass, for the next step: to be written to."""
        return self._arrays()["force"]

    @property
    def torque(self) -> np.ndarray:
        """For the next step: to be written to."""
        return self._arrays()["torque"]

    @property
    def q(self) -> np.ndarray:
        """Coordinates of joints, two per joint (the second of most is unused). Read only."""
        return self._arrays()["coordinate"]

    @property
    def v(self) -> np.ndarray:
        """Rates of joint coordinates. Read only."""
        return self._arrays()["rate"]

    @property
    def ctrl(self) -> np.ndarray:
        """Targets of motors, two per joint: to be written to."""
        return self._arrays()["target"]

    @property
    def ctrl_rate(self) -> np.ndarray:
        """Target rates of servos: to be written to."""
        return self._arrays()["target_rate"]

    @property
    def alive(self) -> np.ndarray:
        """Number of the model body (from 1) in every row, -1 where it is empty. Read only."""
        return self._arrays()["alive"]

    @property
    def asleep(self) -> np.ndarray:
        return self._arrays()["asleep"]

    def set_bodies(self, center=None, orientation=None, velocity=None, spin=None, bodies=None) -> None:
        """States of many bodies at once, all of them or none: rows in the order of `bodies` (BodyRefs), or of the arrays
        of this sim.

        >>> import frix
        >>> sim = frix.Scene("cardhouse", levels=2).sim()
        >>> sim.set_bodies(velocity=0 * sim.velocity)
        """
        given = {"center": (center, 3), "orientation": (orientation, 4), "velocity": (velocity, 3), "spin": (spin, 3)}
        kept = {k: reals(v, (-1, n), k) for k, (v, n) in given.items() if v is not None}
        counts = {len(a) for a in kept.values()} | ({len(bodies)} if bodies is not None else set())
        if len(counts) > 1:
            raise ValueError(f"arrays of different lengths: {sorted(counts)}")
        bulk = lib.frix_bulk_default()
        bulk.count = counts.pop() if counts else 0
        for key, array in kept.items():
            setattr(bulk, key, array)
        if bodies is not None:
            ids = lib.frix_body_id.array(len(bodies))
            for k, body in enumerate(bodies):
                ids[k] = body._id
            bulk.id = ids
        self._check(lib.frix_sim_set_bodies(self._pointer(), bulk))

    # ---- contacts

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of the last step as a structured array: id, a, b, shape_a, shape_b, phase, state, point, normal,
        tangent, gap, mu, margin, impulse, force, roll, velocity.

        >>> import frix
        >>> sim = frix.Scene("stack", n=3).sim()
        >>> report = sim.step(0.01)
        >>> float(abs(sim.contacts["force"][:, 2]).sum()) > 0
        True
        """
        out = np.empty(lib.frix_sim_contact_count(self._pointer()), dtype=contact_dtype)
        self._check(self._contacts(out, len(out)))
        return out

    def pair_force(self, a=None, b=None) -> tuple:
        """Force and torque (about the centre of a) that b exerts on a; None: the world."""
        force, torque = lib.frix_vec3(), lib.frix_vec3()
        first, second = (x._id if x is not None else lib.frix_body_id() for x in (a, b))
        self._check(lib.frix_sim_pair_force(self._pointer(), first, second, force, torque))
        return array3(force), array3(torque)

    # ---- snapshots

    def save(self) -> "Snapshot":
        """All that the future depends on, bit by bit."""
        return Snapshot(self.model, self._context.make(lib.frix_sim_save, self._pointer(), destroy="frix_snapshot_destroy",
                                                       owners=[self.model._handle, self._root._handle]), self._root)

    def restore(self, snapshot: "Snapshot") -> None:
        """Into this sim or another one of the same model and configuration; also from before or after a change of it."""
        kin = self._root is snapshot._root
        self._check(lib.frix_sim_restore(self._pointer(), snapshot._handle.pointer if kin else snapshot._of(self.model)))
        if kin:
            self._take_model()

    # ---- to look at

    def show(self, seconds: float = 2.0, h: float = 0.01, path: str = None, every: int = 1):
        """Steps on for some seconds and gives the replay page of them: shown in a notebook, written to `path` where one
        is given. The state is that of the end afterwards."""
        from .replay import record

        with record(self, every=every) as run:
            run.run(seconds, h)
        return run.page(path)

    def __repr__(self):
        return f"<frix.Sim: {self.model.body_count} bodies, t = {self.time:g} s>"


Sim._reports(Report)


class Snapshot:
    """A state of a sim; it can be pickled together with its model."""

    def __init__(self, model, handle, root=None):
        self.model, self._handle, self._root = model, handle, root or model
        self._other = {}

    def to_bytes(self) -> bytes:
        return take_bytes(self.model._context, lib.frix_snapshot_encode, self._handle.pointer)

    def _of(self, model):
        """The snapshot for this model, which may be an equal one."""
        if model is self.model:
            return self._handle.pointer
        if id(model) not in self._other:
            data = self.to_bytes()
            self._other[id(model)] = (model, model._context.make(
                lib.frix_snapshot_decode, model._context.pointer, model._handle.pointer, data, len(data),
                owners=[model._handle], destroy="frix_snapshot_destroy"))
        return self._other[id(model)][1].pointer

    @staticmethod
    def from_bytes(model: Model, data: bytes) -> "Snapshot":
        data = bytes(data)
        return Snapshot(model, model._context.make(
            lib.frix_snapshot_decode, model._context.pointer, model._handle.pointer, data, len(data),
            owners=[model._handle], destroy="frix_snapshot_destroy"))

    def __reduce__(self):
        return Snapshot.from_bytes, (self.model, self.to_bytes())


def make_options(context, options):
    """Options of methods, {'nsgs.relaxation': 1.1}, as the library keeps them."""
    if not options:
        return None
    handle = context.make(lib.frix_options_create, context.pointer, destroy="frix_options_destroy")
    for name, value in options.items():
        value = str(value).lower() if isinstance(value, bool) else str(value)
        context.check(lib.frix_options_set(handle.pointer, encode(name), encode(value)))
    return handle


__all__ = ["Sim", "Snapshot", "Report", "Energy", "BodyRef", "JointRef"]
