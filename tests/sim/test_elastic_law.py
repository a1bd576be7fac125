"""The simulator with restitution: bounces that become ever smaller end in finite time."""

import numpy as np
import pytest

from routh import laws
from routh.models.base import State
from routh.models.spatial import PlaneContact, SpatialModel, sphere
from routh.sim import simulate


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
def test_a_bouncing_ball_comes_to_rest_at_its_zeno_point(hypothesis):
    e, drop = 0.5, 0.2
    contact = PlaneContact("floor", "ball", radius=0.1, mu=0.2, restitution=e)
    model = SpatialModel([sphere("ball", 0.1, mass=1.0)], [contact])
    start = State(np.array([0.0, 0.0, 0.1 + drop, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    trajectory = simulate(model, start, duration=1.0, law=laws.SetValued(hypothesis=hypothesis))
    zeno = [event for event in trajectory.events if event.kind == "zeno"]
    assert len(zeno) == 1
    exact = np.sqrt(2.0 * drop / 9.81) * (1.0 + 2.0 * e / (1.0 - e))
    assert zeno[0].t == pytest.approx(exact, abs=1e-8)
    np.testing.assert_allclose(trajectory.v[-1], 0.0, atol=1e-9)
    assert trajectory.t[-1] == pytest.approx(1.0)
