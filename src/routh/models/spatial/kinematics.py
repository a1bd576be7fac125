"""Gaps and contact Jacobians of free bodies in space.

A contact has a first and a second side. The centre ``c`` of a side is at ``R point`` from its body's centre
of mass, and the material point that may touch is at the arm ``c - r n`` (first) or ``c + r n`` (second) from
it. A fixed half-space has no second body; its sign below is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array
from routh.models.base import check_contacts
from routh.models.rotations import apply, contact_frames, cross, skew, tangent_rates
from routh.models.spatial.bodies import Body, Contact, PlaneContact, SphereContact

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SpatialKinematics:
    """Evaluates the contacts of free bodies; everything that does not change with q is assembled once."""

    def __init__(self, bodies: Sequence[Body], contacts: Sequence[Contact]) -> None:
        names = [body.name for body in bodies]
        check_contacts(contacts, names)
        nc = len(contacts)
        self.nb = len(bodies)
        self.rows = np.arange(nc)
        self.paired = np.flatnonzero([isinstance(contact, SphereContact) for contact in contacts])
        self.first = np.zeros(nc, dtype=np.intp)
        self.second = np.zeros(nc, dtype=np.intp)
        self.centres = np.zeros((nc, 3))  # of the first side, in its body's frame
        self.radii = np.zeros((nc, 2))
        self.plane_points, self.plane_normals = np.zeros((nc, 3)), np.tile([0.0, 0.0, 1.0], (nc, 1))
        for i, contact in enumerate(contacts):
            if isinstance(contact, PlaneContact):
                self.first[i], self.centres[i] = names.index(contact.body), contact.point
                self.radii[i, 0] = contact.radius
                self.plane_points[i], self.plane_normals[i] = contact.plane.point, contact.plane.normal
            else:
                self.first[i], self.second[i] = names.index(contact.first), names.index(contact.second)
                self.radii[i] = bodies[self.first[i]].radius, bodies[self.second[i]].radius
                if not self.radii[i].sum() > 0.0:
                    raise InputError(contact.name, wrong="both radii are zero", wanted="at least one sphere")
        self.plane_frames = contact_frames(self.plane_normals)
        self.reach = self.radii.sum(axis=1)

    def gaps(self, positions: Array, R: Array) -> Array:
        """Signed distances, (nc,) m, from positions (nb, 3) and rotations (nb, 3, 3)."""
        separation = self._separations(positions, R)
        distance = np.einsum("ij,ij->i", self.plane_normals, separation) - self.reach
        if self.paired.size:
            centres = np.sqrt((separation[self.paired] ** 2).sum(axis=1))
            distance[self.paired] = centres - self.reach[self.paired]
        return distance

    def jacobians(self, positions: Array, R: Array) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 2, nv)``: for a direction d, ``[d, R^T (arm x d)]`` per body."""
        first, second = self.blocks(positions, R)
        J = np.zeros((len(self.rows), 3, self.nb, 6))
        J[self.rows, :, self.first] = first
        J[self.paired, :, self.second[self.paired]] = second
        flat = J.reshape(len(self.rows), 3, 6 * self.nb)
        return np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1:])

    def blocks(self, positions: Array, R: Array) -> tuple[Array, Array]:
        """The parts of the Jacobians that are not zero: rows (nc, 3, 6) on the first body of each contact,
        and rows (pairs, 3, 6) on the second body of each pair of spheres; normal first."""
        frames = self.frames(positions, R)
        arms = self._centre_arms(R) - self.radii[:, :1] * frames[:, 0]
        rows = self.paired
        far = self.radii[rows, 1:] * frames[rows, 0]
        second = -body_rows(frames[rows], far, R[self.second[rows]])
        return body_rows(frames, arms, R[self.first]), second

    def sparse_jacobians(self, positions: Array, R: Array) -> tuple[csr_array, csr_array]:
        """``Jn (nc, nv)`` and ``Jt (2 nc, nv)``: six entries per contact and body, twelve for two spheres."""
        from scipy.sparse import bsr_array

        first, second = self.blocks(positions, R)
        after = self.paired + 1  # the block of the second body stands behind that of the first
        blocks = np.insert(first, after, second, axis=0)
        bodies = np.insert(self.first, after, self.second[self.paired]).astype(np.int32)
        start = np.arange(len(first) + 1, dtype=np.int32)
        start[1:] += np.cumsum(np.isin(self.rows, self.paired), dtype=np.int32)
        J = bsr_array((blocks, bodies, start), shape=(3 * len(first), 6 * self.nb)).tocsr()
        normal = np.arange(J.shape[0]) % 3 == 0
        return J[normal], J[~normal]

    def jacobian_bias(self, positions: Array, R: Array, v: Array) -> Array:
        """``dJ/dt v``, (nc, 3), from velocities (nb, 6).

        The material points' accelerations at constant v: ``w x (w x c - r dn/dt)``, since a constant
        angular velocity in the body's frame is constant in the world too; plus turning directions.
        """
        spin = apply(R, v[:, 3:])  # world frame
        frames = self.frames(positions, R)
        c, w = self._centre_arms(R), spin[self.first]
        moving = cross(w, c)
        if not self.paired.size:
            return apply(frames, cross(w, moving))
        rows, other = self.paired, self.second[self.paired]
        normal = frames[rows, 0]
        drift = (v[self.first, :3] + moving)[rows] - v[other, :3]  # of the centres
        separation = self._separations(positions, R)[rows]
        across = drift - (drift * normal).sum(axis=1, keepdims=True) * normal
        turning = across / np.sqrt((separation**2).sum(axis=1, keepdims=True))  # dn/dt

        acceleration = cross(w, moving)
        near, far = self.radii[rows, :1], self.radii[rows, 1:]
        acceleration[rows] -= cross(near * w[rows] + far * spin[other], turning)
        bias = apply(frames, acceleration)
        slip = drift - cross(near * w[rows] + far * spin[other], normal)
        first, second = tangent_rates(normal, turning)
        bias[rows] += (np.stack([turning, first, second], axis=1) * slip[:, None, :]).sum(axis=2)
        return bias

    def frames(self, positions: Array, R: Array) -> Array:
        """Normal and tangents of each contact, (nc, 3, 3), one direction per row."""
        if not self.paired.size:
            return self.plane_frames
        separation = self._separations(positions, R)[self.paired]
        normals = separation / np.sqrt((separation**2).sum(axis=1))[:, None]
        frames = self.plane_frames.copy()
        frames[self.paired] = contact_frames(normals)
        return frames

    def points(self, positions: Array, R: Array) -> Array:
        """The first side's material points, (nc, 3) m."""
        normals = self.frames(positions, R)[:, 0]
        return positions[self.first] + self._centre_arms(R) - self.radii[:, :1] * normals

    def _centre_arms(self, R: Array) -> Array:
        return apply(R[self.first], self.centres)

    def _separations(self, positions: Array, R: Array) -> Array:
        """Vectors from the second centre, or the plane's point, to the first centre, (nc, 3)."""
        separation = positions[self.first] + self._centre_arms(R) - self.plane_points
        if self.paired.size:
            separation[self.paired] -= positions[self.second[self.paired]]
        return separation


