"""Lemke's method on the impact step HP23 (75) without beta and gamma: bounded-variable pivoting.

Lemke's path is the set of solutions of the step with ``lambda_max + t``, friction bounds ``mu lambda_n + t``
and velocities ``+ t``, followed from large t down to t = 0 (it may turn on the way). On it at most two
neighbouring friction directions of a contact push at a time, so nc contacts need a dictionary of size 2 nc
(plane) or 3 nc (space) instead of (3 + k) nc, and yet the path ends in the very solution that Lemke's method
with the all-ones covering vector and lexicographic ties finds, unique or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
    FREE,
    GAMMA,
    LD,
    LN,
    NONE,
    NORMAL,
    OPEN,
    SB,
    SD,
    SG,
    SLIDING,
    SN,
    A,
    B,
    Quantity,
    T,
    wide,
)
from routh.kernels.places import fill_rates, place_of
from routh.kernels.ties import Entering, beats

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Pivoting, Step
    from routh.validation import Array

SMALL_RATE = 1e-11  # of the largest rate: smaller ones are rounding (routh.tolerances.PIVOT)


@kernel
def candidates(step: Step, work: Pivoting, entering: Entering) -> int:
    """Quantities that fall along the direction of travel, into ``work.which`` and ``work.found``; t first.

    Fills ``work.rates``; returns the number of candidates.
    """
    nc, nt, k = len(step.mu), step.directions.shape[1], step.directions.shape[0]
    state, direction = work.state, work.D[entering.row]
    fill_rates(step, state, direction, work.rates)
    largest = 0.0
    for row in range(len(direction)):
        largest = max(largest, abs(direction[row]))
    least = -SMALL_RATE * largest
    count = wide(0)
    if work.rates[(3 + k) * nc] < 0.0:
        count = _note(nc, k, work, entering, Quantity(T, NONE, NONE), 0.0, count)
    for contact in range(nc):
        i = wide(contact)
        if state[i, NORMAL] == FREE:
            count = _note(nc, k, work, entering, Quantity(LN, i, NONE), least, count)
            count = _note(nc, k, work, entering, Quantity(SB, i, NONE), least, count)
        else:
            kind = SN if state[i, NORMAL] == OPEN else BETA
            count = _note(nc, k, work, entering, Quantity(kind, i, NONE), least, count)
        a, b = wide(state[i, A]), wide(state[i, B])
        if state[i, SLIDING]:
            count = _note(nc, k, work, entering, Quantity(GAMMA, i, NONE), least, count)
        elif a >= 0:
            count = _note(nc, k, work, entering, Quantity(SG, i, NONE), least, count)
        if a >= 0 and (b >= 0 or not state[i, SLIDING]):
            count = _note(nc, k, work, entering, Quantity(LD, i, a), least, count)
        if b >= 0:  # no third direction of unit length can have the same slip
            count = _note(nc, k, work, entering, Quantity(LD, i, b), least, count)
            continue
        if nt == 1 and a >= 0 and not state[i, SLIDING]:  # the other slip is 2 t: t itself is there first
            continue
        for j in range(k):
            if j != a:
                count = _note(nc, k, work, entering, Quantity(SD, i, wide(j)), least, count)
    return count


@kernel
def _note(nc: int, k: int, work: Pivoting, entering: Entering, q: Quantity, least: float, count: int) -> int:
    """Append a quantity that falls faster than rounding and is not the one that enters."""
    same = entering.quantity
    rate = work.rates[place_of(nc, k, q)]
    if not rate < least or (
        same.kind == q.kind and same.contact == q.contact and same.direction == q.direction
    ):
        return count
    work.found[count, 1] = rate
    work.which[count, 0], work.which[count, 1], work.which[count, 2] = q.kind, q.contact, q.direction
    return count + 1


@kernel
def first_to_vanish(
    step: Step, work: Pivoting, entering: Entering, count: int, values: Array, rounding: Array
) -> int:
    """The candidate that vanishes first, ties by the lexicographic rule: as `routh.kernels.walking.walk`."""
    nc, k = len(step.mu), step.directions.shape[0]
    best, low, high = wide(0), 0.0, 0.0
    for r in range(count):
        place = place_of(nc, k, candidate(work, r))
        inverse = -1.0 / work.rates[place]
        ratio, slack = values[place] * inverse, rounding[place] * inverse
        smallest, largest = ratio - slack, ratio + slack
        if r == 0 or (
            smallest < high
            and (largest < low or (work.which[best, 0] != T and beats(step, work, entering, wide(r), best)))
        ):
            best, low, high = wide(r), smallest, largest
    return best


@kernel
def candidate(work: Pivoting, r: int) -> Quantity:
    """Candidate number r."""
    return Quantity(work.which[r, 0], work.which[r, 1], work.which[r, 2])
