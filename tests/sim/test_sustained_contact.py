"""Sustained contact against closed forms: sliding, sticking, rolling, tipping, lifting, inputs, space."""

import math

import numpy as np
import pytest

import routh
from routh.models.planar import (
    PlanarModel,
    PlaneContact,
    Prismatic,
    Revolute,
    box,
    corners,
    disc,
    link,
    slope,
)
from routh.models.spatial import SpatialModel, corner_contacts
from routh.models.spatial import box as spatial_box
from routh.sim import verify
from routh.sim.contact_forces import Hold, contact_problem, forces_of, is_valid
from routh.sim.mechanism import Mechanism
from routh.sim.modes import find_modes

G = 9.81


def kinds(motion):
    return [event.kind for event in motion.events]


def solved(model, state, **options):
    motion = routh.simulate(model, state, **options)
    verdict = verify(model, motion, control=options.get("control"))
    assert motion.ok
    assert verdict.ok, str(verdict)
    return motion


def block(mu, angle=0.0, size=(0.4, 0.1)):
    """A flat block on a plane that descends to the right, lying on two corners."""
    plane = slope("plane", angle)
    contacts = [
        PlaneContact(name, "block", plane, corner, mu=mu)
        for name, corner in zip("AB", corners(*size)[:2], strict=True)
    ]
    model = PlanarModel([box("block", *size, mass=2.0)], contacts)
    centre = size[1] / 2 * np.array([math.sin(angle), math.cos(angle)])
    return model, routh.State([*centre, -angle], [0.0, 0.0, 0.0])


def test_sliding_stops_when_friction_has_used_up_the_energy():
    model, state = block(0.3)
    motion = solved(model, routh.State(state.q, [1.0, 0.0, 0.0]), duration=0.6)
    stop = next(e for e in motion.events if e.kind == "stick")
    assert stop.t == pytest.approx(1.0 / (0.3 * G), abs=1e-9)
    assert set(stop.contacts) == {"A", "B"}
    assert motion.q[-1, 0] == pytest.approx(0.5 / (0.3 * G), abs=1e-9)


@pytest.mark.parametrize(("mu", "slides"), [(0.25, True), (0.375, False)])
def test_block_on_a_slope_of_15_degrees(mu, slides):
    angle = math.radians(15.0)
    model, state = block(mu, angle)
    motion = solved(model, state, duration=0.5)
    travelled = float(np.hypot(*(motion.q[-1, :2] - motion.q[0, :2])))
    wanted = 0.5 * G * (math.sin(angle) - mu * math.cos(angle)) * 0.5**2 if slides else 0.0
    assert travelled == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(("mu", "rolls"), [(0.2, True), (0.1, False)])
def test_disc_on_a_slope_rolls_or_slips(mu, rolls):
    angle = 0.4  # rolling needs mu >= tan(angle) / 3 = 0.141
    model = PlanarModel(
        [disc("disc", 0.2, mass=1.5)], [PlaneContact("A", "disc", slope("plane", angle), radius=0.2, mu=mu)]
    )
    state = routh.State([0.2 * math.sin(angle), 0.2 * math.cos(angle), 0.0], np.zeros(3))
    motion = solved(model, state, duration=0.7)
    along = G * math.sin(angle) / 1.5 if rolls else G * (math.sin(angle) - mu * math.cos(angle))
    assert np.hypot(*motion.v[-1, :2]) == pytest.approx(along * 0.7, abs=1e-8)
    assert (kinds(motion)[0], motion.events[0].data["slipping"]) == ("close", [] if rolls else ["A"])


def test_sliding_disc_begins_to_roll():
    model = PlanarModel([disc("disc", 0.2, mass=1.0)], [PlaneContact("A", "disc", radius=0.2, mu=0.3)])
    motion = solved(model, routh.State([0.0, 0.2, 0.0], [1.5, 0.0, 0.0]), duration=0.5)
    stick = next(e for e in motion.events if e.kind == "stick")
    assert stick.t == pytest.approx(1.5 / (3 * 0.3 * G), abs=1e-9)
    assert motion.v[-1] == pytest.approx([1.0, 0.0, -5.0], abs=1e-8)


def test_inputs_move_a_cart_by_feedback():
    """A driven pendulum cart without contact: the input holds the cart on a spring."""
    bodies = [box("cart", 0.2, 0.1, mass=1.0, joint=Prismatic((1.0, 0.0)))]
    bodies.append(link("bob", 1.0, mass=0.0, joint=Revolute("cart")))
    bodies[1] = link("bob", 1.0, mass=1e-6, joint=Revolute("cart"))
    model = PlanarModel(bodies, [], actuated=["cart.slide"])
    motion = solved(
        model, routh.State([1.0, 0.0], [0.0, 0.0]), duration=1.0, control=lambda t, q, v: [-4.0 * q[0]]
    )
    assert motion.q[-1, 0] == pytest.approx(math.cos(2.0), abs=1e-5)
    assert motion.s[-1] == pytest.approx(1.0)  # no contact: s is time


def test_pulling_up_lifts_a_block_off():
    model = PlanarModel(
        [box("block", 0.4, 0.2, mass=1.0, joint=Prismatic((0.0, 1.0)))],
        [PlaneContact("A", "block", point=(0.0, -0.1), mu=0.5)],
        actuated=["block.slide"],
    )
    motion = solved(
        model, routh.State([0.1], [0.0]), duration=1.0, control=lambda t, q, v: [20.0 * t], sample_dt=0.05
    )
    off = next(e for e in motion.events if e.kind == "open")
    assert off.t == pytest.approx(G / 20.0, abs=1e-9)
    after = 1.0 - off.t
    assert motion.q[-1, 0] == pytest.approx(0.1 + 20.0 * after**3 / 6.0, abs=1e-8)


