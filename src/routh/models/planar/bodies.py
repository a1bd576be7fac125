"""What planar models are built from: bodies with their joints and outlines, half-planes and contacts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array, real, real_array
from routh.models.base import ContactDefinition, FixedPlane

Point = tuple[float, float]
ORIGIN: Point = (0.0, 0.0)
WORLD = "world"
_CIRCLE = np.linspace(0.0, 2.0 * np.pi, 49)


@dataclass(frozen=True)
class Free:
    """A floating body: coordinates x, y (m) and angle (rad) of its frame."""


@dataclass(frozen=True)
class FreePoint:
    """A body that floats without turning: coordinates x, y (m)."""


@dataclass(frozen=True)
class Revolute:
    """The body turns about the point ``at`` of its parent; coordinate angle (rad), relative to the parent.

    The body's frame has its origin in the joint and is turned by ``offset`` (rad) where the coordinate is 0.
    """

    parent: str = WORLD
    at: Point = ORIGIN
    offset: float = 0.0


@dataclass(frozen=True)
class Prismatic:
    """The body's frame slides from the point ``at`` along ``axis``, both in the parent's frame.

    Coordinate slide (m); ``axis`` is scaled to a unit vector; ``offset`` (rad) turns the body's frame.
    """

    axis: Point
    parent: str = WORLD
    at: Point = ORIGIN
    offset: float = 0.0


Joint = Free | FreePoint | Revolute | Prismatic
FREE = Free()


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body in the plane.

    Parameters
    ----------
    name : distinct in the model.
    mass : kg; may be zero, as may ``inertia`` (a massless link).
    inertia : kg m^2 about the centre of mass.
    com : centre of mass in the body's frame, m.
    joint : what holds the body.
    outline : polylines (k, 2) in the body's frame, m, for drawing.
    radius : of a disc round the origin of the body's frame, m; 0 where the body is no disc.
    """

    name: str
    mass: float
    inertia: float
    com: Point = ORIGIN
    joint: Joint = FREE
    outline: tuple[Array, ...] = ()
    radius: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name == WORLD:
            raise InputError("name", got=repr(self.name), wanted=f"a non-empty string other than {WORLD!r}")
        real(f"{self.name}.mass", self.mass, at_least=0.0)
        real(f"{self.name}.inertia", self.inertia, at_least=0.0)
        real(f"{self.name}.radius", self.radius, at_least=0.0)
        real_array(f"{self.name}.com", self.com, [(2,)])


def box(
    name: str, width: float, height: float, *, mass: float, inertia: float | None = None, joint: Joint = FREE
) -> Body:
    """A box round its centre of mass, m and kg; uniform unless ``inertia`` (kg m^2) is given."""
    w, h = real("width", width, above=0.0), real("height", height, above=0.0)
    uniform = real("mass", mass, at_least=0.0) * (w * w + h * h) / 12.0
    corners = np.array([[-w, -h], [w, -h], [w, h], [-w, h], [-w, -h]]) / 2
    return Body(name, mass, uniform if inertia is None else inertia, joint=joint, outline=(corners,))


def disc(name: str, radius: float, *, mass: float, inertia: float | None = None, joint: Joint = FREE) -> Body:
    """A disc round its centre of mass, m and kg; uniform unless ``inertia`` (kg m^2) is given."""
    r = real("radius", radius, above=0.0)
    uniform = real("mass", mass, at_least=0.0) * r * r / 2.0
    rim = circle(r)
    spoke = np.array([[0.0, 0.0], [r, 0.0]])
    return Body(
        name, mass, uniform if inertia is None else inertia, joint=joint, outline=(rim, spoke), radius=r
    )


def rod(name: str, length: float, *, mass: float, inertia: float | None = None, joint: Joint = FREE) -> Body:
    """A thin rod along x round its centre of mass, m and kg; uniform unless ``inertia`` (kg m^2) is given."""
    length = real("length", length, above=0.0)
    uniform = real("mass", mass, at_least=0.0) * length * length / 12.0
    line = np.array([[-length / 2, 0.0], [length / 2, 0.0]])
    return Body(name, mass, uniform if inertia is None else inertia, joint=joint, outline=(line,))


def link(
    name: str,
    length: float,
    *,
    mass: float = 0.0,
    inertia: float = 0.0,
    centre: float | None = None,
    joint: Joint = FREE,
) -> Body:
    """A rod that hangs from the origin of its frame along -y, with its mass at ``centre`` (m) below it.

    The end is at (0, -length); ``centre`` is the middle by default. With the joint's angle ``a`` from the
    vertical a point at distance s is at ``s (sin a, -cos a)``.
    """
    length = real("length", length, above=0.0)
    s = length / 2 if centre is None else real("centre", centre)
    line = np.array([[0.0, 0.0], [0.0, -length]])
    return Body(name, mass, inertia, com=(0.0, -s), joint=joint, outline=(line,))


def point_mass(name: str, mass: float, *, joint: Joint | None = None) -> Body:
    """A point mass, kg; floating with coordinates x, y unless a joint is given."""
    return Body(name, mass, 0.0, joint=FreePoint() if joint is None else joint, outline=(np.zeros((1, 2)),))


def circle(radius: float, centre: Point = ORIGIN) -> Array:
    """A closed polyline (49, 2) round ``centre``."""
    return np.stack([centre[0] + radius * np.cos(_CIRCLE), centre[1] + radius * np.sin(_CIRCLE)], axis=1)


@dataclass(frozen=True)
class HalfPlane(FixedPlane):
    """A fixed obstacle: everything behind the line through ``point`` (m) with the outward ``normal``."""

    name: str
    point: Point = ORIGIN
    normal: Point = (0.0, 1.0)


GROUND = HalfPlane("ground")


def slope(name: str, angle: float, point: Point = ORIGIN) -> HalfPlane:
    """A plane that descends to the right by ``angle`` (rad)."""
    a = real("angle", angle)
    return HalfPlane(name, point, (math.sin(a), math.cos(a)))


def corners(width: float, height: float) -> Sequence[Point]:
    """The corners of a box in its frame: lower left, lower right, upper right, upper left."""
    w, h = width / 2, height / 2
    return [(-w, -h), (w, -h), (w, h), (-w, h)]


@dataclass(frozen=True)
class PlaneContact(ContactDefinition):
    """A point of a body (a corner, ``radius`` 0) or a disc on it against a half-plane.

    ``point`` is the corner or the disc's centre in the body's frame, m. The tangent is the plane's normal
    turned by -90 degrees.
    """

    name: str
    body: str
    plane: HalfPlane = GROUND
    point: Point = ORIGIN
    radius: float = 0.0
    mu: float = 0.0
    restitution: float = 0.0


@dataclass(frozen=True)
class DiscContact(ContactDefinition):
    """Two discs that may touch; the normal points from the second to the first.

    Centres in the bodies' frames, radii in m; a radius of None is that of the body's own disc.
    """

    name: str
    first: str
    second: str
    first_point: Point = ORIGIN
    second_point: Point = ORIGIN
    first_radius: float | None = None
    second_radius: float | None = None
    mu: float = 0.0
    restitution: float = 0.0


Contact = PlaneContact | DiscContact
