"""The rows and forces of a step at a state: free bodies in space, planar mechanisms, limits, foundations.

The readable counterparts are `routh.models.spatial`, `routh.models.planar` and `routh.constraints.types`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import kernel
from routh.kernels.constraints.data import DAMPING, GAMMA, PHI, STIFFNESS, Layout, Terms
from routh.kernels.motion.place import Place, fill_terms
from routh.models.mujoco.steps import Seen
from routh.models.planar.kinematics import PlanarArrays
from routh.models.spatial.kinematics import SpatialArrays


class Limits(NamedTuple):
    """Ends of coordinates whose rates are the velocities of the same number."""

    coordinate: np.ndarray  # (n,) int64
    side: Array  # (n, 2) +1 for a lower end or -1, and where it is, m or rad


class Surface(NamedTuple):
    """How contacts yield."""

    normal: Array  # (2, nc) stiffness and damping
    tangential: Array  # (2, nc)
    anticipate: int  # 1: contacts act that would close within the step
    remembers: int  # 1: friction has springs
    given: np.ndarray  # (nc,) bool: contacts whose rows came with stiffness, damping and deformations


class Space(NamedTuple):
    """Poses of free bodies and what one contact needs; scratch."""

    R: Array  # (nb, 3, 3) from the bodies' frames to the world's
    spin: Array  # (nb, 3) rad/s, world's frame
    frame: Array  # (3, 3) normal and tangents
    turn: Array  # (3, 3) their rates
    vectors: Array  # (10, 3)


ARM, MOVING, DRIFT, APART, TURNING, SLIP, PULL, AXIS, ROLL, CROSS = range(10)  # rows of `Space.vectors`


def make_space(model: SpatialArrays) -> Space:
    """Room for one state."""
    nb = len(model.weights)
    shapes = (nb, 3, 3), (nb, 3), (3, 3), (3, 3), (10, 3)
    return Space(*map(np.zeros, shapes))


@kernel
def yield_of(layout: Layout, terms: Terms, surface: Surface, memory: Array) -> None:
    """Stiffness and damping of contacts at their gaps, and the deformations (nc, nt) of friction's springs.

    An open contact acts by its spring alone where that is asked for, and else not at all.
    """
    # reads layout.nb, layout.nc, layout.nt, layout.nu, surface.anticipate, surface.given, surface.normal,
    #   surface.remembers, surface.tangential, terms.mu, terms.numbers
    # writes terms.numbers
    first, numbers, nt = layout.nb + layout.nu, terms.numbers, layout.nt
    for c in range(layout.nc):
        if surface.given[c]:
            continue
        closed = numbers[PHI, first + c] <= 0.0
        acts = closed or surface.anticipate == 1
        numbers[STIFFNESS, first + c] = surface.normal[0, c] if acts else 0.0
        numbers[DAMPING, first + c] = surface.normal[1, c] if closed else 0.0
        rubs = acts and terms.mu[c] > 0.0
        for j in range(nt):
            t = first + layout.nc + c * nt + j
            numbers[PHI, t] = memory[c, j] if surface.remembers == 1 else 0.0
            numbers[STIFFNESS, t] = surface.tangential[0, c] if rubs else 0.0
            numbers[DAMPING, t] = surface.tangential[1, c] if rubs else 0.0


@kernel
def place_limits(limits: Limits, first: int, q: Array, terms: Terms) -> None:
    """Gaps of the limits, whose rows begin at ``first``; the rows themselves are constant."""
    # reads limits.coordinate, limits.side; writes terms.numbers
    for i in range(len(limits.coordinate)):
        terms.numbers[PHI, first + i] = limits.side[i, 0] * (q[limits.coordinate[i]] - limits.side[i, 1])


@kernel
def place_plane(model: PlanarArrays, q: Array, v: Array, place: Place, layout: Layout, terms: Terms) -> None:
    """A planar mechanism: its mass matrix, forces, gaps and Jacobians."""
    # reads layout.nb, layout.nc, layout.nu, place.J, place.M, place.bias, place.force, place.gap
    # writes terms.G, terms.M, terms.f, terms.numbers
    # hands on model, place
    fill_terms(model, q, v, place)
    nv, first = len(q), layout.nb + layout.nu
    for i in range(nv):
        terms.f[i] = place.force[i]
        for j in range(nv):
            terms.M[i, j] = place.M[i, j]
    for c in range(layout.nc):
        terms.numbers[PHI, first + c] = place.gap[c]
        for part in range(2):
            row = first + c + part * layout.nc
            terms.numbers[GAMMA, row] = place.bias[2 * c + part]
            for j in range(nv):
                terms.G[row, j] = place.J[2 * c + part, j]


@kernel
def place_robot(seen: Seen, layout: Layout, terms: Terms) -> None:
    """A robot's mass matrix, forces, gaps and Jacobians; rows of its spring-dampers are there already."""
    # reads layout.nb, layout.nc, layout.nt, layout.nu, seen.J, seen.M, seen.bias, seen.force, seen.gap
    # writes terms.G, terms.M, terms.f, terms.numbers
    nv, nt, first = len(seen.force), layout.nt, layout.nb + layout.nu
    for i in range(nv):
        terms.f[i] = seen.force[i]
        for j in range(nv):
            terms.M[i, j] = seen.M[i, j]
    for c in range(len(seen.gap)):
        terms.numbers[PHI, first + c] = seen.gap[c]
        for part in range(1 + nt):
            row = first + c if part == 0 else first + layout.nc + c * nt + part - 1
            terms.numbers[GAMMA, row] = seen.bias[c, part]
            for j in range(nv):
                terms.G[row, j] = seen.J[c, part, j]


