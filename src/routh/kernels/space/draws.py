"""What is drawn at an event in space: who pushes at which rate, who is held, and how long it lasts."""

from __future__ import annotations

import math

import numpy as np

from routh.compiling import kernel
from routh.kernels.common.arrays import CUSTOM, EXTREME, UNIFORM
from routh.kernels.common.callback import call_rates
from routh.kernels.common.random import event_number
from routh.kernels.space.advance import effect
from routh.kernels.space.workspace import (
    AIMED_BY,
    BUDGET,
    DRIVEN,
    FREE,
    GLOBAL,
    GRAM,
    HELD,
    KEPT,
    LIST,
    MU,
    RATE,
    ROLE,
    TRY,
    UNIFORMS,
    WEIGHT,
    C,
    Custom,
    SpaceWork,
    named,
)

# numbers of an event's key, by index; three for each contact follow
KEEP, KIND, CUT, CUT_AT, PER_CONTACT = named(5)
EACH = 3

KEEP_CHANCE = 0.1  # weights stay as they were
ALONE, FACE = 0.9, 0.95  # below: one contact alone; below: a random face; else all of them
HOLD, PUSH = 0.3, 0.4  # a contact at zero: held below the first, driven below the second, else left alone
AS_DRAWN, IN_TURN, AIMED, BARE = 0, 1, 2, 3  # phases of a sample, see `draw_roles`
AIMS, FINE_AIMS = 60.0, 1e5  # sweeps for the weights of AIMED at most; where derivatives are wanted
AIMED_AT = 1e-12  # of the largest impulse: what moves less has settled


@kernel
def draw_roles(work: SpaceWork, nc: int, rates: int, custom: Custom, key: np.uint64, phase: int) -> bool:
    """ROLE and WEIGHT of one stage; whether anything is driven.

    AS_DRAWN; IN_TURN: one contact at a time, zeros held; AIMED: all that approach, such that they come to
    rest together, nothing held; BARE: one contact at a time and nothing held.
    """
    values, marks = work.values, work.marks
    sure = 0
    drawn = phase == AS_DRAWN and rates != UNIFORM and rates != CUSTOM
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i)
        y = values[C, 3 * i]
        marks[ROLE, i] = FREE
        if y < 0.0 or values[BUDGET, i] > 0.0:
            marks[ROLE, i] = DRIVEN
            sure += 1
        elif y == 0.0 and phase < AIMED and (not drawn or number < HOLD):
            marks[ROLE, i] = HELD
        elif y == 0.0 and drawn and number < PUSH:
            marks[ROLE, i] = DRIVEN
    if sure == 0:
        return False
    if phase == AIMED:
        aim(work, nc)
        return share_weights(work, nc, WEIGHT)
    kind = event_number(key, KIND)
    if drawn and event_number(key, KEEP) < KEEP_CHANCE and keep_weights(work, nc):
        return True
    if phase == IN_TURN or phase == BARE or (drawn and (kind < ALONE or rates == EXTREME)):
        choose_one(work, nc, key)
        return True
    return draw_weights(work, nc, rates, custom, key)


@kernel
def choose_one(work: SpaceWork, nc: int, key: np.uint64) -> None:
    """Of the driven contacts the one with the smallest number of its own: a contact more changes nothing."""
    chosen, lowest = -1, 2.0
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i + 2)
        if work.marks[ROLE, i] == DRIVEN:
            work.marks[ROLE, i] = FREE
            if number < lowest:
                chosen, lowest = i, number
    if chosen >= 0:
        work.marks[ROLE, chosen] = DRIVEN
        work.values[WEIGHT, chosen] = 1.0


