"""Friction that is nearly singular: the rates of several contacts at once, by Newton's method.

Contacts of one rigid body that differ a little in height nearly share a direction of friction: they squeeze
against each other, which moves almost nothing. There sweeps contact by contact need thousands of turns.

Given velocities ``b`` and a length h, find rates r with ``v = b + h G r`` such that friction opposes the slip
*at the end*: ``f |t| + mu n t = 0``. The normal rate n of a driven contact is given; a held one has
``n >= 0``, ``y >= 0``, one of them zero (Fischer and Burmeister). With driven contacts alone this minimises a
convex function, so slips are unique however singular G is. Rates at zero slip are the same equations with
slip rates in the place of slips.

1. `quick_newton`: friction as a projection onto its disc or polygon (Alart and Curnier); three steps as a
   rule, from the rates before.
2. `newton`, where that fails: friction and slip at once, ``|t|`` smoothed by ``sqrt(|t|^2 + eps^2)``,
   friction kept inside its disc (Chan, Golub and Mulet's method for total variation), while eps falls from
   the scale of the slips on. Where several rates are solutions, the one next to those of the smooth problem
   is taken, which depends on no order of contacts.
"""

from __future__ import annotations

import math

from routh.compiling import apart, kernel
from routh.kernels.space.workspace import (
    CORNER,
    DRIVEN,
    GRAM,
    HELD,
    LIST,
    MU,
    PIVOT,
    RATE,
    ROLE,
    SLIDE,
    SLIDE0,
    SLIDE1,
    SLIP,
    WALL,
    WEIGHT,
    WHOSE,
    Corners,
    SpaceWork,
    named,
)
from routh.validation import Array

# rows of `stiff`, over the coordinates of the contacts that push, three for each in the order of LIST:
# velocities from which a solve begins and those it ends with; rates at the beginning of a step and at its two
# stages; residuals of a solve, rates before a Newton step, that step; impulse of the step; of all contacts:
# events where none was
BASE, SPEED, BEGIN, STAGE1, STAGE2, MISSED, BEFORE, NEWTON, PUSHED, EARLIER = named(10)
# what a path that is written down in more detail leaves as it was, and its impulse so far
KEPT_C, KEPT_BEGIN, KEPT_STAGE1, KEPT_STAGE2, KEPT_PUSHED, GONE = named(6, 10)
STIFF_ROWS = 16  # after them G of the contacts that push, and the equations of Newton's method

SMOOTH = 1e-10  # slip, as a share of the speed, below which a contact sticks
FINEST = 1e-12  # the same for slip rates
CLOSED = 1e-12  # residual of a solve that is done
NEARLY_CLOSED = 1e-8  # and of one that rounding ends
QUICK, COLD, LAST = 12, 6, 25  # Newton steps from a neighbour; for each eps on the way; for the last one
FALLS = 0.03  # by which eps falls
FEW = 6  # contacts for whose rates that is tried: it takes milliseconds for many


@kernel
def gather(work: SpaceWork, m: int) -> None:
    """G of the contacts that push, side by side."""
    stiff, values, marks = work.stiff, work.values, work.marks
    for a in range(m):
        for p in range(3):
            row = GRAM + 3 * marks[LIST, a] + p
            for b in range(m):
                at = 3 * marks[LIST, b]
                to = STIFF_ROWS + 3 * a + p
                stiff[to, 3 * b] = values[row, at]
                stiff[to, 3 * b + 1] = values[row, at + 1]
                stiff[to, 3 * b + 2] = values[row, at + 2]


@kernel
def move_by(stiff: Array, m: int, of: int, to: int, start: int, h: float) -> None:
    """Row ``to`` = row ``start`` + h G row ``of``."""
    for row in range(3 * m):
        value = 0.0
        for column in range(3 * m):
            value += stiff[STIFF_ROWS + row, column] * stiff[of, column]
        stiff[to, row] = stiff[start, row] + h * value


