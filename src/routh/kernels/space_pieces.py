"""Pieces of a path in space for drawn roles: straight, curved or implicit, each up to its first event."""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.space_curve import LOCAL, follow_curve
from routh.kernels.space_implicit import implicit_piece
from routh.kernels.space_names import (
    BROKEN,
    BUDGET,
    BUDGET_ZERO,
    CHANGE,
    CUT,
    CUT_SHORT,
    DRIVEN,
    FREE,
    GO_ON,
    HELD,
    IMPULSE,
    LEFT,
    LENGTH,
    LET_GO,
    LIST,
    MOVES,
    NORMAL_ZERO,
    RATE,
    RETURNED,
    ROLE,
    SLIDE,
    SLIP,
    SLIP_ZERO,
    STIFF_PATH,
    STORED,
    TOTAL,
    WORK,
    ZERO,
    C,
)
from routh.kernels.space_rates import solve_rates
from routh.kernels.space_slopes import effect
from routh.kernels.space_straight import (
    NOTHING,
    STILL,
    classify,
    largest_rate,
    normal_length,
    settle,
    wall_length,
)

NEAR_STICK = 1e-3  # slip below this share of the speed that grows is followed implicitly
FIRST_IMPLICIT = 0.01  # length of the first implicit step of a sample
USED_UP = 1e-13  # budgets below this share of the speed squared (or of the impulse) are used up


@kernel
def list_pushing(nc: int, k: Any) -> int:
    """LIST of the contacts that push, driven ones first; how many."""
    m = 0
    for role in range(DRIVEN, HELD + 1):
        for i in range(nc):
            if k[ROLE, i] == role:
                k[LIST, m] = i
                m += 1
    return m


@kernel
def drop_idle(nc: int, x: Any, s: Any, k: Any) -> bool:
    """Leave held contacts that need no push alone; whether no driven contact would push while separating."""
    still = STILL * largest_rate(nc, x)
    for i in range(nc):
        if k[ROLE, i] == HELD and not x[RATE, 3 * i] > 0.0:
            k[ROLE, i] = FREE
        if k[ROLE, i] == DRIVEN and x[C, 3 * i] >= 0.0 and not s[BUDGET, i] > 0.0:
            if x[CHANGE, 3 * i] > still:
                return False
            x[CHANGE, 3 * i] = min(x[CHANGE, 3 * i], 0.0)
    return True


@kernel
def kind_of_path(nc: int, x: Any, s: Any, k: Any, slides: Any) -> int:
    """0: straight; 1: curved; 2: curved, and a contact has hardly begun to slip: implicit steps."""
    curved, begins = False, False
    for i in range(nc):
        if k[ROLE, i] == FREE or k[MOVES, i] != SLIDE:
            continue
        if k[SLIP, i] == ZERO:
            begins = True
            continue
        curved = True
        at = 3 * i
        s[LENGTH, i] = math.sqrt(x[C, at + 1] ** 2 + x[C, at + 2] ** 2)
        grows = slides[0, i] * x[CHANGE, at + 1] + slides[1, i] * x[CHANGE, at + 2] > 0.0
        begins = begins or (grows and s[LENGTH, i] < NEAR_STICK)
    if not curved:
        return 0
    return 2 if begins else 1


@kernel
def budget_length(nc: int, mode: int, x: Any, s: Any, k: Any) -> tuple[float, int]:
    """Length of a straight piece until a budget is used up, and whose: work is quadratic in the length."""
    least, who = math.inf, -1
    for i in range(nc):
        if k[ROLE, i] != DRIVEN or not s[BUDGET, i] > 0.0:
            continue
        y, rate, left = x[C, 3 * i], x[CHANGE, 3 * i], s[BUDGET, i] / x[RATE, 3 * i]
        if y < 0.0 or (y == 0.0 and rate <= 0.0):
            continue
        length = left
        if mode == 1:
            square = y * y + 2.0 * rate * left
            length = 2.0 * left / (y + math.sqrt(square)) if square > 0.0 else math.inf
        if length < least:
            least, who = length, i
    return least, who


