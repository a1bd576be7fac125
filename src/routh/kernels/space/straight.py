"""Straight pieces of a path in space: which way contacts slip, and how far it is to the next event."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.space.workspace import (
    FREE,
    HELD,
    NO_FRICTION,
    SLIDE,
    WALL,
    ZERO,
    Corners,
    SpaceWork,
)

TOGETHER = 1e-12  # lengths that differ by less than this share of them are one
NOTHING = 1e-11  # velocities below this share of the speed are rounding of some dozens of pieces
STILL = 1e-10  # slip rates below this share of the largest rate are the sweeps' rounding
# of the driven contacts' impulse in a piece: rounding alone moves what meets an event later, where contacts
# that face each other (a limb between two others, both limits of a joint) push for ever
LONGEST = 1e6
ROUNDED = 1e-3  # of that: normal rates, and pushes of held contacts, that are rounding


@kernel
def best_corner(corners: Array, t0: float, t1: float) -> int:
    """The corner of the polygon farthest along t."""
    best, most = 0, -math.inf
    for j in range(corners.shape[0]):
        along = corners[j, 0] * t0 + corners[j, 1] * t1
        if along > most:
            best, most = j, along
    return best


@kernel
def tied_wall(corners: Array, j: int, t0: float, t1: float, tolerance: float) -> int:
    """The first corner of the wall on which t lies if it lies beside corner j's sector; -1: on none."""
    count = corners.shape[0]
    before, following = (j - 1 if j > 0 else count - 1), (j + 1 if j + 1 < count else 0)
    if (corners[j, 0] - corners[following, 0]) * t0 + (
        corners[j, 1] - corners[following, 1]
    ) * t1 <= tolerance:
        return j
    if (corners[j, 0] - corners[before, 0]) * t0 + (corners[j, 1] - corners[before, 1]) * t1 <= tolerance:
        return before
    return -1


@kernel
def wall_ray(corners: Array, j: int) -> tuple[float, float]:
    """The direction of slip for which corners j and j + 1 are as good as each other."""
    following = j + 1 if j + 1 < corners.shape[0] else 0
    w0, w1 = corners[j, 0] + corners[following, 0], corners[j, 1] + corners[following, 1]
    length = math.sqrt(w0 * w0 + w1 * w1)
    return w0 / length, w1 / length


@kernel
def classify(work: SpaceWork, nc: int, corners: Corners) -> None:
    """`slip`, `corner` and slip directions of every contact from `now`, where rounding becomes zero."""
    # reads mu, now, role, slip; writes now, slide0, slide1, slip; hands on work
    for i in range(nc):
        at = 3 * i
        if abs(work.now[at]) <= NOTHING:
            work.now[at] = 0.0
        t0, t1 = work.now[at + 1], work.now[at + 2]
        length = math.sqrt(t0 * t0 + t1 * t1)
        if length <= NOTHING:
            work.now[at + 1] = work.now[at + 2] = 0.0
            work.slip[i] = ZERO if work.mu[i] > 0.0 else NO_FRICTION
            continue
        work.slip[i] = SLIDE if work.mu[i] > 0.0 else NO_FRICTION
        if corners is None:
            work.slide0[i], work.slide1[i] = t0 / length, t1 / length
        elif work.slip[i] == SLIDE and work.role[i] != FREE:
            choose_corner(work, corners, i)


@kernel
def choose_corner(work: SpaceWork, corners: Array, i: int) -> None:
    """The corner of the polygon against which contact i slides, or the wall on which its slip lies."""
    # reads now; writes corner, now, slide0, slide1, slip
    at = 3 * i
    t0, t1 = work.now[at + 1], work.now[at + 2]
    j = best_corner(corners, t0, t1)
    wall = tied_wall(corners, j, t0, t1, NOTHING)
    work.corner[i] = j
    work.slide0[i], work.slide1[i] = corners[j, 0], corners[j, 1]
    other = corners.shape[0] - 1 if j == 0 else j - 1
    beside = (corners[j, 0] - corners[other, 0]) * t0 + (corners[j, 1] - corners[other, 1]) * t1
    if wall == j and beside <= NOTHING:  # on both walls of its sector: too small to have a direction
        work.now[at + 1] = work.now[at + 2] = 0.0
        work.slip[i] = ZERO
    elif wall >= 0:
        work.slip[i], work.corner[i] = WALL, wall
        along_wall(work.now, at, corners, wall)


@kernel
def largest_rate(work: SpaceWork, nc: int) -> float:
    """The largest rate: the unit of rounding in slip rates."""
    # reads rate
    size = 0.0
    for row in range(3 * nc):
        size = max(size, abs(work.rate[row]))
    return size