@kernel
def slides_on(work: SpaceWork, i: int, rates: bool) -> bool:
    """Whether the direction of friction of contact i is known: it slides, and rates are asked for."""
    return rates and work.marks[SLIP, i] == SLIDE


@kernel
def misses(work: SpaceWork, m: int, of: int, h: float, eps: float, rates: bool) -> float:
    """SPEED and MISSED of the rates in row ``of``; the sum of squares of what they miss."""
    stiff, values, marks = work.stiff, work.values, work.marks
    move_by(stiff, m, of, SPEED, BASE, h)
    total = 0.0
    for a in range(m):
        i, at = marks[LIST, a], 3 * a
        n, f0, f1 = stiff[of, at], stiff[of, at + 1], stiff[of, at + 2]
        t0, t1 = stiff[SPEED, at + 1], stiff[SPEED, at + 2]
        most = values[MU, i] * n
        if slides_on(work, i, rates):
            stiff[MISSED, at + 1], stiff[MISSED, at + 2] = (
                f0 + most * values[SLIDE0, i],
                f1 + most * values[SLIDE1, i],
            )
        else:
            size = math.sqrt(t0 * t0 + t1 * t1 + eps * eps)
            scale = 1.0 / (size + most)
            stiff[MISSED, at + 1], stiff[MISSED, at + 2] = (
                (f0 * size + most * t0) * scale,
                (f1 * size + most * t1) * scale,
            )
        stiff[MISSED, at] = 0.0
        if marks[ROLE, i] == HELD:
            y = stiff[SPEED, at] / (h * stiff[STIFF_ROWS + at, at])
            stiff[MISSED, at] = n + y - math.sqrt(n * n + y * y + 2.0 * eps * eps)
        total += stiff[MISSED, at] ** 2 + stiff[MISSED, at + 1] ** 2 + stiff[MISSED, at + 2] ** 2
    return total


@kernel
def list_wanted(work: SpaceWork, m: int) -> int:
    """WHOSE: the coordinates of the unknown rates; how many."""
    marks, size = work.marks, 0
    for a in range(m):
        if marks[ROLE, marks[LIST, a]] == HELD:
            marks[WHOSE, size] = 3 * a
            size += 1
        marks[WHOSE, size], marks[WHOSE, size + 1] = 3 * a + 1, 3 * a + 2
        size += 2
    return size


@kernel
def linearise(work: SpaceWork, m: int, of: int, h: float, eps: float, rates: bool, size: int) -> None:
    """The equations of a Newton step from the rates in row ``of``: matrix, and NEWTON its right-hand side."""
    stiff, values, marks = work.stiff, work.values, work.marks
    matrix = STIFF_ROWS + work.marks.shape[1]
    e = 0
    for a in range(m):
        i, at = marks[LIST, a], 3 * a
        held, own = marks[ROLE, i] == HELD, e
        n, f0, f1 = stiff[of, at], stiff[of, at + 1], stiff[of, at + 2]
        t0, t1, mu = stiff[SPEED, at + 1], stiff[SPEED, at + 2], values[MU, i]
        if held:
            scale = 1.0 / (h * stiff[STIFF_ROWS + at, at])
            y = stiff[SPEED, at] * scale
            root = math.sqrt(n * n + y * y + 2.0 * eps * eps)
            slope = (1.0 - y / root) * scale * h
            for q in range(size):
                stiff[matrix + e, q] = slope * stiff[STIFF_ROWS + at, marks[WHOSE, q]]
            stiff[matrix + e, own] += 1.0 - n / root
            stiff[NEWTON, e] = -stiff[MISSED, at]
            e += 1
        q00, q01, q10, q11, direct, u0, u1 = 0.0, 0.0, 0.0, 0.0, 1.0, values[SLIDE0, i], values[SLIDE1, i]
        if not slides_on(work, i, rates):
            length = math.sqrt(t0 * t0 + t1 * t1 + eps * eps)
            scale = 1.0 / (length + mu * n)
            g0, g1, direct, u0, u1 = f0 / length, f1 / length, length * scale, t0 * scale, t1 * scale
            z = h * scale
            q00, q01, q10, q11 = (mu * n + g0 * t0) * z, g0 * t1 * z, g1 * t0 * z, (mu * n + g1 * t1) * z
        for q in range(size):
            g0, g1 = stiff[STIFF_ROWS + at + 1, marks[WHOSE, q]], stiff[STIFF_ROWS + at + 2, marks[WHOSE, q]]
            stiff[matrix + e, q] = q00 * g0 + q01 * g1
            stiff[matrix + e + 1, q] = q10 * g0 + q11 * g1
        stiff[matrix + e, e] += direct
        stiff[matrix + e + 1, e + 1] += direct
        if held:
            stiff[matrix + e, own] += mu * u0
            stiff[matrix + e + 1, own] += mu * u1
        stiff[NEWTON, e], stiff[NEWTON, e + 1] = -stiff[MISSED, at + 1], -stiff[MISSED, at + 2]
        e += 2


