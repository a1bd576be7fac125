"""JW17's Theorem 5 on random contacts, and its special cases."""

import numpy as np
import pytest

from problems import direction_rate, inverse_inertias
from routh import two_body
from routh.two_body import _events, _kernel, _solve


def contact(w, mu):
    return _solve.make_contact(w, 1.0, mu, 0.5, 0, 1e-3)


def test_theorem_5_on_random_contacts():
    rng = np.random.default_rng(0)
    counts = set()
    for w in inverse_inertias(rng, 250):
        need = np.linalg.norm(np.linalg.solve(w[:2, :2], w[:2, 2]))
        mu = need * rng.choice([0.1, 0.5, 0.9, 0.99, 1.01, 1.5, 5.0, 50.0])
        found = two_body.invariant_directions(w, mu)
        counts.add(len(found.angles))
        assert 2 <= len(found.angles) <= 4
        assert found.sticks == (need <= mu) == two_body.sticking(w, mu)
        assert found.centrifugal.sum() == (0 if found.sticks else 1)
        assert (~found.centrifugal).sum() >= 1
        scale = mu * np.abs(w[:2, :2]).max() + np.abs(w[:2, 2]).max()
        residual = direction_rate(w[None], np.array([mu]), found.angles[None])
        assert np.abs(residual).max() < 1e-9 * scale
        # none is missing: f changes sign as often on a fine grid as there are simple roots
        theta = np.linspace(-np.pi, np.pi, 7201)
        f = direction_rate(w[None], np.array([mu]), theta[None])[0]
        changes = np.sum(f[:-1] * f[1:] < 0.0)
        assert changes <= len(found.angles)
        assert changes % 2 == 0
    assert counts == {2, 4}


def test_stable_and_unstable_directions_alternate():
    rng = np.random.default_rng(1)
    for w in inverse_inertias(rng, 100):
        found = two_body.invariant_directions(w, rng.uniform(0.1, 5))
        assert np.all(found.stable != np.roll(found.stable, 1))
        assert np.all(found.stable[found.centrifugal])


def test_every_direction_of_a_sphere():
    found = two_body.invariant_directions(np.diag([3.5, 3.5, 1.0]), 0.4)
    assert found.every
    assert found.sticks
    assert found.angles.size == 0


def test_without_friction_only_d_matters():
    w = np.array([[2.0, 0.0, 0.3], [0.0, 1.0, 0.4], [0.3, 0.4, 1.0]])
    found = two_body.invariant_directions(w, 0.0)
    np.testing.assert_allclose(found.angles, [np.arctan2(-0.4, -0.3), np.arctan2(0.4, 0.3)])
    np.testing.assert_allclose(found.rates, [-0.5, 0.5])


def test_double_root_is_marked():
    b1, b2, mu = 2.0, 0.5, 1.0
    w = np.array([[b1, 0.0, mu * (b1 - b2)], [0.0, b2, 0.0], [mu * (b1 - b2), 0.0, 6.0]])
    found = two_body.invariant_directions(w, mu)
    at = np.argmin(np.abs(found.angles))
    assert abs(found.angles[at]) < 1e-4
    assert found.double[at]


def test_the_kernels_directions_are_among_them():
    rng = np.random.default_rng(2)
    for w in inverse_inertias(rng, 120):
        mu = 10.0 ** rng.uniform(-2, 1)
        con = contact(w, mu)
        found = two_body.invariant_directions(w, mu)
        angle = rng.uniform(-np.pi, np.pi)
        sx, sy, ok = _events.rest_ahead(con, np.cos(angle), np.sin(angle))
        assert ok
        ahead = np.arctan2(sy, sx)
        gaps = np.abs(np.angle(np.exp(1j * (found.angles - ahead))))
        assert gaps.min() < 1e-7
        assert found.stable[gaps.argmin()]
        # and it is the next one in the direction of motion
        f, _, _ = _events.direction_rates(con, np.cos(angle), np.sin(angle))
        forward = np.mod((found.angles - angle) * np.sign(f), 2 * np.pi)
        assert forward[gaps.argmin()] == pytest.approx(forward.min(), abs=1e-6)
        if not found.sticks:
            cx, cy = _events.centrifugal(con)
            np.testing.assert_allclose([cx, cy], found.vectors[found.centrifugal][0], atol=1e-9)


def test_what_termination_rests_on():
    """f' = -g - mu s_perp.B s_perp; g >= 0 at stable directions only, and v_z' > mu g at all."""
    rng = np.random.default_rng(6)
    for w, mu in zip(inverse_inertias(rng, 200), rng.uniform(0.01, 10, 200), strict=True):
        con = _solve.make_contact(w, 1.0, mu, 0.5, 0, 1e-3)
        angle, h = rng.uniform(0, 2 * np.pi), 1e-5
        (low, _, _), (_, g, slope), (high, _, _) = (
            _events.direction_rates(con, np.cos(a), np.sin(a)) for a in (angle - h, angle, angle + h)
        )
        scale = abs(g) + mu * np.trace(w[:2, :2])
        assert abs((high - low) / (2 * h) - slope) < 1e-8 * scale
        across = np.array([-np.sin(angle), np.cos(angle)])
        assert abs(slope + g + mu * across @ w[:2, :2] @ across) < 1e-13 * scale
        found = two_body.invariant_directions(w, mu)
        assert np.all(found.stable | (found.rates < 0))
        assert np.all(found.rates[found.double] < 0)
        rise = w[2, 2] - mu * found.vectors @ w[:2, 2]
        assert np.all(rise > mu * found.rates)


def test_event_letters():
    assert _kernel.decode(0) == ""
    assert _kernel.decode(1 * 64 + 2 * 8 + 4) == "csr"
