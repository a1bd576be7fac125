"""The derivative through weights that were aimed, see `routh.kernels.space.draws.aim` and `.reverse`.

Where contacts hit one after the other for ever, samples in space end with weights for which all that approach
come to rest together: normal impulses N with ``y + G p = 0`` for what friction along the slips, or sticking,
makes of them. These weights ``N / sum N`` follow the problem, so their bars go on to the velocities before.
What is left of the velocities once they are small is taken as one such impulse: the hits to come are many,
and the derivative of each by itself grows without bound where theirs together does not.
"""

from __future__ import annotations

import math

from routh.compiling import kernel
from routh.kernels.gradients import record as rec
from routh.kernels.gradients.record import Record
from routh.kernels.gradients.reverse_rates import (
    Given,
    ReverseWork,
    add_unknown,
    add_unknown_rates,
    find_lever,
    times_G,
)
from routh.validation import Array

LEFT_OVER = 1e-7  # normal velocities below this share of the speed come to rest together
ON_CONE = 1e-9  # friction that is nearer to its cone slides
AS_AIMED = 1e-2  # weights that differ by more from those of this impulse were aimed in another way


@kernel
def is_aimed(record: Record, k: int) -> bool:
    """Whether a stage with aimed weights begins with entry k."""
    if not 0.0 <= record.total[rec.AIMED_FROM] <= k or record.setter[k] == rec.MORE:
        return False
    driven = 0
    for i in range(record.role.shape[1]):
        driven += 1 if record.role[k, i] == rec.DRIVEN else 0
    return driven > 1


@kernel
def find_rest(record: Record, given: Given) -> int:
    """The first entry from which on what is left comes to rest together; -1 where there is none."""
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
def begins_to_slide(record: Record, k: int, given: Given, own: ReverseWork, i: int) -> bool:
    """Whether contact i has no slip before entry k and friction on its cone, against the slip to come."""
    at, mu = 3 * i + 1, given.mu[i]
    if record.c[k, at] != 0.0 or record.c[k, at + 1] != 0.0 or mu == 0.0:
        return False
    f0, f1 = record.rate[k, at], record.rate[k, at + 1]
    friction = math.sqrt(f0 * f0 + f1 * f1)
    if not friction >= (1.0 - ON_CONE) * mu * record.rate[k, at - 1] > 0.0:
        return False
    own.units[i, 0], own.units[i, 1] = -f0 / friction, -f1 / friction
    return True


@kernel
def list_aimed(record: Record, k: int, given: Given, own: ReverseWork) -> int:
    """The unknown impulses of driven contacts, with which normal velocities and sticking slips rest."""
    m = k - k
    for i in range(len(given.mu)):
        if record.role[k, i] != rec.DRIVEN:
            continue
        t0, t1 = record.c[k, 3 * i + 1], record.c[k, 3 * i + 2]
        slip = math.sqrt(t0 * t0 + t1 * t1)
        slides = begins_to_slide(record, k, given, own, i)
        add_unknown(own, m, i, 0, 0)
        if slip > 0.0:
            own.units[i, 0], own.units[i, 1] = t0 / slip, t1 / slip
        if slip > 0.0 or slides:
            own.columns[m, 1] = -given.mu[i] * own.units[i, 0]
            own.columns[m, 2] = -given.mu[i] * own.units[i, 1]
        m += 1
        if slip == 0.0 and not slides and given.mu[i] > 0.0:
            add_unknown(own, m, i, 1, 1)
            add_unknown(own, m + 1, i, 2, 2)
            m += 2
    return m


@kernel
def list_turns(record: Record, k: int, given: Given, own: ReverseWork, m: int, impulse: Array) -> int:
    """Further unknowns behind m: the angles of slips that begin, which stay along their friction."""
    for i in range(len(given.mu)):
        if record.role[k, i] == rec.DRIVEN and begins_to_slide(record, k, given, own, i):
            u0, u1, push = own.units[i, 0], own.units[i, 1], given.mu[i] * impulse[3 * i]
            add_unknown(own, m, i, 0, 0)
            own.rows[m, 0], own.rows[m, 1], own.rows[m, 2] = 0.0, -u1, u0
            own.columns[m, 0], own.columns[m, 1], own.columns[m, 2] = 0.0, push * u1, -push * u0
            d0, d1 = times_G(given, impulse, 3 * i + 1), times_G(given, impulse, 3 * i + 2)
            own.grows[m] = u0 * d0 + u1 * d1
            m += 1
    return m


