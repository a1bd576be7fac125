"""How many powers of a curve's series are needed, and how exact they are."""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.space.advance import effects
from routh.kernels.space.equations import FIRST
from routh.kernels.space.workspace import (
    ALONG,
    CHANNELS,
    CUT,
    GLOBAL,
    GRAM,
    HELD,
    LIST,
    ORDER,
    POINT,
    PUSH0,
    RATE0,
    RATE1,
    RATE2,
    ROLE,
    SIZE,
    WORKED,
    Books,
    C,
    SpaceWork,
)

ENOUGH = 6  # powers after which, and after every two further ones, it is looked whether they are enough
FARTHER = 1.25  # by how much the next event may be farther than the first rates say
NEAREST = 1e-9  # what is left of a stage that is cut may be zero by rounding


@kernel
def rate_of(work: SpaceWork, m: int, k: int, row: int) -> float:
    """Power k of the rate of contact coordinate ``row``."""
    values, series, g = work.values, work.series, GRAM + row
    value = 0.0
    for a in range(m):
        i = work.marks[LIST, a]
        at, first = 3 * i, CHANNELS * i
        value += (
            values[g, at] * series[first + RATE0, k]
            + values[g, at + 1] * series[first + RATE1, k]
            + values[g, at + 2] * series[first + RATE2, k]
        )
    return value


@kernel
def distance_ahead(work: SpaceWork, nc: int, m: int) -> float:
    """Length of the path to the next zero of a normal velocity, or to the cut, by the step's first rates."""
    values, marks = work.values, work.marks
    least = values[GLOBAL, CUT]
    for i in range(nc):
        y = values[C, 3 * i]
        if y != 0.0 and marks[ROLE, i] != HELD:
            rate = rate_of(work, m, FIRST, 3 * i)
            if y * rate < 0.0:
                least = min(least, -y / rate)
    return least


@kernel
def by_clock(length: float, slip: float, along: float) -> float:
    """A length of the path in the measure of a slip that grows at a rate: by that, exponentially."""
    if not length < math.inf:
        return length
    grown = length * along / slip
    if grown <= -1.0:
        return math.inf
    return length / slip if abs(grown) < 1e-3 else math.log1p(grown) / along


@kernel
def event_ahead(work: SpaceWork, nc: int, m: int, clock: int) -> float:
    """How far in the step's own measure the next event may be: how far its powers must be good."""
    series = work.series
    least = max(FARTHER * distance_ahead(work, nc, m), NEAREST)
    if clock >= 0:
        least = by_clock(least, series[CHANNELS * clock + SIZE, 0], series[CHANNELS * clock + ALONG, 0])
    return least


@kernel
def energy_norm(work: SpaceWork, m: int, of: int) -> float:
    """``sqrt(p^T G p)``: what an impulse changes the velocity by, as a share of the speed before."""
    total = 0.0
    for a in range(m):
        i = work.marks[LIST, a]
        x, y, z = effects(work, m, of, i)
        total += work.values[of, 3 * i] * x
        total += work.values[of, 3 * i + 1] * y
        total += work.values[of, 3 * i + 2] * z
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@kernel
def size_of_power(work: SpaceWork, m: int, books: Books, k: int) -> float:
    """Energy norm of power k of the impulses, and the largest of the work: its error if it is the last."""
    values, series = work.values, work.series
    worst = 0.0
    for a in range(m):
        i = work.marks[LIST, a]
        for part in range(3):
            values[POINT, 3 * i + part] = series[CHANNELS * i + PUSH0 + part, k]
        if books is not None:
            worst = max(worst, abs(series[CHANNELS * i + WORKED, k]))
    return energy_norm(work, m, POINT) + worst


@kernel
def are_enough(
    work: SpaceWork, m: int, books: Books, k: int, power: float, reach: float, allowed: float
) -> bool:
    """Whether k powers, fewer than all, are as exact up to ``reach`` as the error allows.

    ``power`` is that of reach to k - 1.
    """
    if k < ENOUGH or k % 2 == 1 or k == ORDER or not power * reach < math.inf:
        return False
    for back in range(2):  # one place of call: the GPU's compiler copies what is called
        if not size_of_power(work, m, books, k - back) * power * (reach if back == 0 else 1.0) <= allowed:
            return False
    return True


@kernel
def longest_step(degree: int, last: float, second: float, allowed: float) -> float:
    """`step_length` for sizes of the last two powers."""
    longest = math.log(allowed / max(last, 1e-200)) / degree
    return math.exp(min(longest, math.log(allowed / max(second, 1e-200)) / (degree - 1)))


@kernel
def step_length(work: SpaceWork, m: int, books: Books, degree: int, last: float, allowed: float) -> float:
    """How far the powers up to ``degree``, whose size is ``last``, are as exact as the error allows."""
    return longest_step(degree, last, size_of_power(work, m, books, degree - 1), allowed)