@kernel
def eliminate(work: SpaceWork, size: int) -> bool:
    """Factors of the matrix by Gauss with row pivoting, in place; PIVOT its rows. False: it is singular."""
    stiff, marks = work.stiff, work.marks
    matrix = STIFF_ROWS + work.marks.shape[1]
    for k in range(size):
        pivot = k
        for row in range(k + 1, size):
            if abs(stiff[matrix + row, k]) > abs(stiff[matrix + pivot, k]):
                pivot = row
        marks[PIVOT, k] = pivot
        if not abs(stiff[matrix + pivot, k]) > 0.0:
            return False
        if pivot != k:
            for column in range(size):
                kept = stiff[matrix + k, column]
                stiff[matrix + k, column] = stiff[matrix + pivot, column]
                stiff[matrix + pivot, column] = kept
        inverse = 1.0 / stiff[matrix + k, k]
        for row in range(k + 1, size):
            factor = stiff[matrix + row, k] * inverse
            stiff[matrix + row, k] = factor
            if factor != 0.0:
                for column in range(k + 1, size):
                    stiff[matrix + row, column] -= factor * stiff[matrix + k, column]
    return True


@kernel
def substitute(work: SpaceWork, size: int) -> None:
    """NEWTON becomes the solution of the equations whose factors `eliminate` left."""
    stiff, marks = work.stiff, work.marks
    matrix = STIFF_ROWS + work.marks.shape[1]
    for k in range(size):
        pivot = marks[PIVOT, k]
        kept = stiff[NEWTON, k]
        stiff[NEWTON, k] = stiff[NEWTON, pivot]
        stiff[NEWTON, pivot] = kept
    for k in range(size):
        for row in range(k + 1, size):
            stiff[NEWTON, row] -= stiff[matrix + row, k] * stiff[NEWTON, k]
    for k in range(size - 1, -1, -1):
        value = stiff[NEWTON, k]
        for column in range(k + 1, size):
            value -= stiff[matrix + k, column] * stiff[NEWTON, column]
        stiff[NEWTON, k] = value / stiff[matrix + k, k]


@kernel
def keep_in_cones(work: SpaceWork, m: int, of: int) -> None:
    """Normal rates of held contacts not below zero, friction not above its most."""
    stiff, marks = work.stiff, work.marks
    for a in range(m):
        i, at = marks[LIST, a], 3 * a
        if marks[ROLE, i] == HELD and stiff[of, at] < 0.0:
            stiff[of, at] = 0.0
        most = work.values[MU, i] * stiff[of, at]
        friction = math.sqrt(stiff[of, at + 1] ** 2 + stiff[of, at + 2] ** 2)
        if friction > most:
            stiff[of, at + 1] *= most / friction
            stiff[of, at + 2] *= most / friction


