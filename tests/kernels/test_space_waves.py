"""Samples between their steps: which kind comes next, and where samples of a kind are listed."""

import numpy as np
import pytest

from routh.kernels.space_names import CURVES, DRAWS, STEPS, TAKEN
from routh.kernels.space_names import RATES as RATES_AGAIN
from routh.kernels.space_state import LEFT, Column, global_row, move_row, state_rows
from routh.kernels.space_step_kernels import fits_apart
from routh.kernels.space_wave_kernels import IN_TURN, LONG_BESIDE, RUNS, THE_REST, list_of
from routh.kernels.space_waves import (
    DREW,
    FRESH,
    HARD,
    KINDS,
    LONE,
    LONG,
    MOST,
    SEVERAL,
    STOOD,
    STOPS,
    SWIFT,
    is_for_runs,
    kind_after,
    kind_long,
)


def test_every_run_has_lists_of_its_own():
    in_turns = [list_of(kind, run) for run in (IN_TURN, THE_REST) for kind in range(KINDS)]
    assert in_turns == 2 * list(range(KINDS))
    in_runs = []
    for run in range(RUNS):
        kinds = [kind for kind in range(KINDS) if is_for_runs(kind) and (kind < LONG or run < LONG_BESIDE)]
        in_runs += [list_of(kind, run) for kind in kinds]
    assert sorted(in_runs) == list(range(KINDS, list_of(FRESH - 1, RUNS - 1) + 1))


def test_what_goes_on_beside_turns_is_not_taken_in_them():
    assert [kind for kind in range(KINDS) if is_for_runs(kind)] == [*range(HARD, FRESH), *range(LONG, KINDS)]
    assert not any(is_for_runs(kind) for kind in (LONE, DREW, STOPS, STOOD))


@pytest.mark.parametrize(
    ("following", "kind", "taken", "steps", "expected"),
    [
        (CURVES, LONE, 3, 3, LONE),
        (CURVES, LONE, 20, 30, LONG),
        (CURVES, LONE, 3, 64, SWIFT),
        (CURVES, SEVERAL, 3, 3, SEVERAL),
        (CURVES, SEVERAL + 1, 20, 30, LONG + MOST - 1),
        (CURVES, SEVERAL + 4, 1, 64, LONG + 1),
        (DRAWS, SEVERAL, 3, 3, DREW),
        (DRAWS, LONE, 3, 64, SWIFT),
        (RATES_AGAIN, SEVERAL + 1, 3, 64, SWIFT),
        (LEFT, SEVERAL, 30, 64, HARD),
        (LEFT, LONE, 30, 64, STOPS),
    ],
)
def test_long_curves_and_samples_of_many_steps(following, kind, taken, steps, expected):
    states = np.zeros((state_rows(2), 1))
    states[move_row(2, TAKEN), 0], states[global_row(2, STEPS), 0] = taken, steps
    column = Column(states, 0, 2, np.zeros((1, 6, 6)), np.zeros((1, 3, 2)), 0, 1e-6)
    assert kind_long(column, following, kind, 20, 64) == expected


def test_after_the_end_of_a_slip():
    assert [kind_after(after, STOPS) for after in (LEFT, CURVES, RATES_AGAIN, DRAWS)] == [
        HARD,
        LONE,
        STOOD,
        DREW,
    ]


def test_scratch_in_shared_memory():
    """A block of any GPU has 48 KiB."""
    assert max(nc for nc in range(1, 20) if fits_apart(nc)) == 10
