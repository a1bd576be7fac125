"""What ``routh precompile --device cuda`` compiles."""

import numpy as np
import pytest

from routh.gpu.events import MANY
from routh.gpu.families import families
from routh.sampling import sample


@pytest.mark.parametrize("contacts", [1, 4])
def test_families_of_a_gpu_are_problems_of_so_many_contacts(contacts, monkeypatch):
    """Here the CPU draws few of their samples."""
    drawn = []

    def on_the_cpu(given, n, *, device, method="events", friction="cone"):
        assert (device, given.nc) == ("cuda", contacts)
        drawn.append((given.nt, n, method, friction, bool(np.any(given.restitution))))
        return sample(given, min(n, 8), method=method, friction=friction)

    monkeypatch.setattr("routh.gpu.families.sample", on_the_cpu)
    calls = families(contacts)
    for call in calls.values():
        call()
    assert len(set(drawn)) == len(calls)
    assert (1, MANY, "events", "cone", False) in drawn
