"""Power series of the steps of `routh.kernels.space_several`, as `routh.kernels.space_series` finds them."""

from __future__ import annotations

import math

from routh.compiling import kernel, written_out
from routh.kernels.space_crew import (
    EQUATIONS,
    INVERSE,
    MU,
    NOTES,
    PUSH,
    ROWS,
    WEIGHT,
    Crew,
    L,
    Pushing,
    R,
    S,
    SeveralWork,
    T,
    U,
    W,
    any_of,
    own_of,
    pushed,
    show,
    wait,
)
from routh.kernels.space_equations import invert, unknown_value
from routh.kernels.space_lone import Powers
from routh.kernels.space_names import ORDER, RIGHT
from routh.kernels.space_powers import ENOUGH


@written_out
def share_equations(work: SeveralWork, by: Pushing, crew: Crew) -> None:
    """The equations of the normal rates of contacts that are held, see `fill_matrix`, onto the board."""
    notes, numbers, column, size = work.notes, work.numbers, crew.column, by.m - by.held
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < by.m:
            friction = -numbers[MU, o]
            notes[NOTES * a, column] = friction * work.powers[0, ROWS * o + U]
            notes[NOTES * a + 1, column] = friction * work.powers[0, ROWS * o + W]
    wait()
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        for b in range(by.m):
            if by.held <= a < by.m and b >= by.held:
                work.equations[(a - by.held) * size + b - by.held, column] = (
                    work.gram[3 * o, 3 * b, crew.thread]
                    + work.gram[3 * o, 3 * b + 1, crew.thread] * notes[NOTES * b, column]
                    + work.gram[3 * o, 3 * b + 2, crew.thread] * notes[NOTES * b + 1, column]
                )
    wait()


@kernel
def invert_held(work: SeveralWork, by: Pushing, crew: Crew) -> None:
    """The inverse of those equations, in each thread."""
    values, size = work.values, by.m - by.held
    for e in range(size):
        for f in range(size):
            values[EQUATIONS + e, f] = work.equations[e * size + f, crew.column]
            values[EQUATIONS + by.m + e, f] = 1.0 if e == f else 0.0
    invert(work, EQUATIONS, by.m, size)


@written_out
def known_rates(work: SeveralWork, by: Pushing, crew: Crew, k: int) -> None:
    """PUSH: power k of the rates as far as lower powers say, see `routh.kernels.space_series.known_rates`."""
    powers, numbers, pace, column = work.powers, work.numbers, work.pace, crew.column
    for o in range(own_of(work)):
        a, at = crew.first + crew.apart * o, ROWS * o
        if a < by.m:
            f0, f1, weight = 0.0, 0.0, numbers[WEIGHT, o]
            if by.clock >= 0 or by.held < by.m:
                for j in range(ORDER):
                    if j <= k:
                        rate = pace[column, j]
                        if a >= by.held:
                            rate = work.series[j, 3 * o, crew.thread] if j < k else 0.0
                        f0 += rate * powers[k - j, at + U]
                        f1 += rate * powers[k - j, at + W]
            if a >= by.held:
                weight = 0.0
            elif a == by.clock:
                f0, f1 = weight * powers[k, at + T], weight * powers[k, at + R]
            elif by.clock >= 0:
                f0, f1 = weight * f0, weight * f1
            else:
                f0, f1 = weight * powers[k, at + U], weight * powers[k, at + W]
            numbers[PUSH, 3 * o] = weight * pace[column, k]
            numbers[PUSH, 3 * o + 1], numbers[PUSH, 3 * o + 2] = -numbers[MU, o] * f0, -numbers[MU, o] * f1


@written_out
def set_pace(work: SeveralWork, by: Pushing, crew: Crew, k: int) -> None:
    """The size of the slip that is the measure of the step; 1 where the length of the path is."""
    if by.clock < 0 and crew.first == 0:
        work.pace[crew.column, k] = 1.0 if k == 0 else 0.0
    for o in range(own_of(work)):
        if crew.first + crew.apart * o == by.clock:
            work.pace[crew.column, k] = work.powers[k, ROWS * o + S]


@written_out
def add_held(work: SeveralWork, by: Pushing, crew: Crew) -> None:
    """PUSH of contacts that are held: what they must push with for their normal velocities to stay."""
    numbers, powers, notes, column = work.numbers, work.powers, work.notes, crew.column
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if by.held <= a < by.m:
            notes[a - by.held, column] = 0.0 - pushed(work, crew, 3 * o, by.m)
    wait()
    for o in range(own_of(work)):
        a, at = crew.first + crew.apart * o, ROWS * o
        if by.held <= a < by.m:
            for f in range(by.m):
                if f < by.m - by.held:
                    work.values[RIGHT, f] = notes[f, column]
            z, friction = unknown_value(work, by.m - by.held, a - by.held), -numbers[MU, o]
            numbers[PUSH, 3 * o] += z
            numbers[PUSH, 3 * o + 1] += z * (friction * powers[0, at + U])
            numbers[PUSH, 3 * o + 2] += z * (friction * powers[0, at + W])


