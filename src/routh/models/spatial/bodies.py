"""What spatial models are built from: free rigid bodies, half-spaces and contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, real, real_array
from routh.models.base import ContactDefinition, FixedPlane

Point = tuple[float, float, float]
ORIGIN: Point = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Body:
    """A free rigid body whose frame has its origin in the centre of mass.

    Parameters
    ----------
    name : distinct in the model.
    mass : kg, positive.
    inertia : (3, 3) symmetric positive definite, or (3,) principal values, kg m^2, in the body's frame.
    size : edge lengths of a box, m, for drawing and for its corners; None for other shapes.
    radius : of a sphere round the centre of mass, m; 0 for other shapes.
    """

    name: str
    mass: float
    inertia: Array
    size: Point | None = None
    radius: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError("name", got=repr(self.name), wanted="a non-empty string")
        real(f"{self.name}.mass", self.mass, above=0.0)
        real(f"{self.name}.radius", self.radius, at_least=0.0)
        inertia = real_array(f"{self.name}.inertia", self.inertia, [(3,), (3, 3)], "shape (3,) or (3, 3)")
        inertia = np.diag(inertia) if inertia.ndim == 1 else inertia
        symmetric = np.allclose(inertia, inertia.T, rtol=1e-10, atol=0.0)
        if not symmetric or not np.linalg.eigvalsh(inertia)[0] > 0:
            raise InputError(f"{self.name}.inertia", wanted="a symmetric positive definite matrix")
        object.__setattr__(self, "inertia", inertia)


def sphere(name: str, radius: float, *, mass: float, inertia: ArrayLike | None = None) -> Body:
    """A sphere, m and kg; solid and uniform unless ``inertia`` (kg m^2) is given."""
    r = real("radius", radius, above=0.0)
    solid = np.full(3, 0.4 * real("mass", mass, above=0.0) * r * r)
    return Body(name, mass, solid if inertia is None else np.asarray(inertia), radius=r)


def box(name: str, size: ArrayLike, *, mass: float, inertia: ArrayLike | None = None) -> Body:
    """A box with edges ``size`` (3,) along its axes, m and kg; uniform unless ``inertia`` is given."""
    a, b, c = edges = real_array("size", size, [(3,)])
    if not np.all(edges > 0.0):
        raise InputError("size", got=edges.min(), wanted="positive edges")
    squares = np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    uniform = real("mass", mass, above=0.0) * squares / 12.0
    return Body(name, mass, uniform if inertia is None else np.asarray(inertia), size=(a, b, c))


@dataclass(frozen=True)
class HalfSpace(FixedPlane):
    """A fixed obstacle: everything behind the plane through ``point`` (m) with the outward ``normal``."""

    name: str
    point: Point = ORIGIN
    normal: Point = (0.0, 0.0, 1.0)


GROUND = HalfSpace("ground")


@dataclass(frozen=True)
class PlaneContact(ContactDefinition):
    """A point of a body (``radius`` 0) or a sphere on it against a half-space.

    ``point`` is the corner or the sphere's centre in the body's frame, m.
    """

    name: str
    body: str
    plane: HalfSpace = GROUND
    point: Point = ORIGIN
    radius: float = 0.0
    mu: float = 0.0
    restitution: float = 0.0


@dataclass(frozen=True)
class SphereContact(ContactDefinition):
    """Two spheres, each round its body's centre of mass; the normal points from the second to the first."""

    name: str
    first: str
    second: str
    mu: float = 0.0
    restitution: float = 0.0


Contact = PlaneContact | SphereContact


def corners(size: Sequence[float]) -> list[Point]:
    """The eight corners of a box in its frame, the four lower ones (negative z) first."""
    a, b, c = (float(edge) / 2 for edge in size)
    return [(x * a, y * b, z * c) for z, y, x in product((-1, 1), repeat=3)]


def corner_contacts(
    body: Body,
    plane: HalfSpace = GROUND,
    *,
    names: Sequence[str] = "ABCDEFGH",
    mu: float = 0.0,
    restitution: float = 0.0,
) -> tuple[PlaneContact, ...]:
    """The contacts of a box's eight corners with a half-space, in the order of `corners`."""
    if body.size is None:
        raise InputError("body", wrong=f"{body.name!r} is not a box", wanted="one made by box()")
    return tuple(
        PlaneContact(name, body.name, plane, point, mu=mu, restitution=restitution)
        for name, point in zip(names, corners(body.size), strict=True)
    )
