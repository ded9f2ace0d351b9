"""Contact problems as data, the solvers, and the certificate that judges them.

    M v = H r + f      u = H' v + w      or reduced      u = W r + q

r in the friction cone, normal component first: a block of 1 kg comes down at 1 m/s and slides at 2 m/s.

>>> import frix, numpy as np
>>> answer = frix.solve(W=np.eye(3), q=[-1, 2, 0], mu=0.5)
>>> answer.outcome, answer.r.round(6).tolist()
('solved', [1.0, -0.5, 0.0])
>>> answer.certificate.residual < 1e-8
True
"""
import numpy as np

from . import _frix as lib
from ._library import Context, choose, encode, enum, fill, reals, view
from .sim import make_options

_laws = enum("frix_law", "FRIX_LAW_")
_forms = enum("frix_form", "FRIX_FORM_")
_cones = enum("frix_cone", "FRIX_CONE_")


class Certificate(lib.frix_certificate):
    """How exactly the law holds: residual (the verdict), contact_residual, joint_residual, row_residual, signorini, cone,
    dissipation, bilateral, power, ..."""

    __slots__ = ()

    def __repr__(self):
        return f"<frix.Certificate: residual {self.residual:.1e}>"


def _matrix(value, name, keep):
    """A frix_matrix of a dense array, of anything with indptr, indices and data (scipy's CSC and CSR), or of a tuple
    (data, indices, indptr, shape) in compressed columns."""
    if isinstance(value, tuple) and len(value) == 4:
        data, indices, indptr, shape = value
        kind = lib.FRIX_MATRIX_CSC
    elif hasattr(value, "indptr"):
        if value.format not in ("csc", "csr"):
            raise ValueError(f"{name}: compressed columns or rows are needed, not {value.format}")
        data, indices, indptr, shape = value.data, value.indices, value.indptr, value.shape
        kind = lib.FRIX_MATRIX_CSC if value.format == "csc" else lib.FRIX_MATRIX_CSR
    else:
        dense = np.asfortranarray(value, dtype=np.float64)
        if dense.ndim != 2:
            raise ValueError(f"{name}: a matrix is needed, not an array of {dense.ndim} dimensions")
        keep.append(dense)
        return lib.frix_matrix(lib.FRIX_MATRIX_DENSE, dense.shape[0], dense.shape[1], 0, None, None, dense)
    data = reals(data, (-1,), name)
    indices, indptr = (np.ascontiguousarray(x, dtype=np.int32) for x in (indices, indptr))
    columns = shape[1] if kind == lib.FRIX_MATRIX_CSC else shape[0]
    if indices.shape != data.shape or indptr.shape != (columns + 1,) or (len(indptr) and indptr[-1] != len(data)):
        raise ValueError(f"{name}: indices, indptr and data do not belong together")
    keep += [data, indices, indptr]
    return lib.frix_matrix(kind, shape[0], shape[1], len(data), indptr, indices, data)


def _contacts(row_count, mu, dim, cones):
    """The contacts of so many rows."""
    if cones is not None:
        out = lib.frix_contact.array(len(cones))
        for k, cone in enumerate(cones):
            values = dict(cone)
            kind = values.pop("cone", "circular")
            axis = values.pop("axis", None)
            fill(out[k], values)
            out[k].cone = choose(_cones, kind, "cone")
            if axis is not None:
                out[k].axis = tuple(axis)
        return out
    if dim not in (1, 2, 3):
        raise ValueError("dim: 1, 2 or 3 rows per contact; others by cones=[...]")
    if row_count % dim:
        raise ValueError(f"{row_count} rows are no multiple of dim = {dim}")
    count = row_count // dim
    mu = np.broadcast_to(np.asarray(mu, dtype=np.float64), (count,))
    out = lib.frix_contact.array(count)
    for k in range(count):
        if dim == 1:
            out[k].cone, out[k].dim = lib.FRIX_CONE_FRICTIONLESS, 1
        else:
            out[k] = lib.frix_contact_of_dim(dim, mu[k], 0.0)
    return out


