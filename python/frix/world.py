"""Worlds: what they are made of. A Builder collects bodies, shapes and joints; compile() gives a Model that never changes.

>>> import frix
>>> world = frix.Builder()
>>> world.shape("plane")
>>> cup = world.body("cup", position=(0, 0, 1), mass=0.2)
>>> cup.shape("cylinder", radius=0.04, half_length=0.05)
>>> model = world.compile()
>>> model.body_names
('cup',)
"""
import numpy as np

from . import _frix as lib
from ._library import (Context, array3, array4, choose, encode, enum, fill, pose, reals, sym3,
                       vec3)

_shapes = enum("frix_shape_kind", "FRIX_SHAPE_")
_bodies = enum("frix_body_kind", "FRIX_BODY_")
_joints = enum("frix_joint_kind", "FRIX_JOINT_")
_motors = enum("frix_motor_kind", "FRIX_MOTOR_")
_geometries = enum("frix_geometry_kind", "FRIX_GEOMETRY_")


class Element:
    """Something that was added to a builder."""

    __slots__ = ("_builder", "_id")

    def __init__(self, builder, identity):
        self._builder, self._id = builder, identity


class Material(Element):
    """Friction, restitution and stiffness of a surface."""

    __slots__ = ()


class Geometry(Element):
    """Points that many shapes share."""

    __slots__ = ()


class Joint(Element):
    """A joint of a builder, for couplings."""

    __slots__ = ()


class Body(Element):
    """A body of a builder."""

    __slots__ = ()

    def shape(self, kind: str, **sizes) -> None:
        """Adds a shape to this body; as Builder.shape."""
        self._builder.shape(kind, self, **sizes)


