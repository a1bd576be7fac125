"""What is drawn at an event in space: who pushes at which rate, who is held, and how long it lasts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from routh.compiling import kernel
from routh.kernels.arrays import EXTREME, UNIFORM
from routh.kernels.random import event_number
from routh.kernels.space_names import BUDGET, DRIVEN, FREE, HELD, KEPT, ROLE, WEIGHT, C

_indices: Any = tuple(np.int64(index) for index in range(6))
# numbers of an event's key, by index; two for each contact follow
KEEP, KIND, WHO, CUT, SHARE, PER_CONTACT = _indices

KEEP_CHANCE = 0.1  # weights stay as they were
ALONE, FACE = 0.9, 0.95  # below: one contact alone; below: a random face; else all of them
HOLD, PUSH = 0.3, 0.4  # a contact at zero: held below the first, driven below the second, else left alone


@kernel
def draw_roles(nc: int, rates: int, key: Any, phase: int, x: Any, s: Any, k: Any) -> bool:
    """ROLE and WEIGHT of one stage; whether anything is driven.

    ``phase`` 0: as drawn; 1: one contact at a time, zeros held; 2: all that approach, with equal weights,
    zeros held; 3: one contact at a time and nothing held.
    """
    count, sure = np.int64(0), 0
    drawn = phase == 0 and rates != UNIFORM
    for i in range(nc):
        number = event_number(key, PER_CONTACT + 2 * i)
        k[ROLE, i] = FREE
        y = x[C, 3 * i]
        if y < 0.0 or s[BUDGET, i] > 0.0:
            k[ROLE, i] = DRIVEN
            sure += 1
        elif y == 0.0 and phase != 3 and (not drawn or number < HOLD):
            k[ROLE, i] = HELD
        elif y == 0.0 and drawn and number < PUSH:
            k[ROLE, i] = DRIVEN
        count += 1 if k[ROLE, i] == DRIVEN else 0
    if sure == 0:
        return False
    return draw_weights(nc, rates, key, phase, count, s, k)


@kernel
def draw_weights(nc: int, rates: int, key: Any, phase: int, count: Any, s: Any, k: Any) -> bool:
    """WEIGHT of the driven contacts, with sum one; those without become free."""
    kind = event_number(key, KIND)
    mixed = phase == 0 and rates != UNIFORM
    if mixed and event_number(key, KEEP) < KEEP_CHANCE and keep_weights(nc, s, k):
        return True
    if phase == 1 or phase == 3 or (mixed and (kind < ALONE or rates == EXTREME)):
        chosen = int(event_number(key, WHO) * count)
        for i in range(nc):
            if k[ROLE, i] != DRIVEN:
                continue
            s[WEIGHT, i] = 1.0 if chosen == 0 else 0.0
            if chosen != 0:
                k[ROLE, i] = FREE
            chosen -= 1
        return True
    total, power = 0.0, 4.0 if kind < FACE else 1.0
    for i in range(nc):
        if k[ROLE, i] == DRIVEN:
            number = event_number(key, PER_CONTACT + 2 * i + 1)
            s[WEIGHT, i] = number if rates == UNIFORM else (-math.log(number)) ** power
            if phase == 2:
                s[WEIGHT, i] = 1.0
            total += s[WEIGHT, i]
    for i in range(nc):
        if k[ROLE, i] == DRIVEN:
            s[WEIGHT, i] /= total
    return True


@kernel
def keep_weights(nc: int, s: Any, k: Any) -> bool:
    """Take the weights of the stage before where their contacts may still be driven."""
    total = 0.0
    for i in range(nc):
        total += s[KEPT, i] if k[ROLE, i] == DRIVEN else 0.0
    if not total > 0.0:
        return False
    for i in range(nc):
        if k[ROLE, i] == DRIVEN:
            s[WEIGHT, i] = s[KEPT, i] / total
            if not s[WEIGHT, i] > 0.0:
                k[ROLE, i] = FREE
    return True


@kernel
def fewer_roles(nc: int, key: Any, x: Any, s: Any, k: Any) -> None:
    """One approaching contact alone and nothing held: rates that always exist."""
    count = 0
    for i in range(nc):
        k[ROLE, i] = DRIVEN if x[C, 3 * i] < 0.0 or s[BUDGET, i] > 0.0 else FREE
        count += 1 if k[ROLE, i] == DRIVEN else 0
    chosen = int(event_number(key, WHO) * count)
    for i in range(nc):
        if k[ROLE, i] == DRIVEN:
            s[WEIGHT, i] = 1.0
            if chosen != 0:
                k[ROLE, i] = FREE
            chosen -= 1
