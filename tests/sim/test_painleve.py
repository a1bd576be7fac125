"""Painlevé's rod: no solution, two solutions or one, exactly where the closed form says."""

import math

import numpy as np
import pytest

import routh
from routh.kernels.motion.forces import MOST
from routh.laws import Sequential, SetValued, Simultaneous, SingleContact
from routh.models.spatial import PlaneContact, SpatialModel, box
from routh.sim import verify
from routh.sim.contact_forces import contact_problem
from routh.sim.mechanism import Mechanism

G, MU = 9.81, 1.8


def closed_form(angle, rate, direction=1.0):
    """Normal acceleration of the sliding end per unit normal force, and without any (2 m, 1 kg)."""
    per_force = 1 + 3 * math.cos(angle) * (math.cos(angle) - direction * MU * math.sin(angle))
    return per_force, -G + rate**2 * math.sin(angle)


def rod(angle, rate=0.0, **more):
    return routh.systems.get("painleve-rod", angle=angle, rate=rate, mu=MU, **more)


@pytest.mark.parametrize("angle", [0.4, 0.75, 1.0, 1.3, 1.45])
@pytest.mark.parametrize("rate", [-4.5, -2.0, 0.0, 3.0, 4.5])
def test_the_grid(angle, rate):
    system = rod(angle, rate)
    motion = routh.simulate(system.model, system.state, duration=0.05, sample_dt=0.05)
    per_force, free = closed_form(angle, rate)
    at_once = {event.kind for event in motion.events if event.t == 0.0}
    assert ("impact without collision" in at_once) == (per_force < 0 and free < 0)
    assert ("choice" in at_once) == (per_force < 0 and free > 0)
    assert motion.ok
    verdict = verify(system.model, motion)
    assert verdict.ok, str(verdict)


@pytest.mark.parametrize("law", [SetValued(), Simultaneous(), Sequential(), SingleContact()])
def test_every_law_resolves_the_impact_without_collision(law):
    problem = rod(math.atan(2.0)).problem
    result = law(problem, np.random.default_rng(0), without_collision=("A",))
    assert result.status is routh.Status.SOLVED
    # Routh's method by hand: the end stops, so J v+ = 0 with friction inside the cone
    assert result.v == pytest.approx([0.6, 0.3, -0.3 * math.sqrt(5)], abs=1e-6)
    assert result.impulse[0] == pytest.approx([0.3, -0.4], abs=1e-6)


def test_ambiguity_is_drawn_and_logged():
    system = rod(1.1, 4.5)
    drawn = set()
    for seed in range(8):
        motion = routh.simulate(system.model, system.state, duration=0.02, seed=seed)
        event = next(e for e in motion.events if e.kind == "choice")
        assert event.data["complete"]
        assert sorted(solution["A"] for solution in event.data["solutions"]) == ["separates", "slides"]
        drawn.add(event.data["drawn"])
        assert verify(system.model, motion).ok
    assert drawn == {0, 1}


def test_a_contact_that_lifts_with_no_speed_and_lands_in_the_same_step():
    """Opening is the only solution at the start, with an acceleration that soon turns round."""
    system = rod(1.3775510204081634, 3.163265306122449)
    per_force, free = closed_form(1.3775510204081634, 3.163265306122449)
    assert per_force > 0.0 < free < 0.02
    motion = routh.simulate(system.model, system.state, duration=0.02, sample_dt=0.1, max_step=0.1)
    assert motion.events[0].kind == "impact"
    assert motion.events[0].t == pytest.approx(0.004837, abs=1e-6)
    assert verify(system.model, motion).ok


def test_dynamic_jam_is_passed_through():
    """Force and stiffness of the sliding end vanish together: the contact force grows without bound."""
    system = rod(0.6692307692307692, -3.4615384615384617)
    motion = routh.simulate(system.model, system.state, duration=0.1, sample_dt=0.05)
    event = next(e for e in motion.events if e.kind == "impact without collision")
    q, v = motion.q[event.index], event.data["v_before"]
    per_force, free = closed_form(math.pi - q[2], v[2])
    assert event.t > 0.0
    assert abs(per_force) < 1e-8
    assert abs(free) < 1e-3
    assert motion.forces["contacts"][:, 0, 0].max() > 1e4
    assert motion.ok
    assert verify(system.model, motion).ok


def leaning_rod(seed):
    """A rod in space on its tip, which slips, turns and jams: friction is 2."""
    rng = np.random.default_rng(seed)
    tip = PlaneContact("tip", "rod", point=(-0.5, 0.0, 0.0), mu=2.0)
    model = SpatialModel([box("rod", (1.0, 0.05, 0.05), mass=1.0)], [tip])
    lean = rng.uniform(0.8, 1.2)
    q = np.r_[0.0, 0.0, 0.0, np.cos(lean / 2), 0.0, -np.sin(lean / 2), 0.0]
    q[2] -= model.gaps(q)[0]
    mechanism = Mechanism(model)
    v = mechanism.hold(q, np.r_[rng.normal(size=3), 3.0 * rng.normal(size=3)], [0], [])
    angle, J = rng.uniform(0.0, 2.0 * np.pi), mechanism.J(q)[0]
    slip = rng.uniform(0.1, 0.5) * np.array([np.cos(angle), np.sin(angle)])
    return mechanism, q, v + J.T @ np.linalg.solve(J @ J.T, np.r_[0.0, slip])


@pytest.mark.parametrize("seed", [16, 43, 46])
def test_slip_that_turns_into_a_jam_ends_in_an_impact_at_once(seed):
    """It went on in the same mode, through an infinite force, and the samples there were no solution."""
    mechanism, q, v = leaning_rod(seed)
    motion = routh.simulate(mechanism.model, routh.State(q, v), duration=0.007)
    assert motion.ok, motion.events[-1]
    event = next(e for e in motion.events if e.kind == "impact without collision")
    k = event.index
    at = mechanism.snapshot(motion.t[k], motion.q[k], motion.v[k])
    unit = contact_problem(at, [0], mechanism.mu, np.zeros((1, 2))).force_unit[0]
    forces = motion.forces["contacts"][: k + 1, 0, 0]
    assert 0.9 * MOST * unit < forces[k] <= 1.001 * MOST * unit
    assert forces.max() <= 1.001 * MOST * unit
    assert forces.min() >= 0.0
    verdict = verify(mechanism.model, motion)
    assert verdict.ok, str(verdict)