class Builder:
    """Collects what a world is made of. Lengths in metres, masses in kilograms, angles in radians.

    >>> world = Builder(gravity=(0, 0, -1.62))
    >>> tuple(world.compile().gravity)
    (0.0, 0.0, -1.62)
    """

    def __init__(self, gravity=(0.0, 0.0, -9.81)):
        self._context = Context()
        self._handle = self._context.make(lib.frix_builder_create, self._context.pointer,
                                          destroy="frix_builder_destroy")
        self._check(lib.frix_builder_set_gravity(self._handle.pointer, vec3(gravity, "gravity")))

    def _check(self, status):
        self._context.check(status)

    def _added(self, element, kind, what):
        """The id of an element of this builder; the null id for None."""
        if element is None:
            return kind()
        if not isinstance(element, Element) or not isinstance(element._id, kind):
            raise TypeError(f"{what} is needed, not {type(element).__name__}")
        if element._builder is not self:
            raise ValueError(f"{what} of another builder")
        return element._id

    def material(self, name: str = None, **values) -> Material:
        """A surface: mu, mu2 with axis, rolling, spinning, restitution, stiffness.

        >>> rubber = Builder().material(mu=0.9, restitution=0.3)
        """
        config = fill(lib.frix_material_default(), values, {"axis": vec3})
        config.name = encode(name)
        out = lib.frix_material_id()
        self._check(lib.frix_builder_add_material(self._handle.pointer, config, out))
        return Material(self, out)

    def pair(self, a: Material, b: Material, **values) -> None:
        """What happens where these two materials meet, instead of the mixing rule."""
        config = fill(lib.frix_material_default(), values, {"axis": vec3})
        first, second = (self._added(m, lib.frix_material_id, "a material") for m in (a, b))
        self._check(lib.frix_builder_set_pair(self._handle.pointer, first, second, config))

    def geometry(self, kind: str, points=None, triangles=None, heights=None, size=None, name: str = None) -> Geometry:
        """'hull' and 'polygon' of points, 'mesh' of points and triangles, 'height_field' of heights over size (x, y).

        >>> world = Builder()
        >>> wedge = world.geometry("hull", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        >>> world.body("wedge").shape("hull", geometry=wedge)
        """
        config = lib.frix_geometry_default()
        config.kind, config.name = choose(_geometries, kind, "kind"), encode(name)
        if points is not None:
            points = np.asarray(points, dtype=np.float64)
            if points.ndim == 2 and points.shape[1] == 2:  # flat
                points = np.column_stack([points, np.zeros(len(points))])
            points = reals(points, (-1, 3), "points")
            config.point, config.point_count = points, len(points)
        if triangles is not None:
            triangles = np.ascontiguousarray(triangles, dtype=np.int32)
            if triangles.ndim != 2 or triangles.shape[1] != 3:
                raise ValueError(f"triangles: an array of shape ('n', 3) is needed, not {triangles.shape}")
            config.triangle, config.triangle_count = triangles, len(triangles)
        if heights is not None:
            heights = reals(heights, (-1, -1), "heights")
            config.height, (config.row_count, config.column_count) = heights, heights.shape
            config.width, config.depth = (float(x) for x in (size or (1.0, 1.0)))
        out = lib.frix_geometry_id()
        self._check(lib.frix_builder_add_geometry(self._handle.pointer, config, out))
        return Geometry(self, out)

    def body(self, name: str = None, position=(0.0, 0.0, 0.0), orientation=(1.0, 0.0, 0.0, 0.0), kind: str = "dynamic",
             **values) -> Body:
        """A body: kind 'dynamic', 'kinematic' or 'static'; planar, velocity, spin, mass (0: from its shapes), center,
        inertia, gravity_scale, can_sleep, spawn_only."""
        convert = {"velocity": vec3, "spin": vec3, "center": vec3, "inertia": sym3}
        config = fill(lib.frix_body_default(), values, convert)
        config.name, config.kind = encode(name), choose(_bodies, kind, "kind")
        config.pose = pose(position, orientation)
        out = lib.frix_body_id()
        self._check(lib.frix_builder_add_body(self._handle.pointer, config, out))
        return Body(self, out)

    def shape(self, kind: str, body: Body = None, position=(0.0, 0.0, 0.0), orientation=(1.0, 0.0, 0.0, 0.0),
              material: Material = None, geometry: Geometry = None, name: str = None, **values) -> None:
        """A shape on a body, or on the world: sphere, capsule, box, cylinder, ellipsoid, plane, hull, mesh, height_field;
        planar bodies: disc, rectangle, ellipse, polygon, half_plane. Sizes are radius, half_length and half, with
        density, group and mask."""
        if "half" in values and isinstance(kind, str) and kind in ("rectangle", "ellipse") and len(tuple(values["half"])) == 2:
            values["half"] = (*values["half"], 0.0)
        config = fill(lib.frix_shape_default(), values, {"half": vec3})
        config.kind, config.name = choose(_shapes, kind, "kind"), encode(name)
        config.pose = pose(position, orientation)
        config.material = self._added(material, lib.frix_material_id, "a material")
        config.geometry = self._added(geometry, lib.frix_geometry_id, "a geometry")
        on = self._added(body, lib.frix_body_id, "a body")
        self._check(lib.frix_builder_add_shape(self._handle.pointer, on, config, None))

    def joint(self, kind: str, a: Body = None, b: Body = None, anchor=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0),
              axis2=(0.0, 0.0, 0.0), anchor_b=None, first: Joint = None, second: Joint = None, axes=None,
              name: str = None, **values) -> Joint:
        """Holds body b to body a (None: the world): ball, hinge, slider, universal, fixed, distance, coupling. Anchor and
        axis in world coordinates of the start. What acts along its first coordinate is given by name: limits=(lower,
        upper), friction, stiffness, damping, rest, motor ('velocity', 'position', 'force', 'servo'), target, max_speed,
        max_force, gain, rate_gain, target_rate, armature; for two coordinates: axes=[{...}, {...}].

        >>> world = Builder()
        >>> arm = world.body("arm", position=(0.5, 0, 0), mass=1)
        >>> arm.shape("box", half=(0.5, 0.05, 0.05))
        >>> elbow = world.joint("hinge", None, arm, axis=(0, 1, 0), name="elbow", motor="velocity", target=1, max_force=9)
        >>> world.compile().joint_names
        ('elbow',)
        """
        number = choose(_joints, kind, "kind")
        config = lib.frix_joint_default(number)
        config.name = encode(name)
        config.a, config.b = (self._added(x, lib.frix_body_id, "a body") for x in (a, b))
        config.first, config.second = (self._added(x, lib.frix_joint_id, "a joint") for x in (first, second))
        whole = [key for key, *_ in config._fields_ if key not in ("size", "user", "axis", "kind")]
        fill(config, {key: values.pop(key) for key in list(values) if key in whole})
        for k, given in enumerate([values] if axes is None else list(axes)):
            if k >= lib.FRIX_JOINT_AXES:
                raise ValueError(f"axes: at most {lib.FRIX_JOINT_AXES}")
            set_axis(config.axis[k], given)
        if kind != "coupling":
            end = vec3(anchor if anchor_b is None else anchor_b, "anchor_b")
            self._check(lib.frix_joint_place(self._handle.pointer, config, vec3(anchor, "anchor"),
                                               vec3(axis, "axis"), vec3(axis2, "axis2"), end))
        out = lib.frix_joint_id()
        self._check(lib.frix_builder_add_joint(self._handle.pointer, config, out))
        return Joint(self, out)

    def exclude(self, a: Body, b: Body = None) -> None:
        """These two bodies never meet; None: the world."""
        first, second = (self._added(x, lib.frix_body_id, "a body") for x in (a, b))
        self._check(lib.frix_builder_exclude(self._handle.pointer, first, second))

    def compile(self) -> "Model":
        """Checks the whole and freezes a copy; the builder may go on."""
        out = self._context.make(lib.frix_builder_compile, self._handle.pointer, destroy="frix_model_destroy")
        return Model(self._context, out)


