"""Newton's method on what the rows do, and what a step leaves behind."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import apart, kernel
from routh.kernels.common.random import event_number
from routh.kernels.constraints.data import (
    ACCELERATION,
    BEST,
    DAMPING,
    FORCE,
    KEPT,
    PHI,
    SEPARATES,
    SLIDES,
    STICKS,
    STIFFNESS,
    WISH,
    C,
    Layout,
    Modes,
    Scratch,
    Terms,
    X,
)
from routh.kernels.constraints.scaling import Residuals, can_stick, larger, prepare, residuals, soften
from routh.kernels.constraints.springs import solve_modes

GIVEN, COLD, WARM = range(3)  # modes to start from
MOST = 20  # linear systems of one start
#: stiffness of rows as a share of what they push: at first, how it grows, and where other digits are lost
SOFTEST, HARDER, HARDEST = 1.0, 10.0, 1e16
STARTS, FEW_PRESSED = 100, 16  # with drawn modes; with more rows that are pressed they have no chance
SURE, TURNING = 4, 0.3  # linear systems before draws begin; how often a slip that turns round goes on
#: what becomes of a slip that turns round: it sticks, it turns, or stuck contacts that pull slip, too
STICK, TURN, HOLD = range(3)
BEYOND = 1.0 + 1e-12  # shares of the friction limit that count as more than it
SAME_DIRECTION = 1e-7


@kernel
def begin(layout: Layout, terms: Terms, own: Scratch, modes: Modes, warm: bool) -> None:
    """The modes to start from: all that is pressed acts and sticks; ``warm``: as before."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, modes.acts, modes.direction, own.scaled
    # writes modes.acts, modes.direction, modes.weakening
    # hands on layout, own, terms
    for i in range(layout.nu):
        if not warm:
            modes.acts[i] = 1
    for c in range(layout.nc):
        i, sticks = layout.nu + c, can_stick(layout, terms, own, c)
        before, slips = modes.acts[i], False
        for j in range(layout.nt):
            slips = slips or modes.direction[c, j] != 0.0
        acts = before != SEPARATES if warm else own.scaled[C, layout.nb + i] > 0.0
        slides = not sticks or (warm and before == SLIDES and slips)
        acts = acts and own.scaled[X, layout.nb + i] > 0.0
        modes.acts[i] = (SLIDES if slides else STICKS) if acts else SEPARATES
        if modes.acts[i] != SLIDES or not warm:
            for j in range(layout.nt):
                modes.direction[c, j] = 0.0
            modes.weakening[c] = 0.0


class Steps(NamedTuple):
    """Steps of systems with the same rows, a leading axis of E."""

    h: Array  # (E,) s
    half: Array  # (E, nv, nv)
    f: Array  # (nv,) no forces: what others do is in v
    v: Array  # (E, nv) velocities at the end without constraint forces
    G: Array  # (E, n, nv)
    numbers: Array  # (E, 4, n)
    mu: Array  # (E, nc)


class Solved(NamedTuple):
    """What they lead to."""

    force: Array  # (E, n) N
    acceleration: Array  # (E, nv)
    modes: Modes  # to start from, then those of the forces
    residual: Array  # (E,)
    solves: np.ndarray  # (E,) int64


@kernel
def solve_steps(
    first: int, end: int, start: int, enough: float, layout: Layout, steps: Steps, own: Scratch, out: Solved
) -> None:
    """`solve_rows` of steps ``first`` to ``end`` of dense systems."""
    # reads out.acceleration, out.force, own.motion, own.rows, steps.h
    # writes out.acceleration, out.force, out.residual, out.solves
    # hands on layout, out.modes.acts, out.modes.direction, out.modes.weakening, own, steps.G, steps.f,
    #   steps.half, steps.mu, steps.numbers, steps.v
    for e in range(first, end):
        half, G, numbers, mu = steps.half[e], steps.G[e], steps.numbers[e], steps.mu[e]
        terms = Terms(half, half, steps.f, steps.v[e], G, numbers, mu)
        modes = Modes(out.modes.acts[e], out.modes.direction[e], out.modes.weakening[e])
        left, solves = solve_rows(layout, terms, steps.h[e], own, modes, enough, start)
        out.residual[e], out.solves[e] = largest(left), solves
        for i in range(out.force.shape[1]):
            out.force[e, i] = own.rows[KEPT, i]
        for k in range(out.acceleration.shape[1]):
            out.acceleration[e, k] = own.motion[BEST, k]


