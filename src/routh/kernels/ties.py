"""Lexicographic ties: which of several quantities that reach zero together would do so first if the right
side of HP23 (75) were perturbed by (eps, eps^2, ...) in the order [beta; lambda_n; lambda_D; gamma]."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
    FREE,
    GAMMA,
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
    quantity,
    wide,
)

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Pivoting, Step
    from routh.validation import Array

DIFFERENT = 1e-11  # of the larger: closer ones are equal up to rounding


class Entering(NamedTuple):
    """The quantity that enters, and its row of D."""

    quantity: Quantity
    row: int


@kernel
def break_ties(step: Step, work: Pivoting, entering: Entering, ties: int) -> int:
    """The winner among the first ``ties`` rows of ``work.which``; ``work.found[:, 1]`` holds their rates."""
    for q in range(ties):
        work.which[q, 3] = q
    return _winner(step, work, entering, wide(ties))


@kernel
def beats(step: Step, work: Pivoting, entering: Entering, one: int, other: int) -> bool:
    """Whether candidate ``one`` wins a tie with ``other``."""
    work.which[0, 3], work.which[1, 3] = other, one
    return _winner(step, work, entering, wide(2)) == one


@kernel
def _winner(step: Step, work: Pivoting, entering: Entering, remaining: int) -> int:
    """The winner among the candidates listed in the last column of ``work.which``."""
    nc, k = len(step.mu), step.directions.shape[0]
    which, found = work.which, work.found
    for row in range(nc * (3 + k)):
        side = _right_side(nc, k, row)
        _move(work, entering, side)
        best = 1e300
        for q in range(remaining):
            j = which[q, 3]
            tied = Quantity(which[j, 0], which[j, 1], which[j, 2])
            value = quantity(step, work.state, tied, work.change) + _direct(work.state, tied, side)
            found[j, 0] = value / -found[j, 1]
            best = min(best, found[j, 0])
        kept = wide(0)
        for q in range(remaining):
            j = which[q, 3]
            if found[j, 0] - best <= DIFFERENT * (abs(best) + abs(found[j, 0])):
                which[kept, 3] = j
                kept += 1
        remaining = kept
        if remaining == 1:
            break
    return which[0, 3]


@kernel
def _right_side(nc: int, k: int, row: int) -> Quantity:
    """A row of the LCP as the quantity whose right side it is."""
    if row < nc:
        return Quantity(SB, wide(row), NONE)
    if row < 2 * nc:
        return Quantity(SN, wide(row - nc), NONE)
    if row < (2 + k) * nc:
        place = wide(row - 2 * nc)
        return Quantity(SD, place // k, place - (place // k) * k)
    return Quantity(SG, wide(row - (2 + k) * nc), NONE)


@kernel
def _direct(state: Array, q: Quantity, side: Quantity) -> float:
    """How a perturbed right side enters a quantity that is not zero, other than through primitives."""
    i = side.contact
    if q.contact != i:
        return 0.0
    if q.kind == side.kind and (side.kind != SD or q.direction == side.direction):
        return 1.0
    if side.kind == SN and q.kind == BETA:
        return -1.0
    sliding_on = side.kind == SD and state[i, SLIDING] != 0 and side.direction == state[i, A]
    return -1.0 if sliding_on and (q.kind == GAMMA or q.kind == SD) else 0.0


@kernel
def _move(work: Pivoting, entering: Entering, side: Quantity) -> None:
    """``work.change``: how the vertex's primitives move per unit of one right side, the entering one held."""
    state, columns, change = work.state, work.columns, work.change
    for row in range(work.D.shape[1]):
        change[row] = 0.0
    i, kind = side.contact, entering.quantity.kind
    special = entering.quantity.contact == i  # then its row is one of this contact's as well
    if side.kind == SB:
        if state[i, NORMAL] == UPPER:
            _add(work, columns[i, 0], -1.0)
        elif special and kind == SB:
            _add(work, entering.row, -1.0)
    elif side.kind == SN:
        if state[i, NORMAL] == FREE:
            _add(work, columns[i, 0], -1.0)
        elif special and kind == SN and state[i, NORMAL] == OPEN:
            _add(work, entering.row, -1.0)
        elif special and kind == BETA and state[i, NORMAL] == UPPER:
            _add(work, entering.row, 1.0)
    elif side.kind == SG:
        if state[i, SLIDING]:
            _add(work, columns[i, 1], -1.0)
        elif special and kind == SG:
            _add(work, entering.row, -1.0)
    else:
        _move_slip(work, entering, special, i, side.direction)


@kernel
def _move_slip(work: Pivoting, entering: Entering, special: bool, i: int, direction: int) -> None:
    """The right side of one friction direction's row."""
    state, columns, kind = work.state, work.columns, entering.quantity.kind
    a, b = state[i, A], state[i, B]
    if special and kind == SD and direction == entering.quantity.direction:
        _add(work, entering.row, -1.0)
    elif state[i, SLIDING]:
        if direction == a:
            if b >= 0:
                _add(work, columns[i, 2], 1.0)
            if special and (kind == GAMMA or kind == SD):
                _add(work, entering.row, 1.0)
        elif direction == b:
            _add(work, columns[i, 2], -1.0)
    elif direction == a:
        _add(work, columns[i, 1], -1.0)
    elif direction == b:
        _add(work, columns[i, 2], -1.0)


@kernel
def _add(work: Pivoting, c: int, factor: float) -> None:
    for row in range(work.D.shape[1]):
        work.change[row] += factor * work.D[c, row]
