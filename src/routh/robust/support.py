"""What a body stands on: the edges of its support polygon, and the rate at which it would tip over each.

For an edge with the point r and the unit vector e the angular momentum of an outcome about it, over the
moment of inertia I about it, is the rate at which the body would turn about it; it turns over if that is more
than

    sqrt(2 m g dh / I)

with dh the rise of the centre of mass to the point above the edge. The rate is linear in the velocity after,
so "worst outcome" has a meaning for each edge. The support is taken flat: as if the body stood with its own
feet on the ground, whatever its tilt is when it touches; where feet are said to be uneven, leaning by that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from routh.models.landings import SAME, SLOPE, Touchdown
from routh.validation import Array

_PARALLEL_COSINE = math.cos(0.01)  # of the angle (rad) between normals up to which the ground is one plane
_LEVEL = 1e-3  # share of the support's size up to which its points are on one plane of the ground
_THIN = 1e-3  # width over length below which a support is a line


@dataclass(frozen=True, eq=False)
class Edge:
    """An edge of the support polygon; turning about ``direction`` (right hand) tips the body over it."""

    contacts: tuple[str, str]  # at its ends
    point: Array  # (3,) m, world
    direction: Array  # (3,) unit vector
    outward: Array  # (3,) unit vector, level: where the body would fall
    inertia: float  # kg m^2 about the edge
    barrier: float  # J: from standing to balancing on the edge; 0 where the body cannot stand
    rate: Array  # (nv,) rad/s about the edge per velocity of the problem

    @property
    def critical(self) -> float:
        """The rate above which the body turns over, rad/s."""
        return float(np.sqrt(2.0 * self.barrier / self.inertia))


@dataclass(frozen=True, eq=False)
class Support:
    """The support polygon of a touch-down, edge by edge counter-clockwise seen from above; see `Edge`."""

    contacts: tuple[tuple[str, str], ...]  # at the ends of each edge
    points: Array  # (edges, 3)
    directions: Array  # (edges, 3)
    outward: Array  # (edges, 3)
    inertia: Array  # (edges,)
    barriers: Array  # (edges,)
    rate: Array  # (edges, nv)
    carrying: np.ndarray  # (k,) which contacts of the touch-down carry
    normal: Array  # (3,) of the plane through the feet
    gravity: Array  # (3,) m/s^2, turned with that plane
    level: bool  # whether gravity is along the normal, so that nothing is gained by sliding
    sinking: float  # J that the body can still gain by laying itself flat

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """One by one."""
        rows = zip(self.points, self.directions, self.outward, self.rate, strict=True)
        sizes = zip(self.inertia.tolist(), self.barriers.tolist(), strict=True)
        told = zip(self.contacts, rows, sizes, strict=True)
        return tuple(Edge(ends, *row[:3], *size, row[3]) for ends, row, size in told)

    @cached_property
    def rates(self) -> Array:
        """Rates about the edges over their critical ones, (edges, nv), per velocity of the problem."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.rate / np.sqrt(2.0 * self.barriers / self.inertia)[:, None])

    @property
    def stands(self) -> bool:
        """Whether the body at rest would stay."""
        return self.barrier > 0.0

    @property
    def barrier(self) -> float:
        """The least energy that turns it over, J."""
        return float(self.barriers.min())

    def ratios(self, v: Array) -> Array:
        """For velocities (..., nv), (..., edges): above 1 it turns over; infinite where it cannot stand."""
        unstable = self.barriers <= 0.0
        rates = np.where(unstable[:, None], 0.0, self.rates)
        return np.where(unstable, np.inf, v @ rates.T)


def support_of(down: Touchdown, unevenness: float | None = None) -> Support:
    """The support polygon of a touch-down; a ValueError says what is missing for one. See `supports_of`."""
    found = supports_of([down], unevenness)[0]
    if isinstance(found, ValueError):
        raise found
    return found


def supports_of(downs: Sequence[Touchdown], unevenness: float | None = None) -> list[Support | ValueError]:
    """The support polygons of touch-downs of one body, or what is missing for one.

    ``unevenness``: m, by which the height of each foot differs from the model. Two such feet differ by
    sqrt(2) of it from each other, and over the width of the support that leans the body: less is left to the
    point above the edge.
    """
    footings = [_footing(down) for down in downs]
    known = [one for one in footings if isinstance(one, _Footing)]
    made = iter(_supports(known, unevenness) if known else ())
    return [one if isinstance(one, ValueError) else next(made) for one in footings]


