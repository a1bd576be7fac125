"""Gaps and contact Jacobians of planar mechanisms, in complex numbers.

With the separation ``d n`` from the second centre (or a point of the plane) to the first, and a vector ``J``
of velocities, ``conj(n) J`` holds the normal component in its real part and minus the tangential one in its
imaginary part, since the tangent is ``-i n``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.models.planar.bodies import ORIGIN, WORLD, Point
from routh.models.planar.contacts import Contact, DiscContact, PlaneContact
from routh.models.planar.kinematics import Complex, Tree
from routh.validation import Array

_Side = tuple[str, Point, float]  # body, centre in its frame, radius


class ContactKinematics:
    """Evaluates the contacts of one tree; everything that does not change with q is assembled once."""

    def __init__(self, tree: Tree, contacts: Sequence[Contact]) -> None:
        _check_distinct([contact.name for contact in contacts])
        sides = [_sides(contact, tree) for contact in contacts]
        nc = len(contacts)
        first = tree.points([(name, point) for (name, point, _), _ in sides])
        both = tree.points([(name, point) for pair in sides for name, point, _ in pair])
        difference = np.eye(2 * nc)[::2] - np.eye(2 * nc)[1::2]  # (nc, 2 nc)
        self.separations = both.combine(difference)
        self.centres = first
        self.pairs = np.array([isinstance(contact, DiscContact) for contact in contacts], dtype=bool)
        self.has_pairs = bool(self.pairs.any())
        self.plane_normals = np.array(
            [
                complex(*contact.plane.normal) if isinstance(contact, PlaneContact) else 1.0
                for contact in contacts
            ],
            dtype=np.complex128,
        )
        radii = np.array([[radius for _, _, radius in pair] for pair in sides]).reshape(nc, 2)
        self.radii, self.first_radii = radii.sum(axis=1), radii[:, 0]
        turning = tree.angles([name for pair in sides for name, _, _ in pair]).reshape(nc, 2, tree.nv)
        self.rolling = np.einsum("ij,ijk->ik", radii, turning)  # tangential velocity of turning discs

    def gaps(self, q: Array) -> Array:
        """Signed distances, (nc,) m."""
        separation = self.separations.positions(q)
        along = (self.plane_normals.conj() * separation).real
        if self.has_pairs:
            along = np.where(self.pairs, np.abs(separation), along)
        return along - self.radii

    def jacobians(self, q: Array) -> tuple[Array, Array]:
        """``Jn (nc, nv)`` and ``Jt (nc, 1, nv)``."""
        J = self.normals(q).conj()[:, None] * self.separations.jacobian(q)
        return np.ascontiguousarray(J.real), (self.rolling - J.imag)[:, None, :]

    def jacobian_bias(self, q: Array, v: Array) -> Array:
        """``dJ/dt v``, (nc, 2) m/s^2.

        Between discs the normal turns too: with w the rate of the separation ``d n``, ``dn/dt = t (t.w) / d``
        and ``dt/dt = -n (t.w) / d``.
        """
        towards = self.normals(q).conj()
        bias = towards * self.separations.acceleration(q, v)
        result = np.empty((len(bias), 2))
        result[:, 0] = bias.real
        result[:, 1] = -bias.imag
        if self.has_pairs:
            rate = towards * (self.separations.jacobian(q) @ v)  # (n.w) - i (t.w)
            curvature = self.pairs / self._distances(self.separations.positions(q))
            result[:, 0] += rate.imag**2 * curvature
            result[:, 1] += rate.real * rate.imag * curvature
        return result

    def normals(self, q: Array) -> Complex:
        """Unit normals, (nc,) complex."""
        if not self.has_pairs:
            return self.plane_normals
        separation = self.separations.positions(q)
        return np.where(self.pairs, separation / self._distances(separation), self.plane_normals)

    def points(self, q: Array) -> Complex:
        """The point of the first body that is nearest to the other side, (nc,) complex m."""
        return self.centres.positions(q) - self.first_radii * self.normals(q)

    def _distances(self, separation: Complex) -> Array:
        """Distances of the centres of two discs; 1 where the contact is with a plane."""
        return np.where(self.pairs, np.abs(separation), 1.0)


def _sides(contact: Contact, tree: Tree) -> tuple[_Side, _Side]:
    """What touches what; the second side of a plane is its point in the world."""
    if isinstance(contact, PlaneContact):
        _check_body(contact.name, contact.body, tree)
        return (contact.body, contact.point, contact.radius), (WORLD, contact.plane.point, 0.0)
    sides: list[_Side] = []
    for name, point, radius in (
        (contact.first, contact.first_point, contact.first_radius),
        (contact.second, contact.second_point, contact.second_radius),
    ):
        _check_body(contact.name, name, tree)
        own = next(body.radius for body in tree.bodies if body.name == name) if point == ORIGIN else 0.0
        sides.append((name, point, own if radius is None else radius))
    if not sides[0][2] + sides[1][2] > 0.0:
        raise ValueError(f"{contact.name}: both radii are zero; wanted at least one disc")
    return sides[0], sides[1]


def _check_body(contact: str, name: str, tree: Tree) -> None:
    known = [body.name for body in tree.bodies]
    if name not in known:
        raise ValueError(f"{contact}: there is no body {name!r}; wanted one of {', '.join(map(repr, known))}")


def _check_distinct(names: Sequence[str]) -> None:
    twice = [name for name in names if list(names).count(name) > 1]
    if twice:
        raise ValueError(f"contacts: {twice[0]!r} stands twice; wanted distinct names")
