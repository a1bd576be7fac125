"""Coulomb friction by Newton's method on the contact modes: separates, sticks, slides.

In stick all springs of a contact act. In slip the force is ``lambda_t = mu lambda_n d``, with the unit
direction ``d`` of the tangential spring's wish ``tau = -K phi_t - (X/h) w_t``; linearised, the normal row
pushes along ``G_n + mu d.G_t`` while it measures ``G_n``, and across ``d`` there remains a damper weakened
by ``mu lambda_n / |tau|``. Each iteration is one linear solve of spring rows; without friction this is
Newton's method on the active set. The loop is compiled: `routh.kernels.constraints.settle`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh import tolerances
from routh.constraints.flat import flat_rows
from routh.constraints.mode_rows import Modes
from routh.constraints.residual import residuals_of
from routh.constraints.system import ActingRows
from routh.friction import ContactMode
from routh.kernels.constraints import data as kernel
from routh.kernels.constraints.data import make_scratch
from routh.kernels.constraints.settle import solve_rows
from routh.validation import Array

_STARTS = 200  # each takes as long as a few small linear systems


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

    Three rules for a slip that turns round are tried in turn. "Stick" is right for ordinary friction.
    The others are for friction so large that a contact jams: the slip may really reverse ("turn"), or a
    stuck contact that pulls may slip rather than open ("hold").
    """
    layout, terms, entries, order = flat_rows(rows)
    own = make_scratch(layout, entries)
    acts = np.concatenate([modes.active, modes.mode]).astype(np.int64)
    start = kernel.Modes(acts, modes.direction.copy(), modes.weakening.copy())
    left, solves = solve_rows(layout, terms, float(rows.h), own, start, tolerances.COULOMB_ITERATION)
    residual = max(left) if np.all(np.isfinite(left)) else np.inf
    if not residual < tolerances.COULOMB_ITERATION:
        nothing = residuals_of(rows, np.zeros(len(rows))).largest
        if not residual < nothing:  # none of the modes was better than no force at all
            idle = Modes(
                np.zeros(rows.nu, bool), np.zeros(rows.nc, int), 0.0 * start.direction, 0.0 * rows.mu
            )
            return CoulombResult(np.zeros(len(rows)), np.zeros(rows.mass.nv), idle, solves, nothing)
    acceleration = np.empty(rows.mass.nv)
    acceleration[order] = own.motion[kernel.BEST]
    active, mode = start.acts[: rows.nu] == 1, start.acts[rows.nu :]
    found = Modes(active, mode, start.direction, start.weakening)
    return CoulombResult(own.rows[kernel.KEPT].copy(), acceleration, found, solves, float(residual))


def solve_from_anywhere(rows: ActingRows) -> CoulombResult:
    """Newton's method from drawn modes, the same in every call, until one start leads to a solution.

    For steps whose modes it does not find from its usual start, nor from those that cone programs show.
    """
    rng, best = np.random.default_rng(0), None
    for _ in range(_STARTS):
        mode = rng.integers(0, len(ContactMode), rows.nc)
        way = rng.normal(size=(rows.nc, rows.nt))
        drawn = Modes.slipping(rows, rng.random(rows.nu) < 0.5, mode, way, rng.random(rows.nc))
        found = solve_coulomb(rows, drawn)
        if best is None or found.residual < best.residual:
            best = found
        if best.residual < tolerances.COULOMB_ITERATION:
            break
    assert best is not None
    return best
