"""Draws, and rates of further pieces, after which all contacts that push slide: most of them.

What `routh.kernels.events_space.advance` does, to the bit; other draws are left to that.
"""

from __future__ import annotations

import math

import numpy as np

from routh.compiling import kernel, written_out
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
    PIECE,
    PIECES,
    PUSHING,
    RATES,
    REDRAWN,
    REDRAWS,
    SHARE,
    SLIDE,
    STAYS,
    STEPS,
    TAKEN,
    named,
)
from routh.kernels.space_rates import SWEEP_COST
from routh.kernels.space_state import (
    KEEPS,
    LEFT,
    MARKS,
    SLIDES0,
    SLIDES1,
    STATUS,
    WEIGHTS,
    Column,
    course_row,
    global_row,
    keep_weights,
    move_row,
    role,
)
from routh.kernels.space_straight import NOTHING
from routh.kernels.space_usual_rates import (
    DrawWork,
    entry_row,
    find_slips,
    jamming_rate,
    straight_length,
    sweeps,
)

# what a draw returns that finds nothing to do, or after which there is another one, and what it adds to the
# number of contacts that push
ENDS, AGAIN, AND_HELD = 0, 2**21, 2**20
(STANDS,) = named(1, -2)  # one contact pushes, and it does not slide: `routh.kernels.space_stops`
ALL_SLIDE = 20 * SLIDE  # marks of a contact whose role is not added yet: how those that push slip, and go on


@written_out
def has_ended(of: Column, work: DrawWork) -> bool:
    """Whether nothing approaches."""
    ended = True
    for i in range(work.roles.shape[0]):
        if i < of.nc:
            ended = ended and of.states[3 * i, of.slot] >= 0.0
    return ended


@written_out
def choose_roles(of: Column, work: DrawWork, key: np.uint64, state: int, drawn: bool) -> bool:
    """Drive what approaches and hold or drive what rests: whether anything approaches.

    See `routh.kernels.space_draws.draw_roles` and `fewer_roles` there; RATES: roles stay.
    """
    sure = False
    for i in range(work.roles.shape[0]):
        work.roles[i] = FREE
        if i < of.nc:
            y = of.states[3 * i, of.slot]
            sure = sure or y < 0.0
            if state == RATES:
                work.roles[i] = role(of, i)
            elif y < 0.0:
                work.roles[i] = DRIVEN
            elif y == 0.0 and state == DRAWS:
                number = event_number(key, PER_CONTACT + EACH * i) if drawn else 0.0
                if number < HOLD:
                    work.roles[i] = HELD
                elif number < PUSH:
                    work.roles[i] = DRIVEN
    return sure


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
        work.weights[i] = 1.0
        if work.roles[i] == DRIVEN and i != chosen:
            work.roles[i] = FREE


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
def load_weights(of: Column, work: DrawWork, entry: int) -> float:
    """WEIGHTS, or those of the stage before, KEEPS: their sum."""
    total = 0.0
    for i in range(work.roles.shape[0]):
        if work.roles[i] == DRIVEN:
            work.weights[i] = of.states[entry_row(of, i, entry), of.slot]
            total += work.weights[i]
    return total


@kernel
def draw_weights(of: Column, work: DrawWork, rates: int, key: np.uint64, kind: float) -> None:
    """Of all contacts, see `routh.kernels.space_draws.draw_weights`."""
    power = 4.0 if kind < FACE else 1.0
    for i in range(of.nc):
        number = event_number(key, PER_CONTACT + EACH * i + 1)
        work.weights[i] = number if rates == UNIFORM else (-math.log(number)) ** power


@written_out
def list_roles(of: Column, work: DrawWork) -> int:
    """Marks: roles, and who pushes, those driven first; how many. And normal velocities to ``changes``."""
    m = 0
    for i in range(work.roles.shape[0]):
        work.marks[i] = work.roles[i] + ALL_SLIDE
        if i < of.nc:
            work.changes[i] = of.states[3 * i, of.slot]
    for chosen in range(DRIVEN, HELD + 1):
        for i in range(work.roles.shape[0]):
            for a in range(work.roles.shape[0]):
                if work.roles[i] == chosen and a == m:
                    work.marks[a] += 64 * i
            m += 1 if work.roles[i] == chosen else 0
    return m


@written_out
def write_contacts(of: Column, work: DrawWork, every: bool) -> int:
    """Roles, slips and weights into the column, ``every``: of all contacts; how many push.

    What is rounding becomes zero. All has been read before anything is written.
    """
    states, slot, m = of.states, of.slot, list_roles(of, work)
    for i in range(work.roles.shape[0]):
        if i < of.nc:
            if abs(work.changes[i]) <= NOTHING:
                states[3 * i, slot] = 0.0
            u0, u1 = work.along[i, 0], work.along[i, 1]
            if u0 == 0.0 and u1 == 0.0:
                states[3 * i + 1, slot], states[3 * i + 2, slot] = 0.0, 0.0
            else:
                states[entry_row(of, i, SLIDES0), slot], states[entry_row(of, i, SLIDES1), slot] = u0, u1
            if every or work.roles[i] == DRIVEN:
                states[entry_row(of, i, WEIGHTS), slot] = work.weights[i]
            states[entry_row(of, i, MARKS), slot] = float(work.marks[i])
    return m


