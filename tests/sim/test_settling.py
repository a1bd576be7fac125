"""Hops too low to open a contact: one implicit step, and what `verify` asks of it."""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh.base import tolerances
from routh.laws import Simultaneous
from routh.models.planar import PlanarModel, PlaneContact, box
from routh.models.spatial import PlaneContact as PointOnPlane
from routh.models.spatial import SpatialModel
from routh.models.spatial import box as spatial_box
from routh.problem.impact import ImpactProblem
from routh.sim import Event, settling, verify
from routh.sim.mechanism import Mechanism
from routh.sim.settling import settle

WIDTH, HEIGHT, GRAVITY = 1.0, 0.5, 9.81


def plank(mu=0.5):
    corners = {"A": (-0.5 * WIDTH, -0.5 * HEIGHT), "B": (0.5 * WIDTH, -0.5 * HEIGHT)}
    contacts = [PlaneContact(name, "plank", point=point, mu=mu) for name, point in corners.items()]
    return PlanarModel([box("plank", WIDTH, HEIGHT, mass=1.0)], contacts)


LYING = np.array([0.0, 0.5 * HEIGHT, 0.0])


def settled(v, q=LYING, mu=0.5, end=1.0, most=0.0):
    return settle(Mechanism(plank(mu)), 0.0, q, np.array(v), np.full(2, 1e-15), Simultaneous(), end, most)


@pytest.mark.parametrize("slip", [0.0, 3e-5, -2e-3])
def test_a_low_hop_ends_at_rest_with_the_impulses_of_its_time(slip):
    fall = 1e-5
    found = settled([slip, 0.0, 2.0 * fall / WIDTH])  # A falls, B rises as fast
    assert found.contacts == (0, 1)
    # B falls faster than gravity where A carries all: it comes down within the hops that the step takes
    assert 0.0 < found.t <= 4.0 * fall / GRAVITY
    assert np.abs(found.v[1:]).max() < 1e-15
    kept = np.sign(slip) * max(abs(slip) - 0.5 * (GRAVITY * found.t), 0.0)  # friction 0.5 under its weight
    assert found.v[0] == pytest.approx(kept, abs=1e-9 * abs(slip) + 1e-15)
    assert found.impulse[:, 0].sum() == pytest.approx(GRAVITY * found.t, rel=1e-9)
    assert np.all(np.abs(found.impulse[:, 1]) <= 0.5 * found.impulse[:, 0] * (1.0 + 1e-12))


def test_what_speaks_against_it():
    highest = np.sqrt(2.0 * GRAVITY * tolerances.CLOSED_GAP)
    assert settled([0.0, -0.9 * highest, 0.0]) is not None
    assert settled([0.0, -1.1 * highest, 0.0]) is None  # as fast as a hop that opens a contact
    assert settled([0.0, -1e-5, 0.0], end=1e-7) is None  # the motion ends before
    over = LYING + np.array([0.0, 0.5e-9, 1.5e-9])  # A is closed, B 1.25e-9 m open, which closes in the step
    assert settled([0.0, -1e-5, 0.0], q=over) is None
    loss = 0.5 * 1e-10  # J
    assert settled([0.0, -1e-5, 0.0], most=-0.9 * loss) is not None
    assert settled([0.0, -1e-5, 0.0], most=-1.1 * loss) is None  # it gains more than it may


@pytest.mark.parametrize("most", [100.0, 0.0])
def test_compiled_code_stops_what_the_law_stops(monkeypatch, most):
    """A box comes down on three of its corners; impulses beyond what compiled code may find go to the law."""
    corners = np.array([[0.5, 0.4, -0.2], [-0.5, 0.3, -0.2], [0.1, -0.4, -0.2]])
    contacts = [PointOnPlane(f"c{k}", "box", point=point, mu=0.3) for k, point in enumerate(corners)]
    model = SpatialModel([spatial_box("box", (1.0, 0.8, 0.4), mass=2.0)], contacts)
    Jn, Jt = model.jacobians(np.r_[0.0, 0.0, 0.2, 1.0, np.zeros(3)])
    v = np.r_[1e-5, 2e-6, -1e-5, 3e-6, -2e-6, 1e-6]
    problem = ImpactProblem(model.mass(np.r_[0.0, 0.0, 0.2, 1.0, np.zeros(3)]), Jn, Jt, np.full(3, 0.3), v)
    asked = []
    law = Simultaneous()
    monkeypatch.setattr(Simultaneous, "resolve", lambda *a, f=Simultaneous.resolve: asked.append(a) or f(*a))
    monkeypatch.setattr(settling, "_MOST", most)
    found, impulse = settling._stopped(problem, law)
    assert bool(asked) == (most == 0.0)
    wanted = law(problem)
    np.testing.assert_allclose(found, wanted.v, rtol=0, atol=1e-10 * problem.speed)
    np.testing.assert_allclose(problem.apply(impulse), found, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("fall", "rests"), [(2e-5, True), (1e-4, False)])
