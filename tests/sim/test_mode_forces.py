"""Compiled forces of a contact mode against the readable ones, and slow slip that is stiff."""

from types import SimpleNamespace

import numpy as np
import pytest

import routh
from routh.base import tolerances
from routh.kernels.motion.forces import At, Held, find_mode_forces, make_found
from routh.models.spatial import PlaneContact, SpatialModel, box
from routh.sim.contact_forces import Hold, contact_problem, forces_of
from routh.sim.mechanism import correction
from routh.sim.mode_motion import NO_SLIP, ModeMotion, turned
from routh.sim.modes import find_modes, select
from routh.sim.verification import verify


class Said:
    """What a model would say at a state."""

    def __init__(self, rng, nc, width, nv, *, dependent=False):
        self.J = rng.normal(size=(nc, width, nv))
        if dependent:
            self.J[-1] = self.J[0]
        root = rng.normal(size=(nv, nv))
        self.inverse_mass = root @ root.T + np.eye(nv)
        self.free, self.v = rng.normal(size=(2, nv))
        self.bias = rng.normal(size=(nc, width))
        if dependent:
            self.bias[-1] = self.bias[0]
        self.contact_velocity = self.J @ self.v


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_compiled_forces_are_the_readable_ones(width, seed):
    rng = np.random.default_rng(seed)
    said = Said(rng, 4, width, 12, dependent=seed >= 4)
    mu = rng.uniform(0.1, 0.9, 4)
    chosen = [0, 1, 3] if seed < 4 else [0, 3]  # redundant: both are the same contact
    mode = []
    for k, c in enumerate(chosen):
        slip = said.J[c, 1:] @ said.v
        sticks = (k + seed) % 2 == 0 or seed >= 4
        mode.append(Hold(c) if sticks else Hold(c, tuple(slip / np.linalg.norm(slip))))
    problem = contact_problem(said, chosen, mu, np.zeros((len(chosen), width - 1)))
    wanted = forces_of(problem, tuple(mode))
    ways = np.array([hold.direction or (0.0,) * (width - 1) for hold in mode])
    held = Held(
        np.array(chosen),
        np.array([hold.sticks for hold in mode]),
        mu[chosen],
        ways,
        np.zeros(len(mode), dtype=bool),
    )
    found = make_found(len(mode), width, 12)
    known = find_mode_forces(
        held, At(said.J, said.inverse_mass, said.free, said.bias, said.v), NO_SLIP, found
    )
    if seed >= 4 and not known:  # the smallest forces leave the cones: the readable way goes on
        assert wanted.redundant
        return
    np.testing.assert_allclose(found.force, wanted.force, rtol=1e-9, atol=1e-9 * np.abs(wanted.force).max())
    assert abs(float(found.residual[0]) - wanted.residual) < 1e-9
    rows = said.J[chosen].reshape(-1, 12)
    exact = said.free + said.inverse_mass @ (rows.T @ wanted.force.ravel())
    np.testing.assert_allclose(found.acceleration, exact, rtol=1e-9, atol=1e-9)
    mechanism = SimpleNamespace(model=SimpleNamespace(nq=12, nv=12), nc=4, width=width, mu=mu)
    motion = ModeMotion(mechanism, tuple(mode))
    margin, motion.quick = motion.margin(said), False
    np.testing.assert_allclose(margin, motion.margin(said), rtol=1e-9, atol=1e-9)


def test_corrections_are_the_smallest_ones():
    rng = np.random.default_rng(0)
    root, rows = rng.normal(size=(8, 8)), rng.normal(size=(5, 8))
    rows[4] = rows[0] + rows[1]
    inverse_mass, values = root @ root.T + np.eye(8), rows @ rng.normal(size=8)
    found = correction(inverse_mass, rows, values)
    np.testing.assert_allclose(rows @ found, values, atol=1e-10)
    response = inverse_mass @ rows.T
    np.testing.assert_allclose(found, response @ np.linalg.pinv(rows @ response) @ values, atol=1e-9)


class Pushed(SpatialModel):
    """A box on three feet, pushed at its centre of mass by a force u (3,) N."""

    def bias(self, q, v, u=None):
        return super().bias(q, v) - np.concatenate([np.zeros(3) if u is None else u, np.zeros(3)])


