"""Events of the steps of `routh.kernels.space_several`, as `routh.kernels.space_events` finds them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.compiling import kernel, written_out
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
    find_root,
)
from routh.kernels.space_lone import BEFORE, POINTS, look_at_normal, turning_point
from routh.kernels.space_names import (
    CUT,
    CUT_SHORT,
    DRIVEN,
    GO_ON,
    HELD,
    JAMMED,
    JAMS,
    LET_GO,
    NORMAL_ZERO,
    ORDER,
    PIVOT,
    RIGHT,
    named,
)
from routh.kernels.space_state import Column, global_row, role
from routh.validation import Array

(PACE,) = named(1)  # column of powers: the length of the path by the measure of the step
# columns of powers of the a-th contact that pushes, behind ROWS a: slip, its size and direction, rates, and
# the normal rate by the length of the path
ROWS = 9
T, R, S, U, W, N, F, H, L = named(9, 1)
# rows of numbers, most with three columns for each contact: friction and weight; slip rate, and one over the
# slip; impulses of one power and up to a point; sums
MU, WEIGHT, D0, D1, INVERSE, PUSH, TRY, SUM, OTHER = named(9)
NUMBERS = 9
(EQUATIONS,) = named(1, int(RIGHT) + 1)


class SeveralWork(NamedTuple):
    """Scratch of one thread, for nc contacts of which at most m push."""

    powers: Array  # (ORDER + 1, 1 + ROWS m): what contacts have of one power lies side by side
    events: Array  # (1, ORDER + 1): powers of what vanishes at an event
    gram: Array  # (3 m, 3 m): G of the contacts that push
    normals: Array  # (nc, 3 m): what those change the normal velocities of all contacts by
    numbers: Array  # (NUMBERS, 3 m)
    points: Array  # (POINTS, nc), see `look_at_normal`
    who: np.ndarray  # (m,) int64: the contacts that push
    values: Array  # (EQUATIONS + 2 m, m) equations of contacts that are held, and their inverse
    marks: np.ndarray  # (PIVOT + 1, m) int64


def several_work(nc: int, m: int) -> SeveralWork:
    """Scratch for so many contacts of which at most m push."""
    return SeveralWork(
        np.zeros((ORDER + 1, 1 + ROWS * m)),
        np.zeros((1, ORDER + 1)),
        np.zeros((3 * m, 3 * m)),
        np.zeros((nc, 3 * m)),
        np.zeros((NUMBERS, 3 * m)),
        np.zeros((int(POINTS), nc)),
        np.zeros(m, dtype=np.int64),
        np.zeros((int(EQUATIONS) + 2 * m, m)),
        np.zeros((int(PIVOT) + 1, m), dtype=np.int64),
    )


class Pushing(NamedTuple):
    """The contacts that push in a step."""

    m: int  # how many
    held: int  # the first that is held; m: none is
    clock: int  # the one whose slip is the measure of the step; -1: the length of the path is


@written_out
def changed_by(matrix: Array, line: int, numbers: Array, row: int, m: int) -> float:
    """What a row of numbers of the contacts that push makes of a line of a matrix."""
    value = 0.0
    for b in range(m):
        value += (
            matrix[line, 3 * b] * numbers[row, 3 * b]
            + matrix[line, 3 * b + 1] * numbers[row, 3 * b + 1]
            + matrix[line, 3 * b + 2] * numbers[row, 3 * b + 2]
        )
    return value


@kernel
def normal_effect(work: SeveralWork, m: int, j: int, row: int) -> float:
    """What a row of numbers, impulses or rates, changes the normal velocity of any contact by."""
    return changed_by(work.normals, j, work.numbers, row, m)


@written_out
def look_at_three(work: SeveralWork, by: Pushing, x: float, y: float, z: float, degree: int) -> None:
    """SUM: sizes of the slips at three points of the step, OTHER: normal rates of contacts that are held."""
    powers, numbers = work.powers, work.numbers
    for column in range(3 * by.m):
        numbers[SUM, column], numbers[OTHER, column] = 0.0, 0.0
    for k in range(ORDER, -1, -1):
        for a in range(by.m):
            size, at = (powers[k, ROWS * a + S] if k <= degree else 0.0), 3 * a
            numbers[SUM, at] = numbers[SUM, at] * x + size
            numbers[SUM, at + 1] = numbers[SUM, at + 1] * y + size
            numbers[SUM, at + 2] = numbers[SUM, at + 2] * z + size
            if a >= by.held:
                rate = powers[k, ROWS * a + L] if k < degree else 0.0
                numbers[OTHER, at] = numbers[OTHER, at] * x + rate
                numbers[OTHER, at + 1] = numbers[OTHER, at + 1] * y + rate
                numbers[OTHER, at + 2] = numbers[OTHER, at + 2] * z + rate


@written_out
def is_clear_at_three(work: SeveralWork, by: Pushing) -> bool:
    """Whether, after `look_at_three`, all slide and push."""
    clear = True
    for a in range(by.m):
        for part in range(3):
            slides = work.numbers[SUM, 3 * a + part] > 0.0
            clear = clear and slides and (a < by.held or work.numbers[OTHER, 3 * a + part] > 0.0)
    return clear


@written_out
def clear_up_to(work: SeveralWork, by: Pushing, before: float, at: float, h: float) -> float:
    """How far it is clear, after `look_at_three` of one point behind another: h if it is there, too."""
    for a in range(by.m):
        if not work.numbers[SUM, 3 * a] > 0.0:
            h = min(h, before)
    for a in range(by.m):
        if a >= by.held and work.numbers[OTHER, 3 * a] < -TINY:
            h = min(h, at)
    return h


@kernel
def clear_length(work: SeveralWork, by: Pushing, h: float, degree: int) -> float:
    """See `routh.kernels.space_events.clear_length`."""
    clear = True
    for point in range(0, LOOKS + 1, 3):
        x, y, z = h * max(point, EARLY) / LOOKS, h * (point + 1) / LOOKS, h * (point + 2) / LOOKS
        look_at_three(work, by, x, y, z, degree)
        clear = clear and is_clear_at_three(work, by)
    if clear:
        return h
    for _ in range(SHORTER):
        shorter = h
        for point in range(LOOKS + 1):
            at = h * max(point, EARLY) / LOOKS
            look_at_three(work, by, at, at, at, degree)
            shorter = clear_up_to(work, by, h * max(point - 1, 0) / LOOKS, at, shorter)
            if shorter < h:
                break
        if shorter > 0.0:
            return shorter
        h /= LOOKS
    return h


@written_out
def impulses_at(work: SeveralWork, by: Pushing, at: float, degree: int) -> float:
    """TRY: the impulses up to a point of the step, SUM: normal rates of contacts that are held there.

    Returns the length of the path to there.
    """
    powers, numbers, path = work.powers, work.numbers, 0.0
    for a in range(by.m):
        numbers[SUM, a] = 0.0
        for part in range(3):
            numbers[TRY, 3 * a + part] = 0.0
    for k in range(ORDER - 1, -1, -1):
        share = 1.0 / (k + 1) if k < degree else 0.0
        path = path * at + share * powers[k, PACE]
        for a in range(by.m):
            for part in range(3):
                place = 3 * a + part
                numbers[TRY, place] = numbers[TRY, place] * at + share * powers[k, ROWS * a + N + part]
            if a >= by.held:
                numbers[SUM, a] = numbers[SUM, a] * at + (powers[k, ROWS * a + L] if k < degree else 0.0)
    for column in range(3 * by.m):
        numbers[TRY, column] *= at
    return path * at


@written_out
def look(of: Column, work: SeveralWork, by: Pushing, at: float, degree: int) -> tuple[float, int, int]:
    """See `routh.kernels.space_events.look`."""
    path, points = impulses_at(work, by, at, degree), work.points
    value, kind, who = path - of.states[global_row(of.nc, CUT), of.slot] - 1e-14, CUT_SHORT, -1
    for j in range(of.nc):
        does = role(of, j)
        if does == HELD:
            points[1, j], points[0, j] = points[0, j], -math.inf
            continue
        change = normal_effect(work, by.m, j, TRY)
        y = look_at_normal(points, j, does == DRIVEN, change)
        if y > value:
            value, kind, who = y, NORMAL_ZERO, j
    for a in range(by.m):
        if a >= by.held:
            normal = work.numbers[SUM, a]
            if -normal > value:
                value, kind, who = -normal, LET_GO, work.who[a]
            growth = normal / of.states[global_row(of.nc, JAMMED), of.slot] - 1.0
            if growth > value:
                value, kind, who = growth, JAMS, work.who[a]
    return value, kind, who


@written_out
def event_polynomial(of: Column, work: SeveralWork, by: Pushing, kind: int, who: int, degree: int) -> None:
    """See `routh.kernels.space_events.event_polynomial`; powers beyond the highest are zero."""
    powers, events, normals = work.powers, work.events, work.normals
    jammed, before = of.states[global_row(of.nc, JAMMED), of.slot], work.points[BEFORE, max(who, 0)]
    for k in range(ORDER + 1):
        value = 0.0
        if kind == CUT_SHORT or kind == NORMAL_ZERO:
            if 0 < k <= degree:
                share = 1.0 / k
                if kind == CUT_SHORT:
                    value = share * powers[k - 1, PACE]
                else:
                    for b in range(by.m):
                        column = ROWS * b + N
                        p0, p1, p2 = (
                            share * powers[k - 1, column],
                            share * powers[k - 1, column + 1],
                            share * powers[k - 1, column + 2],
                        )
                        value += normals[who, 3 * b] * p0
                        value += normals[who, 3 * b + 1] * p1 + normals[who, 3 * b + 2] * p2
                    value = -value if before > TINY else value
        elif k < degree:
            for a in range(by.m):
                if a >= by.held and work.who[a] == who:
                    value = -powers[k, ROWS * a + L] if kind == LET_GO else powers[k, ROWS * a + L] / jammed
        events[0, k] = value
    if kind == CUT_SHORT:
        events[0, 0] -= of.states[global_row(of.nc, CUT), of.slot]
    elif kind == NORMAL_ZERO:
        events[0, 0] -= abs(before)
    elif kind == JAMS:
        events[0, 0] -= 1.0


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
                peak = turning_point(work.points, of.nc) if place == END else 0.0
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
            at = find_root(work.events, 0, at, ORDER)
    return at, kind, who
