"""Numbers and sentences of the papers that a row of the report compares with ours."""

from itertools import product

import numpy as np
import pytest

from routh import sample, systems
from routh.reproduce.base import Settings, entries
from routh.reproduce.compliant import ANGLES, share_before_the_second
from routh.reproduce.hp19 import wall_on_floor

pytest.importorskip("matplotlib")


def rows_of(name):
    from routh.reproduce import d19, jw17

    assert d19
    assert jw17
    (entry,) = [entry for entry in entries() if entry.name == name]
    return entry.make(Settings(quick=True)).rows


@pytest.mark.parametrize("angle", [ANGLES[0], ANGLES[-1]])
def test_hp23_the_first_corner_is_nearly_done_before_the_second_touches(angle):
    assert round(100.0 * share_before_the_second(systems.get("rocking-block"), float(angle)), 4) == 99.9992


def test_hp19_a_floor_that_the_wall_presses_is_never_left():
    """Fig. 4b: the proof, on samples of any order over shapes, angles and friction."""
    pressed = 0
    for height, turn, mu in product((0.3, 0.6, 1.0), (0.2, 0.6, 1.0), (0.0, 0.2, 2.0)):
        problem = systems.impact("pushing", height=height, turn=turn, mu=mu)
        if wall_on_floor(problem) < 0.0:
            pressed += 1
            outcomes = sample(problem, 64, seed=1)
            assert outcomes.contact_velocity[outcomes.solved][:, 0, 0].max() < 1e-12
    assert pressed > 5


def test_jw17_the_icosahedrons_spin():
    (row,) = [row for row in rows_of("jw17-impulses") if row.quantity.startswith("|w1+")]
    assert row.paper == row.ours == 0.205539


def test_d19_the_papers_column_holds_what_the_paper_says():
    rows = rows_of("d19-fig-9")
    slid = [row for row in rows if row.quantity.startswith("slid")]
    assert len(slid) == 8
    assert all(row.paper is None for row in slid)
    for row in slid[::2]:
        closed = float(row.why.split()[-1])
        assert row.ours == pytest.approx(closed, rel=1e-3, abs=1e-7)
    assert [row.ours for row in rows if row.quantity.startswith("µ")] == ["slides"] * 3 + ["sticks"]
    assert np.isfinite([row.ours for row in slid]).all()
    (quarter,) = [row for row in slid if "µ = 0.25" in row.quantity and "program" in row.quantity]
    assert quarter.ours > 0.3  # the printed program does not give Fig. 9's 0.085 m
    assert "lifts" in quarter.why
    assert "0 failed solves" in quarter.why


def test_jw17_fig_8_counts_what_reaches_the_origin_and_what_passes_by():
    exact, near = rows_of("jw17-fig-8")
    assert (exact.paper, exact.ours) == ("2 of 13", "1 of 13")
    assert near.ours == "2 of 13"


def test_hp19_the_posters_block_says_why_samples_are_outside_the_set():
    from routh.reproduce import hp19

    assert hp19
    (entry,) = [entry for entry in entries() if entry.name == "hp19-poster-block"]
    assert "finite steps leave (39)" in entry.make(Settings(quick=True)).text