def test_what_flies_on_slowly_rests_within_the_longest_step(fall, rests):
    """A tall block rocks from corner to corner: each lifts the other, which comes back ever sooner."""
    width, height = 0.2, 1.0
    corners = {"A": (-0.5 * width, -0.5 * height), "B": (0.5 * width, -0.5 * height)}
    contacts = [PlaneContact(name, "block", point=point, mu=1.0) for name, point in corners.items()]
    mechanism = Mechanism(PlanarModel([box("block", width, height, mass=1.0)], contacts))
    v = fall / width * np.array([-0.5 * height, -0.5 * width, 1.0])  # A falls, the block turns about B
    found = settle(
        mechanism, 0.0, np.array([0.0, 0.5 * height, 0.0]), v, np.full(2, 1e-15), Simultaneous(), 1.0, 0.0
    )
    flies = float(mechanism.normal_velocity(found.q, found.v)[1])
    if rests:
        assert found.contacts == (0, 1)
        assert tolerances.ZENO_REMAINING < found.t < tolerances.SETTLING
        assert np.abs(found.v).max() < 1e-15
    else:  # B could rise above what closes a contact within that time
        assert found.contacts == (0,)
        assert 0.25 * tolerances.SETTLING * flies > tolerances.CLOSED_GAP


@pytest.fixture(scope="module")
def hopping():
    block = routh.systems.get("rocking-block")
    return block.model, routh.simulate(block.model, block.state, duration=0.4, seed=0)


def broken(model, motion):
    return {fault.condition for fault in verify(model, motion).violations}


def test_it_replaces_the_last_impacts_and_is_verified(hopping):
    model, motion = hopping
    assert motion.ok
    assert verify(model, motion).ok
    steps = [event for event in motion.events if event.kind == "settle"]
    assert steps
    assert verify(model, motion).checked["time of settling"] == len(steps)
    for event in steps:
        approach = -(model.jacobians(motion.q[event.index])[0] @ motion.v[event.index - 1]).min()
        assert 0.0 < approach < np.sqrt(2.0 * GRAVITY * tolerances.CLOSED_GAP)


def changed(motion, field, index, factor):
    values = getattr(motion, field).copy()
    values[index] *= factor
    return replace(motion, **{field: values})


def test_a_wrong_step_is_caught(hopping):
    model, motion = hopping
    i = next(event.index for event in motion.events if event.kind == "settle")
    c = int(motion.impulse[i, :, 0].argmax())
    assert not broken(model, motion)
    assert "momentum of settling" in broken(model, changed(motion, "impulse", (i, c, 0), 1.0 + 1e-3))
    assert "friction cone" in broken(model, changed(motion, "impulse", (i, c, 0), 1e-3))
    lifted = motion.v.copy()
    lifted[i, 1] += 1e-6
    assert "force while separating" in broken(model, replace(motion, v=lifted))
    high = motion.v.copy()
    high[i - 1, 1] += 1e-2
    assert "force at a distance" in broken(model, replace(motion, v=high))
    beside = motion.q.copy()
    beside[i:, 0] += 1e-7  # all that follows is as possible there
    assert broken(model, replace(motion, q=beside)) == {"dq = v dt"}


def test_no_flight_passes_for_a_low_hop(hopping):
    model, motion = hopping
    i = next(k for k in range(1, len(motion)) if motion.t[k] - motion.t[k - 1] > tolerances.SETTLING)
    fake = Event("settle", float(motion.t[i]), i, ("A",), {"friction": "cone", "facets": None})
    assert "time of settling" in broken(model, replace(motion, events=(*motion.events, fake)))


def test_what_turns_on_the_ground_beside_a_hop_does_not_rise():
    """Its velocity at the first end was seen with the directions of the second, which turn with it."""
    bodies = [box("ball", 0.2, 0.2, mass=1.0), box("rod", 1.0, 0.02, mass=1.0)]
    feet = [PlaneContact("foot", "ball", point=(0.0, -0.1)), PlaneContact("tip", "rod", point=(-0.5, 0.0))]
    model, lean, rate = PlanarModel(bodies, feet), 1.0, 4.0
    q = np.array([0.0, 0.1, 0.0, 0.9, 0.5 * np.sin(lean), lean])
    v = np.array([0.0, -1.3e-4, 0.0, 0.0, 0.5 * rate * np.cos(lean), rate])
    assert abs(Mechanism(model).normal_velocity(q, v)[1]) < 1e-15
    motion = routh.simulate(model, routh.State(q, v), duration=1e-3)
    assert "settle" in [event.kind for event in motion.events]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_friction_along_the_slip_is_caught_in_such_a_step_too():
    motion = routh.simulate(plank(), routh.State(LYING, [1e-3, -1e-5, 0.0]), duration=1e-3)
    i = next(event.index for event in motion.events if event.kind == "settle")
    assert not broken(plank(), motion)
    assert "maximal dissipation" in broken(plank(), changed(motion, "impulse", (i, slice(None), 1), -1.0))
