"""D19's own formulation, appendix A (181)-(198), as one quadratic program with friction cones.

Three places differ from the print, because the print does not follow from its own premises:
(190) instead of (159) for ``c``; (197) and (198) get the force of the bilateral constraints,
``G_b^T C^-1 c``, which (170)-(171) have and they lost; and ``(G M^-1 G^T)^-1 dG/dt v``, undefined for
redundant rows, is the least-squares force of least norm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from routh.base import tolerances
from routh.base.status import Status
from routh.base.validation import Array, DenseOrSparse
from routh.constraints.friction import SEPARATES, SLIDES, STICKS
from routh.constraints.solving import ConstraintForces, scatter
from routh.constraints.springs import least_squares
from routh.constraints.system import ActingRows, ConstrainedSystem, DenseMass, SparseMass, residuals_of
from routh.kernels.constraints.data import Modes
from routh.lcp import convex


@dataclass(frozen=True, eq=False)
class PaperProgram:
    """The program of appendix A over ``lambda* = (lambda_u, lambda_n, lambda_t)``, in this order.

    ``min |zeta lambda_un|^2 / 2 + |lambda_t|^2 / 2 + |beta|^2 / 2`` with
    ``beta = lambda_t + X_t W_t W^T lambda* + d`` and ``lambda_un + X_un W_un W^T lambda* >= q``, where
    ``W W^T = G* A G*^T`` of (189). ``bilateral(lambda*)`` gives the eliminated bilateral forces.
    """

    W: Array  # (n*, nv)
    X: Array  # (n*,)
    q: Array  # (nu + nc,), (186)
    d: Array  # (nc * nt,), (197) and (198)
    zeta: float  # 1 / h
    free: Array  # (nb,), C^-1 c
    response: Array  # (nb, n*), C^-1 D G*^T

    @property
    def first(self) -> int:
        """Number of unilateral rows and normals, which come before the tangents."""
        return len(self.q)


def paper_program(system: ConstrainedSystem) -> PaperProgram:
    """Appendix A for the acting rows of a system."""
    rows = system.rows
    N = _whitened(rows)
    nb = rows.nb
    soft = rows.S[:nb, None] * N[:nb]
    left, sigma, right = np.linalg.svd(soft, full_matrices=False)
    free = _bilateral_alone(rows, N, soft)
    pushed = rows.w + rows.h * (N @ (N[:nb].T @ free))
    target = -_centripetal(rows, N) - rows.K * rows.phi - (rows.X / rows.h) * pushed
    # (I + N_b^T N_b)^(-1/2) turns G* M^-1 G*^T into G* A G*^T, (189)
    shrink = 1.0 - 1.0 / np.hypot(1.0, sigma)
    W = N[nb:] - ((N[nb:] @ right.T) * shrink) @ right
    factor = (rows.S[:nb, None] * left) * (sigma / (1.0 + sigma**2))
    response = -factor @ (right @ N[nb:].T)
    split = rows.nu + rows.nc
    q, d, X = target[nb : nb + split], -target[nb + split :], rows.X[nb:].copy()
    # no friction, no tangential spring: else (99) would lift a body to slow its slip (D19 6.4 excludes it)
    smooth = np.repeat(rows.mu == 0.0, rows.nt)
    d[smooth], X[split:][smooth] = 0.0, 0.0
    return PaperProgram(W, X, q, d, 1.0 / rows.h, free, response)


def solve_paper(system: ConstrainedSystem, warm: ConstraintForces | None = None) -> ConstraintForces:
    """Solve appendix A; the status is judged by the program's own optimality conditions.

    A rule for `routh.step_through`, which has no use for a warm start.
    """
    rows = system.rows
    program = paper_program(system)
    star, residual, iterations = _minimise(program, rows)
    force = np.concatenate([program.free + program.response @ star, star])
    v = rows.v_free + rows.h * rows.acceleration(force)
    rate = rows.w + rows.h * (rows.G @ rows.acceleration(force))
    return ConstraintForces(
        system=system,
        forces=scatter(system, force),
        v=v,
        rates=scatter(system, rate),
        deformations=scatter(system, rows.phi + rows.h * rate),
        status=Status.SOLVED if residual < tolerances.PAPER_PROGRAM else Status.NUMERICAL,
        residuals=residuals_of(rows, force),
        residual=residual,
        method="paper",
        solver="linear" if len(star) == 0 else "cone-program",
        iterations=iterations,
        acting=_modes(rows, force),
    )


def _whitened(rows: ActingRows) -> Array:
    """Dense rows ``G L^-T``, so that ``G M^-1 G^T = N N^T``, (n, nv)."""
    if isinstance(rows.mass, SparseMass):
        return DenseMass(rows.mass.M.toarray()).whiten(rows.G.toarray())
    return rows.mass.whiten(rows.G)


def _centripetal(rows: ActingRows, N: Array) -> Array:
    """``(G M^-1 G^T)^-1 dG/dt v`` of each kind of row by itself, (24), least norm where redundant, (n,)."""
    result = np.zeros(len(rows))
    tangents = np.arange(rows.tangents.start, len(rows)).reshape(rows.nc, rows.nt)
    kinds = [np.arange(rows.nb), np.arange(rows.nb, rows.nb + rows.nu)]
    kinds += [np.arange(rows.normals.start, rows.normals.stop), *tangents.T]
    for kind in kinds:
        if len(kind) and rows.gamma[kind].any():
            inverse = np.linalg.pinv(N[kind], rcond=tolerances.RANK)  # (nv, k): N N^T x = gamma
            result[kind] = inverse.T @ (inverse @ rows.gamma[kind])
    return result


def _bilateral_alone(rows: ActingRows, N: Array, soft: Array) -> Array:
    """``C^-1 c`` of (190)-(192), (nb,)."""
    nb = rows.nb
    if nb == 0:
        return np.zeros(0)
    held = -_centripetal(rows, N)[:nb]
    wanted = rows.c[:nb] - rows.S[:nb] * (N[:nb] @ (N[:nb].T @ held))
    return held + rows.S[:nb] * least_squares(soft, wanted)[0]


def _minimise(program: PaperProgram, rows: ActingRows) -> tuple[Array, float, int]:
    """lambda* (n*,), the residual of its optimality conditions, and the solver's iterations.

    Where a slip cannot be stopped, the unmet wish of a strong damper makes the objective some 1e12 times what
    it is otherwise, and the solver stalls: then the objective is divided by the damper and solved again, and
    at last by its square, which is how the objective grows with it.
    """
    if len(program.X) == 0:
        return np.zeros(0), 0.0, 0
    P, linear, A, b, cones, scale = _lifted(program, rows)
    best, least, iterations = np.full(len(program.X), np.nan), np.inf, 0
    strongest = 1.0 + float(program.X.max())
    for factor in (1.0, 1.0 / strongest, 1.0 / strongest**2):
        answer = convex.minimise(linear, A, b, cones, quadratic=factor * P, tolerance=1e-10)
        x, s, z, count = answer.x, answer.slack, answer.dual / factor, answer.iterations
        stationary = np.abs(P @ x + A.T @ z).max() / max(1.0, np.abs(P @ x).max(), np.abs(z).max())
        feasible = np.abs(A @ x + s - b).max() / max(1.0, np.abs(b).max(), np.abs(s).max())
        gap = abs(s @ z) / max(1.0, abs(x @ (P @ x)))
        residual = float(np.max([stationary, feasible, gap]))
        iterations += count
        if residual < least:
            best, least = x[: len(program.X)] * scale, residual
        if least < tolerances.PAPER_PROGRAM:
            break
    return best, least, iterations


def _lifted(
    program: PaperProgram, rows: ActingRows
) -> tuple[DenseOrSparse, Array, DenseOrSparse, Array, list[convex.Cone], float]:
    """The program with beta and ``x = W^T lambda*`` as variables, so that nothing is squared."""
    n, first, nt = len(program.X), program.first, rows.nt
    m, nv = n - first, program.W.shape[1]
    size = 1.0 + program.X
    target = np.concatenate([program.q, -program.d])
    scale = float(np.abs(target / size).max()) or 1.0
    weights = np.concatenate([np.full(first, program.zeta), np.ones(2 * m), np.zeros(nv)])
    P = sparse.diags_array(weights).tocsc()
    identity = sparse.diags_array(1.0 / size).tocsr()
    moved = sparse.csr_array((program.X / size)[:, None] * program.W)
    pick = sparse.csr_array((np.ones(m), (np.arange(first, n), np.arange(m))), shape=(n, m))
    law = sparse.hstack([identity, -(identity @ pick), moved], format="csr")
    link = sparse.hstack([sparse.csr_array(program.W.T), sparse.csr_array((nv, m)), -sparse.eye_array(nv)])
    push = sparse.hstack([sparse.eye_array(first, n), sparse.csr_array((first, m + nv))], format="csr")
    cone = sparse.hstack([_cones(rows, n), sparse.csr_array((rows.nc * (1 + nt), m + nv))])
    A = sparse.vstack([law[first:], link, -law[:first], -push, -cone], format="csc")
    b = np.zeros(A.shape[0])
    scaled = target / size / scale
    b[:m], b[m + nv : m + nv + first] = scaled[first:], -scaled[:first]
    cones = [("zero", m + nv), ("nonnegative", 2 * first)]
    cones += [("second order", 1 + nt)] * rows.nc
    return sparse.csc_matrix(P), np.zeros(len(weights)), sparse.csc_matrix(A), b, cones, scale


def _cones(rows: ActingRows, n: int) -> DenseOrSparse:
    nc, nt = rows.nc, rows.nt
    start = np.arange(nc) * (1 + nt)
    row = np.concatenate([start, (start[:, None] + 1 + np.arange(nt)).ravel()])
    column = np.concatenate([rows.nu + np.arange(nc), rows.nu + nc + np.arange(nc * nt)])
    data = np.concatenate([rows.mu, np.ones(nc * nt)])
    return sparse.csr_array((data, (row, column)), shape=(nc * (1 + nt), n))


def _modes(rows: ActingRows, force: Array) -> Modes:
    scale = np.abs(force).max(initial=0.0)
    normal = force[rows.normals]
    held = np.linalg.norm(force[rows.tangents].reshape(rows.nc, rows.nt), axis=1)
    mode = np.where(
        normal > 1e-7 * scale, np.where(held < rows.mu * normal * (1.0 - 1e-5), STICKS, SLIDES), SEPARATES
    )
    acts = np.concatenate([force[rows.nb : rows.nb + rows.nu] > 1e-7 * scale, mode]).astype(np.int64)
    return Modes(acts, np.zeros((rows.nc, rows.nt)), np.zeros(rows.nc))
