"""Mixed complementarity problems and quadratic programmes.

Find x with l <= x <= h where F_i(x) >= 0 at the lower bound, <= 0 at the upper one, and 0 between:

>>> import numpy as np
>>> answer = mcp(lambda x: 2 * x - 1, np.zeros(1), jacobian=lambda x: np.array([[2.0]]))
>>> answer.x.round(9).tolist(), answer.solved
([0.5], True)
"""
import types

import numpy as np

from . import _frix as lib
from ._library import Context, encode, fill, reals, view
from .problem import _matrix

class Answer:
    """x with its certificate: residual, outcome, iterations."""

    def __init__(self, x, result):
        self.x = x
        self.outcome: str = lib.frix_outcome_name(result.outcome)
        self.solved: bool = result.outcome == lib.FRIX_OUTCOME_SOLVED
        self.residual: float = result.certificate.residual
        self.iterations: int = result.iterations
        self.method, self.finisher = result.method, result.finisher

    def __repr__(self):
        return f"<frix answer: {self.outcome}, residual {self.residual:.1e}>"


def _array(pointer, count):
    """Numbers of the library, while it waits for the function."""
    return view(None, pointer, (count,), writable=True)


def mcp(function, start, lower=None, upper=None, jacobian=None, method: str = "auto", tolerance: float = 1e-8,
        **config) -> Answer:
    """Solves a mixed complementarity problem: function(x) gives F, jacobian(x) the matrix dF/dx (differences without one).
    lower: 0 unless given, -inf where free; upper: inf unless given."""
    x = np.array(start, dtype=np.float64)
    if x.ndim != 1 or not len(x):
        raise ValueError("start: a vector is needed")
    n, raised = len(x), []

    def values(point):
        return reals(function(point.copy()), (n,), "function")

    def differences(point):
        base, out = values(point), np.empty((n, n))
        for k in range(n):
            shifted = point.copy()
            shifted[k] += 1e-7 * max(1.0, abs(point[k]))
            out[:, k] = (values(shifted) - base) / (shifted[k] - point[k])
        return out

    def guarded(call):
        def callback(point, out):
            if raised:
                return False
            try:
                call(_array(point, n).copy(), out)
                return True
            except ArithmeticError:
                return False  # not defined there
            except BaseException as error:
                raised.append(error)
                return False

        return callback

    def put_values(point, out):
        _array(out, n)[:] = values(point)

    def put_jacobian(point, out):
        matrix = reals((jacobian or differences)(point.copy()), (n, n), "jacobian")
        _array(out, n * n)[:] = matrix.T.ravel()

    context = Context()
    data = lib.frix_mcp_data_default()
    bounds = [None if b is None else reals(np.broadcast_to(b, (n,)), (n,), "bounds") for b in (lower, upper)]
    columns = np.arange(0, n * n + 1, n, dtype=np.int32)
    rows = np.tile(np.arange(n, dtype=np.int32), n)
    calls = types.SimpleNamespace(function=guarded(put_values), jacobian=guarded(put_jacobian))
    data.count = n
    data.lower, data.upper = (None if b is None else b for b in bounds)
    data.column, data.row = columns, rows
    for name in ("function", "jacobian"):
        lib.listen(data, calls, name)
    problem = context.make(lib.frix_mcp_create, context.pointer, data, destroy="frix_mcp_destroy")
    chosen = fill(lib.frix_mcp_default(), {"tolerance": tolerance, **config})
    chosen.method = encode(method)
    result = lib.frix_mcp_result()
    status = lib.frix_mcp_solve(context.pointer, problem.pointer, chosen, x,
                                 result)
    if raised:
        raise raised[0]
    context.check(status)
    return Answer(x, result)


class Programme:
    """The answer of a quadratic programme: x, nu (equalities), lambda_ (inequalities), objective, residual."""

    def __init__(self, handle, sizes):
        result = lib.frix_qp_result(size=lib.frix_qp_result._size_)
        lib.frix_qp_solution_view(handle.pointer, result)
        self.outcome: str = lib.frix_qp_outcome_name(result.outcome)
        self.solved: bool = result.outcome == lib.FRIX_QP_SOLVED
        self.objective: float = result.objective
        self.residual: float = result.residual
        self.x = view(handle, result.x, (sizes[0],))
        self.nu = view(handle, result.nu, (sizes[1],))
        self.lambda_ = view(handle, getattr(result, "lambda"), (sizes[2],))


def qp(Q, c, A=None, lower=None, A_eq=None, b=None) -> Programme:
    """min 1/2 x'Qx + c'x subject to A_eq x = b and A x >= lower, Q symmetric positive definite.

    >>> answer = qp(np.eye(2), [-1, -1], A=[[-1, 0]], lower=[-0.25])
    >>> answer.x.tolist()
    [0.25, 1.0]
    """
    context, keep = Context(), []
    Q = np.asarray(Q, dtype=np.float64)
    Q = reals(Q, Q.shape[:1] * 2, "Q")
    n = len(Q)
    data = lib.frix_qp_data_default()
    data.variable_count, data.Q = n, Q
    sides = {"c": (c, n)}
    for name, matrix, right, vector in (("A_eq", A_eq, b, "b"), ("A", A, lower, "lower")):
        if (matrix is None) != (right is None):
            raise ValueError(f"{name} and {vector} belong together")
        if matrix is not None:
            setattr(data, name, _matrix(matrix, name, keep))
            sides[vector] = (right, getattr(data, name).row_count)
    data.equality_count, data.inequality_count = data.A_eq.row_count, data.A.row_count
    for name, (value, count) in sides.items():
        array = reals(value, (count,), name)
        keep.append(array)
        setattr(data, name, array)
    config = lib.frix_qp_default()
    handle = context.make(lib.frix_qp_solve, context.pointer, data, config,
                          destroy="frix_qp_solution_destroy")
    return Programme(handle, (n, data.equality_count, data.inequality_count))


__all__ = ["mcp", "qp", "Answer", "Programme"]