@kernel
def choose(
    of: Column, work: DrawWork, draw: Draw, sample: int, state: int, first: bool
) -> tuple[float, bool]:
    """Who pushes, with which weights, and the share of the stage, 1: all of it; LEFT: this is not usual.

    And whether weights of all contacts are drawn. ``first``: the sample is in its first phase.
    """
    event = int(of.states[course_row(of.nc, EVENT), of.slot])
    key = event_key(draw.seed, draw.row + of.row, sample, event)
    if sample < draw.keys.shape[0] and event < draw.keys.shape[1]:
        key = draw.keys[sample, event]
    drawn = first and draw.rates != UNIFORM and draw.rates != CUSTOM
    sure = choose_roles(of, work, key, state, drawn)
    kind = event_number(key, KIND)
    keeps = state == DRAWS and drawn and event_number(key, KEEP) < KEEP_CHANCE
    kept, every = False, False
    if keeps or state == RATES:
        kept = load_weights(of, work, KEEPS if keeps else WEIGHTS) > 0.0
    if state == RATES:
        return 1.0, False
    if not kept and (state == REDRAWS or not first or (drawn and (kind < ALONE or draw.rates == EXTREME))):
        choose_one(work, key)
    else:
        if not kept:
            draw_weights(of, work, draw.rates, key, kind)
            every = True
        sure = share_weights(work) and sure
    if state == REDRAWS:
        return of.states[course_row(of.nc, SHARE), of.slot], every
    if not sure:
        return float(LEFT), every
    is_cut = first and event_number(key, IS_CUT) > draw.persistence
    return event_number(key, CUT_AT) if is_cut else 1.0, every


@kernel
def is_first_phase(of: Column) -> bool:
    """Whether stages are as drawn so far, see `routh.kernels.events_space.draw_stage`."""
    return of.states[course_row(of.nc, EVENT), of.slot] < int(max(1.0, of.nc / 4.0) * DRAWN)


@kernel
def usual_draw(of: Column, work: DrawWork, draw: Draw, sample: int) -> int:
    """A draw, or rates of the next piece: how many contacts push along a curve then.

    AND_HELD is added where some of them are held. ENDS: the sample has ended; AGAIN: another draw follows;
    STANDS, LEFT: nothing has changed.
    """
    states, slot, nc = of.states, of.slot, of.nc
    scale = max(1.0, nc / 4.0)
    budget = scale * (STEP_BUDGET if draw.tolerance > FINE else FINE_BUDGET)
    event, steps = states[course_row(nc, EVENT), slot], states[global_row(nc, STEPS), slot]
    late = event >= int(scale * DRAWN) + int(scale * ALONE_STAGES) or steps > budget
    state, first = int(states[course_row(nc, NEXT), slot]), is_first_phase(of)
    if state > RATES or (state == DRAWS and late):
        return LEFT
    if state == DRAWS and has_ended(of, work):
        states[move_row(nc, STATUS), slot] = SOLVED
        return ENDS
    share, every = choose(of, work, draw, sample, state, first)
    driven, held, slide, rough = find_slips(of, work)
    if share < 0.0 or not rough:
        return LEFT
    if not slide:
        return STANDS if driven == 1 and held == 0 else LEFT
    piece, taken, length, following = 1.0, 0.0, math.inf, DRAWS
    if driven > 0:  # otherwise nothing approaches any more, and the stage ends at once
        piece = states[course_row(nc, PIECE), slot] if state == RATES else 0.0
        if held > 0:
            taken = sweeps(of, work, held)
        length = straight_length(of, work, share < 1.0)[0] if taken >= 0.0 else float(LEFT)
        if length >= 0.0:
            following = CURVES
        elif piece == 0.0:
            following = REDRAWS
            if state != DRAWS:
                return LEFT
    pushes = write_contacts(of, work, every)
    if following == DRAWS:
        keep_weights(of)
    states[course_row(nc, NEXT), slot] = following
    states[global_row(nc, STEPS), slot] = steps + SWEEP_COST * abs(taken)
    if state == DRAWS:
        states[course_row(nc, SHARE), slot] = share
        states[global_row(nc, STAYS), slot] = 1.0 if first else 0.0
        states[global_row(nc, AIMED_BY), slot] = AIMS if draw.tolerance > FINE else FINE_AIMS
    if state != RATES:
        states[course_row(nc, REDRAWN), slot], states[course_row(nc, PIECE), slot] = float(state), 0.0
        states[global_row(nc, CUT), slot] = share * min(length, 4.0) if share < 1.0 else math.inf
    if following == DRAWS:
        states[course_row(nc, PIECES), slot] += piece
        states[course_row(nc, EVENT), slot] += 1.0
    if following != CURVES:
        return AGAIN
    states[global_row(nc, JAMMED), slot], states[move_row(nc, PUSHING), slot] = jamming_rate(work), pushes
    states[move_row(nc, TAKEN), slot], states[move_row(nc, MAY_END), slot] = 0.0, 1.0
    return pushes if pushes == driven else pushes + AND_HELD
