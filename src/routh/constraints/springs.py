"""Spring-damper rows that all act, or of which one-sided ones act where they push.

Rows that all act (`solve_springs`) are one linear system, solved so that stiff rows do not drown soft ones.
They obey ``y + S Gm a = c`` with the acceleration ``a = M^-1 Gf^T S y``. ``Gm`` measures and ``Gf``
pushes; they differ only for sliding contacts. Eliminating either unknown squares the range of the
stiffnesses, so neither is eliminated: the symmetric problem is a least-squares problem, the other one is
factored with both unknowns in it. Which one-sided rows act (`solve_active_set`, without friction) is a
strictly convex problem: Newton's method on its active set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import lapack
from scipy.sparse.linalg import splu

from routh.constraints.system import ActingRows, Mass, SparseMass
from routh.validation import Array, DenseOrSparse

#: dense rows above which sliding contacts are solved in the space of velocities (nv by nv)
_AUGMENTED_ROWS = 240
#: active sets tried before the line search takes over, and at most; each is one linear solve
_PLAIN, _MAX_ITERATIONS = 12, 200


def solve_springs(
    mass: Mass, Gm: DenseOrSparse, Gf: DenseOrSparse, S: Array, c: Array
) -> tuple[Array, Array]:
    """Scaled forces ``y`` (n,) and the acceleration ``a`` (nv,) that they cause."""
    if len(c) == 0:
        return np.zeros(0), np.zeros(mass.nv)
    if isinstance(mass, SparseMass):
        return _sparse(mass, Gm, Gf, S, c)
    N = S[:, None] * mass.whiten(Gm)  # (n, nv)
    if Gf is Gm:
        y, x = least_squares(N, c)
    else:
        F = S[:, None] * mass.whiten(Gf)
        if len(c) <= _AUGMENTED_ROWS:
            y, x = _augmented(N, F, c)
        else:  # many contacts on few bodies: (I + F^T N) x = F^T c, then y = c - N x
            x = np.linalg.solve(np.eye(N.shape[1]) + F.T @ N, F.T @ c).astype(np.float64)
            y = c - N @ x
    return y, mass.unwhiten(x)


def least_squares(N: Array, c: Array) -> tuple[Array, Array]:
    """``(I + N N^T) y = c`` and ``x = N^T y`` in O(n nv^2), for any range of the rows of N (n, nv).

    ``x`` minimises ``|c - N x|^2 + |x|^2`` and ``y = c - N x`` is its residual. Householder QR with row
    sorting and column pivoting is stable row by row (Cox and Higham 1998), and the residual taken from Q
    does not cancel as the subtraction would.
    """
    n, nv = N.shape
    W, b = np.empty((n + nv, nv), order="F"), np.empty(n + nv)
    size = np.abs(N).max(axis=1)
    graded = size.min() < 1e-2 * size.max()  # their order matters
    order = np.argsort(-size, kind="stable") if graded else slice(None)
    # rows larger than those of the identity before them, the others after
    heavy = int((size > 1.0).sum()) if graded else n * bool(size.max() > 1.0)
    W[heavy : heavy + nv], b[heavy : heavy + nv] = np.eye(nv), 0.0
    sorted_N, sorted_c = N[order], c[order]
    W[:heavy], W[heavy + nv :] = sorted_N[:heavy], sorted_N[heavy:]
    b[:heavy], b[heavy + nv :] = sorted_c[:heavy], sorted_c[heavy:]
    factor, pivots, tau, *_ = lapack.dgeqp3(W, overwrite_a=1)
    rhs = _apply(factor, tau, b, "T")
    x, y = np.empty(nv), np.empty(n)
    x[pivots - 1], _ = lapack.dtrtrs(factor[:nv, :nv], rhs[:nv])
    rhs[:nv] = 0.0
    residual = _apply(factor, tau, rhs, "N")
    y[order] = np.concatenate([residual[:heavy], residual[heavy + nv :]])
    return y, x


def _apply(factor: Array, tau: Array, b: Array, trans: str) -> Array:
    return np.asarray(lapack.dormqr("L", trans, factor, tau, b[:, None], lwork=64 * 64)[0][:, 0])


def _augmented(N: Array, F: Array, c: Array) -> tuple[Array, Array]:
    """``y + N x = c``, ``x = F^T y`` by LU with both unknowns, rows brought to unit size."""
    n, nv = N.shape
    A = np.empty((n + nv, n + nv))
    A[:n, :n], A[:n, n:] = np.eye(n), N
    A[n:, :n], A[n:, n:] = F.T, -np.eye(nv)
    A /= np.abs(A).max(axis=1)[:, None]
    b = np.zeros(n + nv)
    b[:n] = c / np.maximum(1.0, np.abs(N).max(axis=1, initial=0.0))
    factor, pivots, info = lapack.dgetrf(A)
    if info:
        raise np.linalg.LinAlgError(f"dgetrf returned {info}")
    solution = lapack.dgetrs(factor, pivots, b)[0]
    # one step of refinement makes the solution right row by row (Skeel 1980)
    solution += lapack.dgetrs(factor, pivots, b - A @ solution)[0]
    return solution[:n], solution[n:]


def _sparse(
    mass: SparseMass, Gm: DenseOrSparse, Gf: DenseOrSparse, S: Array, c: Array
) -> tuple[Array, Array]:
    """Both unknowns in one sparse LU, rows brought to unit size."""
    scale = sparse.diags_array(S)
    push = -(mass.inverse @ Gf.T @ scale)
    A = sparse.block_array(
        [[sparse.eye_array(mass.nv), push], [scale @ Gm, sparse.eye_array(len(c))]], format="csr"
    )
    size = abs(A).max(axis=1).toarray().ravel()
    b = np.concatenate([np.zeros(mass.nv), c]) / size
    solution = splu((sparse.diags_array(1.0 / size) @ A).tocsc()).solve(b)
    return solution[mass.nv :], solution[: mass.nv]


@dataclass(frozen=True, eq=False)
class ActiveSetResult:
    """Of n rows, all but tangents: scaled forces, the acceleration by them, which act, and what it took."""

    y: Array  # (n,)
    acceleration: Array  # (nv,)
    active: np.ndarray  # (n,) bool
    iterations: int
    converged: bool


def solve_active_set(rows: ActingRows, active: np.ndarray | None = None) -> ActiveSetResult:
    """``0 <= y _|_ y + S G a - c >= 0`` for unilateral rows, ``y + S G a = c`` for bilateral ones.

    ``a`` minimises the strictly convex, piecewise quadratic
    ``a^T M a / 2 + |c_b - S G_b a|^2 / 2 + |max(0, c_u - S G_u a)|^2 / 2``; Newton's method with an exact
    line search ends after finitely many steps on such a function. Full steps are tried first, since they
    nearly always end sooner; ``active`` (n,) is where to start. Contacts count by their normals alone.
    """
    n, a = rows.tangents.start, np.zeros(rows.mass.nv)
    G, S, c, bilateral = rows.G[:n], rows.S[:n], rows.c[:n], np.arange(n) < rows.nb
    active = np.ones(n, dtype=bool) if active is None else active | bilateral
    for iteration in range(1, _MAX_ITERATIONS + 1):
        y, own = np.zeros(n), G[active]
        y[active], target = solve_springs(rows.mass, own, own, S[active], c[active])
        wanted = bilateral | np.where(active, y > 0.0, c - S * (G @ target) > 0.0)
        if np.array_equal(wanted, active):
            return ActiveSetResult(y, target, active, iteration, True)
        if iteration <= _PLAIN:
            a, active = target, wanted
        else:
            ahead = target - a
            push, left, rate = rows.mass.M @ ahead, c - S * (G @ a), S * (G @ ahead)
            step = _exact_step(left, rate, bilateral, float(a @ push), float(ahead @ push))
            a, active = a + step * ahead, bilateral | (left - step * rate > 0.0)
    return ActiveSetResult(y, target, active, _MAX_ITERATIONS, False)


def _exact_step(left: Array, rate: Array, bilateral: np.ndarray, start: float, inertia: float) -> float:
    """The minimiser along a direction of descent: the root of an increasing piecewise linear slope.

    ``left`` (n,) is what springs push, which falls at ``rate``.
    """

    def slope(step: float) -> float:
        pushed = left - step * rate
        pushed = np.where(bilateral | (pushed > 0.0), pushed, 0.0)
        return start + step * inertia - float(rate @ pushed)

    low, high = 0.0, 1.0
    while slope(high) < 0.0 and high < 1e6:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)
