"""Gaps and contact Jacobians of planar mechanisms, in complex numbers.

With the separation ``d n`` from the second centre (or a point of the plane) to the first, and any vector
``u``, ``conj(n) u`` holds the normal component of u in its real part and minus the tangential one in its
imaginary part, since the tangent is ``-i n``. For planes the factor ``conj(n)`` is constant and is part of
the assembled matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.models.base import check_contacts
from routh.models.planar.bodies import ORIGIN, WORLD, Contact, DiscContact, PlaneContact, Point
from routh.models.planar.kinematics import Complex, Tree
from routh.validation import Array

_Side = tuple[str, Point, float]  # body, centre in its frame, radius


class ContactKinematics:
    """Evaluates the contacts of one tree; everything that does not change with q is assembled once."""

    def __init__(self, tree: Tree, contacts: Sequence[Contact]) -> None:
        check_contacts(contacts, [body.name for body in tree.bodies])
        sides = [_sides(contact, tree) for contact in contacts]
        nc = len(contacts)
        self.pairs = np.array([isinstance(contact, DiscContact) for contact in contacts], dtype=bool)
        self.has_pairs = bool(self.pairs.any())
        self.plane_normals = np.array(
            [complex(*c.plane.normal) if isinstance(c, PlaneContact) else 1.0 for c in contacts],
            dtype=np.complex128,
        )
        self.centres = tree.points([(name, point) for (name, point, _), _ in sides])
        both = tree.points([(name, point) for pair in sides for name, point, _ in pair])
        difference = np.eye(2 * nc)[::2] - np.eye(2 * nc)[1::2]  # (nc, 2 nc)
        self.separations = both.combine(self.plane_normals.conj()[:, None] * difference)
        radii = np.array([[radius for _, _, radius in pair] for pair in sides]).reshape(nc, 2)
        self.radii, self.first_radii = radii.sum(axis=1), radii[:, 0]
        turning = tree.angles([name for pair in sides for name, _, _ in pair]).reshape(nc, 2, tree.nv)
        self.rolling = np.einsum("ij,ijk->ik", radii, turning)  # tangential velocity of turning discs

    def gaps(self, q: Array) -> Array:
        """Signed distances, (nc,) m."""
        separation = self.separations.positions(q)
        if self.has_pairs:
            return np.where(self.pairs, np.abs(separation), separation.real) - self.radii
        return separation.real - self.radii

    def jacobians(self, q: Array) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 1, nv)``."""
        J = self.separations.jacobian(q)
        if self.has_pairs:
            J *= self._pair_directions(self.separations.positions(q)).conj()[:, None]
        return J.real.copy(), (self.rolling - J.imag)[:, None, :]

    def jacobian_bias(self, q: Array, v: Array) -> Array:
        """``dJ/dt v``, (nc, 2) m/s^2.

        Between discs the normal turns too: with w the rate of the separation ``d n``, ``dn/dt = t (t.w) / d``
        and ``dt/dt = -n (t.w) / d``.
        """
        bias = self.separations.acceleration(q, v)
        if self.has_pairs:
            separation = self.separations.positions(q)
            towards = self._pair_directions(separation).conj()
            rate = towards * (self.separations.jacobian(q) @ v)  # (n.w) - i (t.w)
            curvature = self.pairs / self._distances(separation)
            bias = towards * bias + (rate.imag**2 - 1j * rate.real * rate.imag) * curvature
        result = np.empty((len(bias), 2))
        result[:, 0] = bias.real
        result[:, 1] = -bias.imag
        return result

    def normals(self, q: Array) -> Complex:
        """Unit normals, (nc,) complex."""
        if not self.has_pairs:
            return self.plane_normals
        return self.plane_normals * self._pair_directions(self.separations.positions(q))

    def points(self, q: Array) -> Complex:
        """The point of the first body that is nearest to the other side, (nc,) complex m."""
        return self.centres.positions(q) - self.first_radii * self.normals(q)

    def _distances(self, separation: Complex) -> Array:
        """Distances of the centres of two discs; 1 where the contact is with a plane."""
        return np.where(self.pairs, np.abs(separation), 1.0)

    def _pair_directions(self, separation: Complex) -> Complex:
        """Unit vectors from the second disc to the first; 1 where the contact is with a plane."""
        return np.where(self.pairs, separation / self._distances(separation), 1.0)


def _sides(contact: Contact, tree: Tree) -> tuple[_Side, _Side]:
    """What touches what; the second side of a plane is its point in the world."""
    if isinstance(contact, PlaneContact):
        return (contact.body, contact.point, contact.radius), (WORLD, contact.plane.point, 0.0)
    sides: list[_Side] = []
    for name, point, radius in (
        (contact.first, contact.first_point, contact.first_radius),
        (contact.second, contact.second_point, contact.second_radius),
    ):
        own = next(body.radius for body in tree.bodies if body.name == name) if point == ORIGIN else 0.0
        sides.append((name, point, own if radius is None else radius))
    if not sides[0][2] + sides[1][2] > 0.0:
        raise ValueError(f"{contact.name}: both radii are zero; wanted at least one disc")
    return sides[0], sides[1]