def test_slip_that_hardly_moves_is_followed_by_long_steps():
    """Friction all but holds the box against a push that turns: slip is slow, and its direction is stiff."""
    mu, weight = 0.3, 2.0 * 9.81
    feet = [(0.2, 0.0, -0.02), (-0.1, 0.15, -0.02), (-0.1, -0.15, -0.02)]
    contacts = [PlaneContact(name, "box", point=foot, mu=mu) for name, foot in zip("ABC", feet, strict=True)]
    model = Pushed([box("box", (0.4, 0.3, 0.04), mass=2.0)], contacts)
    state = routh.State([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0], [2e-6, 0.0, 0.0, 0.0, 0.0, 0.0])

    def push(t, q, v):
        return 1.0001 * mu * weight * np.array([np.cos(2.0 * t), np.sin(2.0 * t), 0.0])

    motion = routh.simulate(model, state, duration=0.002, control=push)
    assert motion.ok, motion.events[-1]
    assert verify(model, motion, control=push).ok
    slip = np.linalg.norm(motion.v[:, :2], axis=1)
    assert slip.max() < 1e-4
    assert len(motion) < 1500  # 1.5 times the rate of turning would be a step of 1e-6 s: 20000 samples


def test_slip_that_begins_has_one_friction_on_both_sides_of_no_slip():
    """It jumped from the way that slip began with to that of the slip, which caught it in between."""
    mu, g = 0.5, 9.81
    one = np.ones(1, dtype=bool)
    held = Held(np.zeros(1, dtype=np.int64), ~one, np.array([mu]), np.array([[1.0, 0.0]]), ~one)
    frictions = []
    for speed in NO_SLIP * np.array([0.0, 0.5, 1.0 - 1e-9, 1.0 + 1e-9, 2.0]):
        v, found = np.array([0.0, 0.0, speed]), make_found(1, 3, 3)
        at = At(np.eye(3)[None], np.eye(3), np.array([-g, 0.0, 0.0]), np.zeros((1, 3)), v)
        assert find_mode_forces(held, at, NO_SLIP, found)
        readable = turned(Hold(0, (1.0, 0.0)), v[1:]).direction
        np.testing.assert_allclose(found.force[0, 1:], -mu * g * np.array(readable), atol=1e-12)
        frictions.append(found.force[0, 1:].copy())
    assert np.linalg.norm(frictions[2] - frictions[3]) < 1e-6
    np.testing.assert_allclose(frictions[0], [-mu * g, 0.0])
    np.testing.assert_allclose(frictions[4], [0.0, -mu * g], atol=1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_nearly_redundant_contacts_meet_their_equations(compiled):
    """Four feet of a robot that stands still, all but symmetric: no mode was found, and impacts went on."""
    rng = np.random.default_rng(0)
    said = Said(rng, 2, 3, 12)
    said.J[1], said.bias[1] = said.J[0] + 3e-5 * said.J[1], said.bias[0]
    mode = Hold(0), Hold(1)
    if compiled:
        still = np.zeros(2, dtype=bool)
        held = Held(np.arange(2), ~still, np.full(2, 0.5), np.zeros((2, 2)), still)
        found = make_found(2, 3, 12)
        at = At(said.J, said.inverse_mass, said.free, said.bias, said.v)
        assert find_mode_forces(held, at, NO_SLIP, found)
        residual = float(found.residual[0])
    else:
        forces = forces_of(contact_problem(said, [0, 1], np.full(2, 0.5), np.zeros((2, 2))), mode)
        assert not forces.redundant
        residual = forces.residual
    assert residual < tolerances.CONTACT_FORCE


def test_friction_at_its_limit_may_stick_or_begin_to_slide():
    """A foot whose friction is used up began to slide nowhere, and an impact came in its place."""
    angle = 0.3
    way = np.array([np.cos(angle), np.sin(angle)])
    said = Said(np.random.default_rng(0), 1, 3, 3)
    said.J, said.inverse_mass, said.bias = np.eye(3)[None], np.eye(3), np.zeros((1, 3))
    said.free = np.array([-1.0, *(0.5 * way)])
    ((stuck, slides),), _ = find_modes(contact_problem(said, [0], np.full(1, 0.5), np.zeros((1, 2))))
    assert stuck.mode[0].sticks
    np.testing.assert_allclose(slides.mode[0].direction, way, atol=1e-9)


def near_their_limits(seed, left, over):
    """Feet with shares of a friction of 0.5 left over at rest, and one beyond its limit by ``over``."""
    rng, count = np.random.default_rng(seed), len(left) + 1
    said = Said(rng, count, 3, 3 * count)
    said.J, said.bias = np.eye(3 * count).reshape(count, 3, -1), np.zeros((count, 3))
    coupled = rng.normal(size=(3 * count, 3 * count))
    said.inverse_mass = np.eye(3 * count) + 0.01 * (coupled + coupled.T)
    angle, share = rng.uniform(0.0, 2.0 * np.pi, count), 0.5 * np.r_[1.0 - np.array(left), 1.0 + over]
    at_rest = np.stack([np.ones(count), share * np.cos(angle), share * np.sin(angle)], axis=1)
    said.free = -said.inverse_mass @ at_rest.ravel()
    said.contact_velocity = np.zeros((count, 3))
    return said


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("over", [1e-8, 1e-5])
def test_a_foot_begins_to_slide_beside_others_that_nearly_do(seed, over):
    """Facets do not tell who slides: no mode was found, and an impact without collision came in its place."""
    said = near_their_limits(seed, [6e-3, 2e-4, 1e-5], over)
    (group,), _ = find_modes(contact_problem(said, range(4), np.full(4, 0.5), np.zeros((4, 2))))
    assert [hold.sticks for hold in group[0].mode] == [True, True, True, False]


def test_a_mode_that_has_ended_is_known_by_its_direction_up_to_rounding():
    """It was chosen again and again where slip that begins had a direction with another last digit."""
    said = near_their_limits(3, [1e-2], 1e-5)
    mechanism, still = SimpleNamespace(mu=np.full(2, 0.5)), np.zeros(2, dtype=bool)
    (chosen,) = select(mechanism, said, [0, 1], still, set()).choices
    stuck, slides = chosen.mode
    along = np.array(slides.direction) + 1e-14
    ended = stuck, Hold(1, tuple(along / np.linalg.norm(along)))
    assert ended != chosen.mode
    assert select(mechanism, said, [0, 1], still, {ended}).choices == ()


def test_a_contact_that_has_just_lost_its_force_opens():
    """Its force ended within the last digits of time: no mode was left, and an impact came in its place."""
    said = Said(np.random.default_rng(0), 2, 3, 6)
    said.J, said.inverse_mass, said.bias = np.eye(6).reshape(2, 3, 6), np.eye(6), np.zeros((2, 3))
    said.free, said.contact_velocity = np.array([-1.0, 0.0, 0.0, -5e-9, 0.0, 0.0]), np.zeros((2, 3))
    both = Hold(0, (0.0, 0.0)), Hold(1, (0.0, 0.0))
    mechanism, still = SimpleNamespace(mu=np.zeros(2)), np.zeros(2, dtype=bool)
    (chosen,) = select(mechanism, said, [0, 1], still, set()).choices
    assert chosen.mode == both
    (chosen,) = select(mechanism, said, [0, 1], still, {both}).choices
    assert chosen.mode == both[:1]


def test_a_limit_of_a_joint_slips_nowhere():
    """Its tangents are zero, the direction of its slip was no number: compiled code never knew such modes."""
    rng = np.random.default_rng(0)
    said = Said(rng, 2, 3, 6)
    said.J[1, 1:] = said.bias[1, 1:] = 0.0
    slip = said.J[0, 1:] @ said.v
    mode = Hold(0, tuple(slip / np.linalg.norm(slip))), Hold(1, (0.0, 0.0))
    mu = np.array([0.3, 0.0])
    ways = np.array([hold.direction for hold in mode])
    held = Held(np.arange(2), np.zeros(2, dtype=bool), mu, ways, np.zeros(2, dtype=bool))
    found = make_found(2, 3, 6)
    at = At(said.J, said.inverse_mass, said.free, said.bias, said.v)
    assert find_mode_forces(held, at, NO_SLIP, found)
    wanted = forces_of(contact_problem(said, [0, 1], mu, ways), mode)
    np.testing.assert_allclose(found.force, wanted.force, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("residue", [3e-9, 1e-8])
def test_slip_that_begins_begins_from_none(residue):
    """What an event leaves of slip has a direction of its own, which friction took for that of the slip."""
    mu, weight = 0.3, 2.0 * 9.81
    contacts = [PlaneContact("A", "box", point=(0.0, 0.0, -0.02), mu=mu)]
    model = Pushed([box("box", (0.4, 0.3, 0.04), mass=2.0)], contacts)
    push = np.array([0.0, 1.5 * mu * weight, 0.0])
    # without friction's torque: the contact is below the middle, which is pushed there too
    state = routh.State([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0], [-residue, -residue, 0.0, 0.0, 0.0, 9.0])
    motion = routh.simulate(model, state, duration=1e-5, control=lambda t, q, v: push)
    assert motion.ok, motion.events[-1]
    friction = motion.forces["contacts after"][0, 0, 1:]
    np.testing.assert_allclose(friction / np.linalg.norm(friction), [0.0, -1.0], atol=1e-6)
