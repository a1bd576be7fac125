"""The time stepper on D19's examples."""

import math

import numpy as np
import pytest

from routh import systems
from routh.constraints import Compliance, Holonomic
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, disc
from routh.sim import step_through

G = 9.81


def test_the_scheme_on_a_linear_spring_is_implicit_euler():
    motion = systems.get("spring-mass-damper", stiffness=40.0, damping=0.3, mass=2.0)
    run = motion.run(dt=0.05, duration=1.0)
    dt, m, k, b = 0.05, 2.0, 40.0, 0.3
    A = np.linalg.inv([[1.0, -dt], [dt * k / m, 1.0 + dt * b / m]])  # implicit Euler of (q, v)
    state = np.array([1.0, 0.0])
    for q, v in zip(run.q, run.v, strict=True):
        np.testing.assert_allclose([q[0], v[0]], state, atol=1e-12)
        state = A @ state


def test_drift_of_the_pinned_pendulum_is_quadratic():
    """Slope 2 over three decades of the step, at k = 1e15; it is largest where the swing is fastest."""
    steps = np.array([0.1, 0.01, 1e-3, 1e-4])
    worst = []
    for dt in steps[:3]:
        run = systems.get("pendulum-by-constraint", dt=dt).run(duration=0.6)
        assert run.ok
        worst.append(np.abs(run.deformations["pin"]).max())
    motion = systems.get("pendulum-by-constraint", dt=1e-4)
    run = step_through(motion.model, run[520], dt=1e-4, duration=0.08, constraints=motion.constraints)
    assert run.ok
    worst.append(np.abs(run.deformations["pin"][5:]).max())  # the first step undoes the drift of the start
    slope = np.polyfit(np.log10(steps), np.log10(worst), 1)[0]
    assert abs(slope - 2.0) < 0.1


def test_the_pinned_pendulum_is_first_order():
    """Against minimal coordinates: the angle after 1 s."""
    from scipy.integrate import solve_ivp

    inertia = 1.0 + 0.5 * 0.1**2
    swing = solve_ivp(
        lambda t, y: [y[1], -G * math.sin(y[0]) / inertia], (0, 1), [math.pi / 2, 0.0], rtol=1e-11, atol=1e-12
    )
    errors = []
    for dt in (0.004, 0.002):
        run = systems.get("pendulum-by-constraint", dt=dt).run()
        errors.append(abs(run.final.q[2] - swing.y[0, -1]))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(np.abs(orders - 1.0) < 0.1)


@pytest.mark.parametrize("mu", [0.0, 0.125, 0.25, 0.375])
def test_block_on_the_incline(mu):
    run = systems.get("block-on-incline", mu=mu).run()
    assert run.ok
    moved = np.linalg.norm(run.final.q[:3] - run.q[0, :3])
    angle = math.radians(15)
    a = G * (math.sin(angle) - mu * math.cos(angle))
    if a > 0:
        assert moved == pytest.approx(a * 1.0 * 1.01 / 2, rel=1e-3)
    else:
        assert moved < 1e-6
    if mu == 0.0:
        assert not run.forces["contacts"][:, :, 1:].any()
    depth = -run.deformations["contacts"][:, :, 0].min()
    assert 1e-7 < depth < 1e-6  # Hertz: (F / k)^(2/3)


@pytest.mark.parametrize("direction", np.arange(8) * math.pi / 4 + 0.1)
def test_the_block_slides_straight_down_in_every_direction(direction):
    """Feet in a square have no favoured direction, and the cone has no facets."""
    block = systems.get("block-on-incline", mu=0.125, direction=direction, size=(0.2, 0.2, 0.05))
    run = block.run(duration=0.2)
    moved = (run.final.q - run.q[0])[:2]
    across = moved @ [-math.sin(direction), math.cos(direction)]
    assert abs(across) < 1e-9 * np.linalg.norm(moved)


def test_a_swinging_pendulum_stops_dead_or_bounces_by_its_step():
    """D19 Fig. 6: k = 1e12; steps of 1e-5 s kill the impact, steps of 1e-8 s show that it is elastic."""
    back = {}
    for dt in (1e-5, 1e-7, 1e-8):
        motion = systems.get("pendulum-with-limit", angle=4e-6, rate=-4.0)
        run = motion.run(dt=dt, duration=6e-6 if dt < 1e-5 else 5e-5, record_every=100)
        assert run.ok
        back[dt] = run.final.v[0] / 4.0
    assert back[1e-5] < 0.05
    assert 0.7 < back[1e-7] < back[1e-8] < 1.0


def test_spheres_form_a_stack():
    run = systems.get("sphere-stack", count=12, gap=0.01, anticipate=True).run(duration=2.0)
    assert run.ok
    q = run.final.q.reshape(12, 7)
    np.testing.assert_allclose(q[:, 2], 0.1 + 0.2 * np.arange(12), atol=1e-6)
    assert np.abs(q[:, :2]).max() < 1e-9
    assert np.abs(run.final.v).max() < 1e-6
    weights = run.forces["contacts"][-1, :, 0]
    np.testing.assert_allclose(weights, G * np.arange(12, 0, -1), rtol=1e-6)


