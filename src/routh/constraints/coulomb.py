"""Coulomb friction by Newton's method on the contact modes: separates, sticks, slides.

In stick all springs of a contact act. In slip the force is ``lambda_t = mu lambda_n d``, with the unit
direction ``d`` of the tangential spring's wish ``tau = -K phi_t - (X/h) w_t``; linearised, the normal row
pushes along ``G_n + mu d.G_t`` while it measures ``G_n``, and across ``d`` there remains a damper weakened
by ``mu lambda_n / |tau|``. Each iteration is one linear solve of spring rows (`linear.solve_springs`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.constraints.linear import solve_springs
from routh.constraints.mode_rows import SEPARATES, SLIDES, STICKS, ModeRows, Modes, can_stick
from routh.constraints.residual import residuals_of
from routh.constraints.system import ActingRows
from routh.validation import Array

_MAX_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class CoulombResult:
    """Forces (n,), the acceleration they cause (nv,), the modes, and what it took."""

    force: Array
    acceleration: Array
    modes: Modes
    iterations: int
    residual: float


def solve_coulomb(rows: ActingRows, modes: Modes) -> CoulombResult:
    """Newton's method on the modes from ``modes``; the best iterate is returned, with its residual.

    Three rules for a slip that turns round are tried in turn. "stick" is right for ordinary friction.
    The others are for friction so large that a contact jams: the slip may really reverse ("turn"), or a
    stuck contact that pulls may slip rather than open ("hold").
    """
    best: CoulombResult | None = None
    for rule in ("stick", "turn", "hold"):
        found = _newton(rows, modes, rule)
        if best is None or found.residual < best.residual:
            best = found
        if best.residual < tolerances.COULOMB_ITERATION:
            break
    assert best is not None
    return best


def _newton(rows: ActingRows, modes: Modes, rule: str) -> CoulombResult:
    nothing = np.zeros(len(rows))
    separate, still = np.full(rows.nc, int(SEPARATES)), np.zeros((rows.nc, rows.nt))
    idle = Modes(np.zeros(rows.nu, dtype=bool), separate, still, np.zeros(rows.nc))
    best = CoulombResult(nothing, np.zeros(rows.mass.nv), idle, 0, residuals_of(rows, nothing).largest)
    for iteration in range(1, _MAX_ITERATIONS + 1):
        try:
            force, a, wish = _solve_modes(rows, modes)
        except (np.linalg.LinAlgError, RuntimeError):  # sliding can make the matrix singular (Painleve)
            break
        following = _next_modes(rows, modes, force, wish, rule)
        if _same(modes, following):
            residual = residuals_of(rows, force).largest
            if residual < best.residual:  # a NaN never wins
                best = CoulombResult(force, a, modes, iteration, residual)
            if residual < tolerances.COULOMB_ITERATION:
                break
        modes = following
    return best


def _solve_modes(rows: ActingRows, modes: Modes) -> tuple[Array, Array, Array]:
    """Forces (n,), acceleration, and the tangential springs' wishes tau (nc, nt) for given modes."""
    few = ModeRows(rows, modes)
    c = few.measured(rows.c)
    c[len(few.plain) :] *= few.root
    # a stack of spheres in line stays in line: nothing may push it aside, not even a rounding
    y, a = solve_springs(rows.mass, few.measure, few.push, few.S, c, keep_zeros=True)
    wish = rows.S * (rows.c - rows.S * (rows.G @ a))
    return few.spread(few.S * y), a, wish


def _next_modes(rows: ActingRows, modes: Modes, force: Array, wish: Array, rule: str) -> Modes:
    nb, nu, nc, nt = rows.nb, rows.nu, rows.nc, rows.nt
    uni, normal = slice(nb, nb + nu), rows.normals
    active = np.where(modes.active, force[uni] > 0.0, wish[uni] > 0.0)
    closed = np.where(modes.mode != SEPARATES, force[normal] > 0.0, wish[normal] > 0.0)
    opened = modes.mode == SEPARATES
    # a contact that closes is judged by what its springs wish: it nearly always slips at first
    limit = rows.mu * np.maximum(np.where(opened, wish[normal], force[normal]), 0.0)
    held = force[rows.tangents].reshape(nc, nt)
    tau = wish[rows.tangents].reshape(nc, nt)
    stuck, slipped = modes.mode == STICKS, modes.mode == SLIDES
    if rule == "hold":
        closed |= stuck
    pull = np.where(stuck[:, None], held, tau)
    size = np.linalg.norm(pull, axis=1)
    beyond = size > limit * (1.0 + 1e-12)
    turned = slipped & ((tau * modes.direction).sum(axis=1) < 0.0) & (rule == "stick")
    slips = (beyond & ~turned) | ~can_stick(rows)
    mode = np.where(closed, np.where(slips, SLIDES, STICKS), SEPARATES)
    # a contact that has just begun to slip is weakened by its stuck force, one that slips by its wish
    return Modes.slipping(rows, active, mode, pull, limit)


def _same(one: Modes, two: Modes) -> bool:
    return (
        np.array_equal(one.active, two.active)
        and np.array_equal(one.mode, two.mode)
        and bool(np.abs(one.direction - two.direction).max(initial=0.0) < 1e-7)
    )