@kernel
def aimed_impulse(record: Record, k: int, given: Given, own: ReverseWork, m: int, impulse: Array) -> float:
    """The impulse of m unknowns that brings contacts to rest; the sum of its normal parts, 0 for none."""
    total = 0.0
    for a in range(len(impulse)):
        impulse[a] = 0.0
    known = add_unknown_rates(given, own, record.c[k], impulse, m)
    for i in range(len(given.mu)):
        total += impulse[3 * i]
    return total if known else 0.0


@kernel
def back_through_impulse(
    record: Record, k: int, given: Given, own: ReverseWork, m: int, impulse: Array
) -> None:
    """From OF_RATE, of the impulse, and OF_CHANGE, of what it does, to G, friction and the state before."""
    find_lever(given, own, impulse, 1.0, list_turns(record, k, given, own, m, impulse))
    for a in range(len(own.of_state)):
        own.of_state[a] += own.lever[a]
    for i in range(len(given.mu)):
        at = 3 * i + 1
        t0, t1 = record.c[k, at], record.c[k, at + 1]
        slip = math.sqrt(t0 * t0 + t1 * t1)
        if record.role[k, i] != rec.DRIVEN:
            continue
        if slip > 0.0 or begins_to_slide(record, k, given, own, i):
            u0, u1, normal = own.units[i, 0], own.units[i, 1], impulse[at - 1]
            b0 = own.of_rate[at] + times_G(given, own.lever, at)
            b1 = own.of_rate[at + 1] + times_G(given, own.lever, at + 1)
            own.of_mu[i] -= normal * (u0 * b0 + u1 * b1)
        if slip > 0.0:
            across = -given.mu[i] * normal * (u0 * b1 - u1 * b0) / slip
            own.of_state[at] -= across * u1
            own.of_state[at + 1] += across * u0


@kernel
def back_through_aim(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """Give the bars of the weights of a stage that begins with entry k to what they were aimed at."""
    nc, n = len(given.mu), len(own.of_state)
    impulse = own.whole
    m = list_aimed(record, k, given, own)
    total = aimed_impulse(record, k, given, own, m, impulse)
    mean = 0.0
    for i in range(nc):
        if record.role[k, i] == rec.DRIVEN:
            weight = record.rate[k, 3 * i]
            mean += own.of_weight[i] * weight
            if not abs(impulse[3 * i] - weight * total) <= AS_AIMED * total:
                return
    if not total > 0.0:
        return
    for a in range(n):
        own.of_rate[a] = own.of_change[a] = 0.0
    for i in range(nc):
        if record.role[k, i] == rec.DRIVEN:
            own.of_rate[3 * i] = (own.of_weight[i] - mean) / total
    back_through_impulse(record, k, given, own, m, impulse)


@kernel
def end_stage(record: Record, k: int, given: Given, own: ReverseWork) -> None:
    """After entry k was gone through: if its stage begins with it, its weights have all of their bars."""
    if record.setter[k] == rec.MORE:
        return
    if is_aimed(record, k):
        back_through_aim(record, k, given, own)
    for i in range(len(given.mu)):
        own.of_weight[i] = 0.0


@kernel
def begin_backwards(record: Record, given: Given, own: ReverseWork) -> int:
    """The last entry to be gone through, after what is left from there on has come to rest together."""
    last = int(record.total[rec.ENTRIES]) - 1
    own.aimed[0] = 1.0 if record.total[rec.AIMED_FROM] >= 0.0 else 0.0
    k = find_rest(record, given)
    if k < 0:
        return last
    impulse = own.whole
    m = list_aimed(record, k, given, own)
    if not aimed_impulse(record, k, given, own, m, impulse) > 0.0:
        return last
    for a in range(len(own.of_state)):
        own.of_rate[a], own.of_change[a], own.of_state[a] = own.of_push[a], own.of_state[a], 0.0
    back_through_impulse(record, k, given, own, m, impulse)
    return k - 1
