"""Random constrained systems, small enough to be checked by slow and simple means."""

import numpy as np

from routh.constraints import Bilateral, ConstrainedSystem, Contact, Unilateral


def mass(rng, nv, spread=0.0):
    R = rng.normal(size=(nv, nv))
    scale = 10.0 ** (0.5 * rng.uniform(-spread, spread, nv))
    return (R @ R.T + 0.1 * np.eye(nv)) * np.outer(scale, scale)


def coefficients(rng, n, top):
    """From 1e-2 to 10^top, some exactly zero and some exactly at the top."""
    values = 10.0 ** rng.uniform(-2, top, n)
    values[rng.random(n) < 0.2] = 0.0
    values[rng.random(n) < 0.1] = 10.0**top
    return values


def jacobian(rng, n, nv, rank):
    """A matrix of given rank with a repeated row."""
    G = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, nv))
    if n > 1 and rng.random() < 0.5:
        G[-1] = G[0]
    return G


def system(rng, kinds, *, dt=None, mus=(0.0, 0.3, 1.0), bias=1.0):
    """Any mix of the kinds "b", "u", "c" with stiffness up to 1e15, damping up to 1e12, steps 1e-8 to 1."""
    nv = int(rng.integers(1, 8))
    rank = int(rng.integers(1, nv + 1))
    items = []
    for kind in kinds:
        n = int(rng.integers(1, 6))
        size = 10.0 ** rng.uniform(-8, 0)
        strength = {"stiffness": coefficients(rng, n, 15), "damping": coefficients(rng, n, 12)}
        if kind == "c":
            nt = int(rng.integers(1, 3)) if not items or not isinstance(items[-1], Contact) else items[-1].nt
            Jt = jacobian(rng, n * nt, nv, rank).reshape(n, nt, nv)
            phi = -np.abs(rng.normal(size=n)) * min(size, 1e-2)
            friction = {"mu": rng.choice(mus, n), "tangential_damping": coefficients(rng, n, 12)}
            items.append(Contact(jacobian(rng, n, nv, rank), Jt, phi, **friction, **strength))
        else:
            make = Bilateral if kind == "b" else Unilateral
            rate = bias * rng.normal(size=n)
            items.append(make(jacobian(rng, n, nv, rank), rng.normal(size=n) * size, bias=rate, **strength))
    dt = 10.0 ** rng.uniform(-8, 0) if dt is None else dt
    return ConstrainedSystem(mass(rng, nv, 3.0), rng.normal(size=nv), rng.normal(size=nv), items, dt)
