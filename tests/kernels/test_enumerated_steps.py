"""A fixed-seed share of benchmarks/kernel_steps.py: the sampling kernels against the enumerator."""

import pytest

import kernel_steps


@pytest.mark.parametrize("name", kernel_steps.FAMILIES)
def test_velocities_are_among_the_enumerators_and_canonical(name):
    row = dict(
        zip(kernel_steps.COLUMNS, kernel_steps.compare(kernel_steps.FAMILIES[name], 5, 1), strict=True)
    )
    assert row["steps"] == 20
    assert row["none"] <= 2  # the enumerator must have had something to say
    assert (row["unsolved"], row["missed"], row["apart"]) == (0, 0, 0)
    if kernel_steps.FAMILIES[name]["mu"] < 1e3:  # there a path can lose its digits
        assert row["other"] == 0


def test_steps_with_several_solutions_are_met():
    several = kernel_steps.compare(kernel_steps.FAMILIES["plane, mu 10"], 5, 1)[1]
    assert several > 0