@kernel
def solve_rows(
    layout: Layout, terms: Terms, h: float, own: Scratch, modes: Modes, enough: float, start: int
) -> tuple[Residuals, int]:
    """`settle` of one step by itself, from modes that are GIVEN, those of the step before (WARM), or COLD."""
    # hands on layout, modes, own, terms
    prepare(layout, terms, h, own)
    if start != GIVEN:
        begin(layout, terms, own, modes, start == WARM)
    return settle(layout, terms, h, own, modes, enough, start != GIVEN)


@apart
def settle(
    layout: Layout, terms: Terms, h: float, own: Scratch, modes: Modes, enough: float, thorough: bool
) -> tuple[Residuals, int]:
    """Forces (`KEPT`) and their acceleration (`BEST`) from the modes, which become theirs.

    With friction it goes on until the residual is below ``enough``. Their residuals, and how many linear
    systems were solved. Where Newton's method from the modes goes round in circles, other rules for a slip
    that turns round are tried; if ``thorough``, before them rows that are soft first and harden step by step,
    and after them drawn modes.
    """
    # hands on layout, modes, own, own.best, own.first, terms
    copy_modes(modes, own.first)
    rough = _rough(layout, terms, own)
    if not rough:
        enough = math.inf  # one active set is right; what is left over is rounding
    best = Residuals(math.inf, 0.0, 0.0, 0.0, 0.0)
    best, solves = _newton(layout, terms, h, own, modes, enough, STICK, 0, best)
    if thorough and not largest(best) < enough:
        best, more = _harden(layout, terms, h, own, modes, enough, best)
        solves += more
    for rule in range(TURN, HOLD + 1):
        if rough and not largest(best) < enough:
            copy_modes(own.first, modes)
            best, more = _newton(layout, terms, h, own, modes, enough, rule, 0, best)
            solves += more
    for start in range(1, STARTS + 1 if thorough and rough else 1):
        if largest(best) < enough or not _draw(layout, terms, own, modes, start):
            break
        best, more = _newton(layout, terms, h, own, modes, enough, STICK, start, best)
        solves += more
    copy_modes(own.best, modes)
    return best, solves


@kernel
def _newton(
    layout: Layout,
    terms: Terms,
    h: float,
    own: Scratch,
    modes: Modes,
    enough: float,
    rule: int,
    seed: int,
    best: Residuals,
) -> tuple[Residuals, int]:
    """Newton steps from the modes until the residual is below ``enough``.

    ``best``: the residuals of what is kept so far. Those of what is kept then, and how many systems it took.
    With a ``seed`` draws decide, after a few systems, which rows may change what they do and what becomes of
    a slip that turns round, so that it leaves every circle; without, it stops when it is in one.
    """
    # reads modes.acts, own.following.acts, own.rows
    # hands on best, layout, modes, own, own.best, own.following, terms
    solves, key, count = 0, np.uint64(seed), len(modes.acts) + 1
    while solves < MOST and solve_modes(layout, terms, own, modes):
        solves += 1
        drawn = seed > 0 and solves > SURE
        if drawn:
            rule = TURN if event_number(key, solves * count) < TURNING else STICK
        if _follow(layout, terms, own, modes, rule):
            found = residuals(layout, terms, h, own, own.rows[FORCE])
            if largest(found) < largest(best):  # a NaN never wins
                best = found
                copy_modes(modes, own.best)
                _keep(own)
            if largest(best) < enough:
                break
        elif seed == 0 and solves >= SURE and _repeats(own, modes, solves):
            break
        elif drawn:
            for i in range(len(modes.acts)):
                if own.following.acts[i] != modes.acts[i] and event_number(key, solves * count + 1 + i) < 0.5:
                    _stay(layout, own, modes, i)
        copy_modes(own.following, modes)
    return best, solves