@kernel
def settle(work: SpaceWork, nc: int, corners: Corners, still: float) -> None:
    """`moves` of the contacts that push, and `change` made exact where they stick or follow a wall.

    `moves` is ZERO (sticks), WALL (follows the wall `corner`) or SLIDE (in the sector `corner`, or along the
    direction of slip with the disc). ``still``: slip rates below are rounding.
    """
    # reads change, rate, role, slip; writes change, moves, slide0, slide1; hands on work
    for i in range(nc):
        at = 3 * i
        work.moves[i] = work.slip[i]
        # what others push without moving has a rate of rounding, too: they jam, or face each other
        if (work.role[i] == HELD and work.rate[at] > 0.0) or abs(work.change[at]) <= ROUNDED * still:
            work.change[at] = 0.0
        if work.role[i] == FREE or work.slip[i] == NO_FRICTION or work.slip[i] == SLIDE:
            continue
        d0, d1 = work.change[at + 1], work.change[at + 2]
        length = math.sqrt(d0 * d0 + d1 * d1)
        if work.slip[i] == ZERO and length <= still:
            work.change[at + 1] = work.change[at + 2] = 0.0
        elif corners is None:  # along friction: a slow slip rate is what is left of larger terms
            f0, f1 = work.rate[at + 1], work.rate[at + 2]
            friction = math.sqrt(f0 * f0 + f1 * f1)
            if friction > 0.0:
                d0, d1, length = -f0, -f1, friction
            work.moves[i] = SLIDE
            work.slide0[i], work.slide1[i] = d0 / length, d1 / length
        else:
            settle_on_polygon(work, corners, i, still)


@kernel
def settle_on_polygon(work: SpaceWork, corners: Array, i: int, still: float) -> None:
    """`moves` and `corner` of a contact whose slip begins, or lies on a wall."""
    # reads change, corner, slip; writes change, corner, moves
    at = 3 * i
    d0, d1 = work.change[at + 1], work.change[at + 2]
    work.moves[i] = SLIDE
    if work.slip[i] == ZERO:
        j = best_corner(corners, d0, d1)
        wall = tied_wall(corners, j, d0, d1, still)
        work.corner[i] = j
        if wall >= 0:
            work.moves[i], work.corner[i] = WALL, wall
            along_wall(work.change, at, corners, wall)
        return
    wall = work.corner[i]
    following = wall + 1 if wall + 1 < corners.shape[0] else 0
    across = (corners[wall, 0] - corners[following, 0]) * d0
    across += (corners[wall, 1] - corners[following, 1]) * d1
    if abs(across) <= still:
        work.moves[i] = WALL
        along_wall(work.change, at, corners, wall)
    elif across < 0.0:
        work.corner[i] = following


@kernel
def along_wall(of: Array, at: int, corners: Array, wall: int) -> None:
    """Keep of the slips, or slip rates, ``of`` (n,) of the contact from ``at`` on what lies along a wall."""
    w0, w1 = wall_ray(corners, wall)
    along = w0 * of[at + 1] + w1 * of[at + 2]
    of[at + 1], of[at + 2] = along * w0, along * w1


@kernel
def normal_length(work: SpaceWork, nc: int) -> tuple[float, int]:
    """Length until a normal velocity reaches zero, and whose."""
    # reads change, now
    least, who = math.inf, -1
    for i in range(nc):
        y, rate = work.now[3 * i], work.change[3 * i]
        if y * rate < 0.0 and -y / rate < least:
            least, who = -y / rate, i
    return least, who


@kernel
def wall_length(work: SpaceWork, nc: int, corners: Array) -> tuple[float, int, float, float]:
    """Length until the slip of a pushing contact meets a wall of its polygon, or vanishes.

    And whose slip, and a normal of that wall; of those that meet theirs together the first.
    """
    # reads change, corner, moves, now, role
    least, who, n0, n1, count = math.inf, -1, 0.0, 0.0, corners.shape[0]
    for i in range(nc):
        at, j, on_wall = 3 * i, work.corner[i], work.moves[i] == WALL
        if work.role[i] == FREE or work.moves[i] == NO_FRICTION or work.moves[i] == ZERO:
            continue
        for other in ((j + 1) % count, (j + count - 1) % count):
            a0, a1 = corners[j, 0] - corners[other, 0], corners[j, 1] - corners[other, 1]
            if on_wall:
                a0, a1 = wall_ray(corners, j)
            gap = a0 * work.now[at + 1] + a1 * work.now[at + 2]
            rate = a0 * work.change[at + 1] + a1 * work.change[at + 2]
            if gap > (0.0 if on_wall else NOTHING) and rate < 0.0:
                if -gap / rate < (1.0 - TOGETHER) * least:
                    who, n0, n1 = i, a0, a1
                least = min(least, -gap / rate)
    return least, who, n0, n1
