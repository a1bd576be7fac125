"""Time stepping through impacts that a law resolves."""

import numpy as np
import pytest

import routh
from routh import systems
from routh.laws import LZB, SetValued, Simultaneous
from routh.sim import step_through


def impacts(motion):
    return [event for event in motion.events if event.kind == "impact"]


def test_the_rocking_block_of_time_steps_converges_to_that_of_events():
    """The times of the first four impacts: errors shrink with the step, about in proportion."""
    block = systems.get("zeno-block")
    exact = routh.simulate(block.model, block.state, duration=2.2, law=Simultaneous(), sample_dt=1.0)
    wanted = np.array([event.t for event in impacts(exact)])
    worst = []
    for dt in (1e-2, 2.5e-3):
        run = step_through(block.model, block.state, dt=dt, duration=2.2, law=Simultaneous())
        assert run.ok
        assert len(impacts(run)) == len(wanted) == 4
        worst.append(np.abs([event.t for event in impacts(run)] - wanted).max())
        assert min(block.model.gaps(q).min() for q in run.q) > -2.0 * dt**2  # no deeper than a chord
    assert worst[1] < 0.4 * worst[0]
    assert worst[1] < 0.02


def test_the_bounces_of_a_ball_keep_its_restitution():
    ball = systems.get("bouncing-ball", restitution=0.8)
    run = step_through(ball.model, ball.state, dt=5e-3, duration=1.5, law=LZB())
    before = np.array([event.data["v_before"][1] for event in impacts(run)])
    after = np.array([event.data["v_after"][1] for event in impacts(run)])
    assert len(before) == 2
    np.testing.assert_allclose(after, -0.8 * before, rtol=1e-12)
    assert float(run.impulse[:, 0, 0].sum()) == pytest.approx(
        float((after - before).sum()), rel=1e-12
    )  # the mass is 1 kg


def test_outcomes_are_drawn_from_the_set():
    """The block that falls flat: seeds give different outcomes, each in the exact set; then it rests."""
    block = systems.get("rocking-block")
    drawn = []
    for stream in range(6):
        run = step_through(
            block.model, block.state, dt=2e-3, duration=0.3, law=SetValued(), seed=3, stream=stream
        )
        assert run.ok
        first = impacts(run)[0]
        assert first.t == 0.0
        np.testing.assert_array_equal(first.data["v_before"], block.state.v)
        assert set(first.data["closed"]) == {"A", "B"}
        drawn.append(first.data["v_after"])
        np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)
    whole = routh.exact_set(block.problem)
    assert all(whole.contains(v) for v in drawn)
    assert np.ptp(np.array(drawn)[:, 2]) > 0.05  # rad/s: it rocks either way, or not
    again = step_through(block.model, block.state, dt=2e-3, duration=0.01, law=SetValued(), seed=3, stream=5)
    np.testing.assert_array_equal(impacts(again)[0].data["v_after"], drawn[-1])


def test_what_a_law_cannot_take_is_refused():
    pendulum, block = systems.get("pendulum-by-constraint"), systems.get("rocking-block")
    with pytest.raises(ValueError, match="law: got one with constraints"):
        pendulum.run(law=SetValued())
    with pytest.raises(ValueError, match=r"window: got 0.1 without a law"):
        step_through(block.model, block.state, dt=0.01, duration=0.1, window=0.1)
    with pytest.raises(ValueError, match="window"):
        step_through(block.model, block.state, dt=0.01, duration=0.1, window=np.nan, law=SetValued())
    ball = systems.get("bouncing-ball")
    with pytest.raises(ValueError, match=r"restitution: got 0\.8"):  # never ignored
        step_through(ball.model, ball.state, dt=0.01, duration=1.0, law=Simultaneous())


def test_a_law_that_fails_ends_the_motion_and_says_why():
    ball = systems.get("rocking-block")
    run = step_through(
        ball.model,
        ball.state,
        dt=0.01,
        duration=1.0,
        law=SetValued(method="algorithm1", step=1e-4, max_steps=1),
    )
    assert not run.ok
    assert run.t[-1] == 0.0
    assert run.events[-1].kind == "stop"
    assert "step limit" in run.events[-1].data["reason"]
