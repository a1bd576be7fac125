"""A law that looks only at the end of an impact can end outside the set, even with one contact."""

import numpy as np
import pytest

import routh
from routh.laws import Sequential, Simultaneous, SingleContact


@pytest.fixture
def reversing():
    """Slip starts one way, friction and the off-centre normal turn it round."""
    return routh.ImpactProblem(
        np.diag([1.0, 1.0, 0.08]), [[0.0, 1.0, 0.4]], [[1.0, 0.0, 1.0]], 0.3, [-0.5, -1.0, 0.0]
    )


def test_slip_reverses_on_the_way(reversing):
    result = SingleContact()(reversing)
    assert reversing.contact_velocity()[0, 1] < 0.0 < result.contact_velocity[0, 1]


def test_only_laws_that_follow_the_way_lie_in_the_set(reversing):
    pytest.importorskip("ppl")
    exact = routh.exact_set(reversing)
    (point,) = exact.vertices()
    for law in (SingleContact(), Sequential(rule="routh")):
        np.testing.assert_allclose(law(reversing).v, np.array(point, float), atol=1e-12)
    for law in (Simultaneous(), Sequential()):
        assert not exact.contains(law(reversing).v, tol=1e-3)


def test_samples_of_large_steps_can_lie_outside_and_those_of_small_ones_come_near(reversing):
    pytest.importorskip("ppl")
    exact = routh.exact_set(reversing)
    worst = []
    for share in (1.0, 0.01):
        step = share * reversing.scaling.impulse
        v = routh.sample(reversing, 20, method="algorithm1", step=step, seed=0).v
        worst.append(exact.outer.violation(v).max())
    assert worst[0] > 1e-2 > worst[1]