@kernel
def place_bodies(model: SpatialArrays, q: Array, v: Array, own: Space, layout: Layout, terms: Terms) -> None:
    """Free bodies in space: forces, gaps and Jacobians; their mass matrix is constant."""
    # reads layout.nc, model.inertias, model.weights, own.R, own.vectors
    # writes own.R, own.spin, own.vectors, terms.f
    # hands on layout, model, own, terms
    for b in range(len(model.weights)):
        _rotation(q, 7 * b + 3, own.R[b])
        for j in range(3):
            total = 0.0
            for k in range(3):
                total += own.R[b, j, k] * v[6 * b + 3 + k]
            own.spin[b, j] = total
            terms.f[6 * b + j] = -model.weights[b, j]
        w, turned = own.vectors[ARM], own.vectors[MOVING]
        for j in range(3):
            w[j], turned[j] = v[6 * b + 3 + j], 0.0
            for k in range(3):
                turned[j] += model.inertias[b, j, k] * v[6 * b + 3 + k]
        _cross(w, turned, own.vectors[CROSS])
        for j in range(3):
            terms.f[6 * b + 3 + j] = -own.vectors[CROSS, j]
    for c in range(layout.nc):
        _contact(model, c, q, v, own, layout, terms)


@kernel
def _contact(
    model: SpatialArrays, c: int, q: Array, v: Array, own: Space, layout: Layout, terms: Terms
) -> None:
    """Gap, rows and ``dJ/dt v`` of contact c: see `routh.models.spatial.kinematics`."""
    # reads layout.nb, layout.nc, layout.nu, model.bodies, model.centres, model.frames, model.points,
    #   model.radii, own.R, own.frame, own.spin, own.turn, own.vectors
    # writes own.frame, own.vectors, terms.G, terms.numbers
    # hands on own
    one, two = model.bodies[c, 0], model.bodies[c, 1]
    near, far, first = model.radii[c, 0], model.radii[c, 1], layout.nb + layout.nu
    work, frame = own.vectors, own.frame
    arm, moving, drift, apart, pull = work[ARM], work[MOVING], work[DRIFT], work[APART], work[PULL]
    for j in range(3):
        arm[j] = 0.0
        for k in range(3):
            arm[j] += own.R[one, j, k] * model.centres[c, k]
    _cross(own.spin[one], arm, moving)
    _cross(own.spin[one], moving, pull)
    distance = 0.0
    for j in range(3):
        apart[j] = q[7 * one + j] + arm[j] - model.points[c, j]
        drift[j] = v[6 * one + j] + moving[j]
        if two >= 0:
            apart[j] -= q[7 * two + j]
            drift[j] -= v[6 * two + j]
            distance += apart[j] * apart[j]
    if two >= 0:
        distance = math.sqrt(distance)
        for j in range(3):
            frame[0, j] = apart[j] / distance
        _tangents(frame, work[AXIS])
    else:
        for j in range(3):
            distance += model.frames[c, 0, j] * apart[j]
            for k in range(3):
                frame[j, k] = model.frames[c, j, k]
    terms.numbers[PHI, first + c] = distance - (near + far)
    if two >= 0:
        _turning(own, distance, near, far, one, two)
    ahead = 6 if two >= 0 and two < one else 0  # where the first body's entries stand
    for j in range(3):
        arm[j] -= near * frame[0, j]
    for part in range(3):
        row = first + c if part == 0 else first + layout.nc + 2 * c + part - 1
        total = 0.0
        for j in range(3):
            total += frame[part, j] * pull[j]
            if two >= 0:
                total += own.turn[part, j] * work[SLIP, j]
        terms.numbers[GAMMA, row] = total
        _body_row(frame[part], arm, own.R[one], 1.0, work[CROSS], terms.G[row], ahead)
        if two >= 0:
            for j in range(3):
                work[ROLL, j] = far * frame[0, j]
            _body_row(frame[part], work[ROLL], own.R[two], -1.0, work[CROSS], terms.G[row], 6 - ahead)


@kernel
def _body_row(
    direction: Array, arm: Array, R: Array, sign: float, turned: Array, row: Array, at: int
) -> None:
    """``[d, R^T (arm x d)]`` times a sign into six entries of a row."""
    _cross(arm, direction, turned)
    for j in range(3):
        total = 0.0
        for k in range(3):
            total += turned[k] * R[k, j]
        row[at + j], row[at + 3 + j] = sign * direction[j], sign * total


