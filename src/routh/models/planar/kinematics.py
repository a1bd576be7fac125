"""Trees in the plane as constant matrices, in complex numbers.

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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.models.planar.bodies import WORLD, Body, Free, FreePoint, Point, Prismatic, Revolute
from routh.validation import Array

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
        """(np, nv) complex."""
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


class Tree:
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
                raise ValueError(f"bodies: {body.name!r} stands twice; wanted distinct names")
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
            raise ValueError(
                f"{body.name}.joint.parent: got {joint.parent!r}; wanted one of the bodies before it: "
                f"{', '.join(map(repr, self.frames))}"
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
        raise ValueError(f"{name}.joint.axis: got {joint.axis}; wanted a direction")
    return axis / abs(axis)
