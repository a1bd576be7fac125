"""A dictionary of Lemke's path on the impact step HP23 (75), with beta and gamma eliminated.

Impulse sizes, contact velocities and the artificial variable t ("primitives", 2 n + 1 of them) are linear in
the n + 1 quantities that are zero at the current vertex: ``D`` (n + 1, 2 n + 1), one contiguous row per such
quantity. A contact's friction is ``s_a f_a + s_b f_b`` with a frame of directions; a and b say which frame
directions push (-1: none), SLIDING that ``s_a + s_b`` is at its bound ``mu lambda_n + t``.

What is zero (``columns`` (nc, 1 + nt)): of the normal either lambda_n, its distance from ``lambda_max + t``,
or ``y' + t`` where it is free; of friction either a frame coordinate that does not push, the slip
``d . t' + t`` along a direction that does, or, sliding, the distance from the bound and the difference of the
slips along a and b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.compiling import kernel

if TYPE_CHECKING:
    from routh.kernels.step_arrays import Pivoting, Step
    from routh.validation import Array

    wide = int
else:
    wide = np.int64

OPEN, FREE, UPPER = 0, 1, 2
NORMAL, A, B, SLIDING = 0, 1, 2, 3  # columns of the state
# The quantities that must not become negative; each odd one and its successor are complementary.
# NumPy's integers: one kind, whatever they are called with.
T, SN, LN, SB, BETA, SG, GAMMA, SD, LD = (wide(kind) for kind in range(9))
NONE = wide(0)


class Quantity(NamedTuple):
    """One quantity that must not become negative."""

    kind: int
    contact: int
    direction: int


@kernel
def complement(q: Quantity) -> Quantity:
    """The quantity whose product with this one is zero."""
    return Quantity(q.kind + 1 if q.kind % 2 == 1 else q.kind - 1, q.contact, q.direction)


@kernel
def terms(step: Step, state: Array, q: Quantity) -> tuple[int, int, int, int, float, float, float, float]:
    """A quantity (without lambda_max) as a sum of at most four primitives: indices, factors."""
    kind, i, direction = q
    nc, nt = len(step.mu), step.directions.shape[1]
    n = nc * (1 + nt)
    own, slip, t = i * (1 + nt), n + i * (1 + nt), 2 * n
    if kind == SN:
        return slip, t, t, t, 1.0, step.cover[i, 0], 0.0, 0.0
    if kind == BETA:
        return slip, t, t, t, -1.0, -step.cover[i, 0], 0.0, 0.0
    if kind == LN:
        return own, t, t, t, 1.0, 0.0, 0.0, 0.0
    if kind == SB:
        return own, t, t, t, -1.0, step.cover[i, 1], 0.0, 0.0
    if kind == SG:
        if nt == 2:
            return own, own + 1, own + 2, t, step.mu[i], -1.0, -1.0, step.cover[i, 1]
        return own, own + 1, t, t, step.mu[i], -1.0, step.cover[i, 1], 0.0
    if kind == LD:
        return (own + 1 if direction == state[i, A] else own + 2), t, t, t, 1.0, 0.0, 0.0, 0.0
    if kind == T:
        return t, t, t, t, 1.0, 0.0, 0.0, 0.0
    # slips: GAMMA and SD
    sign = -1.0 if kind == GAMMA else 1.0
    j = wide(state[i, A]) if kind == GAMMA else direction
    first, second = sign * step.directions[j, 0], 0.0
    if nt == 2:
        second = sign * step.directions[j, 1]
    per_t = sign * step.cover[i, 0]
    if kind == SD and state[i, SLIDING]:
        first -= step.directions[state[i, A], 0]
        if nt == 2:
            second -= step.directions[state[i, A], 1]
        per_t = 0.0
    return slip + 1, (slip + 2 if nt == 2 else t), t, t, first, second, per_t, 0.0


@kernel
def quantity(step: Step, state: Array, q: Quantity, x: Array) -> float:
    """The value of a quantity (without lambda_max) at primitives x (2 n + 1,)."""
    i0, i1, i2, i3, f0, f1, f2, f3 = terms(step, state, q)
    return f0 * x[i0] + f1 * x[i1] + f2 * x[i2] + f3 * x[i3]


@kernel
def start(step: Step, work: Pivoting) -> None:
    """All impulses are zero and t, the last row of D, is free: the first ray of Lemke's method."""
    nc, nt = len(step.mu), step.directions.shape[1]
    n, D = nc * (1 + nt), work.D
    for i in range(nc):
        work.state[i, NORMAL] = OPEN
        work.state[i, A] = -1
        work.state[i, B] = -1
        work.state[i, SLIDING] = 0
        for d in range(nt):
            for e in range(nt):
                work.frame[i, d, e] = 1.0 if d == e else 0.0
        for d in range(1 + nt):
            work.columns[i, d] = i * (1 + nt) + d
    for c in range(n + 1):
        for row in range(2 * n + 1):
            D[c, row] = 0.0
        if c < n:
            D[c, c] = 1.0
            for row in range(n):
                D[c, n + row] = step.G[row, c]
    D[n, 2 * n] = 1.0


