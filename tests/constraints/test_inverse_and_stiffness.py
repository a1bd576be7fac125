"""Forces without stepping, inputs for a wanted acceleration, and stiffness from engineering."""

import numpy as np
import pytest

from routh import systems
from routh.base.status import Status
from routh.constraints import (
    Compliance,
    Hertz,
    contact_modulus,
    coordinate_limit,
    effective_radius,
    forces_at,
    foundation_stiffness,
    inputs_for,
)
from routh.constraints.stiffness import square_grid
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, Revolute, box, disc, link
from routh.models.spatial import SpatialModel, sphere


def walker():
    bodies = [
        box("body", 0.6, 0.2, mass=5.0),
        link("front", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(0.2, -0.1))),
        link("rear", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(-0.2, -0.1))),
    ]
    feet = [PlaneContact(name, name, point=(0.0, -0.4), mu=0.8) for name in ("front", "rear")]
    return PlanarModel(bodies, feet)


@pytest.mark.parametrize("trial", range(10))
def test_inputs_bring_the_acceleration_back(trial):
    """Forward with random inputs, then ask for that acceleration: the same inputs and forces come back."""
    rng = np.random.default_rng(trial)
    model = walker()
    state = State(np.array([0.0, 0.499, 0.0, 0.1, -0.2]), 0.1 * rng.normal(size=5))
    u = rng.normal(size=2)
    soft = Compliance(stiffness=1e5, damping=10.0, tangential_damping=1e4)
    forward = forces_at(model, state, dt=0.01, u=u, compliance=soft)
    back = inputs_for(model, state, forward.acceleration, dt=0.01, compliance=soft)
    assert back.status is Status.SOLVED
    np.testing.assert_allclose(back.u, u, atol=1e-6)
    np.testing.assert_allclose(back.forces.forces[0], forward.forces[0], atol=1e-5)


def test_an_acceleration_out_of_reach_is_reported():
    model = walker()
    state = State(np.array([0.0, 2.0, 0.0, 0.0, 0.0]), np.zeros(5))  # in the air: nothing holds it up
    result = inputs_for(model, state, np.zeros(5), dt=0.01)
    assert result.status is Status.INCOMPLETE
    assert result.error > 0.1


def test_inputs_press_against_a_joint_limit():
    model = PlanarModel([link("arm", 1.0, mass=1.0, centre=1.0, joint=Revolute())])
    limit = coordinate_limit("limit", 0, 1, lower=0.0, stiffness=1e6)
    state = State(np.zeros(1), np.zeros(1))
    held = forces_at(model, state, dt=0.01, u=[-5.0], constraints=[limit])
    assert held.forces[0][0] == pytest.approx(5.0, rel=0.02)
    back = inputs_for(model, state, held.acceleration, dt=0.01, constraints=[limit])
    assert back.u[0] == pytest.approx(-5.0, rel=1e-6)


def test_a_model_without_inputs_is_refused():
    with pytest.raises(ValueError, match="model: got no inputs"):
        inputs_for(
            PlanarModel([disc("d", 1.0, mass=1.0)]), State(np.zeros(3), np.zeros(3)), np.zeros(3), dt=0.01
        )
    free = SpatialModel([sphere("s", 0.1, mass=1.0)])
    state = State(np.array([0, 0, 1.0, 1, 0, 0, 0]), np.zeros(6))
    assert inputs_for(free, state, np.zeros(6), dt=0.01).u[2] == pytest.approx(9.81)


def test_hertz_agrees_with_itself_and_with_the_handbook():
    law = Hertz(contact_modulus(210e9, 0.3, 210e9, 0.3), effective_radius(0.01, 0.01))
    # two steel balls of 10 mm radius under 100 N: d = (9 F^2 / (16 E*^2 R))^(1/3)
    modulus = 210e9 / (2 * (1 - 0.09))
    assert law.depth(100.0) == pytest.approx((9 * 100.0**2 / (16 * modulus**2 * 0.005)) ** (1 / 3), rel=1e-12)
    assert law.force(law.depth(100.0)) == pytest.approx(100.0)
    assert law.force(-1e-6) == 0.0
    assert law.secant(100.0) * law.depth(100.0) == pytest.approx(100.0)
    step = 1e-9
    slope = (law.force(law.depth(100.0) + step) - law.force(law.depth(100.0) - step)) / (2 * step)
    assert law.tangent(100.0) == pytest.approx(slope, rel=1e-5)
    K = law.law(1e-3)(np.array([1.0, -law.depth(100.0), -1e-12]))
    assert K[1] == pytest.approx(law.secant(100.0))
    assert K[0] == K[2] == pytest.approx(law.secant(1e-3))


