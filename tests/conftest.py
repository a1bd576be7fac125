"""Settings shared by all tests."""

from hypothesis import HealthCheck, settings

# One fixed sequence of examples, no deadlines: the machines that run these are noisy.
settings.register_profile(
    "routh", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("routh")
