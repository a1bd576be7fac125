"""One place for each complementary pair of HP23 (75).

The places follow the LCP's order [beta; lambda_n; lambda_D; gamma], t comes last. A place holds the value of
whichever quantity of its pair is not zero, so that an exchange changes no place: the quantity that leaves is
zero there, and so is the one that enters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
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
    UPPER,
    A,
    B,
    Quantity,
    T,
    quantity,
    wide,
)

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Step
    from routh.validation import Array


@kernel
def place_of(nc: int, k: int, q: Quantity) -> int:
    """The place of a quantity's pair."""
    if q.kind == SB or q.kind == BETA:
        return q.contact
    if q.kind == SN or q.kind == LN:
        return nc + q.contact
    if q.kind == SD or q.kind == LD:
        return 2 * nc + q.contact * k + q.direction
    if q.kind == T:
        return wide((3 + k) * nc)
    return (2 + k) * nc + q.contact


@kernel
def quantity_in(nc: int, k: int, state: Array, place: int) -> Quantity:
    """The quantity of a pair that is not zero by the state."""
    if place < nc:
        return Quantity(BETA if state[place, NORMAL] == UPPER else SB, wide(place), NONE)
    if place < 2 * nc:
        i = wide(place - nc)
        return Quantity(SN if state[i, NORMAL] == OPEN else LN, i, NONE)
    if place < (2 + k) * nc:
        i = wide((place - 2 * nc) // k)
        j = wide(place - 2 * nc - i * k)
        return Quantity(LD if j == state[i, A] or j == state[i, B] else SD, i, j)
    if place == (3 + k) * nc:
        return Quantity(T, NONE, NONE)
    i = wide(place - (2 + k) * nc)
    return Quantity(GAMMA if state[i, SLIDING] else SG, i, NONE)


@kernel
def fill_rates(step: Step, state: Array, x: Array, rates: Array) -> None:
    """How fast the value of each place moves where the primitives move by x (2 n + 1,)."""
    nc, k = len(step.mu), step.directions.shape[0]
    for place in range((3 + k) * nc + 1):
        rates[place] = quantity(step, state, quantity_in(nc, k, state, place), x)
