"""The derivative through weights that were aimed, see `routh.kernels.space.draws.aim` and `.reverse`.

Where contacts hit one after the other for ever, samples in space end with weights for which all that approach
come to rest together: normal impulses N with ``y + G p = 0`` for what friction along the slips, or sticking,
makes of them: the rates of contacts that are held, which move with y. These weights ``N / sum N`` follow the
problem, so their bars go on to the velocities before.
What is left of the velocities once they are small is taken as one such impulse: the hits to come are many,
and the derivative of each by itself grows without bound where theirs together does not.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.common import record as rec
from routh.kernels.common.record import Record
from routh.kernels.gradients.reverse_rates import (
    Given,
    ReverseWork,
    add_unknown_rates,
    back_through_rates,
    clear_rates,
    find_units,
    list_unknowns,
    times_G,
)

LEFT_OVER = 1e-7  # normal velocities below this share of the speed come to rest together
ON_CONE = 1e-9  # friction that is nearer to its cone slides
AS_AIMED = 1e-2  # weights that differ by more from those of this impulse were aimed in another way


@kernel
def is_aimed(record: Record, k: int) -> bool:
    """Whether a stage with aimed weights begins with entry k."""
    # reads role, setter, total
    if not 0.0 <= record.total[rec.AIMED_FROM] <= k or record.setter[k] == rec.MORE:
        return False
    driven = 0
    for i in range(record.role.shape[1]):
        driven += 1 if record.role[k, i] == rec.DRIVEN else 0
    return driven > 1


@kernel
def find_rest(record: Record, given: Given) -> int:
    """The first entry from which on what is left comes to rest together; -1 where there is none."""
    # reads given.bounce, given.mu, record.c, record.total; hands on record
    if not record.total[rec.AIMED_FROM] >= 0.0:
        return -1
    for i in range(len(given.mu)):
        if given.bounce[i] > 0.0:
            return -1
    for k in range(int(record.total[rec.AIMED_FROM]), int(record.total[rec.ENTRIES])):
        if is_aimed(record, k):
            most = 0.0
            for i in range(len(given.mu)):
                most = max(most, -record.c[k, 3 * i])
            if most <= LEFT_OVER:
                return k
    return -1


@kernel
def write_aim(record: Record, k: int, given: Given, aim: Record) -> None:
    """Write into ``aim``, as rates, the impulse by which driven contacts before k would rest; no size yet.

    A contact without slip whose friction is on its cone begins to slide, against it.
    """
    # reads given.mu, record.c, record.rate, record.role
    # writes aim.c, aim.change, aim.face, aim.rate, aim.role
    for i in range(len(given.mu)):
        at, driven = 3 * i, record.role[k, i] == rec.DRIVEN
        aim.role[0, i], aim.face[0, i] = (rec.HELD if driven else rec.FREE), rec.FRICTIONLESS
        for a in range(at, at + 3):
            aim.c[0, a], aim.rate[0, a], aim.change[0, a] = record.c[k, a], 0.0, 0.0
        if record.c[k, at + 1] != 0.0 or record.c[k, at + 2] != 0.0:
            aim.face[0, i] = rec.SLIDES
        elif given.mu[i] > 0.0:
            f0, f1 = record.rate[k, at + 1], record.rate[k, at + 2]
            friction = math.sqrt(f0 * f0 + f1 * f1)
            aim.face[0, i] = rec.STICKS
            if friction >= (1.0 - ON_CONE) * given.mu[i] * record.rate[k, at] > 0.0:
                aim.face[0, i] = rec.TURNS
                aim.change[0, at + 1], aim.change[0, at + 2] = -f0 / friction, -f1 / friction


@kernel
def find_aim(record: Record, k: int, given: Given, own: ReverseWork) -> float:
    """`ReverseWork.aim` for entry k; the sum of its normal impulses, 0 where there is no such impulse."""
    # reads given.mu, own.aim.c, own.aim.face, own.aim.rate, own.units
    # writes own.aim.change, own.aim.rate
    # hands on given, own, own.aim, record
    aim, total = own.aim, 0.0
    impulse = aim.rate[0]
    write_aim(record, k, given, aim)
    find_units(aim, 0, given, own)
    m = list_unknowns(aim, 0, given, own)
    if not add_unknown_rates(given, own, aim.c[0], impulse, m):
        return 0.0
    for i in range(len(given.mu)):
        at = 3 * i
        total += impulse[at]
        if aim.face[0, i] == rec.TURNS:
            u0, u1 = own.units[i, 0], own.units[i, 1]
            slip = u0 * times_G(given, impulse, at + 1) + u1 * times_G(given, impulse, at + 2)
            aim.change[0, at + 1], aim.change[0, at + 2] = slip * u0, slip * u1
    return total


@kernel
def back_through_impulse(given: Given, own: ReverseWork) -> None:
    """Go from `of_rate`, of the aimed impulse, and `of_change`, of its effect, to G, mu and the state."""
    # reads own.lever, own.of_state; writes own.of_state; hands on given, own, own.aim
    back_through_rates(own.aim, 0, given, own)
    for a in range(len(own.of_state)):
        own.of_state[a] += own.lever[a]


@kernel
def back_through_aim(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Give the bars of the weights of a stage that begins with entry k to what they were aimed at."""
    # reads given.mu, own.aim.rate, own.of_weight, record.rate, record.role
    # writes own.of_rate
    # hands on given, own, record
    total, mean = find_aim(record, k, given, own), 0.0
    if not total > 0.0:
        return
    for i in range(len(given.mu)):
        if record.role[k, i] == rec.DRIVEN:
            weight = record.rate[k, 3 * i]
            mean += own.of_weight[i] * weight
            if not abs(own.aim.rate[0, 3 * i] - weight * total) <= AS_AIMED * total:
                return
    clear_rates(own)
    for i in range(len(given.mu)):
        if record.role[k, i] == rec.DRIVEN:
            own.of_rate[3 * i] = (own.of_weight[i] - mean) / total
    back_through_impulse(given, own)


@kernel
def end_stage(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """After entry k was gone through: if its stage begins with it, its weights have all of their bars."""
    # reads given.mu, record.setter; writes own.of_weight; hands on given, own, record
    if record.setter[k] == rec.MORE:
        return
    if is_aimed(record, k):
        back_through_aim(record, k, given, own)
    for i in range(len(given.mu)):
        own.of_weight[i] = 0.0


@kernel
def begin_backwards(record: Record, given: Given, own: ReverseWork) -> int:
    """The last entry to be gone through, after what is left from there on has come to rest together."""
    # reads own.of_push, own.of_state, record.total
    # writes own.aimed, own.of_change, own.of_rate, own.of_state
    # hands on given, own, record
    last = int(record.total[rec.ENTRIES]) - 1
    own.aimed[0] = 1.0 if record.total[rec.AIMED_FROM] >= 0.0 else 0.0
    k = find_rest(record, given)
    if k < 0 or not find_aim(record, k, given, own) > 0.0:
        return last
    for a in range(len(own.of_state)):
        own.of_rate[a], own.of_change[a], own.of_state[a] = own.of_push[a], own.of_state[a], 0.0
    back_through_impulse(given, own)
    return k - 1