@kernel
def exchange(step: Step, work: Pivoting, q: Quantity, entering: int) -> bool:
    """Make a quantity zero in place of the one in row ``entering`` of D; False where there is no pivot."""
    n, D, g = len(step.G), work.D, work.change
    i0, i1, i2, i3, f0, f1, f2, f3 = terms(step, work.state, q)
    for c in range(n + 1):
        g[c] = f0 * D[c, i0] + f1 * D[c, i1] + f2 * D[c, i2] + f3 * D[c, i3]
    pivot = g[entering]
    if not abs(pivot) > 0.0:
        return False
    inverse = 1.0 / pivot
    for row in range(2 * n + 1):
        D[entering, row] *= inverse
    for c in range(n + 1):
        factor = g[c]
        if c != entering and factor != 0.0:
            for row in range(2 * n + 1):
                D[c, row] -= factor * D[entering, row]
    return True


@kernel
def enter_complement(step: Step, work: Pivoting, q: Quantity, made: int) -> int:
    """After a quantity became zero in row ``made``: change the state; the row of its complement, or -1.

    Rows of D whose quantity enters with the opposite sign are negated, so that entering means growing.
    """
    entering = _rename(step, work, q, made)
    return entering if change_state(step.directions.shape[1], work.state, q) else wide(-1)


@kernel
def change_state(nt: int, state: Array, q: Quantity) -> bool:
    """The state after a quantity became zero; False where that cannot be on the path."""
    kind, i, direction = q
    if kind == SN or kind == BETA:
        state[i, NORMAL] = FREE
    elif kind == LN:
        state[i, NORMAL] = OPEN
    elif kind == SB:
        state[i, NORMAL] = UPPER
    elif kind == SG:
        state[i, SLIDING] = 1
        return bool(state[i, A] >= 0)
    elif kind == GAMMA:
        state[i, SLIDING] = 0
    elif kind == SD:
        if state[i, A] < 0:
            state[i, A] = direction
        elif nt == 1 or state[i, B] >= 0:
            return False
        else:
            state[i, B] = direction
    elif state[i, B] >= 0:  # LD, one of two that push
        if direction == state[i, A]:
            state[i, A] = state[i, B]
        state[i, B] = -1
    else:
        state[i, A] = -1
        return not state[i, SLIDING]
    return True


@kernel
def _rename(step: Step, work: Pivoting, q: Quantity, made: int) -> int:
    """The rows of D in terms of what is zero from now on; the row of the complement."""
    kind, i, direction = q
    state, columns, D = work.state, work.columns, work.D
    if kind <= BETA:
        entering = columns[i, 0]
        columns[i, 0] = made
        if kind == BETA:
            _scale(D, made, -1.0)
        elif kind == SB:
            _scale(D, entering, -1.0)  # beta = -(y' + t)
        return entering
    if kind == SD:
        return _add_direction(step, work, i, direction, made)
    part = 2 if kind == LD and state[i, B] >= 0 else 1
    if part == 2 and direction == state[i, A]:
        _swap(work, i)
    entering = columns[i, part]
    columns[i, part] = made
    if kind == GAMMA:
        _scale(D, made, -1.0)  # slip along a = -gamma
        if state[i, B] >= 0:
            _add(D, made, columns[i, 2], -1.0)
    elif kind == SG:  # gamma = -(slip along a) enters
        if state[i, B] >= 0:  # the difference of the two slips stays zero
            _add(D, entering, columns[i, 2], 1.0)
        _scale(D, entering, -1.0)
    return entering


