"""Impacts that have a closed form: without friction, and central ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from routh.two_body.api import approaching, checked_one
from routh.validation import Array


def frictionless(W: ArrayLike, v: ArrayLike, e: float) -> Array:
    """The impulse (3,) of an impact without friction, JW17 section 2.4: -m v_z (1 + e), m = 1 / W_zz."""
    given = checked_one(W, v, 0.0, e)
    return np.array([0.0, 0.0, -approaching(given.v[0])[2] * (1.0 + given.e[0]) / given.W[0, 2, 2]])


def central(W: ArrayLike, v: ArrayLike, mu: float, e: float) -> Array:
    """The impulse (3,) where d = 0 and B is a multiple of the identity, as for spheres.

    Friction cannot change v_z, so the normal impulse is that without friction; sliding is straight and ends,
    for good, when the normal impulse has reached |gamma| / (mu b).
    """
    given = checked_one(W, v, mu, e)
    w, velocity, friction, restitution = given.W[0], approaching(given.v[0]), given.mu[0], given.e[0]
    uneven = max(abs(w[0, 1]), abs(w[0, 0] - w[1, 1]), abs(w[0, 2]), abs(w[1, 2]))
    if not uneven <= 1e-12 * np.abs(w).max():
        raise ValueError("W: wanted a central impact, a diagonal matrix with W[0, 0] = W[1, 1]")
    normal = -velocity[2] * (1.0 + restitution) / w[2, 2]
    speed = float(np.hypot(velocity[0], velocity[1]))
    if speed == 0.0:
        return np.array([0.0, 0.0, normal])
    tangential = min(friction * normal, speed / w[0, 0])
    return np.array([*(-tangential * velocity[:2] / speed), normal])
