"""What is drawn at an event in space: who pushes at which rate, who is held, and how long it lasts."""

from __future__ import annotations

import math

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.arrays import CUSTOM, EXTREME, UNIFORM
from routh.kernels.common.callback import call_rates
from routh.kernels.common.random import event_number
from routh.kernels.space.advance import effect
from routh.kernels.space.workspace import AIMED_BY, DRIVEN, FREE, HELD, Custom, SpaceWork

# numbers of an event's key, by index; three for each contact follow
KEEP, KIND, IS_CUT, CUT_AT, PER_CONTACT = range(5)
EACH = 3

KEEP_CHANCE = 0.1  # weights stay as they were
ONE, FACE = 0.9, 0.95  # below: one contact; below: a random face; else all of them
HOLD, PUSH = 0.3, 0.4  # a contact at zero: held below the first, driven below the second, else left alone
AS_DRAWN, ONE_BY_ONE, AIMED, NOTHING_HELD = 0, 1, 2, 3  # phases of a sample, see `draw_roles`
AIMS, FINE_AIMS = 60.0, 1e5  # sweeps for the weights of AIMED at most; where derivatives are wanted
AIMED_AT = 1e-12  # of the largest impulse: what moves less has settled


@kernel
def draw_roles(work: SpaceWork, nc: int, rates: int, custom: Custom, key: np.uint64, phase: int) -> bool:
    """`role` and `weight` of one stage; whether anything is driven.

    AS_DRAWN; ONE_BY_ONE: one contact at a time, zeros held; AIMED: all that approach, such that they come to
    rest together, nothing held; NOTHING_HELD: one contact at a time.
    """
    # reads budget, now, weight; writes role; hands on work
    sure = 0
    drawn = phase == AS_DRAWN and rates != UNIFORM and rates != CUSTOM
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i)
        y = work.now[3 * i]
        work.role[i] = FREE
        if y < 0.0 or work.budget[i] > 0.0:
            work.role[i] = DRIVEN
            sure += 1
        elif y == 0.0 and phase < AIMED and (not drawn or number < HOLD):
            work.role[i] = HELD
        elif y == 0.0 and drawn and number < PUSH:
            work.role[i] = DRIVEN
    if sure == 0:
        return False
    if phase == AIMED:
        aim(work, nc)
        return share_weights(work, nc, work.weight)
    kind = event_number(key, KIND)
    if drawn and event_number(key, KEEP) < KEEP_CHANCE and keep_weights(work, nc):
        return True
    if phase == ONE_BY_ONE or phase == NOTHING_HELD or (drawn and (kind < ONE or rates == EXTREME)):
        choose_one(work, nc, key)
        return True
    return draw_weights(work, nc, rates, custom, key)


@kernel
def choose_one(work: SpaceWork, nc: int, key: np.uint64) -> None:
    """Choose the driven contact with the smallest number of its own: a contact more changes nothing."""
    # reads role; writes role, weight
    chosen, lowest = -1, 2.0
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i + 2)
        if work.role[i] == DRIVEN:
            work.role[i] = FREE
            if number < lowest:
                chosen, lowest = i, number
    if chosen >= 0:
        work.role[chosen] = DRIVEN
        work.weight[chosen] = 1.0


@kernel
def aim(work: SpaceWork, nc: int) -> None:
    """`weight` of the driven contacts with which all come to rest together, while slip keeps its direction.

    Where contacts hit one after the other for ever, ever more slowly, this ends it: sweeps for normal
    impulses with ``y >= 0`` after them, complementary; contacts without slip stick as far as their cones
    let them. `rate` holds the effect of a unit of normal impulse, `trial` the impulses.
    """
    # reads course, mu, now, pushing, role, trial; writes pushing, rate, trial, weight; hands on work
    m = 0
    for i in range(nc):
        if work.role[i] != DRIVEN:
            continue
        work.pushing[m] = i
        m += 1
        t0, t1 = work.now[3 * i + 1], work.now[3 * i + 2]
        length = math.sqrt(t0 * t0 + t1 * t1)
        push = -work.mu[i] / length if length > 0.0 else 0.0
        work.rate[3 * i], work.rate[3 * i + 1], work.rate[3 * i + 2] = 1.0, push * t0, push * t1
        for row in range(3 * i, 3 * i + 3):
            work.trial[row] = 0.0
    for _ in range(int(work.course[AIMED_BY])):
        moved, most = 0.0, 0.0
        for a in range(m):
            at = 3 * work.pushing[a]
            moved = max(moved, aim_one(work, m, work.pushing[a]))
            most = max(most, work.trial[at])
        if not moved > AIMED_AT * most:
            break
    for a in range(m):
        i = work.pushing[a]
        work.weight[i] = work.trial[3 * i]