@kernel
def _scale(D: Array, c: int, factor: float) -> None:
    for row in range(D.shape[1]):
        D[c, row] *= factor


@kernel
def _add(D: Array, c: int, other: int, factor: float) -> None:
    for row in range(D.shape[1]):
        D[c, row] += factor * D[other, row]


@kernel
def _add_direction(step: Step, work: Pivoting, i: int, direction: int, made: int) -> int:
    """A slip became zero: its direction may push. The frame turns so that the direction belongs to it."""
    nt = step.directions.shape[1]
    place = i * (1 + nt) + 1
    state, columns, frame, D, dirs = work.state, work.columns, work.frame, work.D, step.directions
    if state[i, A] < 0:
        entering = columns[i, 1]
        if nt == 1:
            _scale(D, entering, dirs[direction, 0] / frame[i, 0, 0])
            frame[i, 0, 0] = dirs[direction, 0]
            D[entering, place] = 1.0
        else:
            _turn_frame(dirs, work, i, direction, place)
        columns[i, 1] = made
        return entering
    if nt == 1 or state[i, B] >= 0:
        return wide(-1)
    # d = a f_a + b f_b: the second coordinate becomes the size along d
    area = frame[i, 0, 0] * frame[i, 1, 1] - frame[i, 0, 1] * frame[i, 1, 0]
    a = (dirs[direction, 0] * frame[i, 1, 1] - dirs[direction, 1] * frame[i, 1, 0]) / area
    b = (frame[i, 0, 0] * dirs[direction, 1] - frame[i, 0, 1] * dirs[direction, 0]) / area
    entering = columns[i, 2]
    _scale(D, entering, b)
    if state[i, SLIDING]:
        _add(D, entering, columns[i, 1], 1.0 - a - b)
    D[entering, place] -= a
    for c in range(D.shape[0]):
        D[c, place + 1] = 0.0
    D[entering, place + 1] = 1.0
    frame[i, 1, 0], frame[i, 1, 1] = dirs[direction, 0], dirs[direction, 1]
    columns[i, 2] = made
    return entering


@kernel
def _turn_frame(directions: Array, work: Pivoting, i: int, direction: int, place: int) -> None:
    """Nothing pushes: make the frame (d, d turned by 90 degrees)."""
    frame, D = work.frame, work.D
    d0, d1 = directions[direction, 0], directions[direction, 1]
    area = frame[i, 0, 0] * frame[i, 1, 1] - frame[i, 0, 1] * frame[i, 1, 0]
    a0 = (d0 * frame[i, 1, 1] - d1 * frame[i, 1, 0]) / area
    b0 = (frame[i, 0, 0] * d1 - frame[i, 0, 1] * d0) / area
    a1 = (-d1 * frame[i, 1, 1] - d0 * frame[i, 1, 0]) / area
    b1 = (frame[i, 0, 0] * d0 + frame[i, 0, 1] * d1) / area
    first, second = work.columns[i, 1], work.columns[i, 2]
    for row in range(D.shape[1]):
        old_first, old_second = D[first, row], D[second, row]
        D[first, row] = a0 * old_first + b0 * old_second
        D[second, row] = a1 * old_first + b1 * old_second
    D[first, place] = 1.0
    D[first, place + 1] = 0.0
    D[second, place] = 0.0
    D[second, place + 1] = 1.0
    frame[i, 0, 0], frame[i, 0, 1] = d0, d1
    frame[i, 1, 0], frame[i, 1, 1] = -d1, d0


@kernel
def _swap(work: Pivoting, i: int) -> None:
    """Exchange the places of the two directions that push."""
    frame, columns, D = work.frame, work.columns, work.D
    place = i * 3 + 1
    for d in range(2):
        frame[i, 0, d], frame[i, 1, d] = frame[i, 1, d], frame[i, 0, d]
    for c in range(D.shape[0]):
        D[c, place], D[c, place + 1] = D[c, place + 1], D[c, place]
    if work.state[i, SLIDING]:
        _scale(D, columns[i, 2], -1.0)  # slip along b minus slip along a
    else:
        columns[i, 1], columns[i, 2] = columns[i, 2], columns[i, 1]