@kernel
def newton(work: SpaceWork, m: int, of: int, h: float, eps: float, rates: bool, most: int) -> float:
    """Newton's method at one eps from the rates in row ``of``, ``most`` steps at most: its residual."""
    stiff, marks = work.stiff, work.marks
    size = list_wanted(work, m)
    square = misses(work, m, of, h, eps, rates)
    worst = math.inf
    for turn in range(most + 1):
        worst = 0.0
        for row in range(3 * m):
            worst = max(worst, abs(stiff[MISSED, row]))
        if not worst > CLOSED or turn == most:
            break
        linearise(work, m, of, h, eps, rates, size)
        if not eliminate(work, size):
            return math.inf
        substitute(work, size)
        for row in range(3 * m):
            stiff[BEFORE, row] = stiff[of, row]
        share, now = 1.0, math.inf
        while True:
            for q in range(size):
                row = marks[WHOSE, q]
                stiff[of, row] = stiff[BEFORE, row] + share * stiff[NEWTON, q]
            keep_in_cones(work, m, of)
            now = misses(work, m, of, h, eps, rates)
            if share < 0.02 or now < (1.0 - 0.1 * share) * square:
                break
            share *= 0.4
        square = now
    return worst if worst == worst else math.inf


@kernel
def project(work: SpaceWork, m: int, corners: Corners, of: int, h: float, eps: float, rates: bool) -> float:
    """Equations of a Newton step on friction as a projection onto its disc, at the rates in row ``of``.

    Alart and Curnier's: ``f`` is ``f - rho t`` brought back to the disc (polygon) of radius ``mu n``, so a
    contact that sticks has the linear equation ``t + eps f / (mu n) = 0``. Writes SPEED, the matrix and the
    right-hand side NEWTON; returns the largest residual.
    """
    stiff, values, marks = work.stiff, work.values, work.marks
    matrix, size, worst = STIFF_ROWS + work.marks.shape[1], list_wanted(work, m), 0.0
    move_by(stiff, m, of, SPEED, BASE, h)
    e = 0
    for a in range(m):
        i, at = marks[LIST, a], 3 * a
        held, own, mu = marks[ROLE, i] == HELD, e, values[MU, i]
        n = stiff[of, at]
        if held:
            scale = 1.0 / (h * stiff[STIFF_ROWS + at, at])
            y = stiff[SPEED, at] * scale
            root = math.sqrt(n * n + y * y + 2.0 * FINEST * FINEST)
            slope = (1.0 - y / root) * scale * h
            for q in range(size):
                stiff[matrix + e, q] = slope * stiff[STIFF_ROWS + at, marks[WHOSE, q]]
            stiff[matrix + e, own] += 1.0 - n / root
            stiff[NEWTON, e] = root - n - y
            worst = max(worst, abs(stiff[NEWTON, e]))
            e += 1
        d00, d01, d10, d11, p00, p01, p10, p11, u0, u1, r0, r1 = disc(work, corners, a, of, h, eps, rates)
        for q in range(size):
            g0, g1 = stiff[STIFF_ROWS + at + 1, marks[WHOSE, q]], stiff[STIFF_ROWS + at + 2, marks[WHOSE, q]]
            stiff[matrix + e, q] = h * (p00 * g0 + p01 * g1)
            stiff[matrix + e + 1, q] = h * (p10 * g0 + p11 * g1)
        stiff[matrix + e, e] += d00
        stiff[matrix + e, e + 1] += d01
        stiff[matrix + e + 1, e] += d10
        stiff[matrix + e + 1, e + 1] += d11
        if held:
            stiff[matrix + e, own] -= mu * u0
            stiff[matrix + e + 1, own] -= mu * u1
        stiff[NEWTON, e], stiff[NEWTON, e + 1] = -r0, -r1
        worst = max(worst, max(abs(r0), abs(r1)))
        e += 2
    return worst if worst == worst else math.inf


