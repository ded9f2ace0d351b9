"""Questions about where things are: rays, casts, overlaps and distances, as methods of Sim.

>>> import frix
>>> sim = frix.Scene("stack", n=3).sim()
>>> hit = sim.ray((0, 0, 10), (0, 0, -1))
>>> round(hit.distance, 9), hit.body
(8.5, <frix body 'cube_2'>)
>>> rays = sim.rays([(0, 0, 10), (5, 0, 10)], [(0, 0, -1)] * 2)
>>> rays["distance"].round(9).tolist()
[8.5, 10.0]
>>> sim.free("sphere", position=(0, 0, 5), radius=0.5)
True
"""
import numpy as np

from . import _frix as lib
from ._library import array3, choose, enum, pose, reals, vec3
from .sim import BodyRef, Sim, dtype_of

_shapes = enum("frix_shape_kind", "FRIX_SHAPE_")
hit_dtype = dtype_of(lib.frix_ray_hit)


class Hit:
    """What was met: body (None: the world), shape (its number in the model, from 1), distance or fraction, point, normal."""

    def __init__(self, sim, body, shape, point, normal, distance=None, fraction=None):
        self.body = BodyRef(sim, body) if body.index else None
        self.shape: int = shape.index
        self.point, self.normal = array3(point), array3(normal)
        self.distance, self.fraction = distance, fraction

    def __repr__(self):
        return f"<frix hit: {'world' if self.body is None else self.body}, distance {self.distance}>"


def _filter(mask, ignore):
    out = lib.frix_query_filter_default()
    out.mask = mask
    if ignore is not None:
        out.ignore = ignore._id
    return out


def _ray(origin, direction, length):
    return lib.frix_ray(vec3(origin, "origin"), vec3(direction, "direction"), length)


def ray(self, origin, direction, length: float = np.inf, mask: int = 0xFFFFFFFF, ignore=None):
    """The closest hit of a ray, None where there is none."""
    hit, chosen = lib.frix_ray_hit(), _filter(mask, ignore)
    self._check(lib.frix_sim_cast_ray(self._pointer(), _ray(origin, direction, length), chosen,
                                        hit))
    return Hit(self, hit.body, hit.shape, hit.point, hit.normal, hit.distance) if hit.shape.index else None


def ray_all(self, origin, direction, length: float = np.inf, mask: int = 0xFFFFFFFF, ignore=None) -> list:
    """Every shape that a ray meets, by distance."""
    capacity, count, chosen = 16, lib.cell_int32(), _filter(mask, ignore)
    line = _ray(origin, direction, length)
    while True:
        hits = lib.frix_ray_hit.array(capacity)
        self._check(lib.frix_sim_cast_ray_all(self._pointer(), line, chosen, hits, capacity,
                                                count))
        if count.value <= capacity:
            return [Hit(self, h.body, h.shape, h.point, h.normal, h.distance) for h in map(hits.__getitem__, range(count.value))]
        capacity = count.value


def rays(self, origins, directions, lengths=np.inf, mask: int = 0xFFFFFFFF, ignore=None, out=None) -> np.ndarray:
    """The closest hits of many rays as a structured array: body, shape (index 0: nothing), distance, point, normal."""
    origins, directions = reals(origins, (-1, 3), "origins"), reals(directions, (-1, 3), "directions")
    if len(origins) != len(directions):
        raise ValueError(f"{len(origins)} origins and {len(directions)} directions")
    table = np.empty((len(origins), 7))
    table[:, :3], table[:, 3:6], table[:, 6] = origins, directions, lengths
    if out is None:
        out = np.empty(len(origins), dtype=hit_dtype)
    elif out.dtype != hit_dtype or out.shape != (len(origins),) or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError("out: an array as this function returns it is needed")
    p, chosen = self._pointer(), _filter(mask, ignore)
    self._busy = True
    try:
        status = lib.frix_sim_cast_rays(p, table, len(table), chosen, out)
    finally:
        self._busy = False
    self._check(status)
    return out


