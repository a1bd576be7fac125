"""Momentum, cones, energy and depth of what a motion does, recomputed from forces and the body alone."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.landing.data import CONE, MOMENTUM, Bulk
from routh.models.spatial.kinematics import SpatialArrays


@kernel
def energy_of(bulk: Bulk, q: Array, v: Array) -> float:
    """Kinetic energy and that of gravity, J."""
    # reads gravity, inertia, mass
    mass, inertia, gravity = bulk.mass, bulk.inertia, bulk.gravity
    total = 0.0
    for j in range(3):
        total += 0.5 * mass * v[j] * v[j] + 0.5 * inertia[j] * v[3 + j] * v[3 + j] - mass * gravity[j] * q[j]
    return total


@kernel
def check_push(
    bulk: Bulk, bodies: SpatialArrays, R: Array, before: Array, after: Array, impulse: Array, mu: Array,
    h: float, worst: Array,
) -> None:  # fmt: skip
    """Whether impulses (nc, 3) at the contacts make this change of velocity in the time h, within the cones.

    What is missing, as shares of the momentum and of friction's limit, is added to the worst of the motion.
    """
    # reads bodies.centres, bodies.frames, bodies.radii, bulk.gravity, bulk.inertia, bulk.mass, bulk.size
    mass, inertia, gravity, size = bulk.mass, bulk.inertia, bulk.gravity, bulk.size
    p0, p1, p2, l0, l1, l2, scale = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-300
    for j in range(3):
        lever = inertia[j] / size
        scale += mass * (abs(before[j]) + abs(after[j]) + h * abs(gravity[j]))
        scale += lever * (abs(before[3 + j]) + abs(after[3 + j]))
    for c in range(len(mu)):
        push, f0, f1 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        if push == 0.0 and f0 == 0.0 and f1 == 0.0:
            continue
        frame, radius = bodies.frames[c], bodies.radii[c, 0]
        x = push * frame[0, 0] + f0 * frame[1, 0] + f1 * frame[2, 0]
        y = push * frame[0, 1] + f0 * frame[1, 1] + f1 * frame[2, 1]
        z = push * frame[0, 2] + f0 * frame[1, 2] + f1 * frame[2, 2]
        a0 = a1 = a2 = 0.0
        for j in range(3):
            a0 += R[0, j] * bodies.centres[c, j]
            a1 += R[1, j] * bodies.centres[c, j]
            a2 += R[2, j] * bodies.centres[c, j]
        a0, a1, a2 = a0 - radius * frame[0, 0], a1 - radius * frame[0, 1], a2 - radius * frame[0, 2]
        p0, p1, p2 = p0 + x, p1 + y, p2 + z
        l0, l1, l2 = l0 + a1 * z - a2 * y, l1 + a2 * x - a0 * z, l2 + a0 * y - a1 * x
        outside = max(math.sqrt(f0 * f0 + f1 * f1) - mu[c] * max(push, 0.0), -push)
        worst[CONE] = max(worst[CONE], outside / scale)
    error = abs(mass * (after[0] - before[0] - h * gravity[0]) - p0)
    error = max(error, abs(mass * (after[1] - before[1] - h * gravity[1]) - p1))
    error = max(error, abs(mass * (after[2] - before[2] - h * gravity[2]) - p2))
    for j in range(3):
        k, m = (j + 1) % 3, (j + 2) % 3
        gyro = before[3 + k] * inertia[m] * before[3 + m] - before[3 + m] * inertia[k] * before[3 + k]
        turned = R[0, j] * l0 + R[1, j] * l1 + R[2, j] * l2
        missed = inertia[j] * (after[3 + j] - before[3 + j]) + h * gyro - turned
        error = max(error, abs(missed) / size)
    worst[MOMENTUM] = max(worst[MOMENTUM], error / scale)