@kernel
def disc(
    work: SpaceWork, corners: Corners, a: int, of: int, h: float, eps: float, rates: bool
) -> tuple[float, float, float, float, float, float, float, float, float, float, float, float]:
    """Friction of the contact with place a in LIST: derivatives by friction (four) and by slip (four), less
    those by the radius (two), and the residual (two)."""
    stiff, values, i, at = work.stiff, work.values, work.marks[LIST, a], 3 * a
    n, f0, f1 = stiff[of, at], stiff[of, at + 1], stiff[of, at + 2]
    t0, t1, most = stiff[SPEED, at + 1], stiff[SPEED, at + 2], values[MU, i] * n
    if slides_on(work, i, rates):
        u0, u1 = -values[SLIDE0, i], -values[SLIDE1, i]
        return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, u0, u1, f0 - most * u0, f1 - most * u1
    inertia = 0.5 * (stiff[STIFF_ROWS + at + 1, at + 1] + stiff[STIFF_ROWS + at + 2, at + 2])
    rho = 1.0 / (h * max(inertia, 1e-6 * stiff[STIFF_ROWS + at, at]))
    creeps = eps / max(most, 1e-6)
    z0, z1 = f0 - rho * (t0 + creeps * f0), f1 - rho * (t1 + creeps * f1)
    length = math.sqrt(z0 * z0 + z1 * z1)
    if corners is not None:
        wall = work.marks[CORNER, i] if work.marks[SLIP, i] == WALL else -1
        p0, p1, e0, e1, inside = on_rim(corners, z0, z1, most, wall)
        if not inside:
            u0, u1 = (p0 / most, p1 / most) if most > 0.0 else (0.0, 0.0)
            along = e0 * u0 + e1 * u1  # a radius that grows moves an edge outwards, not along itself
            if wall < 0:
                u0, u1 = u0 - along * e0, u1 - along * e1
            own = 1.0 - rho * creeps
            return (
                1.0 - own * e0 * e0, -own * e0 * e1, -own * e0 * e1, 1.0 - own * e1 * e1,
                rho * e0 * e0, rho * e0 * e1, rho * e0 * e1, rho * e1 * e1,
                u0, u1, f0 - p0, f1 - p1,
            )  # fmt: skip
    if corners is not None or length < most:
        own = rho * creeps
        return own, 0.0, 0.0, own, rho, 0.0, 0.0, rho, 0.0, 0.0, rho * t0 + own * f0, rho * t1 + own * f1
    if not length > 0.0:
        return 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f0, f1
    u0, u1 = z0 / length, z1 / length
    friction = math.sqrt(f0 * f0 + f1 * f1)
    share = most / friction if friction > most else 1.0  # friction inside its disc keeps the matrix regular
    q00, q01 = (most - share * f0 * u0) / length, -share * f0 * u1 / length
    q10, q11 = -share * f1 * u0 / length, (most - share * f1 * u1) / length
    own = 1.0 - rho * creeps
    return (
        1.0 - own * q00, -own * q01, -own * q10, 1.0 - own * q11,
        rho * q00, rho * q01, rho * q10, rho * q11,
        u0, u1, f0 - most * u0, f1 - most * u1,
    )  # fmt: skip


@kernel
def on_rim(
    corners: Array, z0: float, z1: float, radius: float, wall: int
) -> tuple[float, float, float, float, bool]:
    """The point of a friction polygon, or of one edge (``wall`` >= 0), next to z; the direction of the edge
    on which it lies (zero at a corner); whether z is inside."""
    count, inside, nearest = corners.shape[0], wall < 0, math.inf
    p0, p1, d0, d1 = 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        if wall >= 0 and j != wall:
            continue
        following = j + 1 if j + 1 < count else 0
        x0, x1 = -radius * corners[j, 0], -radius * corners[j, 1]
        e0, e1 = corners[j, 0] - corners[following, 0], corners[j, 1] - corners[following, 1]
        edge = math.sqrt(e0 * e0 + e1 * e1)
        e0, e1 = e0 / edge, e1 / edge
        inside = inside and e0 * (z1 - x1) - e1 * (z0 - x0) >= 0.0
        along = e0 * (z0 - x0) + e1 * (z1 - x1)
        kept = min(max(along, 0.0), radius * edge)
        w0, w1 = x0 + kept * e0, x1 + kept * e1
        square = (z0 - w0) ** 2 + (z1 - w1) ** 2
        if square < nearest:
            nearest, p0, p1, d0, d1 = square, w0, w1, 0.0, 0.0
            if kept == along:
                d0, d1 = e0, e1
    return p0, p1, d0, d1, inside


