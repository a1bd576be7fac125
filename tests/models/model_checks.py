"""Checks of any model against an independent derivation: numerical derivatives of energies and gaps.

Differences are taken along ``model.integrate``, so they hold for quaternions too.
"""

import numpy as np

STEP = 1e-4
# central differences of fourth order
OFFSETS, WEIGHTS = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([1.0, -8.0, 8.0, -1.0]) / 12.0


def along(model, q, direction, function):
    """Derivative of function(q) when the configuration moves with velocity ``direction``."""
    return sum(
        weight * np.asarray(function(model.integrate(q, direction, offset * STEP)))
        for offset, weight in zip(OFFSETS, WEIGHTS, strict=True)
    ) / (STEP)


def gradient(model, q, function):
    return np.stack([along(model, q, unit, function) for unit in np.eye(model.nv)], axis=-1)


def check_gap_jacobian(model, q, tol=1e-8):
    Jn, Jt = model.jacobians(q)
    assert Jn.shape == (len(model.contacts), model.nv)
    assert Jt.shape == (len(model.contacts), model.nt, model.nv)
    np.testing.assert_allclose(Jn, gradient(model, q, model.gaps), atol=tol)


def check_jacobian_bias(model, q, v, tol=1e-7):
    def contact_velocity(at):
        Jn, Jt = model.jacobians(at)
        return np.concatenate([(Jn @ v)[:, None], Jt @ v], axis=1)

    expected = along(model, q, v, contact_velocity)
    np.testing.assert_allclose(model.jacobian_bias(q, v), expected, atol=tol * (1.0 + v @ v))


def check_lagrange(model, q, v, tol=1e-7):
    """Lagrange's equations for coordinates with v = dq/dt: bias = dM/dt v - d(T - V)/dq."""
    mass_rate = along(model, q, v, model.mass)
    kinetic_slope = gradient(model, q, lambda at: 0.5 * v @ model.mass(at) @ v)
    potential_slope = gradient(model, q, model.potential)
    expected = mass_rate @ v - kinetic_slope + potential_slope
    np.testing.assert_allclose(model.bias(q, v), expected, atol=tol * (1.0 + v @ v))


def check_kinetic_energy(model, q, v, bodies, tol=1e-7):
    """v^T M v / 2 against masses, inertias and the differences of centres of mass and angles.

    ``bodies(q)`` gives per body (mass, centre, inertia, angle).
    """
    energy = 0.0
    before, after = (bodies(model.integrate(q, v, dt)) for dt in (-STEP, STEP))
    for (mass, x0, inertia, a0), (_, x1, _, a1) in zip(before, after, strict=True):
        speed = (np.asarray(x1) - np.asarray(x0)) / (2 * STEP)
        energy += 0.5 * mass * speed @ speed + 0.5 * inertia * ((a1 - a0) / (2 * STEP)) ** 2
    assert abs(0.5 * v @ model.mass(q) @ v - energy) < tol * (1.0 + energy)