class Problem:
    """A contact problem. From arrays: W and q, or M, H, f, w, with joints G and b; matrices dense, as scipy's CSC or CSR, or
    as (data, indices, indptr, shape) in compressed columns. mu: one number or one per contact; dim: rows per contact;
    or cones=[{'cone': 'elliptic', 'dim': 3, 'mu': 0.5, 'mu2': 0.2, 'axis': (1, 0)}, ...]."""

    def __init__(self, M=None, H=None, f=None, w=None, mu=0.5, W=None, q=None, G=None, b=None, R=None, r_c=None,
                 guess=None, dim: int = 3, cones=None, title: str = None):
        self._context = Context()
        keep, data = [], lib.frix_problem_data_default()
        if (W is None) == (M is None):
            raise ValueError("W and q, or M, H, f and w, are needed")
        data.form = lib.FRIX_FORM_LOCAL if W is not None else lib.FRIX_FORM_GLOBAL
        matrices = {"W": W, "M": M, "H": H, "G": G}
        for name, value in matrices.items():
            if value is not None:
                setattr(data, name, _matrix(value, name, keep))
        rows = data.W.row_count if W is not None else data.H.col_count
        if W is None and H is None:
            raise ValueError("H is needed beside M")
        dofs, joints = (rows, 0) if W is not None else (data.M.row_count, data.G.col_count)
        data.dof_count, data.joint_count = dofs, joints
        vectors = {"q": (q, rows), "f": (f, dofs), "w": (w, rows), "b": (b, joints), "R": (R, rows), "r_c": (r_c, rows),
                   "guess": (guess, rows)}
        for name, (value, count) in vectors.items():
            if value is not None:
                array = reals(value, (count,), name)
                keep.append(array)
                setattr(data, name, array)
        contacts = _contacts(rows, mu, dim, cones)
        data.contact, data.contact_count = contacts, len(contacts)
        data.title = encode(title)
        self._handle = self._context.make(lib.frix_problem_create, self._context.pointer, data,
                                          destroy="frix_problem_destroy")

    @classmethod
    def _adopt(cls, context, handle):
        self = cls.__new__(cls)
        self._context, self._handle = context, handle
        return self

    @classmethod
    def read(cls, path: str, format: str = None) -> "Problem":
        """From a file: fclib (HDF5), text or JSON."""
        context = Context()
        config = lib.frix_read_default()
        config.format = encode(format)
        return cls._adopt(context, context.make(lib.frix_problem_read, context.pointer, encode(path), config,
                                                destroy="frix_problem_destroy"))

    @classmethod
    def example(cls, name: str, **parameters) -> "Problem":
        """One of the generated problems; frix.examples() lists them."""
        from .scenes import find_row, values_of

        context = Context()
        row, pointer = find_row("example", name)
        values = values_of(row, parameters, lib.frix_example_parameter)
        return cls._adopt(context, context.make(lib.frix_example_build, pointer, context.pointer, values,
                                                destroy="frix_problem_destroy"))

    def write(self, path: str, format: str = None) -> None:
        self._context.check(lib.frix_problem_write(self._handle.pointer, encode(path), encode(format)))

    def _data(self):
        out = lib.frix_problem_data()
        lib.frix_problem_view(self._handle.pointer, out)
        return out

    @property
    def contact_count(self) -> int:
        return self._data().contact_count

    @property
    def row_count(self) -> int:
        return self._data().row_count

    @property
    def dof_count(self) -> int:
        return self._data().dof_count

    @property
    def mu(self) -> np.ndarray:
        """Of every contact."""
        data = self._data()
        stride = lib.frix_contact._size_
        place = next(offset for name, _, offset, _ in lib.frix_contact._fields_ if name == "mu")
        return view(self._handle, data.contact + place if data.contact_count else None,
                    (data.contact_count,), strides=(stride,))

    @property
    def arrays(self) -> dict:
        """Matrices as (data, indices, indptr, shape) in compressed columns, as scipy.sparse.csc_matrix takes them in the
        form csc_matrix(m[:3], m[3]); vectors as arrays. All are views of the problem.

        >>> import frix
        >>> arrays = frix.Problem.example("cardhouse", levels=1).arrays
        >>> sorted(arrays)
        ['H', 'M', 'f', 'w']
        """
        data, out = self._data(), {}
        for name in ("W", "M", "H", "G"):
            m = getattr(data, name)
            if m.format == lib.FRIX_MATRIX_CSC:
                out[name] = (view(self._handle, m.x, (m.nonzero_count,)),
                             view(self._handle, m.i, (m.nonzero_count,), "<i4"),
                             view(self._handle, m.p, (m.col_count + 1,), "<i4"), (m.row_count, m.col_count))
        for name, count in (("q", data.row_count), ("f", data.dof_count), ("w", data.row_count),
                            ("b", data.joint_count), ("R", data.row_count), ("r_c", data.row_count)):
            if getattr(data, name):
                out[name] = view(self._handle, getattr(data, name), (count,))
        return out

    def reduce(self) -> "Problem":
        """In the form u = W r + q."""
        return Problem._adopt(self._context, self._context.make(lib.frix_problem_reduce, self._handle.pointer,
                                                                destroy="frix_problem_destroy"))

    def solve(self, solver: str = "auto", tolerance: float = 1e-8, law: str = "coulomb", guess=None,
              options: dict = None, **config) -> "Solution":
        """Solves it: time_limit, max_iterations, thread_count, history as in frix_solve_config."""
        c = fill(lib.frix_solve_default(), {"tolerance": tolerance, **config}, {"form": lambda v: choose(_forms, v, "form")})
        c.solver, c.law = encode(solver), choose(_laws, law, "law")
        if guess is not None:
            guess = reals(guess, (self.row_count,), "guess")
            c.guess_r = guess
        chosen = make_options(self._context, options)
        c.options = chosen.pointer if chosen else None
        return Solution(self, self._context.make(lib.frix_solve, self._context.pointer, self._handle.pointer, c,
                                                 owners=[self._handle], destroy="frix_solution_destroy"))

    def certify(self, r, lambda_=None, law: str = "coulomb") -> Certificate:
        """Judges any r (and lambda of joints) by the certificate."""
        data, out = self._data(), Certificate()
        r = reals(r, (data.row_count,), "r")
        joints = None if lambda_ is None else reals(lambda_, (data.joint_count,), "lambda_")
        self._context.check(lib.frix_certify(self._context.pointer, self._handle.pointer, choose(_laws, law, "law"),
                                              r, None if joints is None else joints, out,
                                              None, None))
        return out

    def __repr__(self):
        data = self._data()
        return f"<frix.Problem: {data.contact_count} contacts, {data.row_count} rows, {data.dof_count} degrees of freedom>"


