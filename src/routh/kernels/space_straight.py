"""Straight pieces of a path in space: which way contacts slip, and how far it is to the next event."""

from __future__ import annotations

import math
from typing import Any

from routh.compiling import kernel
from routh.kernels.space_names import (
    CHANGE,
    CORNER,
    FREE,
    HELD,
    MOVES,
    NO_FRICTION,
    RATE,
    ROLE,
    SLIDE,
    SLIP,
    WALL,
    ZERO,
    C,
)

NOTHING = 1e-11  # velocities below this share of the speed are rounding of some dozens of pieces
STILL = 1e-10  # slip rates below this share of the largest rate are the sweeps' rounding


@kernel
def best_corner(dirs: Any, t0: float, t1: float) -> int:
    """The corner of the polygon farthest along t."""
    best, most = 0, -math.inf
    for j in range(dirs.shape[0]):
        along = dirs[j, 0] * t0 + dirs[j, 1] * t1
        if along > most:
            best, most = j, along
    return best


@kernel
def tied_wall(dirs: Any, j: int, t0: float, t1: float, tolerance: float) -> int:
    """The first corner of the wall on which t lies if it lies beside corner j's sector; -1: on none."""
    count = dirs.shape[0]
    before, following = (j - 1 if j > 0 else count - 1), (j + 1 if j + 1 < count else 0)
    if (dirs[j, 0] - dirs[following, 0]) * t0 + (dirs[j, 1] - dirs[following, 1]) * t1 <= tolerance:
        return j
    if (dirs[j, 0] - dirs[before, 0]) * t0 + (dirs[j, 1] - dirs[before, 1]) * t1 <= tolerance:
        return before
    return -1


@kernel
def wall_ray(dirs: Any, j: int) -> tuple[float, float]:
    """The direction of slip for which corners j and j + 1 are as good as each other."""
    following = j + 1 if j + 1 < dirs.shape[0] else 0
    w0, w1 = dirs[j, 0] + dirs[following, 0], dirs[j, 1] + dirs[following, 1]
    length = math.sqrt(w0 * w0 + w1 * w1)
    return w0 / length, w1 / length


@kernel
def classify(nc: int, mu: Any, dirs: Any, x: Any, k: Any, slides: Any) -> None:
    """SLIP and CORNER of every contact from C, where rounding becomes zero; ``slides`` against friction."""
    for i in range(nc):
        at = 3 * i
        if abs(x[C, at]) <= NOTHING:
            x[C, at] = 0.0
        t0, t1 = x[C, at + 1], x[C, at + 2]
        length = math.sqrt(t0 * t0 + t1 * t1)
        if length <= NOTHING:
            x[C, at + 1] = x[C, at + 2] = 0.0
            k[SLIP, i] = ZERO if mu[i] > 0.0 else NO_FRICTION
            continue
        if not mu[i] > 0.0:
            k[SLIP, i] = NO_FRICTION
            continue
        k[SLIP, i] = SLIDE
        if dirs.shape[0] == 0:
            slides[0, i], slides[1, i] = t0 / length, t1 / length
            continue
        j = best_corner(dirs, t0, t1)
        wall = tied_wall(dirs, j, t0, t1, NOTHING)
        k[CORNER, i] = j
        slides[0, i], slides[1, i] = dirs[j, 0], dirs[j, 1]
        if wall >= 0:
            k[SLIP, i], k[CORNER, i] = WALL, wall
            w0, w1 = wall_ray(dirs, wall)
            along = w0 * t0 + w1 * t1
            x[C, at + 1], x[C, at + 2] = along * w0, along * w1


@kernel
def largest_rate(nc: int, x: Any) -> float:
    """The largest rate: the unit of rounding in slip rates."""
    size = 0.0
    for row in range(3 * nc):
        size = max(size, abs(x[RATE, row]))
    return size


