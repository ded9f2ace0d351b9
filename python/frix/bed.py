"""Beds of grains (frix/bed.h): many spheres in little memory, with a certificate of every step.

A hundred grains fall into a box:

>>> import frix
>>> bed = frix.Bed(lower=(0, 0, 0), upper=(0.06, 0.06, 0.2), radius=0.005, tolerance=1e-6)
>>> for normal in ((0, 0, 1), (1, 0, 0), (0, 1, 0)):
...     wall = bed.plane((0, 0, 0), normal)
>>> for normal in ((-1, 0, 0), (0, -1, 0)):
...     wall = bed.plane((0.06, 0.06, 0), normal)
>>> for k in range(100):
...     grain = bed.add((0.01 + 0.01 * (k % 5), 0.01 + 0.01 * (k // 5 % 5), 0.01 + 0.011 * (k // 25)))
>>> report = bed.run(0.05, h=0.001)
>>> report.certified, len(bed), bed.position.shape
(True, 100, (100, 3))
>>> max(c.impulse[2] for c in bed.contacts()) > 0
True
"""
from typing import NamedTuple

import numpy as np

from . import _frix as lib
from ._library import Context, array3, fill, vec3

__all__ = ["Bed", "BedContact", "BedReport"]


class BedReport(lib.frix_bed_report):
    """A step of a bed: certified, certificate, sweeps, grain_count, touching_count, left, came, penetration, kinetic,
    friction, seconds."""

    __slots__ = ()

    def __repr__(self):
        verdict = "certified" if self.certified else "not certified"
        return f"<frix.BedReport: {verdict}, residual {self.certificate.residual:.1e}, {self.grain_count} grains>"


class BedContact(NamedTuple):
    """Ids of both grains (b < 0: wall -1 - b), point, normal from b to a, impulse on a in the last step."""

    a: int
    b: int
    point: np.ndarray
    normal: np.ndarray
    impulse: np.ndarray


class Bed:
    """A bed of spheres within lower and upper; radius: one number, or up to 16. Other numbers of frix_bed_config by
    name: density, mu, stiffness, restitution, tolerance, thread_count, periodic (three), ..."""

    def __init__(self, lower, upper, radius, gravity=(0, 0, -9.81), periodic=(False, False, False), **config):
        self._context = Context()
        c = lib.frix_bed_default()
        radii = np.atleast_1d(np.asarray(radius, dtype=np.float64))
        if radii.ndim != 1 or not 1 <= len(radii) <= 16:
            raise ValueError("radius: 1 to 16 numbers are needed")
        c.lower, c.upper, c.gravity = vec3(lower, "lower"), vec3(upper, "upper"), vec3(gravity, "gravity")
        c.radius_count, c.radius = len(radii), tuple(np.pad(radii, (0, 16 - len(radii))))
        c.periodic = tuple(bool(x) for x in periodic)
        fill(c, config)
        self._bed = self._context.make(lib.frix_bed_create, self._context.pointer, c, destroy="frix_bed_destroy")

    def __len__(self):
        return lib.frix_bed_count(self._bed.pointer)

    def __repr__(self):
        return f"<frix.Bed: {len(self)} grains, {self.time:g} s>"

    def _wall(self, wall):
        index = lib.cell_int32()
        self._context.check(lib.frix_bed_add_wall(self._bed.pointer, wall, index))
        return index.value

    def plane(self, point, normal, mu=0.5, velocity=(0, 0, 0), load=None, speed=1.0) -> int:
        """A wall that grains stay above; its number. load: it moves so that grains press it with so many newtons, at
        `speed` at most."""
        w = lib.frix_bed_wall(kind=lib.FRIX_BED_PLANE, mu=mu)
        w.point, w.normal, w.velocity = vec3(point), vec3(normal), vec3(velocity)
        if load is not None:
            w.servo, w.load, w.servo_speed = True, load, speed
        return self._wall(w)

    def turned(self, a, b, mu=0.5) -> int:
        """A wall made by turning the segment from a to b, both (distance, height), about the z axis; its number."""
        return self._wall(lib.frix_bed_wall(kind=lib.FRIX_BED_TURNED, mu=mu, a=tuple(a), b=tuple(b)))

    def wall_force(self, k) -> np.ndarray:
        """The force of the grains on wall k in the last step."""
        w = lib.frix_bed_wall()
        self._context.check(lib.frix_bed_wall_at(self._bed.pointer, k, w))
        return array3(w.traction)

    def add(self, position, velocity=(0, 0, 0), size=0) -> int:
        """A grain of radius number `size`; its id."""
        out = lib.cell_int64()
        self._context.check(lib.frix_bed_add(self._bed.pointer, size, vec3(position), vec3(velocity), out))
        return out.value

    def step(self, h: float) -> BedReport:
        report = BedReport(size=BedReport._size_)
        self._context.check(lib.frix_bed_step(self._bed.pointer, h, report))
        return report

    def run(self, time: float, h: float) -> BedReport:
        """Steps of h for so many seconds; the report of the step with the largest residual."""
        worst = None
        for _ in range(max(1, round(time / h))):
            report = self.step(h)
            if worst is None or report.certificate.residual > worst.certificate.residual:
                worst = report
        return worst

    @property
    def time(self) -> float:
        return lib.frix_bed_time(self._bed.pointer)

    def _grains(self):
        g = lib.frix_bed_grain()
        for k in range(len(self)):
            self._context.check(lib.frix_bed_at(self._bed.pointer, k, g))
            yield g

    @property
    def id(self) -> np.ndarray:
        """Ids in the order of position and velocity, which changes as grains move."""
        return np.array([g.id for g in self._grains()], dtype=np.int64)

    @property
    def position(self) -> np.ndarray:
        return np.array([array3(g.position) for g in self._grains()]).reshape(-1, 3)

    @property
    def velocity(self) -> np.ndarray:
        return np.array([array3(g.velocity) for g in self._grains()]).reshape(-1, 3)

    def contacts(self) -> list:
        """Contacts of the last step that carry something."""
        c, out = lib.frix_bed_contact(), []
        for k in range(lib.frix_bed_contact_count(self._bed.pointer)):
            self._context.check(lib.frix_bed_contact_at(self._bed.pointer, k, c))
            out.append(BedContact(c.a, c.b, array3(c.point), array3(c.normal), array3(c.impulse)))
        return out

    @property
    def hash(self) -> int:
        """Of the state; the same for any number of threads and ranks."""
        out = lib.cell_uint64()
        self._context.check(lib.frix_bed_hash(self._bed.pointer, out))
        return out.value