def body_rows(frames: Array, arms: Array, R: Array) -> Array:
    """``[d, R^T (arm x d)]`` for the directions (n, 3, 3), arms (n, 3) and rotations (n, 3, 3): (n, 3, 6)."""
    rows = np.empty((len(frames), 3, 6))
    rows[:, :, :3] = frames
    rows[:, :, 3:] = np.matmul(np.matmul(frames, skew(-arms)), R)  # d . (w x arm) = d . (-arm x w)
    return rows


# The same bodies as real arrays, for compiled code.


class SpatialArrays(NamedTuple):
    """Everything that the equations of motion of nb free bodies with nc contacts need, without inputs."""

    weights: Array  # (nb, 3) N, on the left side
    inertias: Array  # (nb, 3, 3) kg m^2, bodies' frames
    bodies: np.ndarray  # (nc, 2) int64, the second -1 for a plane
    centres: Array  # (nc, 3) of the first side in its body's frame, m
    radii: Array  # (nc, 2) m
    points: Array  # (nc, 3) of the planes, m
    frames: Array  # (nc, 3, 3) of the planes, normal first


def spatial_arrays(touch: SpatialKinematics, weights: Array, inertias: Array) -> SpatialArrays:
    """The parts of a model as arrays of their own."""
    bodies = np.stack([touch.first, np.full(len(touch.first), -1)], axis=1).astype(np.int64)
    bodies[touch.paired, 1] = touch.second[touch.paired]
    fixed = touch.centres, touch.radii, touch.plane_points, np.ascontiguousarray(touch.plane_frames)
    return SpatialArrays(np.ascontiguousarray(weights), inertias, bodies, *fixed)