@written_out
def rates(work: SeveralWork, by: Pushing, crew: Crew, k: int) -> None:
    """PUSH: power k of the rates."""
    known_rates(work, by, crew, k)
    if any_of(by.held < by.m):
        show(work, crew, by.m, PUSH)
        add_held(work, by, crew)


@written_out
def add_power(work: SeveralWork, crew: Crew, m: int, k: int, pace: float) -> None:
    """PUSH: power k + 1 of the impulses, from power k of the rates, which become so many times as large."""
    share = 1.0 / (k + 1)
    for o in range(own_of(work)):
        for part in range(3):
            rate = work.numbers[PUSH, 3 * o + part] * pace
            work.series[k, 3 * o + part, crew.thread], work.numbers[PUSH, 3 * o + part] = rate, share * rate
    show(work, crew, m, PUSH)


@written_out
def slips(work: SeveralWork, crew: Crew, m: int, k: int) -> None:
    """Power k > 0 of the slips from that of the impulses, see `routh.kernels.space_series.slip`."""
    powers, numbers = work.powers, work.numbers
    for o in range(own_of(work)):
        a, at = crew.first + crew.apart * o, ROWS * o
        if a < m:
            t = pushed(work, crew, 3 * o + 1, m)
            r = pushed(work, crew, 3 * o + 2, m)
            half, grown, inverse = 0.0, 0.0, numbers[INVERSE, o]
            if k % 2 == 0:
                x, y, s = powers[k // 2, at + T], powers[k // 2, at + R], powers[k // 2, at + S]
                half, grown = 0.5 * (x * x + y * y), 0.5 * s * s
            for j in range(ORDER // 2, 0, -1):
                if 2 * j < k:
                    half += (
                        powers[j, at + T] * powers[k - j, at + T] + powers[j, at + R] * powers[k - j, at + R]
                    )
                    grown += powers[j, at + S] * powers[k - j, at + S]
            size = inverse * (half - grown + (powers[0, at + T] * t + powers[0, at + R] * r))
            powers[k, at + T], powers[k, at + R], powers[k, at + S] = t, r, size
            for j in range(1, ORDER + 1):
                if j <= k:
                    t -= powers[j, at + S] * powers[k - j, at + U]
                    r -= powers[j, at + S] * powers[k - j, at + W]
            powers[k, at + U], powers[k, at + W] = inverse * t, inverse * r


@written_out
def note_energy(work: SeveralWork, crew: Crew, m: int, k: int) -> None:
    """What `energy` sums, of PUSH, after `slips`."""
    notes, numbers, powers, column = work.notes, work.numbers, work.powers, crew.column
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < m:
            normal = pushed(work, crew, 3 * o, m)
            notes[NOTES * a, column] = numbers[PUSH, 3 * o] * normal
            notes[NOTES * a + 1, column] = numbers[PUSH, 3 * o + 1] * powers[k, ROWS * o + T]
            notes[NOTES * a + 2, column] = numbers[PUSH, 3 * o + 2] * powers[k, ROWS * o + R]


@written_out
def energy(work: SeveralWork, crew: Crew, m: int) -> float:
    """See `routh.kernels.space_powers.energy_norm`."""
    total = 0.0
    for a in range(m):
        for part in range(3):
            total += work.notes[NOTES * a + part, crew.column]
    return math.sqrt(max(total, 0.0)) if total == total else math.inf


@written_out
def series_of_several(work: SeveralWork, by: Pushing, crew: Crew, reach: float, allowed: float) -> Powers:
    """See `routh.kernels.space_series.fill_series`; the first power of the rates is there, by length."""
    power, last, second, degree = 1.0, 0.0, 0.0, 0
    for k in range(ORDER):
        if k > 0:
            rates(work, by, crew, k)
        add_power(work, crew, by.m, k, work.pace[crew.column, 0] if k == 0 else 1.0)
        slips(work, crew, by.m, k + 1)
        set_pace(work, by, crew, k + 1)
        if k + 2 >= ENOUGH:
            note_energy(work, crew, by.m, k + 1)
        wait()
        if k + 2 >= ENOUGH and degree == 0:  # as `routh.kernels.space_powers.are_enough` asks
            second, last = last, energy(work, crew, by.m)
            enough = last * power * reach <= allowed and second * power <= allowed
            if enough and k % 2 == 1 and k + 1 < ORDER and power * reach < math.inf:
                degree = k + 1
        power *= reach
    return (degree if degree > 0 else ORDER), last, second


@written_out
def held_by_length(work: SeveralWork, by: Pushing, crew: Crew) -> None:
    """Normal rates of contacts that are held, by length: see `routh.kernels.space_series.by_length`."""
    powers, pace, column = work.powers, work.pace, crew.column
    inverse = 1.0 / pace[column, 0]
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if by.held <= a < by.m:
            for k in range(ORDER):
                x = work.series[k, 3 * o, crew.thread]
                if by.clock >= 0:
                    for j in range(1, ORDER):
                        if j <= k:
                            x -= pace[column, j] * powers[k - j, ROWS * o + L]
                    x = inverse * x
                powers[k, ROWS * o + L] = x
