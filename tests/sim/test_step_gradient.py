"""Derivatives of time-stepped motions against central differences of the whole motion."""

from dataclasses import replace

import numpy as np
import pytest

from routh.base.status import Status
from routh.constraints import (
    Compliance,
    Hertz,
    coordinate_limit,
    differentiate,
    from_model,
    solve,
    state_gradient,
)
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, Revolute, box, disc, link
from routh.models.spatial import PlaneContact as SpatialPlane
from routh.models.spatial import SpatialModel, sphere
from routh.sim import step_through, trace_steps

SOFT = Compliance(stiffness=2e4, damping=50.0, tangential_damping=40.0)
SPRINGS = Compliance(stiffness=2e4, damping=50.0, tangential_stiffness=5e3, tangential_damping=20.0)
GRIPPING = Compliance(stiffness=1e5, damping=100.0)  # D19's own damper, 1e6 / dt


def walker(mu=0.6):
    bodies = [
        box("body", 0.6, 0.2, mass=5.0),
        link("front", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(0.2, -0.1))),
        link("rear", 0.4, mass=1.0, inertia=0.01, joint=Revolute("body", at=(-0.2, -0.1))),
    ]
    feet = [PlaneContact(name, name, point=(0.0, -0.4), mu=mu) for name in ("front", "rear")]
    return PlanarModel(bodies, feet)


STANDING = State(np.array([0.0, 0.495, 0.0, 0.1, -0.12]), np.array([0.3, -0.2, 0.1, 0.0, 0.2]))


def slope(function, step=1e-5):
    """Central difference of fourth order of a function of one number at 0."""
    near, far = function(step) - function(-step), function(2 * step) - function(-2 * step)
    return (8 * near - far) / (12 * step)


@pytest.mark.parametrize("compliance", [SOFT, SPRINGS, GRIPPING])
@pytest.mark.parametrize("feedback", [False, True])
def test_every_slope_of_a_walker_agrees_with_differences(compliance, feedback):
    rng = np.random.default_rng(3)
    model, dt, duration = walker(), 2e-3, 0.03
    on_q, on_v = rng.normal(size=5), rng.normal(size=5)
    u = (lambda s: np.array([-5.0 * s.q[3] - s.v[3], -5.0 * s.q[4]])) if feedback else np.array([0.5, -0.3])
    limit = coordinate_limit("knee", 3, 5, upper=0.05, stiffness=100.0, damping=2.0)
    options = {"dt": dt, "duration": duration, "constraints": [limit], "u": u, "compliance": compliance}
    tape = trace_steps(model, STANDING, **options)
    found = tape.gradient(q=on_q, v=on_v)
    assert not found.near_kink

    def cost(state=STANDING, model=model, **changes):
        end = step_through(model, state, **options | changes).final
        return on_q @ end.q + on_v @ end.v

    size = np.abs(found.q).max()
    for k, unit in enumerate(np.eye(5)):
        exact = slope(lambda x: cost(State(STANDING.q + x * unit, STANDING.v)), 1e-6)  # noqa: B023
        assert found.q[k] == pytest.approx(exact, rel=1e-6, abs=1e-7 * size)
        exact = slope(lambda x: cost(State(STANDING.q, STANDING.v + x * unit)))  # noqa: B023
        assert found.v[k] == pytest.approx(exact, rel=1e-6, abs=1e-7 * np.abs(found.v).max())
    exact = slope(lambda x: cost(model=walker(0.6 + x)))
    assert found.contacts["mu"].sum() == pytest.approx(exact, rel=1e-6, abs=1e-9)

    def scaled(name):
        K = getattr(compliance, name)
        return slope(lambda x: cost(compliance=Compliance(**vars(compliance) | {name: K * (1.0 + x)}))) / K

    for name in ("stiffness", "damping"):
        assert found.contacts[name].sum() == pytest.approx(scaled(name), rel=1e-6, abs=1e-12)
    if compliance.tangential_damping is not None:
        got = found.contacts["tangential_damping"].sum()
        assert got == pytest.approx(scaled("tangential_damping"), rel=1e-6, abs=1e-12)
    if compliance.remembers:
        got = found.contacts["tangential_stiffness"].sum()
        assert got == pytest.approx(scaled("tangential_stiffness"), rel=1e-6, abs=1e-12)
    hard = slope(
        lambda x: cost(
            constraints=[coordinate_limit("knee", 3, 5, upper=0.05, stiffness=100.0 + x, damping=2.0)]
        ),
        1e-2,
    )
    assert found.constraints["knee"]["stiffness"].sum() == pytest.approx(hard, rel=1e-6, abs=1e-12)
    if not feedback:
        exact = [slope(lambda x: cost(u=u + x * unit)) for unit in np.eye(2)]  # noqa: B023
        np.testing.assert_allclose(found.u.sum(axis=0), exact, rtol=1e-6)