@kernel
def aim(work: SpaceWork, nc: int) -> None:
    """WEIGHT of the driven contacts with which all come to rest together, while slip keeps its direction.

    Where contacts hit one after the other for ever, ever more slowly, this ends it: sweeps for normal
    impulses with ``y >= 0`` after them, complementary; contacts without slip stick as far as their cones
    let them. RATE holds the effect of a unit of normal impulse, TRY the impulses.
    """
    values, marks, m = work.values, work.marks, 0
    for i in range(nc):
        if marks[ROLE, i] != DRIVEN:
            continue
        marks[LIST, m] = i
        m += 1
        t0, t1 = values[C, 3 * i + 1], values[C, 3 * i + 2]
        length = math.sqrt(t0 * t0 + t1 * t1)
        push = -values[MU, i] / length if length > 0.0 else 0.0
        values[RATE, 3 * i], values[RATE, 3 * i + 1], values[RATE, 3 * i + 2] = 1.0, push * t0, push * t1
        for row in range(3 * i, 3 * i + 3):
            values[TRY, row] = 0.0
    for _ in range(int(values[GLOBAL, AIMED_BY])):
        moved, most = 0.0, 0.0
        for a in range(m):
            at = 3 * marks[LIST, a]
            moved = max(moved, aim_one(work, m, marks[LIST, a]))
            most = max(most, values[TRY, at])
        if not moved > AIMED_AT * most:
            break
    for a in range(m):
        i = marks[LIST, a]
        values[WEIGHT, i] = values[TRY, 3 * i]


@kernel
def aim_one(work: SpaceWork, m: int, i: int) -> float:
    """One contact's turn in the sweeps of `aim`; by how much its impulse has changed."""
    values, at, own = work.values, 3 * i, 0.0
    for part in range(3):
        own += values[GRAM + at, at + part] * values[RATE, at + part]
    if not own > 0.0:
        return 0.0
    normal = max(values[TRY, at] - (values[C, at] + effect(work, m, TRY, at)) / own, 0.0)
    f0, f1 = normal * values[RATE, at + 1], normal * values[RATE, at + 2]
    inertia = values[GRAM + at + 1, at + 1] + values[GRAM + at + 2, at + 2]
    if values[C, at + 1] == 0.0 and values[C, at + 2] == 0.0 and inertia > 0.0:
        f0 = values[TRY, at + 1] - effect(work, m, TRY, at + 1) / inertia
        f1 = values[TRY, at + 2] - effect(work, m, TRY, at + 2) / inertia
        length, most = math.sqrt(f0 * f0 + f1 * f1), values[MU, i] * normal
        if length > most:
            f0, f1 = f0 * most / length, f1 * most / length
    moved = abs(normal - values[TRY, at]) + abs(f0 - values[TRY, at + 1]) + abs(f1 - values[TRY, at + 2])
    values[TRY, at], values[TRY, at + 1], values[TRY, at + 2] = normal, f0, f1
    return moved


@kernel
def draw_weights(work: SpaceWork, nc: int, rates: int, custom: Custom, key: np.uint64) -> bool:
    """WEIGHT of the driven contacts, with sum one; those without become free. Whether any is left."""
    values, marks = work.values, work.marks
    to_faces = event_number(key, KIND) < FACE
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i + 1)
        values[UNIFORMS, i] = number
        weight = -math.log(number)
        square = weight * weight
        values[WEIGHT, i] = number if rates == UNIFORM else (square * square if to_faces else weight)
        work.flags[i] = marks[ROLE, i] == DRIVEN
    if custom is not None:
        call_rates(custom, values[UNIFORMS], work.flags, values[WEIGHT], nc)
    return share_weights(work, nc, WEIGHT)


@kernel
def keep_weights(work: SpaceWork, nc: int) -> bool:
    """Take the weights of the stage before where their contacts may still be driven."""
    total = 0.0
    for i in range(nc):
        total += work.values[KEPT, i] if work.marks[ROLE, i] == DRIVEN else 0.0
    return total > 0.0 and share_weights(work, nc, KEPT)


@kernel
def share_weights(work: SpaceWork, nc: int, of: int) -> bool:
    """WEIGHT of the driven contacts with sum one from row ``of``; who has none is free. Whether any has."""
    values, marks = work.values, work.marks
    total = 0.0
    for i in range(nc):
        if marks[ROLE, i] == DRIVEN:
            if values[of, i] > 0.0:
                total += values[of, i]
            else:
                marks[ROLE, i] = FREE
    for i in range(nc):
        if marks[ROLE, i] == DRIVEN:
            values[WEIGHT, i] = values[of, i] / total
    return 0.0 < total < math.inf


@kernel
def fewer_roles(work: SpaceWork, nc: int, key: np.uint64) -> None:
    """One approaching contact alone and nothing held: rates that always exist."""
    for i in range(nc):
        approaches = work.values[C, 3 * i] < 0.0 or work.values[BUDGET, i] > 0.0
        work.marks[ROLE, i] = DRIVEN if approaches else FREE
    choose_one(work, nc, key)
