"""A planar mechanism at one state: mass, free acceleration, gaps and contact Jacobians, compiled.

The readable counterpart is `routh.models.planar`; a test holds them together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.common.small_linear import invert

if TYPE_CHECKING:
    from routh.models.planar.kinematics import PlanarArrays, PointArrays


X, RATE = 0, 2  # rows of `Place.points`, two parts each


class Place(NamedTuple):
    """What a model says at one state."""

    inverse: Array  # (nv, nv) of the mass matrix
    free: Array  # (nv,) acceleration without contact forces
    J: Array  # (2 nc, nv) contact by contact, normal first
    bias: Array  # (2 nc,) dJ/dt v
    gap: Array  # (nc,) m
    force: Array  # (nv,) of gravity and Coriolis, N or N m
    M: Array  # (nv, nv) scratch from here on
    points: Array  # (4, most points) X: positions, RATE: dJ/dt v
    moves: Array  # (2, most points, nv) their Jacobians


def make_place(model: PlanarArrays) -> Place:
    """Room for one state."""
    nc, nv, nb = len(model.contacts), len(model.spin), len(model.masses)
    most = max(nc, nb)
    shapes = [(nv, nv), (nv,), (2 * nc, nv), (2 * nc,), (nc,), (nv,), (nv, nv), (4, most), (2, most, nv)]
    return Place(*(np.zeros(shape) for shape in shapes))


@kernel
def fill_place(model: PlanarArrays, q: Array, v: Array, place: Place) -> bool:
    """Work out everything at a state; False where the mass matrix is singular."""
    # reads place.M, place.force, place.free, place.inverse
    # writes place.M, place.free, place.inverse
    # hands on model, place
    fill_terms(model, q, v, place)
    nv = len(q)
    if not invert(place.M, place.inverse, nv):
        return False
    for i in range(nv):
        place.free[i] = 0.0
    for j in range(nv):
        for i in range(nv):
            place.free[i] += place.inverse[i, j] * place.force[j]
    return True


@kernel
def fill_terms(model: PlanarArrays, q: Array, v: Array, place: Place) -> None:
    """Contacts, the mass matrix and the forces at a state."""
    # reads model.gravity, model.masses, model.spin, place.moves, place.points
    # writes place.M, place.force, place.moves, place.points
    # hands on model, model.coms, place
    _contacts(model, q, v, place)
    nv, nb, J = len(q), len(model.masses), place.moves
    _points(model.coms, q, v, place.points, J)
    for i in range(nv):
        for j in range(nv):
            total = model.spin[i, j]
            for b in range(nb):
                total += model.masses[b] * (J[0, b, i] * J[0, b, j] + J[1, b, i] * J[1, b, j])
            place.M[i, j] = total
    for j in range(nv):
        force = 0.0
        for b in range(nb):
            for part in range(2):
                change = place.points[RATE + part, b] - model.gravity[part]
                force += model.masses[b] * J[part, b, j] * change
        place.force[j] = -force


@kernel
def velocity(place: Place, row: int, v: Array) -> float:
    """Row ``row`` of the contact Jacobian times v (nv,)."""
    # reads J
    total = 0.0
    for i in range(len(v)):
        total += place.J[row, i] * v[i]
    return total


@kernel
def _contacts(model: PlanarArrays, q: Array, v: Array, place: Place) -> None:
    """Gaps, Jacobians and their rates; complex factors turn separations into (normal, -tangent)."""
    # reads model.contacts, place.gap, place.moves, place.points
    # writes place.J, place.bias, place.gap, place.moves, place.points
    # hands on model.separations
    points, K = place.points, place.moves
    _points(model.separations, q, v, points, K)
    for i in range(len(place.gap)):
        distance, turn_x, turn_y = points[X, i], 1.0, 0.0
        bias_x, bias_y = points[RATE, i], points[RATE + 1, i]
        paired = model.contacts[i, 1] > 0.0
        if paired:
            distance = math.sqrt(points[X, i] ** 2 + points[X + 1, i] ** 2)
            turn_x, turn_y = points[X, i] / distance, -points[X + 1, i] / distance
            bias_x, bias_y = turn_x * bias_x - turn_y * bias_y, turn_x * bias_y + turn_y * bias_x
        place.gap[i] = distance - model.contacts[i, 0]
        along, across = 0.0, 0.0
        for j in range(len(q)):
            x = turn_x * K[0, i, j] - turn_y * K[1, i, j]
            y = turn_x * K[1, i, j] + turn_y * K[0, i, j]
            along += x * v[j]
            across += y * v[j]
            place.J[2 * i, j] = x
            place.J[2 * i + 1, j] = model.contacts[i, 2 + j] - y
        if paired:
            bias_x += across * across / distance
            bias_y -= along * across / distance
        place.bias[2 * i] = bias_x
        place.bias[2 * i + 1] = -bias_y


@kernel
def _points(given: PointArrays, q: Array, v: Array, points: Array, J: Array) -> None:
    """Positions and ``dJ/dt v`` (two parts of each, n) and Jacobians (2, n, nv) of points."""
    # reads C, S, vectors
    n, nv = given.S.shape[1], len(q)
    for part in range(2):
        for i in range(n):
            total = 0.0
            for j in range(nv):
                total += given.S[part, i, j] * q[j]
                J[part, i, j] = given.S[part, i, j]
            points[X + part, i] = total
            points[RATE + part, i] = 0.0
    for k in range(len(given.vectors)):
        vector = given.vectors[k]
        angle, spin = vector[0], 0.0
        arm_x, arm_y, slide_x, slide_y = vector[1], vector[2], 0.0, 0.0
        for j in range(nv):
            D_x, D_y = vector[3 + nv + j], vector[3 + 2 * nv + j]
            angle += vector[3 + j] * q[j]
            spin += vector[3 + j] * v[j]
            arm_x += D_x * q[j]
            arm_y += D_y * q[j]
            slide_x += D_x * v[j]
            slide_y += D_y * v[j]
        c, s = math.cos(angle), math.sin(angle)
        z_x, z_y = c * arm_x - s * arm_y, c * arm_y + s * arm_x
        w_x, w_y = c * slide_x - s * slide_y, c * slide_y + s * slide_x
        turn_x = -z_x * spin * spin - 2.0 * spin * w_y
        turn_y = -z_y * spin * spin + 2.0 * spin * w_x
        for i in range(n):
            C_x, C_y = given.C[0, i, k], given.C[1, i, k]
            if C_x == 0.0 and C_y == 0.0:
                continue
            points[X, i] += C_x * z_x - C_y * z_y
            points[X + 1, i] += C_x * z_y + C_y * z_x
            points[RATE, i] += C_x * turn_x - C_y * turn_y
            points[RATE + 1, i] += C_x * turn_y + C_y * turn_x
            for j in range(nv):
                B, D_x, D_y = vector[3 + j], vector[3 + nv + j], vector[3 + 2 * nv + j]
                d_x, d_y = c * D_x - s * D_y - z_y * B, c * D_y + s * D_x + z_x * B
                J[0, i, j] += C_x * d_x - C_y * d_y
                J[1, i, j] += C_x * d_y + C_y * d_x
