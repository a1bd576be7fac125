"""The contacts that planar models know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from routh.models.base import ContactInfo
from routh.models.planar.bodies import GROUND, ORIGIN, HalfPlane, Point
from routh.validation import real


@dataclass(frozen=True)
class PlaneContact:
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

    def __post_init__(self) -> None:
        _check(self.name, self.mu, self.restitution, self.radius)

    @property
    def info(self) -> ContactInfo:
        """Names and coefficients."""
        return ContactInfo(self.name, (self.body, self.plane.name), self.mu, self.restitution)


@dataclass(frozen=True)
class DiscContact:
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

    def __post_init__(self) -> None:
        _check(self.name, self.mu, self.restitution, self.first_radius or 0.0)
        _check(self.name, self.mu, self.restitution, self.second_radius or 0.0)
        if self.first == self.second:
            raise ValueError(f"{self.name}: got {self.first!r} twice; wanted two different bodies")

    @property
    def info(self) -> ContactInfo:
        """Names and coefficients."""
        return ContactInfo(self.name, (self.first, self.second), self.mu, self.restitution)


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


def _check(name: str, mu: float, restitution: float, radius: float) -> None:
    real(f"{name}.mu", mu, at_least=0.0)
    real(f"{name}.restitution", restitution, at_least=0.0, at_most=1.0)
    real(f"{name}.radius", radius, at_least=0.0)