@kernel
def keep_books(
    nc: int, mode: int, restitution: Any, x: Any, s: Any, k: Any, length: float, after: Any
) -> None:
    """Budgets, and work stored and returned, of a piece; ``after`` (nc,) holds normal velocities after it.

    ``length`` > 0: a straight piece with RATE and CHANGE; else the impulses and work of a curve.
    """
    for i in range(nc):
        if k[ROLE, i] == FREE:
            continue
        y = x[C, 3 * i]
        impulse = length * x[RATE, 3 * i] if length > 0.0 else x[IMPULSE, 3 * i]
        work = 0.5 * impulse * (y + after[i]) if length > 0.0 else s[WORK, i]
        if y < 0.0 or (y == 0.0 and after[i] < 0.0):
            s[STORED, i] -= work
            s[BUDGET, i] += restitution[i] ** 2 * -work if mode == 1 else restitution[i] * impulse
        elif k[ROLE, i] == DRIVEN:
            s[RETURNED, i] += work
            s[BUDGET, i] -= work if mode == 1 else impulse
        if not s[BUDGET, i] > USED_UP:
            s[BUDGET, i] = 0.0


@kernel
def advance(
    nc: int, m: int, mode: int, restitution: Any, G: Any, x: Any, s: Any, k: Any, after: Any, length: float,
    who: int,
) -> None:  # fmt: skip
    """Move C and TOTAL along a straight piece (``length`` > 0) or by IMPULSE; contact ``who`` gets y = 0."""
    for i in range(nc):
        y = x[C, 3 * i]
        if k[ROLE, i] != HELD:
            y += length * x[CHANGE, 3 * i] if length > 0.0 else effect(m, G, x, k, IMPULSE, 3 * i)
        after[i] = 0.0 if i == who else y
    if mode > 0:
        keep_books(nc, mode, restitution, x, s, k, length, after)
    for i in range(nc):
        sticks = k[ROLE, i] != FREE and k[MOVES, i] == ZERO
        x[C, 3 * i] = after[i]
        for row in range(3 * i + 1, 3 * i + 3):
            if sticks:
                x[C, row] = 0.0
            else:
                x[C, row] += length * x[CHANGE, row] if length > 0.0 else effect(m, G, x, k, IMPULSE, row)
    for a in range(m):
        first = 3 * k[LIST, a]
        for row in range(first, first + 3):
            x[TOTAL, row] += length * x[RATE, row] if length > 0.0 else x[IMPULSE, row]


@kernel
def straight_piece(
    nc: int, m: int, mode: int, restitution: Any, G: Any, dirs: Any, x: Any, s: Any, k: Any, g: Any,
    after: Any,
) -> int:  # fmt: skip
    """A straight piece: why it ended."""
    length, who = normal_length(nc, x, k)
    kind = NORMAL_ZERO
    wall = wall_length(nc, dirs, x, k) if dirs.shape[0] > 0 else math.inf
    if wall < length:
        length, who, kind = wall, -1, GO_ON
    if mode > 0:
        spent, _ = budget_length(nc, mode, x, s, k)
        if spent < length:
            length, who, kind = spent, -1, BUDGET_ZERO
    if g[CUT] < length:
        length, who, kind = g[CUT], -1, CUT_SHORT
    if not length < math.inf:
        return BROKEN
    if length > 0.0:
        advance(nc, m, mode, restitution, G, x, s, k, after, length, who)
    g[CUT] -= length
    return kind


@kernel
def has_unknown(m: int, k: Any) -> bool:
    """Whether a contact that pushes sticks or is held."""
    for a in range(m):
        if k[ROLE, k[LIST, a]] == HELD or k[MOVES, k[LIST, a]] == ZERO:
            return True
    return False