@kernel
def quick_newton(
    work: SpaceWork, m: int, corners: Corners, of: int, h: float, eps: float, rates: bool
) -> float:
    """Newton's method on `project` from the rates in row ``of``: the largest residual."""
    stiff, marks, worst = work.stiff, work.marks, math.inf
    size = list_wanted(work, m)
    for turn in range(QUICK + 1):
        worst = project(work, m, corners, of, h, eps, rates)
        if not worst > CLOSED or turn == QUICK or not worst < math.inf:
            break
        if not eliminate(work, size):
            return math.inf
        substitute(work, size)
        for q in range(size):
            stiff[of, marks[WHOSE, q]] += stiff[NEWTON, q]
        for a in range(m):
            if marks[ROLE, marks[LIST, a]] == HELD:
                stiff[of, 3 * a] = max(stiff[of, 3 * a], 0.0)
    return worst


@apart
def solve(work: SpaceWork, m: int, corners: Corners, of: int, h: float, eps: float, rates: bool) -> float:
    """Rates of an implicit step of length h from BASE, from those in row ``of`` or from nothing: residual."""
    stiff, marks = work.stiff, work.marks
    worst = quick_newton(work, m, corners, of, h, eps, rates)
    if worst <= NEARLY_CLOSED or corners is not None or (rates and m > FEW):
        return worst  # other roles are drawn where there are no rates
    for a in range(m):
        if marks[ROLE, marks[LIST, a]] == HELD:
            stiff[of, 3 * a] = 0.5
        stiff[of, 3 * a + 1] = stiff[of, 3 * a + 2] = 0.0
    misses(work, m, of, h, 1.0, rates)
    smooth = eps
    for a in range(m):
        smooth = max(smooth, max(abs(stiff[SPEED, 3 * a + 1]), abs(stiff[SPEED, 3 * a + 2])))
    while smooth > eps:
        newton(work, m, of, h, smooth, rates, COLD)
        smooth *= FALLS
    return newton(work, m, of, h, eps, rates, LAST)


@kernel
def find_rates(work: SpaceWork, m: int, corners: Corners) -> bool:
    """RATE of the contacts in LIST where sweeps do not end; whether there are any."""
    stiff, values, marks = work.stiff, work.values, work.marks
    gather(work, m)
    for a in range(m):
        for part in range(3):
            stiff[BASE, 3 * a + part] = 0.0
            stiff[STAGE1, 3 * a + part] = values[RATE, 3 * marks[LIST, a] + part]
    for a in range(m):  # what is given of driven contacts that slide stays; the others are found
        i = marks[LIST, a]
        if marks[ROLE, i] == DRIVEN:
            stiff[STAGE1, 3 * a] = values[WEIGHT, i]
    keep_in_cones(work, m, STAGE1)
    if not solve(work, m, corners, STAGE1, 1.0, FINEST, True) <= NEARLY_CLOSED:
        return False
    for a in range(m):
        i, at = marks[LIST, a], 3 * a
        # of two numbers with product zero the smaller is rounding
        idle = marks[ROLE, i] == HELD and stiff[STAGE1, at] <= stiff[SPEED, at] / stiff[STIFF_ROWS + at, at]
        for part in range(3):
            values[RATE, 3 * i + part] = 0.0 if idle else stiff[STAGE1, at + part]
    return True