class _Footing(NamedTuple):
    """What a body stands on, before its edges are looked at."""

    down: Touchdown
    names: list[str]  # of the contacts that carry
    points: Array  # (k, 3) m, world
    hull: list[int]  # which of them are corners, counter-clockwise
    normal: Array  # (3,)
    gravity: Array  # (3,)
    level: bool
    sinking: float


def _footing(down: Touchdown) -> _Footing | ValueError:
    try:
        return _stand(down)
    except ValueError as error:
        return error


def _stand(down: Touchdown) -> _Footing:
    up = _ground_normal(down)
    seen, carrying = down.seen, down.carrying
    first = int(np.argmin(seen.dist))
    names = [seen.names[k] for k in carrying]
    if len(carrying) < 3:
        raise ValueError(
            f"support: only {', '.join(names)} would carry it (within a slope of {SLOPE:g} of the ground); "
            "wanted at least three contacts that span an area"
        )
    points = down.points[carrying]
    _check_plane(points - seen.dist[carrying, None] * up, up)
    normal, plane = _plane(points, up, names)
    gravity = _turned(down.gravity, up, normal)
    pull = math.sqrt(gravity @ gravity)
    if not pull > 0.0 or -gravity @ normal <= 0.0:
        raise ValueError(
            f"gravity: got {down.gravity.tolist()}, which does not pull the body onto the ground; wanted one "
            "that does"
        )
    hull = hull_of(points @ plane.T)
    first_corner = hull.index(min(hull))  # so that the edges of like bodies come in the same order
    hull = hull[first_corner:] + hull[:first_corner]
    flat = -float((down.com - points.sum(axis=0) / len(points)) @ gravity) / pull
    lowest = down.points[first] - seen.dist[first] * up
    now = -float((down.com - lowest) @ down.gravity) / pull
    level = math.hypot(*_cross(normal, gravity).tolist()) < 1e-3 * pull
    return _Footing(
        down, names, points, hull, normal, gravity, level, max(down.mass * pull * (now - flat), 0.0)
    )


def _supports(footings: Sequence[_Footing], unevenness: float | None) -> list[Support]:
    """The edges of all at once."""
    counts = [len(one.hull) for one in footings]
    state = np.repeat(np.arange(len(footings)), counts)
    corners = np.concatenate([one.points[one.hull] for one in footings])
    e = np.concatenate([one.points[[*one.hull[1:], one.hull[0]]] for one in footings]) - corners
    e /= np.sqrt(_dots(e, e))[:, None]
    gravity = np.array([one.gravity for one in footings])[state]
    mass = np.array([one.down.mass for one in footings])[state]
    arm = np.array([one.down.com for one in footings])[state] - corners
    across, force = arm - e * _dots(e, arm)[:, None], gravity - e * _dots(e, gravity)[:, None]
    strength = np.sqrt(_dots(force, force))
    above = -force / strength[:, None]
    outward = _crosses(e, above)
    own = np.array([one.down.inertia for one in footings])[state]
    inertia = np.einsum("ei,eij,ej->e", e, own, e) + mass * _dots(across, across)
    left = np.arctan2(-_dots(across, outward), _dots(across, above))  # rad to the point above the edge
    cuts = np.cumsum(counts)[:-1]
    if unevenness:
        turned = zip(footings, np.split(corners, cuts), np.split(e, cuts), strict=True)
        widths = np.concatenate([_widths(one.points, a, along) for one, a, along in turned])
        left = left - math.sqrt(2.0) * unevenness / widths
    rise = 2.0 * np.sqrt(_dots(across, across)) * np.where(left > 0.0, np.sin(0.5 * left), 0.0) ** 2
    # the angular momentum about the edge is e . (l + arm x p) = (e x arm) . p + e . l
    momentum = np.array([one.down.momentum for one in footings])[state]
    rate = np.einsum("ei,eiv->ev", np.hstack([_crosses(e, arm), e]), momentum) / inertia[:, None]
    edges = (corners, e, outward, inertia, mass * strength * rise, rate)
    found = []
    for one, (first, last) in zip(footings, pairwise([0, *np.cumsum(counts).tolist()]), strict=True):
        ends = tuple((one.names[a], one.names[b]) for a, b in pairwise([*one.hull, one.hull[0]]))
        at, along, out, about, barriers, rates = (array[first:last] for array in edges)
        feet = (one.down.carrying, one.normal, one.gravity, one.level, one.sinking)
        found.append(Support(ends, at, along, out, about, barriers, rates, *feet))
    return found


