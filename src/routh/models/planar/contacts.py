"""The contacts that planar models know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routh.models.base import ContactDefinition
from routh.models.planar.bodies import GROUND, ORIGIN, HalfPlane, Point


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


def plane_contacts(
    names: Sequence[str],
    body: str,
    points: Sequence[Point],
    *,
    plane: HalfPlane = GROUND,
    mu: float = 0.0,
    restitution: float = 0.0,
) -> tuple[PlaneContact, ...]:
    """One contact per point of a body, all with one half-plane."""
    return tuple(
        PlaneContact(name, body, plane, point, mu=mu, restitution=restitution)
        for name, point in zip(names, points, strict=True)
    )