def set_axis(config, values):
    """Fields of an axis by name; limits=(lower, upper) also limits."""
    values = dict(values)
    limits = values.pop("limits", None)
    motor = values.pop("motor", None)
    if motor is not None:
        config.motor = choose(_motors, motor or "none", "motor")
    if limits is not None:
        config.limited = True
        config.lower, config.upper = (float(x) for x in limits)
    fill(config, values)


class Model:
    """A compiled world. It never changes; any number of sims share it. Models can be pickled."""

    def __init__(self, context, handle):
        self._context, self._handle = context, handle
        counts = lib.frix_model_count(handle.pointer)
        self.body_count: int = counts.body_count
        self.shape_count: int = counts.shape_count
        self.joint_count: int = counts.joint_count
        self.body_names: tuple = tuple(self._body(k).name or "" for k in range(self.body_count))
        self.joint_names: tuple = tuple(self._joint(k).name or "" for k in range(self.joint_count))
        self.body_index: dict = {name: k for k, name in reversed(list(enumerate(self.body_names))) if name}
        self.joint_index: dict = {name: k for k, name in reversed(list(enumerate(self.joint_names))) if name}

    def _body(self, k):
        config = lib.frix_body_config()
        identity = lib.frix_model_body_at(self._handle.pointer, k)
        self._context.check(lib.frix_model_body(self._handle.pointer, identity, config))
        return config

    def _joint(self, k):
        config = lib.frix_joint_config()
        identity = lib.frix_model_joint_at(self._handle.pointer, k)
        if not identity.index:  # it was removed
            return config
        self._context.check(lib.frix_model_joint(self._handle.pointer, identity, config))
        return config

    def _find(self, table, key, count, what):
        """The number of a body or joint by its name or number."""
        if isinstance(key, str):
            if key not in table:
                import difflib

                near = difflib.get_close_matches(key, list(table), 1)
                raise KeyError(f"no {what} '{key}'" + (f", did you mean '{near[0]}'?" if near else ""))
            return table[key]
        k = int(key)
        if not -count <= k < count:
            raise IndexError(f"{what} {k} of {count}")
        return k % count

    @property
    def gravity(self) -> np.ndarray:
        return array3(lib.frix_model_gravity(self._handle.pointer))

    @property
    def masses(self) -> np.ndarray:
        """Of all bodies, in the order of adding; 0 where a body is not dynamic."""
        return np.array([self._body(k).mass for k in range(self.body_count)])

    def body(self, key) -> dict:
        """What is known of a body, by name or number: kind, pose, mass, centre, inertia."""
        c = self._body(self._find(self.body_index, key, self.body_count, "body"))
        i = c.inertia
        return {
            "name": c.name or "",
            "kind": list(_bodies)[c.kind],
            "position": array3(c.pose.p),
            "orientation": array4(c.pose.q),
            "mass": c.mass,
            "center": array3(c.center),
            "inertia": np.array([[i.xx, i.xy, i.xz], [i.xy, i.yy, i.yz], [i.xz, i.yz, i.zz]]),
        }

    def to_bytes(self) -> bytes:
        """The model as bytes: another process reads it back with Model.from_bytes and takes the same steps."""
        return take_bytes(self._context, lib.frix_model_encode, self._handle.pointer)

    @staticmethod
    def from_bytes(data: bytes) -> "Model":
        context = Context()
        data = bytes(data)
        return Model(context, context.make(lib.frix_model_decode, context.pointer, data, len(data),
                                           destroy="frix_model_destroy"))

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)

    def write(self, path: str, timestep: float = 0.002) -> None:
        """Writes the model as MJCF."""
        config = lib.frix_mjcf_write_default()
        config.timestep = timestep
        self._context.check(lib.frix_mjcf_write(self._context.pointer, self._handle.pointer, encode(path),
                                                 config))

    def __repr__(self):
        return f"<frix.Model: {self.body_count} bodies, {self.shape_count} shapes, {self.joint_count} joints>"


def take_bytes(context, function, *arguments):
    """Bytes that a function of the library allocates."""
    data, size = lib.cell_pointer(), lib.cell_uint64()
    context.check(function(context.pointer, *arguments, data, size))
    try:
        return lib.bytes_at(data.value, size.value)
    finally:
        lib.frix_bytes_free(context.pointer, data.value)


__all__ = ["Builder", "Model", "Body", "Material", "Geometry", "Joint"]
