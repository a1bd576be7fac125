"""Events of the steps of `routh.kernels.space_several`, as `routh.kernels.space_events` finds them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import kernel
from routh.kernels.space_events import (
    EARLY,
    END,
    END_AGAIN,
    LOOKS,
    MIDDLE,
    PEAK,
    PLACED,
    PLACINGS,
    SHORTER,
    TINY,
    at_three,
    find_root,
    power_sum,
)
from routh.kernels.space_lone import EVENTS, SHARE, look_at_normal, turning_point
from routh.kernels.space_names import (
    CUT,
    CUT_SHORT,
    DRIVEN,
    GO_ON,
    GRAM,
    HELD,
    JAMMED,
    JAMS,
    LET_GO,
    MARK_ROWS,
    NORMAL_ZERO,
    ORDER,
    named,
)
from routh.kernels.space_state import Column, global_row, role
from routh.validation import Array

# rows of powers, behind SHARE and EVENTS, of the a-th contact that pushes, from ROWS a on: slip, its size and
# direction, rates, and the normal rate by the length of the path
ROWS = 9
T, R, S, U, W, N, F, H, L = named(9, 2)
# rows of numbers: friction, weight, slip rate; impulses of one power and up to a point
MU, WEIGHT, D0, D1, PUSH, TRY = named(6)
NUMBERS = 6


class SeveralWork(NamedTuple):
    """Scratch of one thread, for at most nc contacts."""

    powers: Array  # (2 + ROWS nc, ORDER + 1)
    gram: Array  # (3 nc, 3 nc): G of the contacts that push
    numbers: Array  # (NUMBERS, 3 nc)
    points: Array  # (2, nc), see `look_at_normal`
    who: np.ndarray  # (nc,) int64: the contacts that push
    values: Array  # (GRAM + 9 nc, 3 nc) equations of contacts that are held, where `invert` looks for them
    marks: np.ndarray  # (MARK_ROWS, 3 nc) int64


def several_work(nc: int) -> SeveralWork:
    """Scratch for at most so many contacts."""
    powers = np.zeros((2 + ROWS * nc, ORDER + 1))
    powers[SHARE, 1:] = 1.0 / np.arange(1, ORDER + 1)
    return SeveralWork(
        powers,
        np.zeros((3 * nc, 3 * nc)),
        np.zeros((NUMBERS, 3 * nc)),
        np.zeros((2, nc)),
        np.zeros(nc, dtype=np.int64),
        np.zeros((GRAM + 9 * nc, 3 * nc)),
        np.zeros((MARK_ROWS, 3 * nc), dtype=np.int64),
    )


class Pushing(NamedTuple):
    """The contacts that push in a step."""

    m: int  # how many
    held: int  # the first that is held; m: none is
    clock: int  # the one whose slip is the measure of the step; -1: the length of the path is


@kernel
def effect_on(of: Column, work: SeveralWork, m: int, coordinate: int, row: int) -> float:
    """What a row of numbers, impulses or rates, changes a coordinate of any contact by."""
    value, G, problem, numbers = 0.0, of.G, of.row, work.numbers
    for b in range(m):
        at = 3 * work.who[b]
        value += (
            G[problem, at, coordinate] * numbers[row, 3 * b]
            + G[problem, at + 1, coordinate] * numbers[row, 3 * b + 1]
            + G[problem, at + 2, coordinate] * numbers[row, 3 * b + 2]
        )
    return value


@kernel
def is_clear(work: SeveralWork, by: Pushing, h: float, degree: int) -> bool:
    """See `routh.kernels.space_events.is_clear`."""
    for point in range(0, LOOKS + 1, 3):
        at = h * max(point, EARLY) / LOOKS, h * (point + 1) / LOOKS, h * (point + 2) / LOOKS
        for a in range(by.m):
            x, y, z = at_three(work.powers, ROWS * a + S, at, degree)
            if not (x > 0.0 and y > 0.0 and z > 0.0):
                return False
        for a in range(by.held, by.m):
            x, y, z = at_three(work.powers, ROWS * a + L, at, degree - 1)
            if not (x > 0.0 and y > 0.0 and z > 0.0):
                return False
    return True


@kernel
def clear_length(work: SeveralWork, by: Pushing, h: float, degree: int) -> float:
    """See `routh.kernels.space_events.clear_length`."""
    if is_clear(work, by, h, degree):
        return h
    for _ in range(SHORTER):
        shorter = h
        for point in range(LOOKS + 1):
            at = h * max(point, EARLY) / LOOKS
            for a in range(by.m):
                if not power_sum(work.powers, ROWS * a + S, at, degree) > 0.0:
                    shorter = min(shorter, h * max(point - 1, 0) / LOOKS)
            for a in range(by.held, by.m):
                if power_sum(work.powers, ROWS * a + L, at, degree - 1) < -TINY:
                    shorter = min(shorter, at)
            if shorter < h:
                break
        if shorter > 0.0:
            return shorter
        h /= LOOKS
    return h


@kernel
def impulses_at(work: SeveralWork, by: Pushing, at: float, degree: int) -> float:
    """TRY: the impulses up to a point of the step; returns the length of the path to there."""
    powers, numbers, path = work.powers, work.numbers, 0.0
    for a in range(by.m):
        row, x, y, z = ROWS * a + N, 0.0, 0.0, 0.0
        for k in range(degree, 0, -1):
            share = powers[SHARE, k]
            x = x * at + share * powers[row, k - 1]
            y = y * at + share * powers[row + 1, k - 1]
            z = z * at + share * powers[row + 2, k - 1]
        numbers[TRY, 3 * a], numbers[TRY, 3 * a + 1], numbers[TRY, 3 * a + 2] = x * at, y * at, z * at
    if by.clock < 0:
        return at
    for k in range(degree, 0, -1):
        path = path * at + powers[SHARE, k] * powers[ROWS * by.clock + S, k - 1]
    return path * at


@kernel
def look(of: Column, work: SeveralWork, by: Pushing, at: float, degree: int) -> tuple[float, int, int]:
    """See `routh.kernels.space_events.look`."""
    path = impulses_at(work, by, at, degree)
    value, kind, who = path - of.states[global_row(of.nc, CUT), of.slot] - 1e-14, CUT_SHORT, -1
    for j in range(of.nc):
        if role(of, j) == HELD:
            work.points[1, j], work.points[0, j] = work.points[0, j], -math.inf
            continue
        change = effect_on(of, work, by.m, 3 * j, TRY)
        y = look_at_normal(of, j, role(of, j) == DRIVEN, work.points, change)
        if y > value:
            value, kind, who = y, NORMAL_ZERO, j
    for a in range(by.held, by.m):
        normal = power_sum(work.powers, ROWS * a + L, at, degree - 1)
        if -normal > value:
            value, kind, who = -normal, LET_GO, work.who[a]
        growth = normal / of.states[global_row(of.nc, JAMMED), of.slot] - 1.0
        if growth > value:
            value, kind, who = growth, JAMS, work.who[a]
    return value, kind, who


@kernel
def event_polynomial(of: Column, work: SeveralWork, by: Pushing, kind: int, who: int, degree: int) -> None:
    """See `routh.kernels.space_events.event_polynomial`."""
    powers, G, at = work.powers, of.G, 0
    jammed, before = of.states[global_row(of.nc, JAMMED), of.slot], of.states[3 * max(who, 0), of.slot]
    for a in range(by.held, by.m):
        if work.who[a] == who:
            at = ROWS * a + L
    for k in range(degree + 1):
        value = 0.0
        if kind == LET_GO:
            value = -powers[at, k] if k < degree else 0.0
        elif kind == JAMS:
            value = powers[at, k] / jammed if k < degree else 0.0
        elif k > 0 and kind == CUT_SHORT:
            pace = powers[ROWS * by.clock + S, k - 1] if by.clock >= 0 else (1.0 if k == 1 else 0.0)
            value = powers[SHARE, k] * pace
        elif k > 0:
            share = powers[SHARE, k]
            for b in range(by.m):
                g, row = 3 * work.who[b], ROWS * b + N
                p0, p1, p2 = (
                    share * powers[row, k - 1],
                    share * powers[row + 1, k - 1],
                    share * powers[row + 2, k - 1],
                )
                value += G[of.row, g, 3 * who] * p0
                value += G[of.row, g + 1, 3 * who] * p1 + G[of.row, g + 2, 3 * who] * p2
            value = -value if before > TINY else value
        powers[EVENTS, k] = value
    if kind == CUT_SHORT:
        powers[EVENTS, 0] -= of.states[global_row(of.nc, CUT), of.slot]
    elif kind == NORMAL_ZERO:
        powers[EVENTS, 0] -= abs(before)
    elif kind == JAMS:
        powers[EVENTS, 0] -= 1.0


@kernel
def event_of_several(
    of: Column, work: SeveralWork, by: Pushing, h: float, degree: int
) -> tuple[float, int, int]:
    """See `routh.kernels.space_events.first_event`; TRY belongs to what is returned."""
    kind, who, placings = GO_ON, -1, 0
    at, place = 0.5 * h, MIDDLE
    while placings <= PLACINGS:
        value, found, contact = look(of, work, by, at, degree)
        if kind == GO_ON and not value > 0.0:
            if place == END or place == END_AGAIN:
                peak = turning_point(of, work.points) if place == END else 0.0
                if not peak > 0.0:
                    return h, GO_ON, -1
                at, place = peak * h, PEAK
            else:
                at, place = h, (END if place == MIDDLE else END_AGAIN)
            continue
        if kind != GO_ON and (not value > PLACED or (found == kind and contact == who) or at == 0.0):
            break
        kind, who, placings = found, contact, placings + 1
        if placings <= PLACINGS:
            event_polynomial(of, work, by, kind, who, degree)
            at = find_root(work.powers, EVENTS, at, degree)
    return at, kind, who
