"""One contact that pushes alone and stops sliding: the end of its slip, and what comes after that.

What `routh.kernels.events_space.advance` does, to the bit, in a column; what is seldom is left to that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import kernel, written_out
from routh.kernels.arrays import Draw
from routh.kernels.space_curve import FAR, LAST, LOCAL, MOST, TAIL
from routh.kernels.space_equations import invert, unknown_value
from routh.kernels.space_friction import on_disc
from routh.kernels.space_lone import (
    Block,
    LoneWork,
    R,
    S,
    T,
    Three,
    across_slip,
    add_impulse,
    gather_lone,
    lone_event,
    lone_square,
    only_slows,
    slip_ends,
)
from routh.kernels.space_names import (
    CURVES,
    CUT,
    DRAWS,
    DRIVEN,
    EVENT,
    FREE,
    MAY_END,
    NEXT,
    ORDER,
    PIECE,
    PIECES,
    PIVOT,
    RATES,
    RIGHT,
    STAYS,
    STEPS,
    named,
)
from routh.kernels.space_rates import SWEEP_COST
from routh.kernels.space_state import (
    LEFT,
    TOTALS,
    Column,
    course_row,
    friction_of,
    global_row,
    keep_weights,
    move_row,
    pusher,
    step_taken,
    weight_of,
)
from routh.kernels.space_straight import STILL
from routh.kernels.space_usual_draws import AGAIN, choose, is_first_phase, write_contacts
from routh.kernels.space_usual_rates import DrawWork, find_slips, straight_length
from routh.validation import Array

SIZE = 2  # equations for the friction of one contact
(EQUATIONS,) = named(1, int(RIGHT) + 1)


class StopWork(NamedTuple):
    """Scratch of one thread, as `routh.kernels.space_equations` needs it."""

    values: Array  # (EQUATIONS + 2 SIZE, SIZE)
    marks: np.ndarray  # (PIVOT + 1, SIZE) int64


def stop_work() -> StopWork:
    """Scratch for one contact."""
    return StopWork(
        np.zeros((int(EQUATIONS) + 2 * SIZE, SIZE)), np.zeros((int(PIVOT) + 1, SIZE), dtype=np.int64)
    )


@kernel
def stopped(
    equations: StopWork, g: Block, mu: float, t: tuple[float, float], p: Three
) -> tuple[Three, float]:
    """The impulse p with friction that takes what is left of a slip t, and by how much it leaves its cone.

    See `routh.kernels.space_curve.stop_slip` and `outside_cones` there.
    """
    values, first = equations.values, EQUATIONS
    values[first, 0], values[first, 1] = g[2], g[4]
    values[first + 1, 0], values[first + 1, 1] = g[4], g[5]
    values[first + 2, 0], values[first + 2, 1] = 1.0, 0.0
    values[first + 3, 0], values[first + 3, 1] = 0.0, 1.0
    invert(equations, first, SIZE, SIZE)
    values[RIGHT, 0] = -(t[0] + (g[1] * p[0] + g[2] * p[1] + g[4] * p[2]))
    values[RIGHT, 1] = -(t[1] + (g[3] * p[0] + g[4] * p[1] + g[5] * p[2]))
    z0, z1 = unknown_value(equations, SIZE, 0), unknown_value(equations, SIZE, 1)
    p0, p1, p2 = p[0], p[1] + z0, p[2] + z1
    normal, friction = max(p0, 0.0), math.sqrt(p1**2 + p2**2)
    share = max(1.0 - mu * normal / max(friction, 1e-300), 0.0)
    outside = math.sqrt(max(lone_square(g, (p0 - normal, share * p1, share * p2)), 0.0))
    return (p0, p1, p2), outside


@written_out
def stop_step(of: Column, work: LoneWork, equations: StopWork) -> int:
    """A step of one contact straight on to the end of its slip: what comes next, RATES, DRAWS or CURVES.

    LEFT: it does not end, and nothing has changed. CURVES: it does not stop, and is to go along the curve.
    """
    states, slot, i, allowed, powers = of.states, of.slot, pusher(of, 0), LOCAL * of.tolerance, work.powers
    mu, weight = friction_of(of, i), weight_of(of, i)
    t0, t1 = states[3 * i + 1, slot], states[3 * i + 2, slot]
    length = math.sqrt(t0 * t0 + t1 * t1)
    if not (length > 0.0 and states[move_row(of.nc, MAY_END), slot] > 0.0):
        return LEFT
    u = t0 / length, t1 / length
    g, r, d, distance = gather_lone(of, work, i, mu, weight, u)
    block = g[2], g[4], g[5]
    ends, ahead, missed = slip_ends(block, mu * weight, length, u, d, 0.0, distance, allowed)
    if not ends:
        return LEFT
    for k in range(ORDER + 1):
        powers[T, k], powers[R, k], powers[S, k] = 0.0, 0.0, 0.0
    powers[T, 0], powers[R, 0], powers[S, 0] = r[1], r[2], 1.0  # on with the rates of now
    _, event, who, p = lone_event(of, work, i, weight, 1.0, min(ahead, FAR), not only_slows(g, mu))
    error = TAIL * (min(missed, length) / math.sqrt(across_slip(block, u)))
    if event:
        add_impulse(of, work, i, p, who)
        return step_taken(of, p[0] / weight, error, False, False)
    if ahead >= FAR:
        return LEFT
    p, outside = stopped(equations, g, mu, (t0, t1), p)
    if length > LAST * allowed and outside > MOST * allowed:
        states[move_row(of.nc, MAY_END), slot] = 0.0  # the same step again, as a curve
        states[global_row(of.nc, STEPS), slot] += 1.0
        return CURVES
    add_impulse(of, work, i, p, -1)
    states[3 * i + 1, slot], states[3 * i + 2, slot] = 0.0, 0.0
    goes_on = states[global_row(of.nc, STAYS), slot] > 0.0
    return step_taken(of, p[0] / weight, error + outside, False, goes_on)


@written_out
def the_driven(work: DrawWork) -> int:
    """The contact that pushes, if it is one and driven; LEFT: it is not so."""
    found, count = LEFT, 0
    for i in range(work.roles.shape[0]):
        if work.roles[i] != FREE:
            found, count = (i if work.roles[i] == DRIVEN else LEFT), count + 1
    return found if count == 1 else LEFT


@kernel
def move_straight(of: Column, work: DrawWork, i: int, length: float, event: int) -> None:
    """Velocities, and impulses in all, after a piece, see `routh.kernels.space_moving.advance_straight`."""
    states, slot, G, row, at = of.states, of.slot, of.G, of.row, 3 * i
    r0, r1, r2 = work.rates[i, 0], work.rates[i, 1], work.rates[i, 2]
    still = STILL * max(abs(r0), max(abs(r1), abs(r2)))
    for j in range(of.nc):
        y, a, b, c = states[3 * j, slot], 3 * j, 3 * j + 1, 3 * j + 2
        rate = G[row, at, a] * r0 + (G[row, at + 1, a] * r1 + G[row, at + 2, a] * r2)
        d0 = G[row, at, b] * r0 + (G[row, at + 1, b] * r1 + G[row, at + 2, b] * r2)
        d1 = G[row, at, c] * r0 + (G[row, at + 1, c] * r1 + G[row, at + 2, c] * r2)
        if j == i and y >= 0.0:
            rate = min(rate, 0.0)
        states[a, slot] = 0.0 if j == event else y + length * rate
        if not (j == i and math.sqrt(d0 * d0 + d1 * d1) <= still):  # otherwise it sticks
            states[b, slot] += length * d0
            states[c, slot] += length * d1
    for part in range(3):
        states[TOTALS * of.nc + at + part, slot] += length * work.rates[i, part]


@kernel
def straight_draw(of: Column, work: DrawWork, draw: Draw, sample: int) -> int:
    """A draw, or rates of the next piece, of one contact without slip, and that piece, which is straight.

    AGAIN: a draw follows; LEFT: it is not usual, and nothing has changed.
    """
    states, slot, nc = of.states, of.slot, of.nc
    state = int(states[course_row(nc, NEXT), slot])
    share, every = choose(of, work, draw, sample, state, is_first_phase(of))
    find_slips(of, work)
    i = the_driven(work)
    if share < 0.0 or i < 0:
        return LEFT
    at, mu, normal = 3 * i, friction_of(of, i), work.weights[i]
    g10, g11 = of.G[of.row, at + 1, at], of.G[of.row, at + 1, at + 1]
    g20, g21, g22 = of.G[of.row, at + 2, at], of.G[of.row, at + 2, at + 1], of.G[of.row, at + 2, at + 2]
    if not (mu * normal > 0.0 and work.along[i, 0] == 0.0 and work.along[i, 1] == 0.0):
        return LEFT
    f0, f1, _ = on_disc(g11, g21, g22, g10 * normal, g20 * normal, mu * normal)
    work.rates[i, 0], work.rates[i, 1], work.rates[i, 2] = normal, f0, f1
    length, who = straight_length(of, work, True)
    cut = states[global_row(nc, CUT), slot]
    if state != RATES:
        cut = share * min(length, 4.0) if share < 1.0 else math.inf
    piece = (states[course_row(nc, PIECE), slot] if state == RATES else 0.0) + 1.0
    if length < 0.0 or not min(cut, length) < math.inf:
        return LEFT
    write_contacts(of, work, every)
    keep_weights(of)
    if cut < length:
        length, who = cut, -1
    if length > 0.0:
        move_straight(of, work, i, length, who)
    states[global_row(nc, STEPS), slot] += SWEEP_COST
    states[course_row(nc, PIECES), slot] += piece
    states[course_row(nc, EVENT), slot] += 1.0
    states[course_row(nc, NEXT), slot] = DRAWS
    return AGAIN