@kernel
def _turning(own: Space, distance: float, near: float, far: float, one: int, two: int) -> None:
    """Two spheres: how their frame turns, how they slip, and what both add to the touching points' pull."""
    # reads frame, spin, turn, vectors; writes turn, vectors
    work, frame, turn = own.vectors, own.frame, own.turn
    drift, axis, roll, across = work[DRIFT], work[AXIS], work[ROLL], work[CROSS]
    along, lean, moved = 0.0, 0.0, 0.0
    for j in range(3):
        along += drift[j] * frame[0, j]
        lean += axis[j] * frame[0, j]
        roll[j] = near * own.spin[one, j] + far * own.spin[two, j]
    for j in range(3):
        turn[0, j] = (drift[j] - along * frame[0, j]) / distance
    _cross(roll, turn[0], across)
    for j in range(3):
        work[PULL, j] -= across[j]
    _cross(roll, frame[0], across)
    along = 0.0
    for j in range(3):
        work[SLIP, j] = drift[j] - across[j]
        along += axis[j] * turn[0, j]
    for j in range(3):
        turn[1, j] = -along * frame[0, j] - lean * turn[0, j]
        moved += turn[1, j] * frame[1, j]
    for j in range(3):
        turn[1, j] = (turn[1, j] - moved * frame[1, j]) / math.sqrt(1.0 - lean * lean)
    _cross(turn[0], frame[1], across)
    _cross(frame[0], turn[1], turn[2])
    for j in range(3):
        turn[2, j] += across[j]


@kernel
def _tangents(frame: Array, axis: Array) -> None:
    """Two tangents of the normal, as `routh.models.rotations.tangents`, and the axis behind them."""
    least = 0
    for j in range(1, 3):
        if abs(frame[0, j]) < abs(frame[0, least]):
            least = j
    size, lean = 0.0, frame[0, least]
    for j in range(3):
        axis[j] = 1.0 if j == least else 0.0
        frame[1, j] = axis[j] - lean * frame[0, j]
        size += frame[1, j] * frame[1, j]
    size = math.sqrt(size)
    for j in range(3):
        frame[1, j] /= size
    _cross(frame[0], frame[1], frame[2])


@kernel
def _cross(a: Array, b: Array, out: Array) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@kernel
def _rotation(q: Array, at: int, R: Array) -> None:
    """The matrix of a quaternion, which need not be unit."""
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    size = ww + xx + yy + zz
    R[0, 0], R[0, 1], R[0, 2] = (
        (ww + xx - yy - zz) / size,
        2 * (x * y - w * z) / size,
        2 * (x * z + w * y) / size,
    )
    R[1, 0], R[1, 1], R[1, 2] = (
        2 * (x * y + w * z) / size,
        (ww - xx + yy - zz) / size,
        2 * (y * z - w * x) / size,
    )
    R[2, 0], R[2, 1], R[2, 2] = (
        2 * (x * z - w * y) / size,
        2 * (y * z + w * x) / size,
        (ww - xx - yy + zz) / size,
    )


@kernel
def place_bed(points: Array, q: Array, v: Array, R: Array, first: int, terms: Terms) -> None:
    """An elastic foundation under one free body: `routh.constraints.ElasticFoundation`."""
    # writes G, numbers
    nx, ny, nz = R[2, 0], R[2, 1], R[2, 2]
    wx, wy, wz = v[3], v[4], v[5]
    spin, lift = wx * wx + wy * wy + wz * wz, wx * nx + wy * ny + wz * nz
    for i in range(len(points)):
        x, y, z, row = points[i, 0], points[i, 1], points[i, 2], first + i
        up = x * nx + y * ny + z * nz
        terms.G[row, 0], terms.G[row, 1], terms.G[row, 2] = 0.0, 0.0, 1.0
        terms.G[row, 3], terms.G[row, 4], terms.G[row, 5] = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
        terms.numbers[PHI, row] = q[2] + up
        terms.numbers[GAMMA, row] = (x * wx + y * wy + z * wz) * lift - up * spin


@kernel
def move_bodies(q: Array, v: Array, h: float) -> None:
    """Positions move straight, quaternions by the exponential map, and are normalised."""
    for b in range(len(v) // 6):
        turn = 0.0
        for j in range(3):
            q[7 * b + j] += h * v[6 * b + j]
            turn += (h * v[6 * b + 3 + j]) ** 2
        angle = math.sqrt(turn)
        share = 0.5 if angle == 0.0 else math.sin(0.5 * angle) / angle
        s, at = math.cos(0.5 * angle), 7 * b + 3
        x, y, z = share * h * v[6 * b + 3], share * h * v[6 * b + 4], share * h * v[6 * b + 5]
        w, u1, u2, u3 = q[at], q[at + 1], q[at + 2], q[at + 3]
        one, two = w * s - (u1 * x + u2 * y + u3 * z), w * x + s * u1 + (u2 * z - u3 * y)
        three, four = w * y + s * u2 + (u3 * x - u1 * z), w * z + s * u3 + (u1 * y - u2 * x)
        size = math.sqrt(one * one + two * two + three * three + four * four)
        q[at], q[at + 1], q[at + 2], q[at + 3] = one / size, two / size, three / size, four / size