class Solution:
    """The answer: r, u, v, lambda_ (views), its certificate, and how it was found."""

    def __init__(self, problem, handle):
        self.problem, self._handle = problem, handle
        result = lib.frix_result(size=lib.frix_result._size_)
        lib.frix_solution_view(handle.pointer, result)
        self.outcome: str = lib.frix_outcome_name(result.outcome)
        self.solved: bool = result.outcome == lib.FRIX_OUTCOME_SOLVED
        self.certificate = Certificate(result.certificate)
        self.iterations: int = result.iterations
        self.seconds: float = result.seconds
        self.solver, self.finisher = result.solver, result.finisher
        self.approximate: bool = result.approximate
        self.r = view(handle, result.r, (result.row_count,))
        self.u = view(handle, result.u, (result.row_count,))
        self.v = view(handle, result.v, (result.dof_count,)) if result.v else None
        self.lambda_ = view(handle, getattr(result, "lambda"), (result.joint_count,)) if getattr(result, "lambda") else None

    def __repr__(self):
        return f"<frix.Solution: {self.outcome}, residual {self.certificate.residual:.1e}>"


def solve(M=None, H=None, f=None, w=None, mu=0.5, W=None, q=None, G=None, b=None, dim: int = 3, cones=None,
          solver: str = "auto", tolerance: float = 1e-8, **config) -> Solution:
    """Solves a contact problem that is given as arrays; see Problem and Problem.solve.

    >>> import numpy as np
    >>> H = np.vstack([np.eye(3), np.zeros((3, 3))])  # one contact under the centre of a free body
    >>> answer = solve(M=np.eye(6), H=H, f=[0.2, 0, -1, 0, 0, 0], w=np.zeros(3), mu=0.5)
    >>> answer.solved
    True
    """
    return Problem(M, H, f, w, mu, W, q, G, b, dim=dim, cones=cones).solve(solver, tolerance, **config)


def solvers() -> list:
    """Names of all methods, the default first."""
    out, k = [], 0
    while True:
        row = lib.frix_solver_table(k)
        if not row:
            return out
        out.append(lib.frix_solver_info.at(row, None).name)
        k += 1


__all__ = ["Problem", "Solution", "Certificate", "solve", "solvers"]