def _ground_normal(down: Touchdown) -> Array:
    mean = down.seen.up.sum(axis=0)
    up: Array = mean / max(math.hypot(*mean.tolist()), 1e-300)
    along = down.seen.up @ up
    worst = int(along.argmin())
    if not along[worst] > _PARALLEL_COSINE:
        raise ValueError(
            f"ground: the normal at {down.seen.names[worst]} is {down.seen.up[worst].round(3).tolist()}, "
            f"those of all contacts have the mean {up.round(3).tolist()}; wanted flat ground"
        )
    return up


def _check_plane(ground: Array, up: Array) -> None:
    """Points of the ground (k, 3) must lie on one plane."""
    heights = ground @ up
    apart = float(heights.max() - heights.min())
    size = math.hypot(*(ground.max(axis=0) - ground.min(axis=0)).tolist())
    if apart > _LEVEL * size:
        raise ValueError(f"ground: the contacts stand at heights {apart:.3g} m apart; wanted flat ground")


def _plane(points: Array, up: Array, names: list[str]) -> tuple[Array, Array]:
    """The normal of the plane nearest to the points (k, 3), upwards, and two unit vectors in it (2, 3)."""
    _, widths, axes = np.linalg.svd(points - points.sum(axis=0) / len(points), full_matrices=False)
    if not widths[1] > _THIN * widths[0]:
        raise ValueError(
            f"support: {', '.join(names)} are on one line or at one point; wanted contacts that span an area"
        )
    normal: Array = _cross(axes[0], axes[1])
    normal = normal if normal @ up >= 0.0 else -normal
    return normal, np.array([axes[0], _cross(normal, axes[0])])


def _turned(gravity: Array, up: Array, normal: Array) -> Array:
    """Gravity as the body feels it when the plane of its feet lies on the ground."""
    axis = _cross(up, normal)
    cosine = float(up @ normal)
    found = cosine * gravity + _cross(axis, gravity) + axis * (axis @ gravity) / (1.0 + cosine)
    return np.asarray(found, dtype=np.float64)


def _widths(points: Array, corners: Array, e: Array) -> Array:
    """How far the farthest of some points (k, 3) is from each line through a corner along e, (edges,)."""
    apart = points - corners[:, None]  # (edges, k, 3)
    apart = apart - e[:, None] * np.einsum("ikj,ij->ik", apart, e)[..., None]
    return np.asarray(np.sqrt(np.einsum("ikj,ikj->ik", apart, apart).max(axis=1)))


def hull_of(points: Array) -> list[int]:
    """The corners of the convex hull of points (k, 2), counter-clockwise, without points on its edges."""
    least = SAME * float((points.max(axis=0) - points.min(axis=0)).max()) ** 2
    places = points.tolist()  # for some numbers lists are faster than arrays
    order = sorted(range(len(places)), key=places.__getitem__)

    def half(indices: list[int]) -> list[int]:
        chain: list[int] = []
        for k in indices:
            while len(chain) >= 2 and _turn(places[chain[-2]], places[chain[-1]], places[k]) <= least:
                chain.pop()
            chain.append(k)
        return chain[:-1]

    return half(order) + half(order[::-1])


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    """Twice the area of a triangle in the plane, positive where it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _dots(a: Array, b: Array) -> Array:
    """Row by row, (k,) of (k, 3) and (k, 3)."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _crosses(a: Array, b: Array) -> Array:
    """Row by row, (k, 3) of (k, 3) and (k, 3); NumPy's takes several times as long for some rows."""
    ahead, behind = [1, 2, 0], [2, 0, 1]
    return np.asarray(a[:, ahead] * b[:, behind] - a[:, behind] * b[:, ahead])


def _cross(a: Array, b: Array) -> Array:
    """The vector product of (3,) and (3,); NumPy's takes ten times as long on three numbers."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
