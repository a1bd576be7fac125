"""A fixed-seed share of benchmarks/steps_kernels.py: the sampling kernels against the enumerator."""

import pytest

import steps_kernels


@pytest.mark.parametrize("name", steps_kernels.FAMILIES)
def test_velocities_are_among_the_enumerators_and_canonical(name):
    row = dict(
        zip(steps_kernels.COLUMNS, steps_kernels.compare(steps_kernels.FAMILIES[name], 5, 1), strict=True)
    )
    assert row["steps"] == 20
    assert row["none"] <= 2  # the enumerator must have had something to say
    assert (row["unsolved"], row["missed"], row["apart"]) == (0, 0, 0)
    if steps_kernels.FAMILIES[name]["mu"] < 1e3:  # there a path can lose its digits
        assert row["other"] == 0


def test_steps_with_several_solutions_are_met():
    several = steps_kernels.compare(steps_kernels.FAMILIES["plane, mu 10"], 5, 1)[1]
    assert several > 0
