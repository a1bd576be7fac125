"""Rates of contacts that slide, some held, as `routh.kernels.space_rates` finds them, in a column."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import inlined, kernel, written_out
from routh.kernels.space_names import DRIVEN, FREE, HELD
from routh.kernels.space_pieces import FARTHER, JAMMING
from routh.kernels.space_rates import CONVERGED, MOST_SWEEPS, PAINLEVE
from routh.kernels.space_state import CONTACTS, LEFT, Column, friction_of
from routh.kernels.space_state import EACH as ROWS_OF_EACH
from routh.kernels.space_straight import NOTHING, STILL
from routh.validation import Array


class DrawWork(NamedTuple):
    """Scratch of one thread."""

    roles: np.ndarray  # (nc,) int32
    marks: np.ndarray  # (nc,) int32: what is written of roles
    weights: Array  # (nc,)
    along: Array  # (nc, 2): directions of slip, zero: of none
    rates: Array  # (nc, 3)
    changes: Array  # (nc,): of the normal velocities of held contacts


def draw_work(nc: int) -> DrawWork:
    """Scratch for so many contacts."""
    roles, marks = np.zeros(nc, dtype=np.int32), np.zeros(nc, dtype=np.int32)
    return DrawWork(roles, marks, np.zeros(nc), np.zeros((nc, 2)), np.zeros((nc, 3)), np.zeros(nc))


@inlined
def entry_row(of: Column, i: int, entry: int) -> int:
    """The row with an entry of contact i."""
    return CONTACTS * of.nc + ROWS_OF_EACH * i + entry


@written_out
def find_slips(of: Column, work: DrawWork) -> tuple[int, int, bool, bool]:
    """Directions of slip, and rates of those driven: how many, how many held.

    And whether all slide, and whether all have friction.

    See `routh.kernels.space_straight.classify` and `routh.kernels.space_rates.begin_rates`.
    """
    driven, held, slide, rough = 0, 0, True, True
    for i in range(work.roles.shape[0]):
        if i < of.nc:
            mu = friction_of(of, i)
            t0, t1 = of.states[3 * i + 1, of.slot], of.states[3 * i + 2, of.slot]
            length = math.sqrt(t0 * t0 + t1 * t1)
            slides = not length <= NOTHING
            u0, u1 = (t0 / length, t1 / length) if slides else (0.0, 0.0)
            slide = slide and (slides or work.roles[i] == FREE)
            rough = rough and (mu > 0.0 or work.roles[i] == FREE)
            normal = work.weights[i] if work.roles[i] == DRIVEN else 0.0
            driven += 1 if work.roles[i] == DRIVEN else 0
            held += 1 if work.roles[i] == HELD else 0
            work.along[i, 0], work.along[i, 1] = u0, u1
            work.rates[i, 0], work.rates[i, 1], work.rates[i, 2] = (
                normal,
                -mu * normal * u0,
                -mu * normal * u1,
            )
    return driven, held, slide, rough


@written_out
def normal_change(of: Column, work: DrawWork, j: int) -> float:
    """Rate of the normal velocity of contact j, see `routh.kernels.space_rates.refresh`."""
    rate, G, row = 0.0, of.G, of.row
    for i in range(work.roles.shape[0]):
        if work.roles[i] != FREE:
            rate += G[row, 3 * i, 3 * j] * work.rates[i, 0]
            rate += G[row, 3 * i + 1, 3 * j] * work.rates[i, 1] + G[row, 3 * i + 2, 3 * j] * work.rates[i, 2]
    return rate


@written_out
def begin_sweeps(of: Column, work: DrawWork) -> None:
    """What driven contacts change the normal velocities of held ones by."""
    for j in range(work.roles.shape[0]):
        if work.roles[j] == HELD:
            work.changes[j] = normal_change(of, work, j)


@written_out
def add_changes(of: Column, work: DrawWork, at: int, d0: float, d1: float, d2: float) -> None:
    """What a change of the rates from coordinate ``at`` on changes."""
    G, row = of.G, of.row
    for j in range(work.roles.shape[0]):
        if work.roles[j] == HELD:
            work.changes[j] += (
                G[row, at, 3 * j] * d0 + G[row, at + 1, 3 * j] * d1 + G[row, at + 2, 3 * j] * d2
            )


@written_out
def sweep(of: Column, work: DrawWork, held: int) -> tuple[float, float]:
    """See `routh.kernels.space_rates.sweep` and `one_contact` there."""
    change, size, G, row = 0.0, 0.0, of.G, of.row
    for i in range(work.roles.shape[0]):
        if work.roles[i] != FREE and change >= 0.0:
            r0, r1, r2 = work.rates[i, 0], work.rates[i, 1], work.rates[i, 2]
            size = max(size, max(abs(r0), max(abs(r1), abs(r2))))
            if work.roles[i] == HELD:
                at, mu = 3 * i, friction_of(of, i)
                u0, u1 = work.along[i, 0], work.along[i, 1]
                g0, g1, g2 = G[row, at, at], G[row, at, at + 1], G[row, at, at + 2]
                beside = work.changes[i] - (g0 * r0 + g1 * r1 + g2 * r2)
                pushes, normal = g0 - mu * (g1 * u0 + g2 * u1), 0.0
                if not beside >= 0.0:
                    normal = -beside / pushes if pushes > PAINLEVE * g0 else -1.0
                f0, f1 = -mu * normal * u0, -mu * normal * u1
                d0, d1, d2 = normal - r0, f0 - r1, f1 - r2
                work.rates[i, 0], work.rates[i, 1], work.rates[i, 2] = normal, f0, f1
                if held > 1:
                    add_changes(of, work, at, d0, d1, d2)
                change = max(change, max(abs(d0), max(abs(d1), abs(d2))))
                change = -1.0 if normal < 0.0 else change
    return change, size


@kernel
def sweeps(of: Column, work: DrawWork, held: int) -> float:
    """Rates of so many held contacts: sweeps taken, negative where there are none (`next_rates`)."""
    begin_sweeps(of, work)
    taken, change, size = 0.0, math.inf, 0.0
    while taken < MOST_SWEEPS:
        change, size = sweep(of, work, held)
        taken += 1.0
        if change < 0.0:
            return -taken
        if change <= CONVERGED * size or held == 1:
            return taken
    return -taken


@written_out
def straight_length(of: Column, work: DrawWork, wanted: bool) -> tuple[float, int]:
    """Length until a normal velocity reaches zero, if ``wanted``, and whose; LEFT: these rates cannot be.

    See `routh.kernels.space_pieces.drop_idle` and `routh.kernels.space_straight.normal_length`.
    """
    least, who, largest, can_be = math.inf, -1, 0.0, True
    for i in range(work.roles.shape[0]):
        if work.roles[i] == HELD and not work.rates[i, 0] > 0.0:
            work.roles[i] = FREE
        if work.roles[i] != FREE:
            can_be = can_be and work.rates[i, 0] < math.inf
            for part in range(3):
                largest = max(largest, abs(work.rates[i, part]))
    for j in range(work.roles.shape[0]):
        if j < of.nc:
            y = of.states[3 * j, of.slot]
            at_rest = work.roles[j] == DRIVEN and y >= -NOTHING
            if wanted or at_rest:
                rate = normal_change(of, work, j)
                can_be = can_be and abs(rate) < math.inf and not (at_rest and rate > STILL * largest)
                if abs(y) > NOTHING and y * rate < 0.0 and -y / rate < least:
                    least, who = -y / rate, j
    return least if can_be else float(LEFT), who


@written_out
def jamming_rate(work: DrawWork) -> float:
    """See `routh.kernels.space_pieces.jamming_rate`."""
    limit = JAMMING
    for i in range(work.roles.shape[0]):
        if work.roles[i] == HELD:
            while limit < 2.0 * work.rates[i, 0]:
                limit *= FARTHER
    return limit
