"""A free body in the air: how it moves, and how soon a point of it can touch at the earliest."""

from __future__ import annotations

import math

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.constraints.place import move_bodies
from routh.kernels.landing.data import Bulk
from routh.models.spatial.kinematics import SpatialArrays

TURN = 0.02  # rad, of one step of the turning


@kernel
def fly(bulk: Bulk, q: Array, v: Array, t: float) -> None:
    """Position and velocity after a time in the air, exact; the turning of a body with principal moments
    by Runge and Kutta's method, or exact where these are equal."""
    # reads gravity, inertia
    inertia, gravity = bulk.inertia, bulk.gravity
    for j in range(3):
        q[j] += t * v[j] + 0.5 * t * t * gravity[j]
    a, b, c = inertia[0], inertia[1], inertia[2]
    w0, w1, w2 = v[3], v[4], v[5]
    x, y, z = q[0], q[1], q[2]
    if a == b and b == c:
        move_bodies(q, v, t)
    else:
        count = int(math.sqrt(w0 * w0 + w1 * w1 + w2 * w2) * t / TURN) + 1
        h, p, r, s = t / count, (b - c) / a, (c - a) / b, (a - b) / c
        for _ in range(count):
            k0, k1, k2 = p * w1 * w2, r * w2 * w0, s * w0 * w1
            m0, m1, m2 = w0 + 0.5 * h * k0, w1 + 0.5 * h * k1, w2 + 0.5 * h * k2
            l0, l1, l2 = p * m1 * m2, r * m2 * m0, s * m0 * m1
            n0, n1, n2 = w0 + 0.5 * h * l0, w1 + 0.5 * h * l1, w2 + 0.5 * h * l2
            i0, i1, i2 = p * n1 * n2, r * n2 * n0, s * n0 * n1
            o0, o1, o2 = w0 + h * i0, w1 + h * i1, w2 + h * i2
            j0, j1, j2 = p * o1 * o2, r * o2 * o0, s * o0 * o1
            # a fourth-order turn: mean of the rates, and the commutator of the first and the last
            e0 = w0 + h / 6.0 * (k0 + 2.0 * l0 + 2.0 * i0 + j0)
            e1 = w1 + h / 6.0 * (k1 + 2.0 * l1 + 2.0 * i1 + j1)
            e2 = w2 + h / 6.0 * (k2 + 2.0 * l2 + 2.0 * i2 + j2)
            v[3] = (w0 + 4.0 * n0 + e0) / 6.0 + h / 12.0 * (w1 * e2 - w2 * e1)
            v[4] = (w1 + 4.0 * n1 + e1) / 6.0 + h / 12.0 * (w2 * e0 - w0 * e2)
            v[5] = (w2 + 4.0 * n2 + e2) / 6.0 + h / 12.0 * (w0 * e1 - w1 * e0)
            move_bodies(q, v, h)
            w0, w1, w2 = e0, e1, e2
    q[0], q[1], q[2] = x, y, z
    v[3], v[4], v[5] = w0, w1, w2
    for j in range(3):
        v[j] += t * gravity[j]


@kernel
def closest_touch(bodies: SpatialArrays, bulk: Bulk, v: Array, gap: Array, rate: Array) -> float:
    """A time (s) before which no point touches, and at which one nearly does where it comes straight down.

    A gap falls no faster than with the pull of gravity and ``w^2 r`` of the turning, where no spin of a free
    body is above the one that its energy allows about the axis of its least moment.
    """
    # reads bodies.centres, bodies.frames, bulk.gravity, bulk.inertia
    inertia, gravity = bulk.inertia, bulk.gravity
    least = min(inertia[0], min(inertia[1], inertia[2]))
    most = max(inertia[0], max(inertia[1], inertia[2]))
    energy = inertia[0] * v[3] * v[3] + inertia[1] * v[4] * v[4] + inertia[2] * v[5] * v[5]
    turning, first = energy / least * (1.0 + (most - least) / least), math.inf
    for c in range(len(gap)):
        arm, pull = 0.0, 0.0
        for j in range(3):
            arm += bodies.centres[c, j] * bodies.centres[c, j]
            pull -= gravity[j] * bodies.frames[c, 0, j]
        bend, above = max(pull, 0.0) + turning * math.sqrt(arm), max(gap[c], 0.0)
        root = math.sqrt(rate[c] * rate[c] + 2.0 * bend * above)
        if rate[c] < 0.0:
            first = min(first, 2.0 * above / (root - rate[c]))
        elif bend > 0.0:
            first = min(first, (root + rate[c]) / bend)
    return first
