"""Coulomb friction by cone programs: De Saxcé's correction, a fixed point over the associated law.

One convex program over the true cones gives the associated law, under which a sliding contact opens at
``mu`` times its slip speed. Shifting the normal rate by that speed and solving again, until the shift
repeats, gives Coulomb's law. Each answer is polished by Newton's method on the modes that it shows.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from routh import conic, tolerances
from routh.constraints.coulomb import CoulombResult, solve_coulomb
from routh.constraints.mass import DenseMass
from routh.constraints.mode_rows import SEPARATES, SLIDES, STICKS, Modes, can_stick
from routh.constraints.residual import residuals_of
from routh.constraints.system import ActingRows
from routh.validation import Array, DenseOrSparse

_MAX_PROGRAMS = 30


def solve_cone(rows: ActingRows) -> CoulombResult:
    """Coulomb's law over cone programs."""
    program = AssociatedProgram(rows)
    shift = np.zeros(rows.nc)
    best: CoulombResult | None = None
    for count in range(1, _MAX_PROGRAMS + 1):
        force = program.solve(shift)
        found = _polished(rows, force, count)
        if best is None or not found.residual >= best.residual:
            best = found
        following = rows.mu * slip_speed(rows, force)
        settled = np.abs(following - shift).max(initial=0.0) <= 1e-12 * np.abs(rows.w).max(initial=0.0)
        if best.residual < tolerances.COULOMB_ITERATION or settled:
            break
        shift = following
    assert best is not None
    return best


def slip_speed(rows: ActingRows, force: Array) -> Array:
    """Speed of each slider: the part of the tangential rate that the damper does not take, (nc,)."""
    S = np.where(rows.S > 0.0, rows.S, np.inf)
    a = rows.acceleration(force)
    rate = (rows.h / S) * (force / S + rows.S * (rows.G @ a) - rows.c)
    return np.linalg.norm(rate[rows.tangents].reshape(rows.nc, rows.nt), axis=1)


def modes_of(rows: ActingRows, force: Array) -> Modes:
    """The modes that approximate forces show."""
    nb, nu, shape = rows.nb, rows.nu, (rows.nc, rows.nt)
    wish = rows.S * (rows.c - rows.S * (rows.G @ rows.acceleration(force)))
    # the part of the distance to the law that the row's own force would have to make up
    short = (force - wish) / (1.0 + rows.X * rows.a)
    pushes = force > short
    normal, held = force[rows.normals], force[rows.tangents].reshape(shape)
    tau = wish[rows.tangents].reshape(shape)
    limit = rows.mu * np.maximum(normal, 0.0)
    missing = np.linalg.norm(short[rows.tangents].reshape(shape), axis=1)
    stuck = can_stick(rows) & (limit - np.linalg.norm(held, axis=1) > missing)
    mode = np.where(pushes[rows.normals], np.where(stuck, STICKS, SLIDES), SEPARATES)
    return Modes.slipping(rows, pushes[nb : nb + nu], mode, tau, limit)


class AssociatedProgram:
    """``min a^T M a / 2 + |y|^2 / 2 - c.y`` with ``M a = G^T S y`` and y in the friction cones.

    The dual of the complementarity problem, with the acceleration kept as a variable: no inverse of
    ``G M^-1 G^T`` and no square of the stiffness range.
    """

    def __init__(self, rows: ActingRows) -> None:
        self.rows = rows
        self.frictional = np.flatnonzero(can_stick(rows))
        self.tangent = (np.arange(rows.nc * rows.nt).reshape(rows.nc, rows.nt) + rows.tangents.start)[
            self.frictional
        ]
        self.kept = np.concatenate([np.arange(rows.tangents.start), self.tangent.ravel()]).astype(int)
        self.P, self.A, self.cones = self._matrices()

    def _matrices(self) -> tuple[DenseOrSparse, DenseOrSparse, list[conic.Cone]]:
        rows, n = self.rows, len(self.kept)
        nv = rows.mass.nv
        if isinstance(rows.mass, DenseMass):
            G, mass = rows.mass.whiten(rows.G[self.kept]), np.eye(nv)
        else:
            G, mass = rows.G[self.kept], rows.mass.M
        push = (sparse.diags_array(rows.S[self.kept]) @ sparse.csr_array(G)).T
        P = sparse.block_diag([mass, sparse.eye_array(n)], format="csc")
        equality = sparse.hstack([sparse.csr_array(mass), -push])
        sign = -sparse.eye_array(n, format="csr")[rows.nb : rows.tangents.start]
        blocks = [equality, sparse.hstack([sparse.csr_array((sign.shape[0], nv)), sign])]
        cones = [("zero", nv), ("nonnegative", sign.shape[0])]
        blocks.append(
            sparse.hstack([sparse.csr_array((len(self.frictional) * (1 + rows.nt), nv)), -self._cone(n)])
        )
        cones += [("second order", 1 + rows.nt)] * len(self.frictional)
        return P, sparse.vstack(blocks, format="csc"), cones

    def _cone(self, n: int) -> DenseOrSparse:
        rows, nt, count = self.rows, self.rows.nt, len(self.frictional)
        normal = rows.nb + rows.nu + self.frictional
        ratio = rows.mu[self.frictional] * rows.S[normal] / rows.S[self.tangent[:, 0]]
        first = np.arange(count) * (1 + nt)
        place = np.concatenate([first, (first[:, None] + 1 + np.arange(nt)).ravel()])
        column = np.concatenate([normal, rows.tangents.start + np.arange(count * nt)])
        data = np.concatenate([ratio, np.ones(count * nt)])
        return sparse.csr_array((data, (place, column)), shape=(count * (1 + nt), n))

    def solve(self, shift: Array) -> Array:
        """Forces (n,) of the associated law with the normal rates shifted by ``shift`` (nc,), in m/s."""
        rows = self.rows
        c = rows.c.copy()
        c[rows.normals] -= rows.S[rows.normals] / rows.h * shift
        c = c[self.kept]
        # so that the answer is of order one, not the right side
        scale = float((np.abs(c) / (1.0 + (rows.X * rows.a)[self.kept])).max(initial=0.0)) or 1.0
        linear = np.concatenate([np.zeros(rows.mass.nv), -c / scale])
        answer = conic.minimise(
            linear, self.A, np.zeros(self.A.shape[0]), self.cones, quadratic=self.P, tolerance=1e-11
        )
        y = answer.x[rows.mass.nv :] * scale
        force = np.zeros(len(rows))
        force[self.kept] = rows.S[self.kept] * np.where(np.isfinite(y), y, 0.0)
        return force


def _polished(rows: ActingRows, force: Array, count: int) -> CoulombResult:
    found = solve_coulomb(rows, modes_of(rows, force))
    residual = residuals_of(rows, force).largest
    plain = CoulombResult(force, rows.acceleration(force), modes_of(rows, force), count, residual)
    better = found if not found.residual >= plain.residual else plain
    return CoulombResult(better.force, better.acceleration, better.modes, count, better.residual)
