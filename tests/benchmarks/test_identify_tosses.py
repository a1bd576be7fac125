"""Identification on measured tosses, where the data are at hand: set ROUTH_CUBE_TOSSES to their file."""

import os
from pathlib import Path

import numpy as np
import pytest

DATA = os.environ.get("ROUTH_CUBE_TOSSES", "")


def test_with_sharp_corners_the_problems_are_those_of_the_benchmark_of_laws():
    if not Path(DATA).is_file():
        pytest.skip("the measured tosses are not here; ROUTH_CUBE_TOSSES names their file")
    from identify import measured
    from tosses import predictions
    from tosses.impacts import at_contact, load

    contacts = [at_contact(impact, -0.0043, 1.0 / 148.0) for impact in load(Path(DATA))[:40]]
    impacts = measured(contacts, 0.012, 0.0)
    batch = impacts.batch({"mu": 0.2, "restitution": 0.3})
    for k, contact in enumerate(contacts):
        wanted = predictions.problem_of(contact, tolerance=0.012, mu=0.2, e=0.3)
        found = batch[k]
        assert found.nc == wanted.nc
        np.testing.assert_allclose(found.M, wanted.M)
        np.testing.assert_allclose(found.v, wanted.v, atol=1e-12)
        np.testing.assert_allclose(impacts.after[k], predictions.measured(contact), atol=1e-12)
        for row in wanted.Jn:
            assert np.abs(found.Jn - row).max(axis=1).min() < 1e-9


def test_simulated_trials_recover_the_truth():
    from identify import TRUE, one_trial

    found = one_trial(0, 24, 8)
    for name, one in found.estimates.items():
        assert abs(one.value - TRUE[name]) < 0.5 * TRUE[name]
        assert one.interval[0] < one.value < one.interval[1]