def _shape(kind, sizes, geometry):
    config = lib.frix_shape_default()
    config.kind = choose(_shapes, kind, "kind")
    for name, value in sizes.items():
        if name not in ("radius", "half_length", "half"):
            raise TypeError(f"unknown size '{name}': radius, half_length, half")
        setattr(config, name, vec3(value, name) if name == "half" else value)
    if geometry is not None:
        config.geometry = lib.frix_geometry_id(int(geometry), 1)
    return config


def cast(self, kind: str, position, way, orientation=(1.0, 0.0, 0.0, 0.0), mask: int = 0xFFFFFFFF, ignore=None,
         geometry=None, **sizes):
    """Moves a shape (as Builder.shape; geometry: number of a hull in the model) along a way until it touches: a hit with
    its fraction of the way, None where the way is free."""
    config, chosen, hit = _shape(kind, sizes, geometry), _filter(mask, ignore), lib.frix_cast_hit()
    self._check(lib.frix_sim_cast_shape(self._pointer(), config, pose(position, orientation), vec3(way, "way"),
                                          chosen, hit))
    return Hit(self, hit.body, hit.shape, hit.point, hit.normal, fraction=hit.fraction) if hit.shape.index else None


def overlap(self, kind: str, position, orientation=(1.0, 0.0, 0.0, 0.0), mask: int = 0xFFFFFFFF, ignore=None,
            geometry=None, **sizes) -> list:
    """What a shape overlaps: (body or None for the world, number of its shape, depth), in the order of the model."""
    config, chosen = _shape(kind, sizes, geometry), _filter(mask, ignore)
    capacity, count = 16, lib.cell_int32()
    while True:
        found = lib.frix_overlap.array(capacity)
        self._check(lib.frix_sim_overlap(self._pointer(), config, pose(position, orientation), chosen,
                                           found, capacity, count))
        if count.value <= capacity:
            return [(BodyRef(self, o.body) if o.body.index else None, o.shape.index, o.depth)
                    for o in map(found.__getitem__, range(count.value))]
        capacity = count.value


def free(self, kind: str, position, **given) -> bool:
    """Whether a shape there would touch nothing."""
    return not overlap(self, kind, position, **given)


def distance(self, a=None, b=None) -> tuple:
    """Between two bodies (None: the world): (distance, point on a, point on b); below zero they overlap."""
    out = lib.frix_distance()
    first, second = (x._id if x is not None else lib.frix_body_id() for x in (a, b))
    self._check(lib.frix_sim_distance(self._pointer(), first, second, out))
    return out.distance, array3(out.point_a), array3(out.point_b)


def nearest(self, kind: str, position, orientation=(1.0, 0.0, 0.0, 0.0), limit: float = np.inf,
            mask: int = 0xFFFFFFFF, ignore=None, geometry=None, **sizes):
    """What of the world is closest to a shape (as cast): a hit with the signed distance, its point on the world's shape,
    and the normal towards the given one; None where nothing is within the limit.

    >>> import frix
    >>> sim = frix.Scene("stack", n=3).sim()
    >>> hit = sim.nearest("sphere", (0, 0, 3), radius=0.5)
    >>> round(hit.distance, 9), hit.body
    (1.0, <frix body 'cube_2'>)
    """
    config, chosen, out = _shape(kind, sizes, geometry), _filter(mask, ignore), lib.frix_distance()
    self._check(lib.frix_sim_shape_distance(self._pointer(), config, pose(position, orientation), limit, chosen, out))
    return Hit(self, out.body_b, out.shape_b, out.point_b, out.normal, out.distance) if out.shape_b.index else None


for _method in (ray, ray_all, rays, cast, overlap, free, distance, nearest):
    setattr(Sim, _method.__name__, _method)

__all__ = ["Hit"]
