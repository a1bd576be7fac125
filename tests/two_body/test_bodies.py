"""The impact equations (1)-(5): inverse inertia, contact velocity, velocities after."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routh import systems, two_body
from routh.two_body import Body, law


def ball(mass, radius, position, **motion):
    return Body(mass, np.full(3, 0.4 * mass * radius**2), position, **motion)


def test_two_balls():
    a, b = ball(2.0, 0.3, [0, 0, 0.3]), ball(3.0, 0.5, [0, 0, -0.5])
    w = two_body.inverse_inertia(a, b, [0, 0, 0], [0, 0, 1])
    np.testing.assert_allclose(w, (1 / 2 + 1 / 3) * np.diag([3.5, 3.5, 1.0]), atol=1e-12)


def test_a_ball_on_a_half_space():
    w = two_body.inverse_inertia(ball(2.0, 0.3, [0, 0, 0.3]), None, [0, 0, 0], [0, 0, 1])
    np.testing.assert_allclose(w, np.diag([7.0, 7.0, 2.0]) / 4.0, atol=1e-12)


def random_body(rng, **motion):
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    return Body(
        rng.uniform(0.5, 3),
        rng.uniform(0.1, 1, 3),
        rng.normal(size=3),
        rotation=turn,
        velocity=rng.normal(size=3),
        angular_velocity=rng.normal(size=3),
    )


def momentum(body, about):
    inertia = np.linalg.inv(body.inverse_inertia())
    linear = body.mass * body.velocity
    return linear, np.cross(body.position - about, linear) + inertia @ body.angular_velocity


def kinetic(body):
    inertia = np.linalg.inv(body.inverse_inertia())
    spin = body.angular_velocity
    return 0.5 * body.mass * body.velocity @ body.velocity + 0.5 * spin @ inertia @ spin


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0, 3), st.floats(0, 1), st.booleans())
def test_momentum_energy_and_the_contact_velocity(seed, mu, e, fixed):
    rng = np.random.default_rng(seed)
    a, b = random_body(rng), None if fixed else random_body(rng)
    point, normal = rng.normal(size=3), rng.normal(size=3)
    w = two_body.inverse_inertia(a, b, point, normal)
    v = two_body.contact_velocity(a, b, point, normal)
    assert np.linalg.eigvalsh(w)[0] > 0.0
    if v[2] >= 0:
        normal = -normal  # then the bodies approach
        w, v = two_body.inverse_inertia(a, b, point, normal), two_body.contact_velocity(a, b, point, normal)
    result = two_body.impact(w, v, mu, e)
    after_a, after_b = two_body.velocities_after(a, b, point, normal, result.impulse)
    np.testing.assert_allclose(
        two_body.contact_velocity(after_a, after_b, point, normal), result.contact_velocity, atol=1e-9
    )
    energy = kinetic(a) - kinetic(after_a)
    if b is not None:
        energy += kinetic(b) - kinetic(after_b)
        for before, after in zip(
            np.add(momentum(a, point), momentum(b, point)),
            np.add(momentum(after_a, point), momentum(after_b, point)),
            strict=True,
        ):
            np.testing.assert_allclose(after, before, atol=1e-9)
    assert energy == pytest.approx(result.energy.lost, abs=1e-9)
    assert energy >= -1e-10


def test_frames_are_right_handed():
    rng = np.random.default_rng(0)
    for normal in [*rng.normal(size=(50, 3)), *np.eye(3), *-np.eye(3)]:
        frame = two_body.contact_frame(normal)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        np.testing.assert_allclose(frame[2], normal / np.linalg.norm(normal))
    np.testing.assert_allclose(two_body.contact_frame([0, 0, 2]), np.eye(3))


def test_bad_bodies_are_refused():
    with pytest.raises(ValueError, match="mass: got 0"):
        Body(0.0, [1, 1, 1], [0, 0, 0])
    with pytest.raises(ValueError, match="inertia: wanted a symmetric, positive definite"):
        Body(1.0, [1, -1, 1], [0, 0, 0])
    with pytest.raises(ValueError, match="rotation: wanted an orthogonal"):
        Body(1.0, [1, 1, 1], [0, 0, 0], rotation=2 * np.eye(3))
    with pytest.raises(ValueError, match="normal: got zero"):
        two_body.contact_frame([0, 0, 0])


def test_the_spheres_system_has_its_closed_form():
    for mu in (0.05, 0.3):
        problem = systems.get("sphere-half-space", mu=mu, spin=(3.0, -20.0, 5.0)).problem
        result = two_body.TwoBody()(problem)
        w, v = law.contact_space(problem)
        expected = two_body.central(w, v, mu, 0.8)
        np.testing.assert_allclose(result.impulse[0], expected[[2, 0, 1]], rtol=1e-12)
