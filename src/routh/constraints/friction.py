"""Coulomb friction: Newton's method on the contact modes (separates, sticks, slides), and cone programs.

In stick all springs of a contact act. In slip the force is ``lambda_t = mu lambda_n d``, with the unit
direction ``d`` of the tangential spring's wish ``tau = -K phi_t - (X/h) w_t``; linearised, the normal row
pushes along ``G_n + mu d.G_t`` while it measures ``G_n``, and across ``d`` there remains a damper weakened
by ``mu lambda_n / |tau|``. Each iteration is one linear solve of spring rows; without friction this is
Newton's method on the active set. The loop is compiled: `routh.kernels.constraints.settle`. Where it would go
round in circles it starts with soft rows and hardens them step by step, and then from drawn modes.

Where it does not settle at all there are cone programs (`solve_cone`): one convex program over the true
cones gives the associated law, under which a sliding contact opens at ``mu`` times its slip speed. Shifting
the normal rate by that speed and solving again, until the shift repeats, gives Coulomb's law (De Saxcé's
correction). Each answer is polished by Newton's method on the modes that it shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from routh.base import tolerances
from routh.base.validation import Array, DenseOrSparse
from routh.constraints.system import ActingRows, DenseMass, flat_rows, residuals_of
from routh.kernels.constraints import data as kernel
from routh.kernels.constraints.data import Modes, make_modes, make_scratch
from routh.kernels.constraints.settle import COLD, GIVEN, solve_rows
from routh.lcp import convex
from routh.problem.friction import ContactMode

SEPARATES, STICKS, SLIDES = ContactMode
_MAX_PROGRAMS = 30


def can_stick(rows: ActingRows) -> np.ndarray:
    """Contacts with friction and a tangential spring or damper, (nc,) bool."""
    return (rows.mu > 0.0) & (rows.X[rows.tangents].reshape(rows.nc, rows.nt)[:, 0] > 0.0)


class ModeRows:
    """The few rows of a mode from which all forces follow, k of them.

    First those that act (``plain``), then in space one across each slip. They push along ``T^T G``, where
    ``T`` carries the few to all: a sliding contact's normal force brings ``mu d`` of friction.
    """

    def __init__(self, rows: ActingRows, modes: Modes) -> None:
        nb, nu, nc, nt = rows.nb, rows.nu, rows.nc, rows.nt
        mode = modes.acts[nu:]
        tangent = np.arange(nc * nt).reshape(nc, nt) + rows.tangents.start
        linear = np.concatenate([np.arange(nb), nb + np.flatnonzero(modes.acts[:nu])]).astype(int)
        closed = np.flatnonzero(mode != SEPARATES)
        stuck = np.flatnonzero(mode == STICKS)
        self.slipping = np.flatnonzero((mode == SLIDES) & can_stick(rows))
        self.plain = np.concatenate([linear, nb + nu + closed, tangent[stuck].ravel()]).astype(int)
        self.pressing = len(linear) + np.searchsorted(closed, self.slipping)  # their normals among the few
        self.across = tangent[self.slipping] if nt == 2 else tangent[:0]  # (s, nt) rows of the friction
        self.friction = tangent[self.slipping]  # (s, nt)
        self.along = modes.direction[self.slipping]  # (s, nt)
        self.tilt = rows.mu[self.slipping, None] * self.along
        turned = np.stack([-self.along[:, 1], self.along[:, 0]], axis=1) if nt == 2 else self.along[:0]
        self.turned = turned  # unit, across the slips
        root = np.sqrt(modes.weakening[self.slipping][: len(self.across)])
        self.root = root
        self.S = np.concatenate([rows.S[self.plain], root * rows.S[self.across[:, :1]].ravel()])
        #: what the rows measure of a velocity, and the directions in which they push, (k, nv)
        self.measure, self.push = self._matrices(rows.G)
        self.total = len(rows)

    def __len__(self) -> int:
        return len(self.S)

    def _matrices(self, G: DenseOrSparse) -> tuple[DenseOrSparse, DenseOrSparse]:
        measure = push = _select(G, self.plain)
        if len(self.slipping):
            push = _tilted(measure, self.pressing, _combine(G, self.friction, self.tilt))
        if len(self.across):
            extra = _combine(G, self.across, self.turned)
            measure, push = _append(measure, extra), _append(push, extra)
        return measure, push

    def measured(self, values: Array) -> Array:
        """Values (n,) of all rows as the few rows measure them, (k,)."""
        return np.concatenate([values[self.plain], (values[self.across] * self.turned).sum(axis=1)])

    def gathered(self, values: Array) -> Array:
        """``T^T`` times values (n,) of all rows: what they say of the few forces, (k,)."""
        few = self.measured(values)
        few[self.pressing] += (values[self.friction] * self.tilt).sum(axis=1)
        return few

    def spread(self, few: Array) -> Array:
        """``T`` times the few forces (k,): all of them, (n,)."""
        force = np.zeros(self.total)
        force[self.plain] = few[: len(self.plain)]
        force[self.friction] = few[self.pressing, None] * self.tilt
        force[self.across] += few[len(self.plain) :, None] * self.turned
        return force


def _select(G: DenseOrSparse, index: np.ndarray) -> DenseOrSparse:
    return G if len(index) == G.shape[0] and np.array_equal(index, np.arange(len(index))) else G[index]


def _combine(G: DenseOrSparse, index: np.ndarray, weights: Array) -> DenseOrSparse:
    """Rows ``sum_k weights[i, k] G[index[i, k]]``."""
    n, k = index.shape
    if sparse.issparse(G):
        place = (weights.ravel(), (np.repeat(np.arange(n), k), index.ravel()))
        return sparse.csr_array(place, shape=(n, G.shape[0])) @ G
    return np.einsum("ik,ikv->iv", weights, G[index])


def _tilted(measure: DenseOrSparse, position: np.ndarray, extra: DenseOrSparse) -> DenseOrSparse:
    """``measure`` with ``extra`` added to the rows at ``position``."""
    if sparse.issparse(measure):
        place = (np.ones(len(position)), (position, np.arange(len(position))))
        return measure + sparse.csr_array(place, shape=(measure.shape[0], len(position))) @ extra
    push = measure.copy()
    push[position] += extra
    return push


def _append(G: DenseOrSparse, extra: DenseOrSparse) -> DenseOrSparse:
    return sparse.vstack([G, extra], format="csr") if sparse.issparse(G) else np.concatenate([G, extra])


@dataclass(frozen=True, eq=False)
class CoulombResult:
    """Forces (n,), the acceleration they cause (nv,), the modes, and what it took."""

    force: Array
    acceleration: Array
    modes: Modes
    iterations: int
    residual: float


def solve_coulomb(rows: ActingRows, modes: Modes | None = None, *, start: int = GIVEN) -> CoulombResult:
    """Newton's method on the modes; the best iterate is returned, with its residual.

    It starts from ``modes`` as they are, or, with ``start=WARM``, as those of the step before; without any,
    everything that is pressed acts, and sticks where it can.

    Three rules for a slip that turns round are tried in turn. "Stick" is right for ordinary friction.
    The others are for friction so large that a contact jams: the slip may really reverse ("turn"), or a
    stuck contact that pulls may slip rather than open ("hold").
    """
    layout, terms, entries, order = flat_rows(rows)
    own = make_scratch(layout, entries)
    idle = make_modes(rows.nu, rows.nc, rows.nt)
    found, start = (idle, COLD) if modes is None else (Modes(*(one.copy() for one in modes)), start)
    enough = tolerances.COULOMB_ITERATION
    left, solves = solve_rows(layout, terms, float(rows.h), own, found, enough, start)
    residual = max(left) if np.all(np.isfinite(left)) else np.inf
    if not residual < enough:
        nothing = residuals_of(rows, np.zeros(len(rows))).largest
        if not residual < nothing:  # none of the modes was better than no force at all
            none = np.zeros(len(rows)), np.zeros(rows.mass.nv)
            return CoulombResult(*none, make_modes(rows.nu, rows.nc, rows.nt), solves, nothing)
    acceleration = np.empty(rows.mass.nv)
    acceleration[order] = own.motion[kernel.BEST]
    return CoulombResult(own.rows[kernel.KEPT].copy(), acceleration, found, solves, float(residual))


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
    size = np.linalg.norm(tau, axis=1)
    moving = (mode == SLIDES) & can_stick(rows) & (size > 0.0)
    safe = np.where(moving, size, 1.0)
    direction = np.where(moving[:, None], tau / safe[:, None], 0.0)
    acts = np.concatenate([pushes[nb : nb + nu], mode]).astype(np.int64)
    return Modes(acts, direction, np.where(moving, np.minimum(limit / safe, 1.0), 0.0))


class AssociatedProgram:
    """``min a^T M a / 2 + |y|^2 / 2 - c.y`` with ``M a = G^T S y`` and y in the friction cones.

    The dual of the complementarity problem, with the acceleration kept as a variable: no inverse of
    ``G M^-1 G^T`` and no square of the stiffness range.
    """

    def __init__(self, rows: ActingRows) -> None:
        self.rows = rows
        self.frictional = np.flatnonzero(can_stick(rows))
        tangent = np.arange(rows.nc * rows.nt).reshape(rows.nc, rows.nt) + rows.tangents.start
        self.tangent = tangent[self.frictional]
        self.kept = np.concatenate([np.arange(rows.tangents.start), self.tangent.ravel()]).astype(int)
        self.P, self.A, self.cones = self._matrices()

    def _matrices(self) -> tuple[DenseOrSparse, DenseOrSparse, list[convex.Cone]]:
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
        blocks = [
            sparse.hstack([sparse.csr_array((one.shape[0], nv)), one]) for one in (sign, -self._cone(n))
        ]
        cones = [("zero", nv), ("nonnegative", sign.shape[0])]
        cones += [("second order", 1 + rows.nt)] * len(self.frictional)
        return P, sparse.vstack([equality, *blocks], format="csc"), cones

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
        answer = convex.minimise(
            linear, self.A, np.zeros(self.A.shape[0]), self.cones, quadratic=self.P, tolerance=1e-11
        )
        y = answer.x[rows.mass.nv :] * scale
        force = np.zeros(len(rows))
        force[self.kept] = rows.S[self.kept] * np.where(np.isfinite(y), y, 0.0)
        return force


def _polished(rows: ActingRows, force: Array, count: int) -> CoulombResult:
    shown, residual = modes_of(rows, force), residuals_of(rows, force).largest
    found = solve_coulomb(rows, shown)
    if not found.residual >= residual:
        return replace(found, iterations=count)
    return CoulombResult(force, rows.acceleration(force), shown, count, residual)