def test_running_costs_add_up():
    model = walker()
    tape = trace_steps(model, STANDING, dt=2e-3, duration=0.02, compliance=SOFT)
    count = len(tape.steps)
    weights = np.random.default_rng(0).normal(size=(count + 1, 5))
    every = tape.gradient(v=weights)
    direction = np.array([1.0, 0.5, -1.0, 0.2, 0.3])

    def cost(x):
        run = step_through(
            model, State(STANDING.q, STANDING.v + x * direction), dt=2e-3, duration=0.02, compliance=SOFT
        )
        return float((weights * run.v).sum())

    assert every.v @ direction == pytest.approx(slope(cost), rel=1e-6)


@pytest.mark.parametrize("mu", [0.1, 0.8])
def test_a_ball_that_spins_and_slides_in_space(mu):
    """Configurations are quaternions there, and friction turns on the cone's curved surface."""
    model = SpatialModel([sphere("ball", 0.1, mass=1.0)], [SpatialPlane("floor", "ball", radius=0.1, mu=mu)])
    q = np.array([0.0, 0.0, 0.099, 0.8, 0.0, 0.6, 0.0])
    v = np.array([1.0, 0.3, -0.1, 4.0, -5.0, 3.0])
    rng = np.random.default_rng(1)
    on_q, on_v = rng.normal(size=7), rng.normal(size=6)
    options = {"dt": 1e-3, "duration": 0.02, "compliance": Compliance(1e5, 10.0, tangential_damping=50.0)}
    found = trace_steps(model, State(q, v), **options).gradient(q=on_q, v=on_v)

    def cost(at):
        end = step_through(model, at, **options).final
        return on_q @ end.q + on_v @ end.v

    by_q = [slope(lambda x: cost(State(model.integrate(q, e, x), v))) for e in np.eye(6)]  # noqa: B023
    by_v = [slope(lambda x: cost(State(q, v + x * e))) for e in np.eye(6)]  # noqa: B023
    np.testing.assert_allclose(found.q, by_q, rtol=1e-6, atol=1e-6 * np.abs(by_q).max())
    np.testing.assert_allclose(found.v, by_v, rtol=1e-6, atol=1e-6 * np.abs(by_v).max())


def test_stiffness_that_depends_on_the_gap_is_differentiated_too():
    ball = PlanarModel([disc("ball", 0.1, mass=1.0)], [PlaneContact("floor", "ball", radius=0.1)])
    law = Compliance(Hertz(1e7, 0.1).law(1e-3), 20.0)
    start = State(np.array([0.0, 0.1 - 1e-4, 0.0]), np.array([0.2, -0.1, 0.0]))
    solved = solve(from_model(ball, start, dt=1e-3, compliance=law))
    gradient = differentiate(solved).gradient(v=[0.0, 1.0, 0.0])
    found = state_gradient(ball, start, gradient, dt=1e-3, compliance=law).q[1]

    def height(x):
        at = State(start.q + x * np.eye(3)[1], start.v)
        return solve(from_model(ball, at, dt=1e-3, compliance=law)).v[1]

    assert found == pytest.approx(slope(height, 1e-7), rel=1e-6)


def test_a_motion_of_no_steps_is_its_own_derivative():
    found = trace_steps(walker(), STANDING, dt=1e-3, duration=0.0).gradient(q=np.arange(5.0), v=np.ones(5))
    np.testing.assert_array_equal(found.q, np.arange(5.0))
    np.testing.assert_array_equal(found.v, np.ones(5))
    assert not found.near_kink


def test_a_gradient_says_whether_the_steps_that_it_goes_through_are_solved():
    disc_on_slope = PlanarModel([disc("disc", 0.1, mass=1.0)], [PlaneContact("A", "disc", radius=0.1)])
    tape = trace_steps(
        disc_on_slope, State(np.array([0.0, 0.1, 0.0]), np.array([1.0, -0.1, 0.0])), dt=0.01, duration=0.03
    )
    assert tape.gradient(v=[1.0, 0.0, 0.0]).status is Status.SOLVED
    failed = replace(tape.steps[1], status=Status.NUMERICAL)
    broken = replace(tape, steps=(tape.steps[0], failed, *tape.steps[2:]))
    assert broken.gradient(v=[1.0, 0.0, 0.0]).status is Status.NUMERICAL


def test_bad_shapes_are_named():
    tape = trace_steps(walker(), STANDING, dt=1e-3, duration=2e-3)
    with pytest.raises(ValueError, match=r"q: .*wanted shape \(5,\) or \(3, 5\)"):
        tape.gradient(q=np.ones(4))
