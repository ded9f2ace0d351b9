"""The C library behind the package: errors, contexts, conversions. Calls are those of the extension module _frix."""
import os

import numpy as np

from . import _frix as lib
from ._frix import Handle

folder = os.path.dirname(os.path.abspath(__file__))

# ---- errors


class Error(Exception):
    """What went wrong, in the words of the library."""


class InputError(Error, ValueError):
    """An argument, or the data it points to, makes no sense."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class FormatError(Error, ValueError):
    """A file was read and is malformed."""


class UnsupportedError(Error, NotImplementedError):
    """Understood, but this build or this method cannot do it."""


class CertificateError(Error, ArithmeticError):
    """A strict simulation met a step whose answer is not certified; the step was taken back."""


class CancelledError(Error):
    """A cancel callback ended the step, which was taken back."""


class OutOfMemory(Error, MemoryError):
    """The library could not get the memory it asked for."""


_errors = {
    lib.FRIX_ERROR_MEMORY: OutOfMemory,
    lib.FRIX_ERROR_INPUT: InputError,
    lib.FRIX_ERROR_FILE: FileError,
    lib.FRIX_ERROR_FORMAT: FormatError,
    lib.FRIX_ERROR_UNSUPPORTED: UnsupportedError,
    lib.FRIX_ERROR_CERTIFICATE: CertificateError,
    lib.FRIX_ERROR_CANCELLED: CancelledError,
}


class Context(Handle):
    """Error texts and memory. Every world has its own, so that worlds may live in different threads."""

    __slots__ = ()

    def __new__(cls):
        out = lib.cell_pointer()
        if lib.frix_context_create(None, out):
            raise OutOfMemory("no memory for a context")
        return super().__new__(cls, out.value, "frix_context_destroy", ())

    def check(self, status):
        """Raises what the status stands for, with the text of the library."""
        if status:
            raise _errors.get(status, Error)(lib.frix_error_text(self.pointer) or lib.frix_status_name(status))

    def make(self, function, *arguments, destroy, owners=()):
        """Calls a function whose last argument receives a new object, which needs this context and the owners and is
        destroyed by the function of that name."""
        out = lib.cell_pointer()
        self.check(function(*arguments, out))
        return Handle(out.value, destroy, (self, *owners))


# ---- conversions


def encode(value):
    """A str as C text, None for None."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"a text is needed, not {type(value).__name__}")
    value = os.fspath(value).encode()
    if b"\0" in value:
        raise ValueError("a text with a zero byte")
    return value


def reals(value, shape, name):
    """A contiguous array of doubles of this shape (-1: any), copied only where it must be."""
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.ndim != len(shape) or any(w not in (-1, n) for w, n in zip(shape, array.shape)):
        wanted = tuple("n" if w == -1 else w for w in shape)
        raise ValueError(f"{name}: an array of shape {wanted} is needed, not {array.shape}")
    return array


def vec3(value, name="vector"):
    x, y, z = (float(c) for c in _items(value, 3, name))
    return lib.frix_vec3(x, y, z)


def quat(value, name="orientation"):
    w, x, y, z = (float(c) for c in _items(value, 4, name))
    return lib.frix_quat(w, x, y, z)


def pose(position, orientation):
    return lib.frix_pose(vec3(position, "position"), quat(orientation))


def sym3(value, name="inertia"):
    """A symmetric matrix from 3 x 3 numbers or its diagonal."""
    m = np.asarray(value, dtype=np.float64)
    if m.shape == (3,):
        m = np.diag(m)
    if m.shape != (3, 3) or not np.array_equal(m, m.T):
        raise ValueError(f"{name}: a symmetric 3 x 3 matrix or its diagonal is needed")
    return lib.frix_sym3(m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])


def array3(v):
    return np.array((v.x, v.y, v.z))


def array4(q):
    return np.array((q.w, q.x, q.y, q.z))


def _items(value, count, name):
    items = tuple(value)
    if len(items) != count:
        raise ValueError(f"{name}: {count} numbers are needed, not {len(items)}")
    return items


class Memory:
    """Memory of the library as numpy sees it: an array made from this keeps `owner` alive."""

    __slots__ = ("owner", "__array_interface__", "__weakref__")

    def __init__(self, owner, pointer, shape, strides, kind="<f8", writable=False):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "typestr": kind,
            "shape": shape,
            "strides": strides,
            "data": (pointer, not writable),
        }


def view(owner, pointer, shape, kind="<f8", strides=None, writable=False):
    """A numpy array over memory of the library; empty where there is none."""
    if not pointer or 0 in shape:
        return np.empty(shape, dtype=kind)
    return np.asarray(Memory(owner, pointer, shape, strides, kind, writable))


def fill(struct, values, convert=None):
    """Sets fields of a config by name; unknown names are refused with the nearest ones."""
    convert = convert or {}
    names = [name for name, *_ in struct._fields_ if name not in ("size", "user")]
    for name, value in values.items():
        if name not in names:
            import difflib

            near = difflib.get_close_matches(name, names, 1)
            raise TypeError(f"unknown argument '{name}'" + (f", did you mean '{near[0]}'?" if near else ""))
        setattr(struct, name, convert[name](value) if name in convert else value)
    return struct


def enum(name, prefix):
    """Names of an enum in lower case: {'sphere': 0, ...}, without a count at its end."""
    rows = lib.ENUMS[name].items()
    return {key[len(prefix) :].lower(): value for key, value in rows if not key.endswith("_COUNT")}


def choose(table, value, what):
    """The number of a name; a wrong one is refused with all that there are."""
    if value not in table:
        raise ValueError(f"{what}: one of {', '.join(table)} is needed, not {value!r}")
    return table[value]
