"""Lexicographic ties: which of several quantities that reach zero together would do so first if the right
side of HP23 (75) were perturbed by (eps, eps^2, ...) in the order [beta; lambda_n; lambda_D; gamma]."""

from __future__ import annotations

from typing import Any

from routh.compiling import kernel
from routh.kernels.dictionary import (
    BETA,
    FREE,
    GAMMA,
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
    quantity,
)

DIFFERENT = 1e-11  # of the larger: closer ones are equal up to rounding


@kernel
def break_ties(
    shape: Any, data: Any, state: Any, columns: Any, kind: int, at: int, towards: int, entering: int,
    found: Any, which: Any, ties: int, D: Any, change: Any,
) -> int:  # fmt: skip
    """The winner among the first ``ties`` rows of ``which``; found[:, 1] holds their rates.

    ``kind``, ``at``, ``towards``, ``entering``: the quantity that enters, its contact, direction, row of D.
    """
    _, dirs, mu, cover = data
    nc, k = shape[0], dirs.shape[0]
    remaining = ties
    for q in range(ties):
        which[q, 3] = q
    for row in range(nc * (3 + k)):
        family, i, direction = _lcp_row(nc, k, row)
        _move(shape, state, columns, kind, at, towards, entering, family, i, direction, D, change)
        best = 1e300
        for q in range(remaining):
            j = which[q, 3]
            value = quantity(shape, dirs, mu, cover, state, which[j, 0], which[j, 1], which[j, 2], change)
            value += _direct(state, which[j, 0], which[j, 1], which[j, 2], family, i, direction)
            found[j, 0] = value / -found[j, 1]
            best = min(best, found[j, 0])
        kept = 0
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
def _lcp_row(nc: int, k: int, row: int) -> tuple[int, int, int]:
    """A row of the LCP as (quantity whose right side it is, contact, direction)."""
    if row < nc:
        return SB, row, 0
    if row < 2 * nc:
        return SN, row - nc, 0
    if row < (2 + k) * nc:
        place = row - 2 * nc
        return SD, place // k, place - (place // k) * k
    return SG, row - (2 + k) * nc, 0


@kernel
def _direct(state: Any, kind: int, contact: int, d: int, family: int, i: int, direction: int) -> float:
    """How a perturbed right side enters a quantity that is not zero, other than through primitives."""
    if contact != i:
        return 0.0
    if kind == family and (family != SD or d == direction):
        return 1.0
    if family == SN and kind == BETA:
        return -1.0
    sliding_on = family == SD and state[i, SLIDING] and direction == state[i, A]
    return -1.0 if sliding_on and kind in (GAMMA, SD) else 0.0


@kernel
def _move(
    shape: Any, state: Any, columns: Any, kind: int, at: int, towards: int, entering: int, family: int,
    i: int, direction: int, D: Any, change: Any,
) -> None:  # fmt: skip
    """How the vertex's primitives move per unit of one right side, the entering quantity held at zero."""
    length = 2 * shape[0] * (1 + shape[1]) + 1
    for row in range(length):
        change[row] = 0.0
    special = at == i  # then the entering quantity's row is one of this contact's as well
    if family == SB:
        if state[i, NORMAL] == UPPER:
            _add(D, columns[i, 0], length, -1.0, change)
        elif special and kind == SB:
            _add(D, entering, length, -1.0, change)
    elif family == SN:
        if state[i, NORMAL] == FREE:
            _add(D, columns[i, 0], length, -1.0, change)
        elif special and kind == SN and state[i, NORMAL] == OPEN:
            _add(D, entering, length, -1.0, change)
        elif special and kind == BETA and state[i, NORMAL] == UPPER:
            _add(D, entering, length, 1.0, change)
    elif family == SG:
        if state[i, SLIDING]:
            _add(D, columns[i, 1], length, -1.0, change)
        elif special and kind == SG:
            _add(D, entering, length, -1.0, change)
    else:
        _move_slip(state, columns, kind, special, towards, entering, i, direction, D, length, change)


@kernel
def _move_slip(
    state: Any, columns: Any, kind: int, special: bool, towards: int, entering: int, i: int,
    direction: int, D: Any, length: int, change: Any,
) -> None:  # fmt: skip
    """The right side of one friction direction's row."""
    a, b = state[i, A], state[i, B]
    if special and kind == SD and direction == towards:
        _add(D, entering, length, -1.0, change)
    elif state[i, SLIDING]:
        if direction == a:
            if b >= 0:
                _add(D, columns[i, 2], length, 1.0, change)
            if special and (kind == GAMMA or kind == SD):
                _add(D, entering, length, 1.0, change)
        elif direction == b:
            _add(D, columns[i, 2], length, -1.0, change)
    elif direction == a:
        _add(D, columns[i, 1], length, -1.0, change)
    elif direction == b:
        _add(D, columns[i, 2], length, -1.0, change)


@kernel
def _add(D: Any, c: int, length: int, factor: float, change: Any) -> None:
    for row in range(length):
        change[row] += factor * D[c, row]