@kernel
def aim_one(work: SpaceWork, m: int, i: int) -> float:
    """One contact in the sweeps of `aim`; by how much its impulse has changed."""
    # reads gram, mu, now, rate, trial; writes trial; hands on work
    at, own = 3 * i, 0.0
    for part in range(3):
        own += work.gram[at, at + part] * work.rate[at + part]
    if not own > 0.0:
        return 0.0
    normal = max(work.trial[at] - (work.now[at] + effect(work, m, work.trial, at)) / own, 0.0)
    f0, f1 = normal * work.rate[at + 1], normal * work.rate[at + 2]
    inertia = work.gram[at + 1, at + 1] + work.gram[at + 2, at + 2]
    if work.now[at + 1] == 0.0 and work.now[at + 2] == 0.0 and inertia > 0.0:
        f0 = work.trial[at + 1] - effect(work, m, work.trial, at + 1) / inertia
        f1 = work.trial[at + 2] - effect(work, m, work.trial, at + 2) / inertia
        length, most = math.sqrt(f0 * f0 + f1 * f1), work.mu[i] * normal
        if length > most:
            f0, f1 = f0 * most / length, f1 * most / length
    moved = abs(normal - work.trial[at]) + abs(f0 - work.trial[at + 1]) + abs(f1 - work.trial[at + 2])
    work.trial[at], work.trial[at + 1], work.trial[at + 2] = normal, f0, f1
    return moved


@kernel
def draw_weights(work: SpaceWork, nc: int, rates: int, custom: Custom, key: np.uint64) -> bool:
    """`weight` of the driven contacts, with sum one; those without become free. Whether any is left."""
    # reads flags, role, uniforms, weight; writes flags, uniforms, weight; hands on work
    to_faces = event_number(key, KIND) < FACE
    for i in range(nc):
        number = event_number(key, PER_CONTACT + EACH * i + 1)
        work.uniforms[i] = number
        weight = -math.log(number)
        square = weight * weight
        work.weight[i] = number if rates == UNIFORM else (square * square if to_faces else weight)
        work.flags[i] = work.role[i] == DRIVEN
    if custom is not None:
        call_rates(custom, work.uniforms, work.flags, work.weight, nc)
    return share_weights(work, nc, work.weight)


@kernel
def keep_weights(work: SpaceWork, nc: int) -> bool:
    """Take the weights of the stage before where their contacts may still be driven."""
    # reads kept, role; hands on work
    total = 0.0
    for i in range(nc):
        total += work.kept[i] if work.role[i] == DRIVEN else 0.0
    return total > 0.0 and share_weights(work, nc, work.kept)


@kernel
def share_weights(work: SpaceWork, nc: int, of: Array) -> bool:
    """`weight` with sum one of the driven contacts from ``of``; who has none is free. Whether any has."""
    # reads role; writes role, weight
    total = 0.0
    for i in range(nc):
        if work.role[i] == DRIVEN:
            if of[i] > 0.0:
                total += of[i]
            else:
                work.role[i] = FREE
    for i in range(nc):
        if work.role[i] == DRIVEN:
            work.weight[i] = of[i] / total
    return 0.0 < total < math.inf


@kernel
def fewer_roles(work: SpaceWork, nc: int, key: np.uint64) -> None:
    """One approaching contact alone and nothing held: rates that always exist."""
    # reads budget, now; writes role; hands on work
    for i in range(nc):
        approaches = work.now[3 * i] < 0.0 or work.budget[i] > 0.0
        work.role[i] = DRIVEN if approaches else FREE
    choose_one(work, nc, key)