@kernel
def _repeats(own: Scratch, modes: Modes, solves: int) -> bool:
    """Whether rows come back to what all of them did at a mark, which is set ever later (Brent 1980)."""
    # reads modes.acts, own.following.acts, own.mark; writes own.mark
    back, away = True, False
    for i in range(len(modes.acts)):
        back = back and own.following.acts[i] == own.mark[i]
        away = away or own.following.acts[i] != modes.acts[i]
    if solves & (solves - 1) == 0:
        for i in range(len(modes.acts)):
            own.mark[i] = own.following.acts[i]
        return False
    return back and away


@kernel
def _stay(layout: Layout, own: Scratch, modes: Modes, i: int) -> None:
    """Row or contact i goes on with what it does."""
    # reads layout.nt, layout.nu, modes.acts, modes.direction, modes.weakening
    # writes own.following.acts, own.following.direction, own.following.weakening
    own.following.acts[i], c = modes.acts[i], i - layout.nu
    if c >= 0:
        own.following.weakening[c] = modes.weakening[c]
        for j in range(layout.nt):
            own.following.direction[c, j] = modes.direction[c, j]


@kernel
def _harden(
    layout: Layout, terms: Terms, h: float, own: Scratch, modes: Modes, enough: float, best: Residuals
) -> tuple[Residuals, int]:
    """`_newton` from modes of rows that give way as easily as what they push, and then ever less."""
    # hands on best, layout, modes, own, terms
    most, solves, stage, any_will_do = SOFTEST, 0, 1, Residuals(0.0, 0.0, 0.0, 0.0, 0.0)
    stiffest = soften(layout, terms, h, own, most)
    begin(layout, terms, own, modes, False)
    while most < min(stiffest, HARDEST):
        more = _newton(layout, terms, h, own, modes, math.inf, STICK, stage, any_will_do)[1]
        most, solves, stage = most * HARDER, solves + more, stage + 1
        soften(layout, terms, h, own, most)
    soften(layout, terms, h, own, math.inf)
    best, more = _newton(layout, terms, h, own, modes, enough, STICK, stage, best)
    return best, solves + more