@kernel
def curved_piece(
    nc: int, m: int, mode: int, tolerance: float, restitution: Any, G: Any, mu: Any, dirs: Any, x: Any,
    s: Any, k: Any, slides: Any, d: Any, g: Any, after: Any, path: int,
) -> int:  # fmt: skip
    """A piece of the true cone's curve: why it ended."""
    solving = has_unknown(m, k)
    first = 3 * k[LIST, 0]
    weight = x[RATE, first]
    if path == 1:
        kind, who = follow_curve(nc, m, solving, mode, tolerance, G, mu, x, s, k, d, g)
    else:
        kind, who = implicit_piece(nc, m, mode, LOCAL * tolerance, G, mu, dirs, x, s, k, slides, g)
        if kind == BROKEN:
            return BROKEN
        for i in range(nc):  # whatever came to rest, or left, did so in the step
            at = 3 * i
            if k[ROLE, i] == HELD and effect(m, G, x, k, IMPULSE, at) > NOTHING:
                k[ROLE, i] = LEFT
            if k[ROLE, i] != FREE:
                t0 = x[C, at + 1] + effect(m, G, x, k, IMPULSE, at + 1)
                t1 = x[C, at + 2] + effect(m, G, x, k, IMPULSE, at + 2)
                k[MOVES, i] = ZERO if math.sqrt(t0 * t0 + t1 * t1) <= NOTHING else SLIDE
    length = x[IMPULSE, first] / weight
    advance(nc, m, mode, restitution, G, x, s, k, after, -1.0, who if kind == NORMAL_ZERO else -1)
    g[CUT] -= length
    if kind == SLIP_ZERO:
        x[C, 3 * who + 1] = x[C, 3 * who + 2] = 0.0
    for i in range(nc):
        if k[ROLE, i] == LEFT or (kind == LET_GO and i == who and k[ROLE, i] == HELD):
            k[ROLE, i] = FREE
            kind = GO_ON if kind == LET_GO else kind
    return kind


@kernel
def run_stage(
    nc: int, mode: int, tolerance: float, restitution: Any, G: Any, mu: Any, dirs: Any, x: Any, s: Any,
    k: Any, slides: Any, d: Any, g: Any, after: Any, share: float, most: int,
) -> tuple[int, int]:  # fmt: skip
    """Follow the drawn roles to the next event: (why it ended, pieces); BROKEN with 0: roles that cannot be.

    ``share`` < 1 cuts the stage short at this share of the way, on a straight line, to the next zero.
    """
    stiff = False
    for piece in range(most):
        classify(nc, mu, dirs, x, k, slides)
        if not (solve_rates(nc, G, mu, dirs, x, s, k, slides, g) and drop_idle(nc, x, s, k)):
            return BROKEN, piece
        settle(nc, dirs, x, k, slides)
        m = list_pushing(nc, k)
        if piece == 0:
            g[CUT] = math.inf
            if share < 1.0:
                g[CUT] = share * min(normal_length(nc, x, k)[0], 4.0)
        path = kind_of_path(nc, x, s, k, slides) if dirs.shape[0] == 0 else 0
        if path == 0:
            kind = straight_piece(nc, m, mode, restitution, G, dirs, x, s, k, g, after)
        else:
            path = 2 if stiff else path
            kind = curved_piece(
                nc, m, mode, tolerance, restitution, G, mu, dirs, x, s, k, slides, d, g, after, path
            )
        stiff = kind == LET_GO or kind == STIFF_PATH or (stiff and path == 2)
        if kind == BROKEN and path == 1:
            return CUT_SHORT, piece + 1
        if kind == STIFF_PATH and m == 1:
            return CUT_SHORT, piece + 1
        if kind != GO_ON and kind != LET_GO and kind != STIFF_PATH:
            return kind, piece + 1
        if g[CUT] <= 0.0:
            return CUT_SHORT, piece + 1
    return CUT_SHORT, most
