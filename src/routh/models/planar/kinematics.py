"""Trees in the plane and their contacts as constant matrices, in complex numbers.

A vector ``a`` fixed in a body whose angle is ``phi`` points to ``exp(i phi) a`` in the world. In the plane
angles add up along the tree, ``phi = B q + phi0`` with constant ``B``, and every point of the mechanism is
the sum of vectors fixed in (or sliding along) bodies: with ``z = exp(i phi) (a + D q)``

    position      x      = S q + C z
    Jacobian      J      = S + C (i z B + exp(i phi) D)
    its rate      dJ/dt v = C (-z w^2 + 2 i w exp(i phi) D v),    w = B v

with constant S, C, D. The recursion over the tree happens once, when these are assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.base.status import InputError
from routh.base.validation import Array
from routh.models.base import check_contacts
from routh.models.planar.bodies import (
    ORIGIN,
    WORLD,
    Body,
    Contact,
    DiscContact,
    Free,
    FreePoint,
    PlaneContact,
    Point,
    Prismatic,
    Revolute,
)

Complex = NDArray[np.complex128]


class PointSet:
    """Points (or combinations of points) of a mechanism, ready to be evaluated; see the module's formulas.

    ``start`` is where the vectors point at q = 0, and all factors are stored as complex arrays: these methods
    are called in every evaluation of an equation of motion.
    """

    __slots__ = ("B", "C", "D", "S", "a", "iB", "phi0", "start")

    def __init__(self, S: Complex, C: Complex, a: Complex, D: Complex, B: Array, phi0: Array) -> None:
        used = np.any(C != 0.0, axis=0)
        self.S, self.C = S, np.ascontiguousarray(C[:, used], dtype=np.complex128)
        self.a, self.B, self.phi0 = a[used], np.ascontiguousarray(B[used]), phi0[used]
        self.D = np.ascontiguousarray(D[used]) if np.any(D[used] != 0.0) else None
        self.iB = 1j * self.B
        self.start = self.a * np.exp(1j * self.phi0)

    @property
    def fixed(self) -> bool:
        """Whether no vector turns or slides, so that the Jacobian is constant."""
        return self.C.shape[1] == 0

    def combine(self, K: ArrayLike) -> PointSet:
        """The linear combinations ``K x`` of these points, K real or complex."""
        K = np.asarray(K, dtype=np.complex128)
        D = np.zeros(self.B.shape, dtype=np.complex128) if self.D is None else self.D
        return PointSet(K @ self.S, K @ self.C, self.a, D, self.B, self.phi0)

    def positions(self, q: Array) -> Complex:
        """World positions, (..., np) complex m, of configurations (..., nv)."""
        turned = np.exp(1j * (q @ self.B.T))
        if self.D is None:
            return q @ self.S.T + (turned * self.start) @ self.C.T
        return q @ self.S.T + (turned * np.exp(1j * self.phi0) * (self.a + q @ self.D.T)) @ self.C.T

    def jacobian(self, q: Array) -> Complex:
        """Jacobian of the points, (np, nv) complex."""
        turned = np.exp(1j * (self.B @ q))
        if self.D is None:
            return (self.C * (turned * self.start)) @ self.iB + self.S
        turned = turned * np.exp(1j * self.phi0)
        z = turned * (self.a + self.D @ q)
        return self.S + (self.C * z) @ self.iB + (self.C * turned) @ self.D

    def acceleration(self, q: Array, v: Array) -> Complex:
        """``dJ/dt v``, (np,) complex m/s^2."""
        turned = np.exp(1j * (self.B @ q))
        w = self.B @ v
        if self.D is None:
            return self.C @ (turned * self.start * (-w * w))
        turned = turned * np.exp(1j * self.phi0)
        return self.C @ (turned * ((self.a + self.D @ q) * (-w * w) + 2j * w * (self.D @ v)))


@dataclass
class _Frame:
    """A body's frame while the tree is assembled."""

    angle: Array  # (nv,) row of B
    offset: float
    shift: Complex  # (nv,) row of S
    vectors: list[int] = field(default_factory=list)  # the vectors that lead to its origin


