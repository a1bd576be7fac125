"""The power series of curves in space against the equations that they are to solve, worked out with NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest

from routh.compiling import interpreted
from routh.kernels.space import series, single_series, workspace
from routh.kernels.space.workspace import DRIVEN, HELD, NO_FRICTION, ORDER, SLIDE, ZERO, SpaceWork

MU, WEIGHTS = np.array([0.4, 0.7, 0.9, 0.6]), np.array([0.5, 0.2, 0.7, 0.3])
SLIDER, STUCK, HELD_STUCK, HELD_SLIDER = (DRIVEN, SLIDE), (DRIVEN, ZERO), (HELD, ZERO), (HELD, SLIDE)
SMOOTH, HELD_SMOOTH = (DRIVEN, NO_FRICTION), (HELD, NO_FRICTION)
ALONE = [
    [SLIDER],
    [SLIDER, STUCK],
    [SLIDER, HELD_STUCK],
    [STUCK, SLIDER, HELD_STUCK, HELD_SMOOTH],
    [SLIDER, SMOOTH],
]
TOGETHER = [
    [SLIDER, SLIDER],
    [SLIDER, HELD_SLIDER],
    [STUCK, SLIDER, HELD_SLIDER],
    [SLIDER, SLIDER, HELD_STUCK],
]


def begun(contacts: list, seed: int, beginning: int = -1) -> tuple[SpaceWork, int, bool]:
    """A workspace where a step begins: contacts that do what is said; the unknowns, whether a slip begins."""
    rng, nc = np.random.default_rng(seed), len(contacts)
    work = workspace.workspace(nc)
    half = rng.normal(size=(3 * nc, 3 * nc + 3)) * np.tile([1.0, 0.4, 0.4], nc)[:, None]
    work.gram[:] = half @ half.T / (3 * nc)
    work.mu[:nc], work.weight[:nc] = MU[:nc], WEIGHTS[:nc]
    for i, (role, moves) in enumerate(contacts):
        work.role[i], work.moves[i] = role, moves
        work.now[3 * i] = 0.0 if role == HELD else -1.0
        slip = rng.normal(size=2) * (0.3 if moves == SLIDE and i != beginning else 0.0)
        work.now[3 * i + 1 : 3 * i + 3] = slip
    order = sorted(range(nc), key=lambda i: contacts[i][0])  # driven ones first
    work.pushing[:nc] = order
    begins = interpreted(series.begin_series)(work, nc, None)
    return work, interpreted(series.first_power)(work, nc)[0], begins


def solved(work: SpaceWork, contacts: list, at: float) -> float:
    """By how much the series at a point miss the equations of motion, as a share of the rates there."""
    nc, degree = len(contacts), ORDER
    G = work.gram
    powers = at ** np.arange(degree + 1)
    slopes = np.arange(1, degree + 1) * powers[:degree]
    pushes = work.series[:nc, workspace.PUSH0 : workspace.PUSH0 + 3].reshape(3 * nc, -1)
    impulse, rate = pushes @ powers, pushes[:, 1:] @ slopes
    pace = work.series[nc, workspace.PATH, 1:] @ slopes
    velocity, change = work.now + G @ impulse, G @ rate
    wrong = []
    for i, (role, moves) in enumerate(contacts):
        own, slip = rate[3 * i : 3 * i + 3], velocity[3 * i + 1 : 3 * i + 3]
        wrong.append(change[3 * i] if role == HELD else own[0] - pace * WEIGHTS[i])
        if moves == ZERO:
            wrong.extend(change[3 * i + 1 : 3 * i + 3])
        else:
            friction = MU[i] if moves == SLIDE else 0.0
            wrong.extend(own[1:] + friction * own[0] * slip / max(np.linalg.norm(slip), 1e-300))
        powers_of = work.series[i]
        if moves == SLIDE:
            wrong.append(powers_of[workspace.SIZE] @ powers - np.linalg.norm(slip))
            unit = powers_of[workspace.UNIT0 : workspace.UNIT0 + 2] @ powers
            wrong.append(unit[0] * slip[1] - unit[1] * slip[0])
        if role == HELD or moves == ZERO:  # rates by the length of the path are looked at later
            parts = 3 if moves == ZERO else 1
            looked_at = powers_of[workspace.RATE0 : workspace.RATE0 + parts, :degree]
            wrong.extend(pace * (looked_at @ powers[:degree]) - own[:parts])
    return float(np.max(np.abs(wrong)) / np.max(np.abs(rate)))


def place(work: SpaceWork, nc: int) -> float:
    """How far the series is good to 1e-13."""
    size = interpreted(series.size_of_power)(work, nc, None, ORDER)
    return 0.5 * interpreted(series.step_length)(work, nc, None, ORDER, size, 1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_one_slip_solves_the_equations_in_its_own_time(seed: int) -> None:
    work, _, _ = begun([SLIDER], seed)
    fill = interpreted(single_series.fill_single_series)
    assert fill(work, 1, 0, None, math.inf, 1e-13) == (ORDER, math.inf)
    assert solved(work, [SLIDER], place(work, 1)) < 1e-10


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("contacts", ALONE + TOGETHER)
def test_slips_solve_the_equations_by_a_clock_and_by_length(contacts: list, seed: int) -> None:
    nc = len(contacts)
    sliders = [i for i, (_, moves) in enumerate(contacts) if moves == SLIDE]
    for clock in (-1, *sliders):
        work, size, begins = begun(contacts, seed)
        assert not begins
        filled = interpreted(series.fill_series)(work, nc, nc, None, size, False, clock, math.inf, 1e-13)
        assert filled == (ORDER, math.inf)
        assert solved(work, contacts, place(work, nc)) < 1e-10


def test_few_powers_are_those_of_many() -> None:
    many, _, _ = begun([SLIDER], 7)
    interpreted(single_series.fill_single_series)(many, 1, 0, None, math.inf, 1e-13)
    few, _, _ = begun([SLIDER], 7)
    few.series[..., 1:] = np.nan  # of an earlier step
    degree, last = interpreted(single_series.fill_single_series)(few, 1, 0, None, 1e-3, 1e-6)
    assert degree < ORDER
    assert last == interpreted(series.size_of_power)(few, 1, None, degree)
    slip = [workspace.SIZE, workspace.UNIT0, workspace.UNIT1]
    for channels in (slip, slice(workspace.PUSH0, workspace.PUSH0 + 3)):
        one, other = (work.series[0, channels, : degree + 1] for work in (few, many))
        np.testing.assert_array_equal(one, other)