def test_a_tall_stack_stands_where_only_closed_gaps_act():
    """From rest, and hit from above by its own top sphere."""
    stack = systems.get("sphere-stack", count=40)
    for speed in (0.0, 0.5):
        v = stack.state.v.copy()
        v[-4] = -speed
        run = step_through(
            stack.model, State(stack.state.q, v), dt=0.01, duration=0.5, compliance=stack.compliance
        )
        assert run.ok
        q = run.q.reshape(len(run), 40, 7)
        assert np.abs(q[:, :, :2]).max() == 0.0
        assert np.abs(q[:, :, 2] - q[0, :, 2]).max() < 1e-6
        assert np.abs(run.final.v).max() < 1e-9


def test_late_contacts_throw_a_tall_stack_apart_and_anticipated_ones_do_not():
    """Where only closed gaps act, thirty spheres reach many times the speed of their fall."""
    fast = {}
    for anticipate in (False, True):
        stack = systems.get("sphere-stack", count=30, gap=0.01, anticipate=anticipate)
        run = stack.run(duration=0.6, record_every=3)
        assert run.ok
        fast[anticipate] = np.abs(run.v).max()
    fall = math.sqrt(2 * G * 30 * 0.01)
    assert fast[True] < 1.05 * fall
    assert fast[False] > 3.0 * fall


@pytest.mark.parametrize("dt", [3e-3, 1e-2, 0.1])
def test_an_anticipated_contact_never_sinks_and_never_gains(dt):
    ball = PlanarModel([disc("ball", 0.1, mass=1.0)], [PlaneContact("floor", "ball", radius=0.1, mu=0.5)])
    start = State(np.array([0.0, 0.6, 0.0]), np.array([1.0, 0.0, 5.0]))
    run = step_through(ball, start, dt=dt, duration=1.0, compliance=Compliance(1e9, 1.0, anticipate=True))
    assert run.ok
    assert run.deformations["contacts"][:, 0, 0].min() > -4.0 / (dt * 1e9)  # the force that stops 4 m/s in dt
    assert np.all(np.diff(sum(run.energies.values())) <= 1e-9)


def test_sparse_and_dense_stacks_move_alike(monkeypatch):
    dense = systems.get("sphere-stack", count=10, gap=0.01, anticipate=True).run(duration=0.3)
    monkeypatch.setattr("routh.constraints.compliance.SPARSE_NV", 0)
    thin = systems.get("sphere-stack", count=10, gap=0.01, anticipate=True).run(duration=0.3)
    np.testing.assert_allclose(thin.q, dense.q, atol=1e-9)


def test_energy_of_a_cube_on_its_foundation_settles():
    motion = systems.get("cube-on-foundation", elements=100, load=0.0)
    run = motion.run(dt=1e-3, duration=0.1)
    total = sum(run.energies.values())
    assert np.all(np.diff(total) <= 1e-9)
    assert run.forces["foundation"].shape == (101, 100)
    np.testing.assert_allclose(run.forces["foundation"][-1].sum(), 8 * G, rtol=1e-3)


def test_a_ball_closes_and_opens_with_events_and_impulses():
    ball = PlanarModel([disc("ball", 0.1, mass=1.0)], [PlaneContact("floor", "ball", radius=0.1, mu=0.5)])
    start = State(np.array([0.0, 0.15, 0.0]), np.array([1.0, -1.0, 0.0]))
    run = step_through(ball, start, dt=1e-3, duration=0.3, compliance=Compliance(stiffness=1e4, damping=0.0))
    assert [event.kind for event in run.events][:2] == ["close", "open"]
    assert run.events[0].contacts == ("floor",)
    gained = run.v[-1, 1] - run.v[0, 1]
    assert gained == pytest.approx(run.impulse[:, 0, 1 - 1].sum() - G * 0.3, abs=1e-9)
    thin = step_through(ball, start, dt=1e-3, duration=0.3, compliance=Compliance(1e4, 0.0), record_every=50)
    np.testing.assert_allclose(thin.impulse.sum(axis=0), run.impulse.sum(axis=0), atol=1e-12)
    assert thin.final.q.tolist() == run.final.q.tolist()


def test_inputs_and_forces_push():
    model = systems.get("pendulum-with-limit").model
    start = State(np.zeros(1), np.zeros(1))
    by_input = step_through(model, start, dt=0.01, duration=0.1, u=lambda state: [1.0])
    by_force = step_through(model, start, dt=0.01, duration=0.1, force=lambda state: np.ones(1))
    assert by_input.final.q[0] > 0.0
    np.testing.assert_allclose(by_input.q, by_force.q, atol=1e-14)


def test_refusals():
    motion = systems.get("spring-mass-damper")
    with pytest.raises(ValueError, match="'spring' appears twice"):
        motion.run(constraints=motion.constraints * 2)
    with pytest.raises(ValueError, match="kind: got 'loose'"):
        Holonomic("x", *[lambda *a: np.zeros(1)] * 3, stiffness=1.0, kind="loose")


def test_what_falls_is_stopped_where_it_touches():
    """By default contacts act that would close within the step; by D19's rule they throw out what sank in."""
    model = PlanarModel([disc("ball", 0.1, mass=1.0)], [PlaneContact("floor", "ball", radius=0.1, mu=0.5)])
    options = {"dt": 0.01, "duration": 1.0}
    default, early, late = (
        step_through(model, State([0.0, 1.0, 0.0], np.zeros(3)), **options, **given).q[:, 1]
        for given in ({}, *({"compliance": Compliance(anticipate=when)} for when in (True, False)))
    )
    assert default.tolist() == early.tolist()
    assert np.abs(default[50:] - 0.1).max() < 1e-6
    assert late[50:].max() > 0.2
