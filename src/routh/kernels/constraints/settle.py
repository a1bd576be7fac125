"""Newton's method on what the rows do, and what a step leaves behind."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import apart, kernel
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
from routh.kernels.constraints.scaling import Residuals, can_stick, larger, prepare, residuals
from routh.kernels.constraints.springs import solve_modes
from routh.validation import Array

GIVEN, COLD, WARM = range(3)  # modes to start from
MOST = 20  # linear systems of one rule
#: what becomes of a slip that turns round: it sticks, it turns, or stuck contacts that pull slip, too
STICK, TURN, HOLD = range(3)
BEYOND = 1.0 + 1e-12  # shares of the friction limit that count as more than it
SAME_DIRECTION = 1e-7


@kernel
def begin(layout: Layout, terms: Terms, own: Scratch, modes: Modes, warm: bool) -> None:
    """The modes to start from: all that is pressed acts and sticks; ``warm``: as before, if it was closed."""
    for i in range(layout.nu):
        if not warm:
            modes.acts[i] = 1
    for c in range(layout.nc):
        i, sticks = layout.nu + c, can_stick(layout, terms, own, c)
        before, slips = modes.acts[i], False
        for j in range(layout.nt):
            slips = slips or modes.direction[c, j] != 0.0
        if warm and before != SEPARATES and own.scaled[X, layout.nb + i] > 0.0:
            modes.acts[i] = SLIDES if not sticks or (before == SLIDES and slips) else STICKS
        else:
            pressed = own.scaled[C, layout.nb + i] > 0.0
            modes.acts[i] = (STICKS if sticks else SLIDES) if pressed else SEPARATES
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
    prepare(layout, terms, h, own)
    if start != GIVEN:
        begin(layout, terms, own, modes, start == WARM)
    return settle(layout, terms, h, own, modes, enough)


@apart
def settle(
    layout: Layout, terms: Terms, h: float, own: Scratch, modes: Modes, enough: float
) -> tuple[Residuals, int]:
    """Forces (`KEPT`) and their acceleration (`BEST`) from the modes, which become theirs.

    With friction it goes on until the residual is below ``enough``.

    Their residuals, and how many linear systems were solved. Of three rules for a slip that turns round the
    first that leads to a solution counts, as in `routh.constraints.friction.solve_coulomb`.
    """
    copy_modes(modes, own.first)
    left = Residuals(math.inf, 0.0, 0.0, 0.0)
    solves, least = 0, math.inf
    if not _rough(layout, terms, own):
        enough = math.inf  # one active set is right; what is left over is rounding
    for rule in range(3):
        copy_modes(own.first, modes)
        for _ in range(MOST):
            if not solve_modes(layout, terms, own, modes):
                break
            solves += 1
            if _follow(layout, terms, own, modes, rule):
                found = residuals(layout, terms, h, own, own.rows[FORCE])
                if largest(found) < least:  # a NaN never wins
                    left, least = found, largest(found)
                    copy_modes(modes, own.best)
                    _keep(own)
                if least < enough:
                    break
            copy_modes(own.following, modes)
        if least < enough:
            break
    copy_modes(own.best, modes)
    return left, solves


@kernel
def _rough(layout: Layout, terms: Terms, own: Scratch) -> bool:
    """Whether any contact can stick."""
    for c in range(layout.nc):
        if can_stick(layout, terms, own, c):
            return True
    return False


@kernel
def largest(found: Residuals) -> float:
    """The largest of four; NaN where one is."""
    return larger(larger(found.bilateral, found.unilateral), larger(found.normal, found.friction))


@kernel
def copy_modes(one: Modes, other: Modes) -> None:
    """``other`` becomes as ``one``."""
    for i in range(len(one.acts)):
        other.acts[i] = one.acts[i]
    for c in range(len(one.weakening)):
        other.weakening[c] = one.weakening[c]
        for j in range(one.direction.shape[1]):
            other.direction[c, j] = one.direction[c, j]


@kernel
def _keep(own: Scratch) -> None:
    for i in range(own.rows.shape[1]):
        own.rows[KEPT, i] = own.rows[FORCE, i]
    for k in range(own.motion.shape[1]):
        own.motion[BEST, k] = own.motion[ACCELERATION, k]


@kernel
def _follow(layout: Layout, terms: Terms, own: Scratch, modes: Modes, rule: int) -> bool:
    """What the rows do next (`following`), by forces and wishes; whether that is what they do."""
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
    for c in range(layout.nc):
        for j in range(layout.nt):
            i = layout.nb + layout.nu + layout.nc + c * layout.nt + j
            phi, K, B = terms.numbers[PHI, i], terms.numbers[STIFFNESS, i], terms.numbers[DAMPING, i]
            memory[c, j] = 0.0
            if modes.acts[layout.nu + c] != SEPARATES:
                # lambda = -K phi_1 - B rate and phi_1 = phi_0 + h rate, solved for phi_1
                closed = own.scaled[X, i] > 0.0
                memory[c, j] = (B * phi - h * own.rows[KEPT, i]) / (h * K + B) if closed else phi