def test_the_deflection_of_d19_section_6_4_is_forty_times_what_it_says():
    """2.5 N on k = 1e10 N/m^(3/2) sinks 4e-7 m, not "around 1e-8 m"."""
    assert Hertz(1e11, 0.01, factor=1.0).depth(2.5) == pytest.approx(3.97e-7, rel=1e-2)


def test_state_dependent_stiffness_carries_the_weight_at_hertz_depth():
    ball = PlanarModel([disc("ball", 0.1, mass=1.0)], [PlaneContact("floor", "ball", radius=0.1)])
    law = Hertz(1e8, 0.1)
    from routh.sim import step_through

    start = State(np.array([0.0, 0.1 - 1e-5, 0.0]), np.zeros(3))
    run = step_through(ball, start, dt=1e-3, duration=0.5, compliance=Compliance(law.law(1e-3), 200.0))
    assert run.ok
    depth = -run.deformations["contacts"][-1, 0, 0]
    assert law.force(depth) == pytest.approx(9.81, rel=1e-3)


def test_a_foundation_holds_the_weight_whatever_its_mesh():
    assert foundation_stiffness(1e7, 1.0 / 900, 1.0) == pytest.approx(1e7 / 900)
    for count in (100, 900):
        grid = square_grid(1.0, count, -0.5)
        assert grid.shape == (count, 3)
        assert np.abs(grid.mean(axis=0) - [0, 0, -0.5]).max() < 1e-15
        motion = systems.get("cube-on-foundation", elements=count, load=0.0, young=1e6, damping=1e4 / count)
        sunk = 0.5 - motion.run(dt=0.01, duration=1.0).final.q[2]
        assert sunk == pytest.approx(8 * 9.81 / 1e6, rel=1e-6)
    with pytest.raises(ValueError, match="count: got 99; wanted a square number"):
        square_grid(1.0, 99, 0.0)


def test_the_foundation_rows_are_the_slope_of_its_deformations():
    motion = systems.get("cube-on-foundation", elements=9)
    rng = np.random.default_rng(0)
    q = np.concatenate([rng.normal(size=3), rng.normal(size=4)])
    q[3:] /= np.linalg.norm(q[3:])
    v, foundation, model = rng.normal(size=6), motion.constraints[0], motion.model
    at = lambda s: foundation.at(State(model.integrate(q, v, s), v))  # noqa: E731
    rows, step = at(0.0), 1e-6
    np.testing.assert_allclose(rows.G @ v, (at(step).phi - at(-step).phi) / (2 * step), atol=1e-8)
    rate = (at(step).G @ v - at(-step).G @ v) / (2 * step)
    np.testing.assert_allclose(rows.bias, rate, atol=1e-8)


@pytest.mark.parametrize("error", [0.0, 1e-6, -1e-6, 3e-5])
def test_forces_without_deformations_do_not_mind_what_cannot_be_measured(error):
    """D19 section 7: on steel a micrometre in the state is ten kilonewtons; as zero it is the weight."""
    model = walker()
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0])
    q[1] = -model.gaps(q).min() + error
    state = State(q, np.zeros(5))
    stiff = Compliance(stiffness=1e10, damping=1.0)
    weight = 7.0 * 9.81
    blind = forces_at(model, state, dt=0.01, compliance=stiff, deformations="zero")
    assert blind.status is Status.SOLVED
    assert blind.forces[0][:, 0].sum() == pytest.approx(weight, rel=1e-4)
    seen = forces_at(model, state, dt=0.01, compliance=stiff).forces[0][:, 0].sum()
    assert (abs(seen - weight) < 1e-3 * weight) == (error == 0.0)
    np.testing.assert_array_equal(blind.system.constraints[0].phi, 0.0)


def test_without_deformations_what_is_apart_stays_apart():
    model = walker()
    state = State(np.array([0.0, 2.0, 0.0, 0.0, 0.0]), np.zeros(5))
    assert not forces_at(model, state, dt=0.01, deformations="zero").forces[0].any()
    limit = coordinate_limit("limit", 3, 5, lower=-1.0, stiffness=1e6)
    found = forces_at(model, state, dt=0.01, constraints=[limit], deformations="zero")
    assert found.system.constraints[1].phi[0] == 1.0
    with pytest.raises(ValueError, match="deformations: got 'guessed'"):
        forces_at(model, state, dt=0.01, deformations="guessed")
