"""How a contact behaves while it lasts: how long it takes, and how much of the speed it gives back.

A contact of MuJoCo is a damped spring: with ``solref = (t, z)`` the penetration obeys
``x'' + (2 / t) x' + x / (t z)^2 = 0`` (Modeling > Solver parameters of MuJoCo's documentation, impedance near
one), so its damping ratio is z and its frequency ``w = 1 / (t z)``. A contact can only push: it ends where
``x'' = 0``, before the spring is relaxed. With x = 0 and x' = u at the touch that is, for every z,

    at the time   2 a / w  and with the speed  -u exp(-2 z a),   a = arccos(z) / sqrt(1 - z^2),

with arccosh and ``sqrt(z^2 - 1)`` where z > 1, and a = 1 where z = 1: a critically damped contact lasts 2 t
and returns exp(-2) = 0.135 of the speed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from routh.validation import Array, real

#: What a critically damped contact returns, MuJoCo's default: assumed where nothing is known of a contact.
CRITICALLY_DAMPED = float(np.exp(-2.0))


def spring_of(solref: ArrayLike, *, timestep: float = 0.0) -> tuple[Array, Array]:
    """Time constant t (s) and damping ratio z of MuJoCo's ``solref`` (..., 2), in either of its formats.

    Negative values are -stiffness and -damping (1/s^2, 1/s). Positive time constants are at least two
    timesteps, as MuJoCo makes them unless that is disabled.
    """
    first, second = np.moveaxis(np.asarray(solref, dtype=np.float64), -1, 0)
    direct = first <= 0.0
    stiffness = np.where(direct, np.maximum(-first, 1e-300), 1.0)
    damping = np.where(direct, np.maximum(-second, 0.0), 1.0)
    time = np.where(direct, 2.0 / np.maximum(damping, 1e-300), np.maximum(first, 2.0 * timestep))
    ratio = np.where(direct, damping / (2.0 * np.sqrt(stiffness)), np.maximum(second, 0.0))
    return time, ratio


def restitution_of_spring(ratio: ArrayLike) -> Array:
    """The share of the speed that a contact of this damping ratio returns; see the head of this module."""
    z = np.asarray(ratio, dtype=np.float64)
    return np.exp(-2.0 * z * _arc(z))


def duration_of_spring(time: ArrayLike, ratio: ArrayLike) -> Array:
    """How long a contact of this time constant (s) and damping ratio lasts, s."""
    t, z = np.asarray(time, dtype=np.float64), np.asarray(ratio, dtype=np.float64)
    return 2.0 * t * z * _arc(z)


def contact_duration(stiffness: float, mass: float) -> float:
    """How long a mass (kg) stays on a spring (N/m), s: half an oscillation, ``pi sqrt(m / k)``."""
    k, m = real("stiffness", stiffness, above=0.0), real("mass", mass, above=0.0)
    return float(np.pi * np.sqrt(m / k))


def _arc(z: Array) -> Array:
    """``arccos(z) / sqrt(1 - z^2)`` and what continues it beyond 1."""
    off = np.abs(1.0 - z) < 1e-6  # 1 + (1 - z) / 3 + ...
    below = np.clip(np.where(off, 0.0, z), 0.0, 1.0)
    above = np.maximum(np.where(off, 2.0, z), 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.arccos(below) / np.sqrt(1.0 - below**2)
        outside = np.arccosh(above) / np.sqrt(above**2 - 1.0)
    return np.where(off, 1.0 + (1.0 - z) / 3.0, np.where(z < 1.0, inside, outside))
