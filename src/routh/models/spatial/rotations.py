"""Unit quaternions (w, x, y, z) and rotation matrices for stacks of bodies."""

from __future__ import annotations

import numpy as np

from routh.validation import Array

_NEXT, _AFTER = [1, 2, 0], [2, 0, 1]


def _skew_form() -> Array:
    """The constant (3, 9) map from a vector to the matrix of its vector product."""
    form = np.zeros((3, 3, 3))
    for i in range(3):
        j, k = _NEXT[i], _AFTER[i]
        form[i, k, j], form[i, j, k] = 1.0, -1.0
    return form.reshape(3, 9)


_SKEW = _skew_form()


def skew(a: Array) -> Array:
    """The matrices (n, 3, 3) with ``skew(a) @ b = a x b`` for vectors (n, 3)."""
    return (a @ _SKEW).reshape(-1, 3, 3)


def cross(a: Array, b: Array) -> Array:
    """Vector products (n, 3); several times faster than `numpy.cross` on small arrays."""
    return apply(skew(a), b)


def apply(matrices: Array, vectors: Array) -> Array:
    """The products (n, 3) of matrices (n, 3, 3) and vectors (n, 3), one by one."""
    return np.matmul(matrices, vectors[:, :, None])[:, :, 0]


def _quadratic_form() -> Array:
    """The constant (16, 10) map from the products ``q_i q_j`` to |q|^2 times the rotation, and |q|^2."""
    form = np.zeros((4, 4, 3, 3))
    for i in range(3):
        j, k = _NEXT[i], _AFTER[i]
        form[[0, 1 + i], [0, 1 + i], i, i] = 1.0  # w^2 + x^2 - y^2 - z^2, and cyclic
        form[[1 + j, 1 + k], [1 + j, 1 + k], i, i] = -1.0
        form[1 + i, 1 + j, [i, j], [j, i]] = 2.0  # 2 (x y -+ w z), and cyclic
        form[0, 1 + k, [i, j], [j, i]] = -2.0, 2.0
    return np.column_stack([form.reshape(16, 9), np.eye(4).ravel()])


_FORM = _quadratic_form()


def rotation_matrices(quaternions: Array) -> Array:
    """Matrices from the body to the world frame, (n, 3, 3); the quaternions (n, 4) need not be unit."""
    products = (quaternions[:, :, None] * quaternions[:, None, :]).reshape(-1, 16)
    scaled = products @ _FORM
    return (scaled[:, :9] / scaled[:, 9:]).reshape(-1, 3, 3)


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