class BodyTree:
    """Assembles the constant matrices of a tree of bodies."""

    def __init__(self, bodies: Sequence[Body]) -> None:
        self.bodies = tuple(bodies)
        self.coordinates: list[str] = [name for body in bodies for name in _coordinate_names(body)]
        self.nv = len(self.coordinates)
        self._vectors: list[tuple[Array, float, complex, Complex]] = []
        self.frames: dict[str, _Frame] = {
            WORLD: _Frame(np.zeros(self.nv), 0.0, np.zeros(self.nv, dtype=np.complex128))
        }
        column = 0
        for body in bodies:
            if body.name in self.frames:
                raise InputError("bodies", wrong=f"{body.name!r} appears twice", wanted="distinct names")
            self.frames[body.name] = self._frame(body, column)
            column += len(_coordinate_names(body))

    def angles(self, names: Sequence[str]) -> Array:
        """Constant angular Jacobian of the named bodies, (n, nv)."""
        return np.array([self.frames[name].angle for name in names]).reshape(len(names), self.nv)

    def points(self, located: Sequence[tuple[str, Point]]) -> PointSet:
        """The points given as (body, position in its frame)."""
        rows = [self._chain(name, point) for name, point in located]
        count = len(self._vectors)
        C = np.zeros((len(rows), count), dtype=np.complex128)
        for row, (_, vectors) in enumerate(rows):
            C[row, vectors] = 1.0
        S = np.array([shift for shift, _ in rows], dtype=np.complex128).reshape(len(rows), self.nv)
        B = np.array([angle for angle, _, _, _ in self._vectors]).reshape(count, self.nv)
        D = np.array([slide for _, _, _, slide in self._vectors], dtype=np.complex128).reshape(count, self.nv)
        phi0 = np.array([offset for _, offset, _, _ in self._vectors], dtype=np.float64)
        a = np.array([vector for _, _, vector, _ in self._vectors], dtype=np.complex128)
        return PointSet(S, C, a, D, B, phi0)

    def _chain(self, name: str, point: Point) -> tuple[Complex, list[int]]:
        frame = self.frames[name]
        return frame.shift, [*frame.vectors, *self._vector(frame, complex(*point))]

    def _vector(self, frame: _Frame, a: complex, slide: Complex | None = None) -> list[int]:
        """The index of a new vector in a frame, or nothing where the vector is always zero."""
        if a == 0.0 and slide is None:
            return []
        slides = np.zeros(self.nv, dtype=np.complex128) if slide is None else slide
        self._vectors.append((frame.angle, frame.offset, a, slides))
        return [len(self._vectors) - 1]

    def _frame(self, body: Body, column: int) -> _Frame:
        joint = body.joint
        unit = np.eye(self.nv)
        if isinstance(joint, Free | FreePoint):
            shift = unit[column] + 1j * unit[column + 1]
            turns = isinstance(joint, Free)
            return _Frame(unit[column + 2] if turns else np.zeros(self.nv), 0.0, shift)
        if joint.parent not in self.frames:
            raise InputError(
                f"{body.name}.joint.parent",
                got=repr(joint.parent),
                wanted=f"one of the bodies before it: {', '.join(map(repr, self.frames))}",
            )
        parent = self.frames[joint.parent]
        angle, slide = parent.angle, None
        if isinstance(joint, Revolute):
            angle = angle + unit[column]
        else:
            slide = unit[column] * _unit(joint, body.name)
        vectors = [*parent.vectors, *self._vector(parent, complex(*joint.at), slide)]
        return _Frame(angle, parent.offset + joint.offset, parent.shift, vectors)


def _coordinate_names(body: Body) -> list[str]:
    kinds = {Free: ("x", "y", "angle"), FreePoint: ("x", "y"), Revolute: ("angle",), Prismatic: ("slide",)}
    return [f"{body.name}.{kind}" for kind in kinds[type(body.joint)]]


def _unit(joint: Prismatic, name: str) -> complex:
    axis = complex(*joint.axis)
    if not abs(axis) > 0.0:
        raise InputError(f"{name}.joint.axis", got=joint.axis, wanted="a direction")
    return axis / abs(axis)


# Contacts. With the separation ``d n`` from the second centre (or a point of the plane) to the first, and any
# vector ``u``, ``conj(n) u`` holds the normal component of u in its real part and minus the tangential one in
# its imaginary part, since the tangent is ``-i n``. For planes the factor ``conj(n)`` is constant and is part
# of the assembled matrices.


_Side = tuple[str, Point, float]  # body, centre in its frame, radius


class PlanarKinematics:
    """Evaluates the contacts of one tree; everything that does not change with q is assembled once."""

    def __init__(self, tree: BodyTree, contacts: Sequence[Contact]) -> None:
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
        return np.stack([bias.real, -bias.imag], axis=1)

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


def _sides(contact: Contact, tree: BodyTree) -> tuple[_Side, _Side]:
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
        raise InputError(contact.name, wrong="both radii are zero", wanted="at least one disc")
    return sides[0], sides[1]


# The same mechanism as real arrays, for compiled code.


class PointArrays(NamedTuple):
    """A `PointSet` of n points and k vectors; a leading axis of 2 is the real and the imaginary part."""

    S: Array  # (2, n, nv)
    C: Array  # (2, n, k)
    vectors: Array  # (k, 3 + 3 nv): phi0, the two parts of a, the row of B, the two parts of the row of D


class PlanarArrays(NamedTuple):
    """Everything that the equations of motion of a planar mechanism without inputs need."""

    coms: PointArrays  # centres of mass of the heavy bodies
    separations: PointArrays  # of the contacts, times the conjugate normals of planes
    masses: Array  # (nb,) kg
    spin: Array  # (nv, nv) constant share of the mass matrix
    gravity: Array  # (2,) m/s^2
    contacts: Array  # (nc, 2 + nv): sum of radii (m), 1 for two discs, tangential velocity of turning discs


def planar_arrays(
    coms: PointSet, touch: PlanarKinematics, masses: Array, spin: Array, gravity: complex
) -> PlanarArrays:
    """The parts of a model as arrays of their own."""
    return PlanarArrays(
        _points(coms),
        _points(touch.separations),
        np.array(masses, dtype=np.float64),
        np.array(spin, dtype=np.float64),
        np.array([gravity.real, gravity.imag]),
        np.column_stack([touch.radii, touch.pairs, touch.rolling]).astype(np.float64),
    )


def _points(points: PointSet) -> PointArrays:
    slides = np.zeros(points.B.shape, dtype=np.complex128) if points.D is None else points.D
    vectors = [points.phi0, points.a.real, points.a.imag, points.B, slides.real, slides.imag]
    return PointArrays(_parts(points.S), _parts(points.C), np.ascontiguousarray(np.column_stack(vectors)))


def _parts(values: Complex) -> Array:
    return np.ascontiguousarray(np.stack([values.real, values.imag]))
