"""Unit quaternions (w, x, y, z) and rotation matrices for stacks of bodies."""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array

_AXES = np.eye(3)
_SKEW = np.cross(_AXES[:, None], _AXES).swapaxes(1, 2).reshape(3, 9)  # to the matrix of a vector product


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
    form = np.zeros((4, 4, 3, 3))  # (w^2 - u^2) I + 2 u u^T + 2 w skew(u), with q = (w, u)
    form[0, 0], form[0, 1:] = _AXES, 2.0 * _SKEW.reshape(3, 3, 3)
    form[1:, 1:] = 2.0 * np.einsum("ia,jb->ijab", _AXES, _AXES) - np.einsum("ij,ab->ijab", _AXES, _AXES)
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


def contact_frames(normals: Array) -> Array:
    """Unit normals (n, 3) with their `tangents`, (n, 3, 3), one direction per row."""
    first, second, _ = tangents(normals)
    return np.stack([normals, first, second], axis=1)


def tangent_rates(normals: Array, rates: Array) -> tuple[Array, Array]:
    """How fast the tangents of `tangents` turn when the normals (n, 3) change at ``rates`` (n, 3)."""
    first, _, axes = tangents(normals)
    along = (axes * normals).sum(axis=1, keepdims=True)
    moved = -(axes * rates).sum(axis=1, keepdims=True) * normals - along * rates
    across = moved - (moved * first).sum(axis=1, keepdims=True) * first
    first_rate = across / np.sqrt(1.0 - along * along)
    return first_rate, cross(rates, first) + cross(normals, first_rate)
