"""A step along the curve of several contacts that all slide, driven or held.

What `routh.kernels.space_curve.step_curve` does, to the bit; what is seldom, such as a slip that begins
or ends, is left to that. Contacts that push count from 0, those held last. A crew of threads takes it, see
`space_crew`. As in `space_lone` loops are as long as they can be, to be written out by a GPU's compiler.
"""

from __future__ import annotations

import math

from routh.compiling import kernel, written_out
from routh.kernels.space_crew import (
    D0,
    D1,
    INVERSE,
    MU,
    NOTES,
    PUSH,
    ROWS,
    TRY,
    WEIGHT,
    Crew,
    Pushing,
    R,
    S,
    SeveralWork,
    T,
    U,
    W,
    any_of,
    least_for_all,
    least_of,
    normal_effect,
    own_of,
    pushed,
    show,
    wait,
)
from routh.kernels.space_curve import LOCAL, TAIL
from routh.kernels.space_lone import BEFORE, slip_ends, step_end
from routh.kernels.space_names import (
    CUT,
    GO_ON,
    HELD,
    LET_GO,
    MAY_END,
    NORMAL_ZERO,
)
from routh.kernels.space_powers import FARTHER, NEAREST, by_clock
from routh.kernels.space_series import CLOCKED
from routh.kernels.space_several_events import clear_length, event_of_several, is_clear
from routh.kernels.space_several_series import (
    held_by_length,
    invert_held,
    rates,
    series_of_several,
    set_pace,
    share_equations,
)
from routh.kernels.space_state import (
    LEFT,
    TOTALS,
    Column,
    friction_of,
    global_row,
    let_go,
    move_row,
    pusher,
    role,
    step_taken,
    weight_of,
)


@written_out
def gather(of: Column, work: SeveralWork, crew: Crew, m: int) -> bool:
    """Fill the scratch; whether all slips of this thread's contacts have a direction."""
    powers, numbers, who, slide = work.powers, work.numbers, work.who, True
    for b in range(m):
        who[b] = pusher(of, b)
    for o in range(own_of(work)):
        a, at = crew.first + crew.apart * o, ROWS * o
        if a < m:
            i = pusher(of, a)
            numbers[MU, o], numbers[WEIGHT, o] = friction_of(of, i), weight_of(of, i)
            t0, t1 = of.states[3 * i + 1, of.slot], of.states[3 * i + 2, of.slot]
            length = math.sqrt(t0 * t0 + t1 * t1)
            slide = slide and length > 0.0
            length = length if length > 0.0 else 1.0  # the others go on, and it with them
            powers[0, at + T], powers[0, at + R], powers[0, at + S] = t0, t1, length
            powers[0, at + U], powers[0, at + W] = t0 / length, t1 / length
            numbers[INVERSE, o] = 1.0 / length
            for part in range(3):
                for b in range(m):
                    for other in range(3):
                        work.gram[3 * o + part, 3 * b + other, crew.thread] = of.G[
                            of.row, 3 * i + part, 3 * who[b] + other
                        ]
    for q in range(work.points.shape[1]):
        j = crew.first + crew.apart * q
        if j < of.nc:
            work.points[BEFORE, q] = of.states[3 * j, of.slot]
            for b in range(m):
                for part in range(3):
                    work.normals[q, 3 * b + part] = of.G[of.row, 3 * who[b] + part, 3 * j]
    return slide


@written_out
def note_slips(of: Column, work: SeveralWork, crew: Crew, m: int) -> None:
    """D0, D1: slip rates; notes: slips, their rates, along themselves, and by themselves.

    And how far the next zero of a normal velocity is, see `distance_ahead`; rates are on the board.
    """
    notes, numbers, powers, column = work.notes, work.numbers, work.powers, crew.column
    for o in range(own_of(work)):
        a, at = crew.first + crew.apart * o, ROWS * o
        if a < m:
            d0, d1 = pushed(work, crew, 3 * o + 1, m), pushed(work, crew, 3 * o + 2, m)
            rate = d0**2 + d1**2
            numbers[D0, o], numbers[D1, o] = d0, d1
            notes[NOTES * a, column], notes[NOTES * a + 1, column] = powers[0, at + S], rate
            notes[NOTES * a + 2, column] = powers[0, at + U] * d0 + powers[0, at + W] * d1
            notes[NOTES * a + 3, column] = math.sqrt(rate) / powers[0, at + S]
    distance = math.inf
    for q in range(work.points.shape[1]):
        j = crew.first + crew.apart * q
        if j < of.nc:
            y = work.points[BEFORE, q]
            if y != 0.0 and role(of, j) != HELD:
                rate = normal_effect(work, crew, q, m)
                if y * rate < 0.0:
                    distance = min(distance, -y / rate)
    work.nearest[crew.first, column] = distance
    wait()


@written_out
def a_slip_ends(work: SeveralWork, crew: Crew, m: int, distance: float, allowed: float) -> bool:
    """Whether one of this thread goes straight on to its end, see `slip_ends`."""
    powers, numbers, gram, ends = work.powers, work.numbers, work.gram, False
    for o in range(own_of(work)):
        a, at, turning = crew.first + crew.apart * o, ROWS * o, 1.0
        if a < m:
            g11, g12, g22 = 0.0, 0.0, 0.0
            for b in range(m):
                if b != a:
                    turning = max(turning, work.notes[NOTES * b + 3, crew.column])
                else:
                    g11 = gram[3 * o + 1, 3 * b + 1, crew.thread]
                    g12 = gram[3 * o + 1, 3 * b + 2, crew.thread]
                    g22 = gram[3 * o + 2, 3 * b + 2, crew.thread]
            u, d = (powers[0, at + U], powers[0, at + W]), (numbers[D0, o], numbers[D1, o])
            push = numbers[MU, o] * numbers[PUSH, 3 * o]
            if slip_ends((g11, g12, g22), push, powers[0, at + S], u, d, turning, distance, allowed)[0]:
                ends = True
    return ends


