"""How fast slip in space can turn, compiled.

The slip s of a sliding contact obeys ``ds/dt = ... - S mu lambda_n s / |s|``, where S is the response of slip
to friction while the other contacts of the mode stay as they are. Its direction therefore answers a
disturbance with the rate ``mu lambda_n S / |s|``, which is stiff where slip is slow: that bounds the steps of
an explicit integrator.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.small_linear import invert_rows
from routh.kernels.motion.forces import SINGULAR, At, Found, Held, respond, solve_mode

LAG = 0.1  # share of an answer below which slip does not turn: its direction only lags behind


class Rates(NamedTuple):
    """The fastest of all contacts that slip with friction, 1/s; 0 where none does."""

    change: float  # at which slip changes, where it turns
    answer: float  # at which its direction answers a disturbance
    stop: float  # one over the time after which slip stops


@kernel
def aim(held: Held, at: At, slowest: float, found: Found) -> bool:
    """Slip is to keep the way that it has now, of slip below ``slowest`` (m/s) mirrored where it goes back.

    The way of slower slip turns to the one before. False where the forces are not determined.
    """
    # reads at.free, at.v, found.way, held.mu, held.sticks, held.way
    # writes found.way, held.straight, held.way
    # hands on at, found, held
    respond(held, at, found)
    nt = found.way.shape[1]
    for i in range(len(held.mu)):
        held.straight[i] = True  # for these forces
        if held.sticks[i] or held.mu[i] == 0.0:
            continue
        size, along = 0.0, 0.0
        for a in range(nt):
            slip = _slip(found, at.v, i * (1 + nt) + 1 + a)
            found.way[i, a] = slip
            size += slip * slip
            along += slip * held.way[i, a]
        size, whole = math.sqrt(size), 0.0
        own = slowest - size + 2.0 * max(-along, 0.0) if size < slowest else 0.0
        for a in range(nt):
            held.way[i, a] = own * held.way[i, a] + found.way[i, a]
            whole += held.way[i, a] ** 2
        for a in range(nt):
            held.way[i, a] /= math.sqrt(whole)
    known = solve_mode(held, at.v, at.free, slowest, found)
    for i in range(len(held.mu)):
        held.straight[i] = False
    return known


@kernel
def turning_rates(held: Held, v: Array, slowest: float, found: Found) -> Rates:
    """The rates at a state after `aim`, under the forces found."""
    # reads found.at, found.delassus, found.force, found.given, found.inverse, found.used, held.mu,
    #   held.sticks, held.way
    # writes found.inverse, found.right, found.used
    # hands on found, held
    m, width = found.force.shape
    change, answer, stop, k = 0.0, 0.0, 0.0, 0
    for i in range(m):
        k += width if held.sticks[i] else 1
    for r in range(k):
        for c in range(k):
            found.used[r, c] = found.given[r, c]
    invert_rows(found.used, found.inverse, k, SINGULAR)
    for i in range(m):
        if held.sticks[i] or held.mu[i] == 0.0:
            continue
        size, along, aside, row = 0.0, 0.0, 0.0, i * width + 1
        for a in range(2):
            gained = found.at[row + a]
            for c in range(m * width):
                gained += found.delassus[row + a, c] * found.force[c // width, c % width]
            size += _slip(found, v, row + a) ** 2
            along += gained * held.way[i, a]
            aside += gained * (held.way[i, 1] if a == 0 else -held.way[i, 0])
        size, push = max(math.sqrt(size), slowest), math.sqrt(along * along + aside * aside)
        strength = held.mu[i] * abs(found.force[i, 0]) / size
        for p in range(m * width):  # what friction across the slip does
            found.right[p] = strength * (
                found.delassus[p, row + 1] * held.way[i, 0] - found.delassus[p, row] * held.way[i, 1]
            )
        alone = _of_slip(held, found)
        _keep_mode(found, k)
        # near a singular mode held contacts answer without bound, though the motion may go on: without them
        own = math.sqrt(min(_of_slip(held, found), alone))
        answer = math.sqrt(answer * answer + own * own)
        stop = max(stop, -along / size)
        # of slip, where it ends with this acceleration
        if abs(aside) * size > slowest * push and abs(aside) > LAG * own * size:
            change = max(change, push / size)
    return Rates(change, answer, stop)


@kernel
def _slip(found: Found, v: Array, row: int) -> float:
    """The rate of one row of the mode at these velocities."""
    # reads rows
    total = 0.0
    for j in range(len(v)):
        total += found.rows[row, j] * v[j]
    return total


@kernel
def _of_slip(held: Held, found: Found) -> float:
    """The sum of squares of accelerations ``right`` that are those of slip with friction."""
    # reads found.force, found.right, held.mu, held.sticks
    width, total = found.force.shape[1], 0.0
    for i in range(len(held.mu)):
        for a in range(1, 1 if held.sticks[i] or held.mu[i] == 0.0 else width):
            total += found.right[i * width + a] ** 2
    return total


@kernel
def _keep_mode(found: Found, k: int) -> None:
    """Add to accelerations ``right`` what the mode's forces do so that its equations go on to hold."""
    # reads at, columns, delassus, inverse, picked, right, units, wanted; writes right, wanted
    h = len(found.at)
    for p in range(h):
        found.wanted[p] = 0.0
    for c in range(k):
        total = 0.0
        for r in range(k):
            row = found.picked[r]
            total -= found.inverse[c, r] * found.right[row] / found.units[1, r]
        total *= found.units[0, c]
        for p in range(h):
            found.wanted[p] += found.columns[p, c] * total
    for p in range(h):
        for r in range(h):
            found.right[p] += found.delassus[p, r] * found.wanted[r]
