"""What is said of a foot that closes late."""

import numpy as np

from routh.models.regime import regime_of


def test_a_late_foot_that_does_not_decide_is_not_said_to_close_at_once():
    late = regime_of(np.array([0.0, 0.8]), 0.05, 0.004, 0.005, decided=True)
    assert late.sentence.startswith("a contact closes 800 ms after the first")