def test_tipping_begins_at_the_edge():
    """A tall block pushed at its centre: beyond w/h of its weight it turns about the far corner."""
    contacts = [
        PlaneContact(name, "block", point=corner, mu=2.0)
        for name, corner in zip("AB", corners(0.5, 1.0)[:2], strict=True)
    ]
    model = PlanarModel([box("block", 0.5, 1.0, mass=1.0)], contacts, actuated=["block.x"])
    push = 0.5 * G  # m g w / h
    motion = solved(
        model,
        routh.State([0.0, 0.5, 0.0], np.zeros(3)),
        duration=0.4,
        control=lambda t, q, v: [push * (0.8 + t)],
        sample_dt=0.02,
    )
    tip = next(e for e in motion.events if e.kind == "open")
    assert tip.contacts == ("A",)
    assert tip.t == pytest.approx(0.2, abs=1e-8)


@pytest.mark.parametrize(("angle", "slides"), [(0.5, True), (0.4, False)])
def test_box_in_space_on_four_corners_of_a_slope(angle, slides):
    """Four corners share a load that three could bear; the limit is still Coulomb's."""
    body = spatial_box("box", (0.4, 0.3, 0.2), mass=1.0)
    gravity = G * np.array([math.sin(angle), 0.0, -math.cos(angle)])
    model = SpatialModel([body], corner_contacts(body, mu=0.45), gravity=gravity)
    state = routh.State([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], np.zeros(6))
    motion = solved(model, state, duration=0.2, sample_dt=0.05)
    along = G * (math.sin(angle) - 0.45 * math.cos(angle)) if slides else 0.0
    assert motion.v[-1, 0] == pytest.approx(max(along, 0.0) * 0.2, abs=1e-7)
    assert np.abs(motion.v[-1, 1:]).max() < 1e-7


def test_box_in_space_slides_straight_in_any_direction():
    body = spatial_box("box", (0.4, 0.3, 0.2), mass=1.0)
    model = SpatialModel([body], corner_contacts(body, mu=0.2))
    v = np.array([0.3, 0.4, 0.0, 0.0, 0.0, 0.0])
    motion = solved(model, routh.State([0, 0, 0.1, 1, 0, 0, 0], v), duration=0.4, sample_dt=0.05)
    assert next(e for e in motion.events if e.kind == "stick").t == pytest.approx(0.5 / (0.2 * G), abs=1e-7)
    assert motion.q[-1, :2] == pytest.approx(0.25 / (2 * 0.2 * G) * np.array([0.6, 0.8]), abs=1e-7)


def test_redundant_contacts_share_evenly_and_stay_in_their_cones():
    """Three contacts under a planar box: the middle one is not needed, the load is still shared."""
    points = [(-0.2, -0.05), (0.0, -0.05), (0.2, -0.05)]
    contacts = [PlaneContact(name, "box", point=p, mu=0.5) for name, p in zip("ABC", points, strict=True)]
    model = PlanarModel([box("box", 0.4, 0.1, mass=3.0)], contacts)
    motion = solved(model, routh.State([0, 0.05, 0], np.zeros(3)), duration=0.1)
    force = motion.forces["contacts"][-1]
    assert force[:, 0].sum() == pytest.approx(3 * G)
    assert force[:, 0] == pytest.approx(G, abs=1e-6)
    assert np.abs(motion.v[-1]).max() < 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_every_mode_found_solves_the_problem_and_agrees_with_the_lcp(seed):
    """The enumerated modes are exactly the solutions of the complementarity problem, on random contacts."""
    from routh.sim.modes import _by_complementarity

    rng = np.random.default_rng(seed)
    system = routh.systems.get("disk-stack" if seed % 2 else "rocking-block")
    mechanism = Mechanism(system.model)
    v = rng.normal(size=system.model.nv)
    snapshot = mechanism.snapshot(0.0, system.state.q, v)
    resting = list(range(2))
    slip = np.where(rng.random((2, 1)) < 0.5, np.sign(rng.normal(size=(2, 1))), 0.0)
    mu = np.full(mechanism.nc, rng.choice([0.0, 0.5, 3.0]))
    problem = contact_problem(snapshot, resting, mu, slip)
    groups, complete = find_modes(problem)
    assert complete
    lemke = _by_complementarity(problem)
    assert lemke is None or groups  # pivoting may miss a solution, enumeration may not
    for group in groups:
        for solution in group:
            assert is_valid(problem, solution)
    if lemke is not None:
        nearest = min(np.abs(g[0].acceleration - lemke.acceleration).max() for g in groups)
        assert nearest < 1e-6 * problem.acceleration_unit.max()


def test_a_mode_that_pulls_is_not_valid():
    system = routh.systems.get("rocking-block")
    mechanism = Mechanism(system.model)
    snapshot = mechanism.snapshot(0.0, system.state.q, np.zeros(3))
    problem = contact_problem(snapshot, [0, 1], mechanism.mu, np.zeros((2, 1)))
    assert is_valid(problem, forces_of(problem, (Hold(0), Hold(1))))
    assert not is_valid(problem, forces_of(problem, (Hold(0),)))  # B would sink into the floor
    assert not is_valid(problem, forces_of(problem, (Hold(0, (1.0,)), Hold(1, (1.0,)))))  # no slip begins
