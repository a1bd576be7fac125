"""Newton's rule and the ball whose bounces accumulate."""

import math

import numpy as np
import pytest

import routh
from routh.laws import Newton, named
from routh.sim import verify


@pytest.mark.parametrize(
    ("law", "restitution"),
    [("lzb", 0.3), ("lzb", 0.8), ("set-valued", 0.5), ("newton", 0.8)],
    ids=["energetic-0.3", "energetic-0.8", "set-valued-0.5", "newton-0.8"],
)
def test_accumulation_time_in_closed_form(law, restitution):
    ball = routh.systems.get("bouncing-ball", restitution=restitution, mu=0.0, velocity=(0.5, 0.0, 1.0))
    first = math.sqrt(2 * 1.0 / 9.81)
    closed_form = first * (1 + restitution) / (1 - restitution)
    motion = routh.simulate(
        ball.model, ball.state, duration=closed_form + 0.5, law=named(law), sample_dt=0.05
    )
    event = next(e for e in motion.events if e.kind == "zeno")
    assert motion.t[event.index] == pytest.approx(closed_form, abs=1e-6)
    assert event.data["ratio"] == pytest.approx(restitution, abs=1e-4)
    assert event.data["continuation"] == "sustained contact"
    assert motion.q[-1, 0] == pytest.approx(0.5 * motion.t[-1], abs=1e-6)  # it slides on without friction
    assert motion.v[-1] == pytest.approx([0.5, 0.0, 1.0], abs=1e-9)
    assert motion.forces["contacts"][-1, 0, 0] == pytest.approx(9.81)
    assert verify(ball.model, motion).ok


def test_with_friction_it_ends_up_rolling():
    ball = routh.systems.get("bouncing-ball", restitution=0.5, mu=0.3, velocity=(0.5, 0.0, 0.0))
    motion = routh.simulate(ball.model, ball.state, duration=2.5, law=Newton(), sample_dt=0.05)
    verdict = verify(ball.model, motion)
    assert verdict.ok, str(verdict)
    # sliding to rolling keeps the angular momentum about the ground: 2/3 of the speed remains
    assert motion.v[-1] == pytest.approx([0.5 * 2 / 3, 0.0, -0.5 * 2 / 3 / 0.1], abs=1e-6)


def test_newton_honours_restitution_and_refuses_what_it_cannot():
    problem = routh.systems.get("bouncing-ball", restitution=0.6, velocity=(0.4, 0, 0)).problem
    result = Newton()(problem)
    before, after = problem.contact_velocity()[0], result.contact_velocity[0]
    assert after[0] == pytest.approx(-0.6 * before[0])
    assert abs(result.impulse[0, 1]) <= problem.mu[0] * result.impulse[0, 0] * (1 + 1e-12)
    assert np.allclose(result.path.v[-1], result.v)
    assert Newton()(problem.replace(v=[0, 1.0, 0])).status is routh.Status.NO_IMPACT
    with pytest.raises(ValueError, match="one planar contact"):
        Newton()(routh.systems.get("rocking-block").problem)


def test_newton_never_gives_energy():
    # a leaning rod with strong friction: Newton's rule alone would return more energy than there was
    rod = routh.systems.get("painleve-rod", angle=1.1, mu=1.0, speed=3.0)
    problem = rod.problem.replace(restitution=1.0, v=rod.problem.v + np.array([0.0, -0.1, 0.0]))
    result = Newton()(problem)
    gained = problem.kinetic_energy(result.v) > problem.kinetic_energy() * (1 + 1e-9)
    assert gained == (not result.status.ok)
    inelastic = Newton()(problem.replace(restitution=0.0))
    assert inelastic.status.ok
    assert np.allclose(inelastic.v, routh.laws.SingleContact()(problem.replace(restitution=0.0)).v)