@written_out
def find_clock(work: SeveralWork, crew: Crew, m: int) -> tuple[int, float, float]:
    """See `routh.kernels.space_series.find_clock`, after `note_slips`. The least slip, at most 1.

    And how quickly the slip that is the clock grows.
    """
    notes, column, clock, least, slowest, along = work.notes, crew.column, -1, CLOCKED * CLOCKED, 1.0, 0.0
    for a in range(m):
        length, rate = notes[NOTES * a, column], notes[NOTES * a + 1, column]
        slowest = min(slowest, length)
        if length**2 < least * rate:
            clock, least, along = a, length**2 / rate, notes[NOTES * a + 2, column]
    return clock, slowest, along


@written_out
def add_impulses(of: Column, work: SeveralWork, crew: Crew, m: int, event: int) -> None:
    """Velocities after the impulses TRY, and those in all; ``event``: whose normal velocity is zero then.

    All is read before anything is written, as in `routh.kernels.space_lone.add_impulse`.
    """
    states, slot, push, column, after = of.states, of.slot, work.push, crew.column, work.normals
    for q in range(work.points.shape[1]):
        j = crew.first + crew.apart * q
        if j < of.nc:
            change = normal_effect(work, crew, q, m)
            y = work.points[BEFORE, q] if role(of, j) == HELD else work.points[BEFORE, q] + change
            x, z, g, h = 0.0, 0.0, 3 * j + 1, 3 * j + 2
            for b in range(m):
                at = 3 * work.who[b]
                p0, p1, p2 = push[3 * b, column], push[3 * b + 1, column], push[3 * b + 2, column]
                x += of.G[of.row, at, g] * p0 + of.G[of.row, at + 1, g] * p1 + of.G[of.row, at + 2, g] * p2
                z += of.G[of.row, at, h] * p0 + of.G[of.row, at + 1, h] * p1 + of.G[of.row, at + 2, h] * p2
            after[q, 0] = 0.0 if j == event else y
            after[q, 1], after[q, 2] = states[g, slot] + x, states[h, slot] + z
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < m:
            for part in range(3):
                total = states[TOTALS * of.nc + 3 * pusher(of, a) + part, slot]
                work.numbers[PUSH, 3 * o + part] = total + work.numbers[TRY, 3 * o + part]
    for q in range(work.points.shape[1]):
        j = crew.first + crew.apart * q
        if j < of.nc:
            for part in range(3):
                states[3 * j + part, slot] = after[q, part]
    for o in range(own_of(work)):
        a = crew.first + crew.apart * o
        if a < m:
            for part in range(3):
                states[TOTALS * of.nc + 3 * pusher(of, a) + part, slot] = work.numbers[PUSH, 3 * o + part]


@kernel
def several_step(of: Column, work: SeveralWork, crew: Crew, m: int, going: bool) -> int:
    """One step: what comes next, CURVES, RATES or DRAWS; LEFT: nothing has changed. m: how many push.

    Unless ``going`` nothing changes, and what is returned says nothing.
    """
    numbers, allowed = work.numbers, LOCAL * of.tolerance
    usual = gather(of, work, crew, m)
    held = m
    for a in range(m - 1, -1, -1):
        if held == a + 1 and role(of, work.who[a]) == HELD:
            held = a
    by = Pushing(m, held, -1)
    set_pace(work, by, crew, 0)
    wait()
    if any_of(held < m):
        share_equations(work, by, crew)
        invert_held(work, by, crew)
    rates(work, by, crew, 0)
    show(work, crew, m, PUSH)
    note_slips(of, work, crew, m)
    distance = min(of.states[global_row(of.nc, CUT), of.slot], least_of(work, crew))
    clock, slowest, along = find_clock(work, crew, m)
    if of.states[move_row(of.nc, MAY_END), of.slot] > 0.0:
        usual = usual and not a_slip_ends(work, crew, m, distance, allowed)
    by, reach = Pushing(m, held, clock), max(FARTHER * distance, NEAREST)
    set_pace(work, by, crew, 0)
    wait()
    if clock >= 0:
        reach = by_clock(reach, work.pace[crew.column, 0], along)
    least = min(allowed, math.sqrt(allowed) * slowest)
    degree, last, second = series_of_several(work, by, crew, reach, least)
    if held < m:
        held_by_length(work, by, crew)
    h = step_end(degree, reach, last, second, least)
    clear = is_clear(work, by, crew, h, degree)
    going = least_for_all(work, crew, 1.0 if usual else 0.0) > 0.0 and going
    clear = least_for_all(work, crew, 1.0 if clear else 0.0) > 0.0
    h = clear_length(work, by, crew, h, degree, clear, going)
    moves = going and h > 0.0
    h, kind, who = event_of_several(of, work, by, crew, h, degree, moves)
    if moves:
        add_impulses(of, work, crew, m, who if kind == NORMAL_ZERO else -1)
    wait()
    if moves and crew.first == 0:
        error, spent = TAIL * last * h**degree, numbers[TRY, 0] / numbers[WEIGHT, 0]
        if kind == LET_GO:
            let_go(of, who)
        following = step_taken(of, spent, error, kind == GO_ON, kind == LET_GO)
        work.nearest[0, crew.column] = float(following)
    wait()
    return int(work.nearest[0, crew.column]) if moves else LEFT
