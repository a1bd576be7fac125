"""What ``routh precompile --device cuda`` compiles."""

from functools import partial

import numpy as np
import pytest

from routh.gpu.events import MANY
from routh.gpu.families import families
from routh.sampling import sample, sample_by_steps


@pytest.mark.parametrize("contacts", [1, 4])
def test_families_of_a_gpu_are_problems_of_so_many_contacts(contacts, monkeypatch):
    """Here the CPU draws few of their samples."""
    drawn = []

    def on_the_cpu(made, given, n, *, device, friction="cone"):
        assert (device, given.nc) == ("cuda", contacts)
        drawn.append((given.nt, n, made.__name__, friction, bool(np.any(given.restitution))))
        return made(given, min(n, 8), friction=friction)

    for made in (sample, sample_by_steps):
        monkeypatch.setattr(f"routh.gpu.families.{made.__name__}", partial(on_the_cpu, made))
    calls = families(contacts)
    for call in calls.values():
        call()
    assert len(set(drawn)) == len(calls)
    assert (1, MANY, "sample", "cone", False) in drawn
