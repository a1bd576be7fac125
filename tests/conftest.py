"""Settings shared by all tests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# One fixed sequence of examples, no deadlines: the machines that run these are noisy.
settings.register_profile(
    "routh", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("routh")

# NaN must be refused or counted before it meets arithmetic: which operations warn depends on the machine.
NAN_TESTS = ("nan", "not_finite", "finite", "no_number", "numbers_that")


@pytest.fixture(autouse=True)
def _nan_meets_no_arithmetic(request):
    """Tests that are about NaN, by their names and parameters, run with every signal of NumPy raised."""
    if not any(word in request.node.name.lower() for word in NAN_TESTS):
        yield
        return
    with np.errstate(all="raise"):
        yield
