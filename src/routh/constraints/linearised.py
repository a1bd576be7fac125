"""A solved step seen as a smooth system: which rows act, where friction points, how far the next kink is.

Each row's force is a function of its own wish, ``lambda = P(g)`` with
``g = -K phi - (h K + B) (G v_1 + h gamma)``: the wish itself for a bilateral row, its positive part for a
unilateral one; a stuck contact gets all of its wish, a sliding one ``lambda_t = mu lambda_n tau / |tau|``,
which turns with ``tau`` on the cone's curved surface. Together with ``M (v_1 - v) = h (f + G^T lambda)`` that
is smooth as long as no row changes its mode.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from routh.constraints.forces import ConstraintForces, gather
from routh.constraints.mode_rows import SEPARATES, SLIDES, STICKS, ModeRows, Modes
from routh.constraints.residual import force_scale
from routh.constraints.system import ActingRows
from routh.constraints.types import Contact
from routh.validation import Array


@dataclass(frozen=True, eq=False)
class Linearised:
    """A solution's rows (n of them) and modes."""

    rows: ActingRows
    few: ModeRows  # the rows that are left in these modes
    v: Array  # (nv,) velocity after
    force: Array  # (n,) N
    rate: Array  # (n,) m/s at the end of the step
    closed: np.ndarray  # (nc,) bool, contacts that push
    slip: Array  # (nc, nt) unit direction of friction where contacts slide, zero elsewhere
    margin: float  # see `margin_of`


def linearise(forces: ConstraintForces) -> Linearised:
    """The smooth system of a solution's modes."""
    rows = forces.system.rows
    force, rate = gather(forces.system, forces.forces), gather(forces.system, forces.rates)
    mode = forces.acting.mode
    wish = -rows.K * rows.phi - (rows.X / rows.h) * rate
    tau = wish[rows.tangents].reshape(rows.nc, rows.nt)
    size = np.linalg.norm(tau, axis=1)
    slides = (mode == SLIDES) & (size > 0.0)
    size = np.where(slides, size, 1.0)
    slip = np.where(slides[:, None], tau / size[:, None], 0.0)
    weakening = np.where(slides, np.clip(rows.mu * force[rows.normals] / size, 0.0, 1.0), 0.0)
    modes = Modes(forces.acting.active, mode, slip, weakening)
    few = ModeRows(rows, modes)
    margin = margin_of(forces, modes, force, wish)
    return Linearised(rows, few, forces.v, force, rate, mode != SEPARATES, slip, margin)


def margin_of(forces: ConstraintForces, modes: Modes, force: Array, wish: Array) -> float:
    """Strict complementarity: the smallest share of the largest force by which a row keeps its mode.

    A contact whose gap decides whether it acts at all counts by the gap as a share of its motion in the step.
    """
    rows, nb, nu = forces.system.rows, forces.system.rows.nb, forces.system.rows.nu
    weight = 1.0 / (1.0 + rows.X * rows.a)
    scale = force_scale(rows, force)
    acts = np.concatenate([modes.active, modes.mode != SEPARATES])
    one_sided = slice(nb, nb + nu + rows.nc)
    room = [np.where(acts, force[one_sided], -(weight * wish)[one_sided]) / scale]
    held, tau = (np.linalg.norm(x[rows.tangents].reshape(rows.nc, rows.nt), axis=1) for x in (force, wish))
    least = weight[rows.tangents].reshape(rows.nc, rows.nt).min(axis=1, initial=1.0)
    limit = rows.mu * force[rows.normals]
    room.append(((limit - held) / scale)[modes.mode == STICKS])
    room.append(((tau - limit) * least / scale)[(modes.mode == SLIDES) & (rows.mu > 0.0)])
    room += [_gates(item, forces) for item in forces.system.constraints if isinstance(item, Contact)]
    return float(np.min(np.concatenate(room), initial=np.inf))


def _gates(item: Contact, forces: ConstraintForces) -> Array:
    """How far gaps are from closing or opening, as a share of what moves in the step."""
    travel = forces.system.dt * (abs(item.Jn) @ np.abs(forces.system.v))
    size = np.abs(item.phi)
    return size / np.maximum(size + travel, np.finfo(float).tiny)
