"""The benchmark on measured tosses, where the data are at hand: set ROUTH_CUBE_TOSSES to their file."""

import os
from pathlib import Path

import numpy as np
import pytest

DATA = os.environ.get("ROUTH_CUBE_TOSSES", "")


@pytest.fixture
def impacts():
    if not Path(DATA).is_file():
        pytest.skip("the measured tosses are not here; ROUTH_CUBE_TOSSES names their file")
    from tosses.impacts import load

    return load(Path(DATA))


def test_impacts_lose_energy_and_touch_the_table(impacts):
    from tosses.impacts import ARM, at_contact, meeting_height

    assert len(impacts) > 500
    height = float(np.median([meeting_height(impact) for impact in impacts]))
    assert -0.01 < height < 0.0
    unit = np.array([1.0, 1.0, 1.0, ARM, ARM, ARM])
    contacts = [at_contact(impact, height, 1.0 / 148.0) for impact in impacts if impact.flies]
    kept = [np.linalg.norm(unit * c.after) / np.linalg.norm(unit * c.before) for c in contacts]
    assert np.quantile(kept, 0.99) < 1.02  # but for noise, no impact gains energy


def test_rotations_of_the_benchmark_agree_with_the_models():
    from routh.models.spatial import rotations
    from tosses import impacts

    vectors = np.random.default_rng(0).normal(size=(5, 3))
    q = impacts.exponential(vectors)
    np.testing.assert_allclose(q, rotations.exponential(vectors), atol=1e-14)
    np.testing.assert_allclose(impacts.rotation(q), rotations.rotation_matrices(q), atol=1e-14)
    np.testing.assert_allclose(
        impacts.exponential(impacts.logarithm(q)), np.where(q[:, :1] < 0, -q, q), atol=1e-12
    )