@kernel
def _draw(layout: Layout, terms: Terms, own: Scratch, modes: Modes, start: int) -> bool:
    """Draw what pressed rows do; False where they are too many for that."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, own.scaled
    # writes modes.acts, modes.direction, modes.weakening
    # hands on layout, own, terms
    key, pressed, nu, nt = np.uint64(start), 0, layout.nu, layout.nt
    for i in range(nu + layout.nc):
        acts, number, c = SEPARATES, event_number(key, i), i - nu
        if own.scaled[C, layout.nb + i] > 0.0:
            pressed += 1
            acts = SLIDES if number < 0.3 else (STICKS if number < 0.8 else SEPARATES)
        if c < 0:
            modes.acts[i] = int(acts != SEPARATES)
            continue
        if acts != SEPARATES and not can_stick(layout, terms, own, c):
            acts = SLIDES
        slips = acts == SLIDES and can_stick(layout, terms, own, c)
        modes.acts[i], modes.weakening[c] = acts, 0.0
        angle = math.pi * number / 0.15  # all the way round for those below 0.3
        ahead = math.cos(angle) if nt == 2 else (1.0 if number < 0.15 else -1.0)
        for j in range(nt):
            modes.direction[c, j] = (ahead if j == 0 else math.sin(angle)) if slips else 0.0
    return pressed <= FEW_PRESSED


@kernel
def _rough(layout: Layout, terms: Terms, own: Scratch) -> bool:
    """Whether any contact can stick."""
    # reads layout.nc; hands on layout, own, terms
    for c in range(layout.nc):
        if can_stick(layout, terms, own, c):
            return True
    return False


@kernel
def largest(found: Residuals) -> float:
    """The largest of all; NaN where one is."""
    # reads bilateral, friction, momentum, normal, unilateral
    contacts = larger(larger(found.normal, found.friction), found.momentum)
    return larger(larger(found.bilateral, found.unilateral), contacts)


@kernel
def copy_modes(one: Modes, other: Modes) -> None:
    """``other`` becomes as ``one``."""
    # reads one.acts, one.direction, one.weakening; writes other.acts, other.direction, other.weakening
    for i in range(len(one.acts)):
        other.acts[i] = one.acts[i]
    for c in range(len(one.weakening)):
        other.weakening[c] = one.weakening[c]
        for j in range(one.direction.shape[1]):
            other.direction[c, j] = one.direction[c, j]


@kernel
def _keep(own: Scratch) -> None:
    """Keep forces and accelerations as the best ones so far."""
    # reads motion, rows; writes motion, rows
    for i in range(own.rows.shape[1]):
        own.rows[KEPT, i] = own.rows[FORCE, i]
    for k in range(own.motion.shape[1]):
        own.motion[BEST, k] = own.motion[ACCELERATION, k]


@kernel
def _follow(layout: Layout, terms: Terms, own: Scratch, modes: Modes, rule: int) -> bool:
    """What the rows do next (`following`), by forces and wishes; whether that is what they do."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, modes.acts, modes.direction, own.following.acts,
    #   own.following.direction, own.rows, terms.mu
    # writes own.following.acts, own.following.direction, own.following.weakening
    # hands on layout, own, terms
    nb, nu, nt = layout.nb, layout.nu, layout.nt
    force, wish, then, same = own.rows[FORCE], own.rows[WISH], own.following, True
    for i in range(nu):
        then.acts[i] = int((force[nb + i] if modes.acts[i] == 1 else wish[nb + i]) > 0.0)
        same = same and then.acts[i] == modes.acts[i]
    for c in range(layout.nc):
        i, now = nb + nu + c, modes.acts[nu + c]
        t = nb + nu + layout.nc + c * nt
        # a contact that closes is judged by what its springs wish: it nearly always slips at first
        push = wish[i] if now == SEPARATES else force[i]
        closed = push > 0.0 or (rule == HOLD and now == STICKS)
        limit = terms.mu[c] * max(push, 0.0)
        size, along = 0.0, 0.0
        for j in range(nt):
            pull = force[t + j] if now == STICKS else wish[t + j]
            size += pull * pull
            along += wish[t + j] * modes.direction[c, j]
        size, sticks = math.sqrt(size), can_stick(layout, terms, own, c)
        turned = now == SLIDES and along < 0.0 and rule == STICK
        slips = (size > limit * BEYOND and not turned) or not sticks
        then.acts[nu + c] = (SLIDES if slips else STICKS) if closed else SEPARATES
        moving = closed and slips and sticks and size > 0.0
        # a contact that has just begun to slip is weakened by its stuck force, one that slips by its wish
        then.weakening[c] = min(limit / size, 1.0) if moving else 0.0
        same = same and then.acts[nu + c] == now
        for j in range(nt):
            pull = force[t + j] if now == STICKS else wish[t + j]
            then.direction[c, j] = pull / size if moving else 0.0
            same = same and abs(then.direction[c, j] - modes.direction[c, j]) < SAME_DIRECTION
    return same


@kernel
def stretch(layout: Layout, terms: Terms, h: float, own: Scratch, modes: Modes, memory: Array) -> None:
    """Deformations (nc, nt) of friction's springs at the end; the slider takes its part of the rate."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, modes.acts, own.scaled, terms.numbers
    for c in range(layout.nc):
        for j in range(layout.nt):
            i = layout.nb + layout.nu + layout.nc + c * layout.nt + j
            phi, K, B = terms.numbers[PHI, i], terms.numbers[STIFFNESS, i], terms.numbers[DAMPING, i]
            memory[c, j] = 0.0
            if modes.acts[layout.nu + c] != SEPARATES:
                # lambda = -K phi_1 - B rate and phi_1 = phi_0 + h rate, solved for phi_1
                closed = own.scaled[X, i] > 0.0
                memory[c, j] = (B * phi - h * own.rows[KEPT, i]) / (h * K + B) if closed else phi
