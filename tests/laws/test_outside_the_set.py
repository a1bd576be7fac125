"""A law that looks only at the end of an impact can end outside the set, even with one contact."""

import numpy as np
import pytest

import routh
from routh.kernels import events
from routh.laws import Sequential, SetValued, Simultaneous, SingleContact


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
        assert not exact.contains(law(reversing).v, tolerance=1e-3)


def test_samples_of_large_steps_can_lie_outside_and_those_of_small_ones_come_near(reversing):
    pytest.importorskip("ppl")
    exact = routh.exact_set(reversing)
    worst = []
    for share in (1.0, 0.01):
        step = share * reversing.scaling.impulse
        v = routh.sampling.sample_by_steps(reversing, 20, step=step, seed=0).v
        worst.append(exact.outer.violation(v).max())
    assert worst[0] > 1e-2 > worst[1]


def test_every_draw_of_the_set_valued_law_lies_in_the_set():
    pytest.importorskip("ppl")
    system = routh.systems.get("block-into-wall")
    exact = routh.exact_set(system.rational, budget=600)

    def outside(law):
        rng = np.random.default_rng(5)
        draws = [law(system.problem, rng) for _ in range(400)]
        assert all(draw.status.ok for draw in draws)
        return int(np.count_nonzero(~exact.contains(np.array([draw.v for draw in draws]), tolerance=1e-9)))

    assert outside(SetValued()) == 0
    assert outside(SetValued(method="algorithm1")) > 0  # what the default was


def test_the_set_valued_law_draws_what_is_sampled():
    problem = routh.systems.get("block-into-wall").problem
    result = SetValued()(problem, np.random.default_rng(3))
    seed = int(np.random.default_rng(3).integers(2**63))
    np.testing.assert_array_equal(result.v, routh.sample(problem, 1, seed=seed).v[0])


def test_where_the_first_draw_is_not_solved_the_next_one_is_taken(monkeypatch):
    problem = routh.systems.get("block-into-wall").problem
    seed = int(np.random.default_rng(3).integers(2**63))
    second = routh.sample(problem, 2, seed=seed).v[1]
    draw = events.event_samples

    def failing(rows, asked, **options):
        out = draw(rows, asked, **options)
        out.status[0, : failures[0]] = routh.Status.NUMERICAL
        return out

    monkeypatch.setattr(events, "event_samples", failing)
    failures = [1]
    result = SetValued()(problem, np.random.default_rng(3))
    assert result.status is routh.Status.SOLVED
    np.testing.assert_allclose(result.v, second, rtol=0, atol=1e-12)
    failures = [100]
    assert SetValued()(problem, np.random.default_rng(3)).status is routh.Status.NUMERICAL
