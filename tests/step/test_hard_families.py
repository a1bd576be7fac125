"""A fixed-seed share of the full run of hard random steps, benchmarks/steps.py."""

import pytest

import steps
from problems import hard_families
from routh.lcp.lemke import lemke_pivots

FAMILIES = dict(hard_families())


@pytest.mark.parametrize("name", FAMILIES)
def test_every_step_is_solved_with_proof(name):
    count = 150
    row = steps.run_family(FAMILIES[name], count, 1, "polyhedral", lemke_pivots)
    unsolved, false, _, worst, independent, _, jam_missed, _ = row
    limit = 1e-9 if FAMILIES[name]["mu"] < 1e3 else 1e-7
    assert (unsolved, false, jam_missed) == (0, 0, 0)
    assert worst < limit
    assert independent < 10.0 * limit


@pytest.mark.parametrize(
    "name", [name for name in FAMILIES if FAMILIES[name]["spatial"] and FAMILIES[name]["mu"] < 1.0]
)
def test_the_true_cone_is_solved_with_proof(name):
    unsolved, false, *_ = steps.run_family(FAMILIES[name], 20, 1, "cone", lemke_pivots)
    assert (unsolved, false) == (0, 0)