@kernel
def settle(nc: int, dirs: Any, x: Any, k: Any, slides: Any) -> None:
    """MOVES of the contacts that push, and CHANGE made exact where they stick or follow a wall.

    MOVES is ZERO (sticks), WALL (follows the wall CORNER) or SLIDE (in the sector CORNER, or along
    ``slides`` with the disc).
    """
    still = STILL * largest_rate(nc, x)
    for i in range(nc):
        at = 3 * i
        k[MOVES, i] = k[SLIP, i]
        if k[ROLE, i] == FREE or k[SLIP, i] == NO_FRICTION:
            continue
        if k[ROLE, i] == HELD and x[RATE, at] > 0.0:
            x[CHANGE, at] = 0.0
        d0, d1 = x[CHANGE, at + 1], x[CHANGE, at + 2]
        length = math.sqrt(d0 * d0 + d1 * d1)
        if k[SLIP, i] == ZERO:
            if length <= still:
                x[CHANGE, at + 1] = x[CHANGE, at + 2] = 0.0
                continue
            k[MOVES, i] = SLIDE
            if dirs.shape[0] == 0:
                slides[0, i], slides[1, i] = d0 / length, d1 / length
                continue
            j = best_corner(dirs, d0, d1)
            wall = tied_wall(dirs, j, d0, d1, still)
            k[CORNER, i] = j
            if wall >= 0:
                k[MOVES, i], k[CORNER, i] = WALL, wall
                follow_wall(dirs, x, at, wall)
        elif k[SLIP, i] == WALL:
            wall = k[CORNER, i]
            following = wall + 1 if wall + 1 < dirs.shape[0] else 0
            across = (dirs[wall, 0] - dirs[following, 0]) * d0 + (dirs[wall, 1] - dirs[following, 1]) * d1
            if abs(across) <= still:
                follow_wall(dirs, x, at, wall)
            else:
                k[MOVES, i] = SLIDE
                k[CORNER, i] = wall if across > 0.0 else following


@kernel
def follow_wall(dirs: Any, x: Any, at: int, wall: int) -> None:
    """Slip rates exactly along a wall."""
    w0, w1 = wall_ray(dirs, wall)
    along = w0 * x[CHANGE, at + 1] + w1 * x[CHANGE, at + 2]
    x[CHANGE, at + 1], x[CHANGE, at + 2] = along * w0, along * w1


@kernel
def normal_length(nc: int, x: Any, k: Any) -> tuple[float, int]:
    """Length until a normal velocity reaches zero, and whose."""
    least, who = math.inf, -1
    for i in range(nc):
        y, rate = x[C, 3 * i], x[CHANGE, 3 * i]
        if y * rate < 0.0 and -y / rate < least:
            least, who = -y / rate, i
    return least, who


@kernel
def wall_length(nc: int, dirs: Any, x: Any, k: Any) -> float:
    """Length until the slip of a pushing contact meets a wall of its polygon, or vanishes."""
    least, count = math.inf, dirs.shape[0]
    for i in range(nc):
        at = 3 * i
        if k[ROLE, i] == FREE or k[MOVES, i] == NO_FRICTION or k[MOVES, i] == ZERO:
            continue
        t0, t1, d0, d1 = x[C, at + 1], x[C, at + 2], x[CHANGE, at + 1], x[CHANGE, at + 2]
        j = k[CORNER, i]
        if k[MOVES, i] == WALL:
            w0, w1 = wall_ray(dirs, j)
            gap, rate = w0 * t0 + w1 * t1, w0 * d0 + w1 * d1
            if gap > 0.0 and rate < 0.0:
                least = min(least, -gap / rate)
            continue
        for step in range(2):
            other = (j + 1) % count if step == 0 else (j + count - 1) % count
            a0, a1 = dirs[j, 0] - dirs[other, 0], dirs[j, 1] - dirs[other, 1]
            gap, rate = a0 * t0 + a1 * t1, a0 * d0 + a1 * d1
            if gap > NOTHING and rate < 0.0:
                least = min(least, -gap / rate)
    return least
