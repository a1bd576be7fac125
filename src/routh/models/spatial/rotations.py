"""Unit quaternions (w, x, y, z) and rotation matrices for stacks of bodies."""

from __future__ import annotations

import numpy as np

from routh.validation import Array

_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]


def cross(a: Array, b: Array) -> Array:
    """Vector products along the last axis, (..., 3); faster than `numpy.cross` on small arrays."""
    return a.take(_NEXT, -1) * b.take(_AFTER, -1) - a.take(_AFTER, -1) * b.take(_NEXT, -1)


def rotation_matrices(quaternions: Array) -> Array:
    """Matrices from the body to the world frame, (n, 3, 3); the quaternions (n, 4) need not be unit."""
    w, x, y, z = (quaternions / np.sqrt((quaternions * quaternions).sum(axis=1))[:, None]).T
    R = np.empty((len(quaternions), 3, 3))
    R[:, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[:, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[:, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    R[:, 0, 1], R[:, 1, 0] = 2.0 * (x * y - w * z), 2.0 * (x * y + w * z)
    R[:, 0, 2], R[:, 2, 0] = 2.0 * (x * z + w * y), 2.0 * (x * z - w * y)
    R[:, 1, 2], R[:, 2, 1] = 2.0 * (y * z - w * x), 2.0 * (y * z + w * x)
    return R


def exponential(rotation: Array) -> Array:
    """Unit quaternions (n, 4) of rotation vectors (n, 3), rad."""
    angle = np.sqrt((rotation * rotation).sum(axis=1))
    result = np.empty((len(rotation), 4))
    result[:, 0] = np.cos(angle / 2)
    result[:, 1:] = rotation * (0.5 * np.sinc(angle / (2 * np.pi)))[:, None]  # sin(a/2) / a
    return result


def multiply(p: Array, q: Array) -> Array:
    """Quaternion products ``p q``, (n, 4): first q, then p."""
    w, u = p[:, :1], p[:, 1:]
    s, v = q[:, :1], q[:, 1:]
    return np.concatenate([w * s - (u * v).sum(axis=1, keepdims=True), w * v + s * u + cross(u, v)], axis=1)


def tangents(normals: Array) -> tuple[Array, Array, Array]:
    """Two unit tangents ``t1, t2 = n x t1`` for unit normals (n, 3), and the axes they were made from.

    ``t1`` is the coordinate axis that is farthest from the normal, projected: x and y for a normal along z.
    """
    axes = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    projected = axes - (axes * normals).sum(axis=1, keepdims=True) * normals
    first = projected / np.sqrt((projected * projected).sum(axis=1))[:, None]
    return first, cross(normals, first), axes


def tangent_rates(normals: Array, rates: Array) -> tuple[Array, Array]:
    """How fast the tangents of `tangents` turn when the normals (n, 3) change at ``rates`` (n, 3)."""
    first, _, axes = tangents(normals)
    along = (axes * normals).sum(axis=1, keepdims=True)
    moved = -(axes * rates).sum(axis=1, keepdims=True) * normals - along * rates
    across = moved - (moved * first).sum(axis=1, keepdims=True) * first
    first_rate = across / np.sqrt(1.0 - along * along)
    return first_rate, cross(rates, first) + cross(normals, first_rate)
