"""Draws after which all contacts that push slide, and at most one of them is held: most draws.

What `routh.kernels.events_space.advance` does, to the bit; other draws are left to that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import inlined, kernel, written_out
from routh.kernels.arrays import CUSTOM, EXTREME, UNIFORM, Draw
from routh.kernels.events_space import ALONE as ALONE_STAGES
from routh.kernels.events_space import DRAWN, FINE_BUDGET, SOLVED, STEP_BUDGET
from routh.kernels.random import event_key, event_number
from routh.kernels.space_curve import FINE
from routh.kernels.space_draws import (
    AIMS,
    ALONE,
    CUT_AT,
    EACH,
    FACE,
    FINE_AIMS,
    HOLD,
    KEEP,
    KEEP_CHANCE,
    KIND,
    PER_CONTACT,
    PUSH,
)
from routh.kernels.space_draws import CUT as IS_CUT
from routh.kernels.space_names import (
    AIMED_BY,
    CURVES,
    CUT,
    DRAWS,
    DRIVEN,
    EVENT,
    FREE,
    HELD,
    JAMMED,
    MAY_END,
    NEXT,
    NO_FRICTION,
    PIECE,
    PUSHING,
    REDRAWN,
    SHARE,
    SLIDE,
    STAYS,
    STEPS,
    SWEEPS_LEFT,
    TAKEN,
    ZERO,
)
from routh.kernels.space_pieces import FARTHER, JAMMING
from routh.kernels.space_rates import PAINLEVE, SWEEP_COST
from routh.kernels.space_state import (
    CONTACTS,
    KEEPS,
    LEFT,
    MARKS,
    SLIDES0,
    SLIDES1,
    STATUS,
    WEIGHTS,
    Column,
    course_row,
    friction_of,
    global_row,
    move_row,
)
from routh.kernels.space_state import EACH as ROWS_OF_EACH
from routh.kernels.space_straight import NOTHING
from routh.validation import Array

# what a draw returns that finds nothing to do, and what it adds to the number of contacts that push
ENDS, AND_HELD = 0, 2**20


class DrawWork(NamedTuple):
    """Scratch of one thread."""

    roles: np.ndarray  # (nc,) int64
    slips: np.ndarray  # (nc,) int64
    weights: Array  # (nc,)
    along: Array  # (nc, 2): directions of slip
    rates: Array  # (nc, 3)


def draw_work(nc: int) -> DrawWork:
    """Scratch for so many contacts."""
    roles, slips = np.zeros(nc, dtype=np.int64), np.zeros(nc, dtype=np.int64)
    return DrawWork(roles, slips, np.zeros(nc), np.zeros((nc, 2)), np.zeros((nc, 3)))


@inlined
def entry_row(of: Column, i: int, entry: int) -> int:
    """The row with an entry of contact i."""
    return CONTACTS * of.nc + ROWS_OF_EACH * i + entry


@written_out
def has_ended(of: Column, work: DrawWork) -> bool:
    """Whether nothing approaches."""
    ended = True
    for i in range(work.roles.shape[0]):
        if i < of.nc:
            ended = ended and of.states[3 * i, of.slot] >= 0.0
    return ended


@written_out
def choose_roles(of: Column, work: DrawWork, key: np.uint64, drawn: bool) -> int:
    """Drive what approaches and hold one contact, see `routh.kernels.space_draws.draw_roles`.

    How many are held; LEFT: more, or nothing approaches, or what hardly does.
    """
    sure, held, usual = 0, 0, True
    for i in range(work.roles.shape[0]):
        work.roles[i] = FREE
        if i < of.nc:
            y = of.states[3 * i, of.slot]
            usual = usual and not (y < 0.0 and y >= -NOTHING)
            if y < 0.0:
                work.roles[i] = DRIVEN
                sure += 1
            elif y == 0.0:
                number = event_number(key, PER_CONTACT + EACH * i) if drawn else 0.0
                if number < HOLD:
                    work.roles[i] = HELD
                    held += 1
                elif number < PUSH:
                    usual = False
    return held if usual and sure > 0 and held <= 1 else LEFT


@written_out
def choose_one(work: DrawWork, key: np.uint64) -> None:
    """See `routh.kernels.space_draws.choose_one`."""
    chosen, lowest = -1, 2.0
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            number = event_number(key, PER_CONTACT + EACH * i + 2)
            if number < lowest:
                chosen, lowest = i, number
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            work.roles[i] = DRIVEN if i == chosen else FREE
            work.weights[i] = 1.0


@written_out
def share_weights(work: DrawWork) -> bool:
    """See `routh.kernels.space_draws.share_weights`."""
    total = 0.0
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            if work.weights[i] > 0.0:
                total += work.weights[i]
            else:
                work.roles[i] = FREE
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            work.weights[i] /= total
    return 0.0 < total < math.inf


@written_out
def keep_weights(of: Column, work: DrawWork) -> bool:
    """WEIGHTS of the stage before, whether there are any: see `routh.kernels.space_draws.keep_weights`."""
    total = 0.0
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            work.weights[i] = of.states[entry_row(of, i, KEEPS), of.slot]
            total += work.weights[i]
    return total > 0.0


@written_out
def draw_weights(work: DrawWork, rates: int, key: np.uint64, kind: float) -> None:
    """Of all contacts, see `routh.kernels.space_draws.draw_weights`."""
    power = 4.0 if kind < FACE else 1.0
    for i in range(work.roles.shape[0]):
        number = event_number(key, PER_CONTACT + EACH * i + 1)
        work.weights[i] = number if rates == UNIFORM else (-math.log(number)) ** power


@written_out
def find_slips(of: Column, work: DrawWork) -> int:
    """How contacts slip, and rates of those driven: how many; LEFT: not all that push slide.

    See `routh.kernels.space_straight.classify` and `routh.kernels.space_rates.begin_rates`.
    """
    m, usual = 0, True
    for i in range(work.roles.shape[0]):
        if i < of.nc:
            mu = friction_of(of, i)
            t0, t1 = of.states[3 * i + 1, of.slot], of.states[3 * i + 2, of.slot]
            length = math.sqrt(t0 * t0 + t1 * t1)
            slides = not length <= NOTHING
            work.slips[i] = NO_FRICTION if not mu > 0.0 else (SLIDE if slides else ZERO)
            usual = usual and (work.slips[i] == SLIDE or work.roles[i] == FREE)
            normal = work.weights[i] if work.roles[i] == DRIVEN else 0.0
            m += 1 if work.roles[i] == DRIVEN else 0
            work.along[i, 0], work.along[i, 1] = (t0 / length, t1 / length) if slides else (0.0, 0.0)
            work.rates[i, 0], work.rates[i, 1], work.rates[i, 2] = (
                normal,
                -mu * normal * work.along[i, 0],
                -mu * normal * work.along[i, 1],
            )
    return m if usual else LEFT


@written_out
def normal_change(of: Column, work: DrawWork, j: int) -> float:
    """Rate of the normal velocity of contact j, see `routh.kernels.space_rates.refresh`."""
    rate, G, row = 0.0, of.G, of.row
    for i in range(work.roles.shape[0]):
        if work.roles[i] != FREE:
            rate += G[row, 3 * i, 3 * j] * work.rates[i, 0]
            rate += G[row, 3 * i + 1, 3 * j] * work.rates[i, 1] + G[row, 3 * i + 2, 3 * j] * work.rates[i, 2]
    return rate


@written_out
def hold(of: Column, work: DrawWork) -> float:
    """Rates of the contact that is held, which is free if it need not push: its normal rate; LEFT: none.

    See `routh.kernels.space_rates.one_contact`.
    """
    found = 0.0
    for i in range(work.roles.shape[0]):
        if work.roles[i] == HELD:
            change, at, u0, u1 = normal_change(of, work, i), 3 * i, work.along[i, 0], work.along[i, 1]
            diagonal, mu = of.G[of.row, at, at], friction_of(of, i)
            pushes = diagonal - mu * (of.G[of.row, at, at + 1] * u0 + of.G[of.row, at, at + 2] * u1)
            normal = 0.0
            if not change >= 0.0:
                normal = -change / pushes if pushes > PAINLEVE * diagonal else float(LEFT)
            work.rates[i, 0], work.rates[i, 1], work.rates[i, 2] = (
                normal,
                -mu * normal * u0,
                -mu * normal * u1,
            )
            work.roles[i] = HELD if normal > 0.0 else FREE
            found = normal if normal < math.inf else float(LEFT)
    return found


@written_out
def straight_length(of: Column, work: DrawWork) -> float:
    """See `routh.kernels.space_straight.normal_length`; LEFT: rates are not finite."""
    least, finite = math.inf, True
    for j in range(work.roles.shape[0]):
        if j < of.nc:
            y, rate = of.states[3 * j, of.slot], normal_change(of, work, j)
            finite = finite and abs(rate) < math.inf
            if abs(y) > NOTHING and y * rate < 0.0:
                least = min(least, -y / rate)
    return least if finite else float(LEFT)


@written_out
def write_contacts(of: Column, work: DrawWork, every: bool) -> int:
    """Roles, slips and weights into the column, ``every``: of all contacts; how many push.

    What is rounding becomes zero.
    """
    states, slot, nc, m = of.states, of.slot, of.nc, 0
    for i in range(work.roles.shape[0]):
        if i < nc:
            at = 3 * i
            if abs(states[at, slot]) <= NOTHING:
                states[at, slot] = 0.0
            t0, t1 = states[at + 1, slot], states[at + 2, slot]
            length = math.sqrt(t0 * t0 + t1 * t1)
            if length <= NOTHING:
                states[at + 1, slot], states[at + 2, slot] = 0.0, 0.0
            else:
                states[entry_row(of, i, SLIDES0), slot] = t0 / length
                states[entry_row(of, i, SLIDES1), slot] = t1 / length
            if every or work.roles[i] == DRIVEN:
                states[entry_row(of, i, WEIGHTS), slot] = work.weights[i]
            states[entry_row(of, i, MARKS), slot] = float(work.roles[i] + 20 * work.slips[i])
    for role in range(DRIVEN, HELD + 1):
        for i in range(work.roles.shape[0]):
            if work.roles[i] == role:
                states[entry_row(of, m, MARKS), slot] += 64.0 * i
                m += 1
    return m


@kernel
def usual_draw(of: Column, work: DrawWork, draw: Draw, sample: int) -> int:
    """A draw: how many contacts push along a curve then; ENDS: the sample has; LEFT: nothing has changed.

    AND_HELD is added where one of them is held.
    """
    states, slot, nc = of.states, of.slot, of.nc
    scale = max(1.0, nc / 4.0)
    budget = scale * (STEP_BUDGET if draw.tolerance > FINE else FINE_BUDGET)
    as_drawn, event = int(scale * DRAWN), int(states[course_row(nc, EVENT), slot])
    late = event >= as_drawn + int(scale * ALONE_STAGES) or states[global_row(nc, STEPS), slot] > budget
    if states[course_row(nc, NEXT), slot] != DRAWS or late:
        return LEFT
    if has_ended(of, work):
        states[move_row(nc, STATUS), slot] = SOLVED
        return ENDS
    key = event_key(draw.seed, draw.row + of.row, sample, event)
    if sample < draw.keys.shape[0] and event < draw.keys.shape[1]:
        key = draw.keys[sample, event]
    first = event < as_drawn
    drawn = first and draw.rates != UNIFORM and draw.rates != CUSTOM
    held = choose_roles(of, work, key, drawn)
    if held == LEFT:
        return LEFT
    kind = event_number(key, KIND)
    kept = drawn and event_number(key, KEEP) < KEEP_CHANCE and keep_weights(of, work)
    alone = not kept and (not first or (drawn and (kind < ALONE or draw.rates == EXTREME)))
    if alone:
        choose_one(work, key)
    else:
        if not kept:
            draw_weights(work, draw.rates, key, kind)
        if not share_weights(work):
            return LEFT
    m, share, cut, jams = find_slips(of, work), 1.0, math.inf, JAMMING
    if m <= 0:
        return LEFT
    if held > 0:
        normal = hold(of, work)
        if normal < 0.0:
            return LEFT
        while jams < 2.0 * normal:
            jams *= FARTHER
    if first and event_number(key, IS_CUT) > draw.persistence:
        share, length = event_number(key, CUT_AT), straight_length(of, work)
        if length < 0.0:
            return LEFT
        cut = share * min(length, 4.0) if share < 1.0 else math.inf
    pushes = write_contacts(of, work, not (kept or alone))
    states[global_row(nc, CUT), slot], states[global_row(nc, JAMMED), slot] = cut, jams
    states[global_row(nc, STAYS), slot] = 1.0 if first else 0.0
    states[global_row(nc, AIMED_BY), slot] = AIMS if draw.tolerance > FINE else FINE_AIMS
    if held > 0:
        states[global_row(nc, STEPS), slot] += SWEEP_COST
    states[course_row(nc, SHARE), slot], states[course_row(nc, REDRAWN), slot] = share, 0.0
    states[course_row(nc, PIECE), slot], states[course_row(nc, SWEEPS_LEFT), slot] = 0.0, -float(held)
    states[course_row(nc, NEXT), slot], states[move_row(nc, PUSHING), slot] = CURVES, pushes
    states[move_row(nc, TAKEN), slot], states[move_row(nc, MAY_END), slot] = 0.0, 1.0
    return pushes if pushes == m else pushes + AND_HELD
