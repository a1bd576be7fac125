"""What a body stands on: the edges of its support polygon, and the rate at which it would tip over each.

A body that turns about an edge at the rate w has the energy ``I w^2 / 2``, with I its inertia about the edge
(armature included); it turns over if that lifts the centre of its weight W above the edge, by dh:

    w^2 > 2 W dh / I

The rate that an outcome v leaves is ``t M v / I``, t the velocity of turning about the edge at 1 rad/s: an
impulse at the edge does not change it. It is linear in v, so "worst outcome" has a meaning for each edge.

Which edges these are, and dh, is told by where the body comes to rest (`routh.models.resting`), whatever its
tilt is when it touches; where feet are said to be uneven, leaning by that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array
from routh.models.landings import SLOPE, Touchdown
from routh.models.resting import SAME, Rest

_FLAT = 1e-3  # share of the support's size up to which its points are on one plane of the ground
_LEVEL = 1e-6  # slope (rad) of level ground: sliding a kilometre on it gains as much as a rise of 1 mm
_STEEPEST = 1.0 / math.hypot(1.0, 1.05 * SLOPE)  # cosine of the tilt up to which all feet are looked at
_BESIDE = 0.1  # share of the support's size: other ground that is nearer than this would be met at once


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
    normal: Array  # (3,) of the facet of its feet on which it comes to rest
    gravity: Array  # (3,) unit vector, as the body feels it then
    rests: bool  # whether it stays there; else its centre of mass is outside of its feet
    level: bool  # whether the ground is level, so that nothing is gained by sliding
    sinking: (
        float  # J that the body can still gain by laying itself flat; infinite where it is not over it yet
    )

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
        return self.rests and self.barrier > 0.0

    @property
    def barrier(self) -> float:
        """The least energy that turns it over, J."""
        return float(self.barriers.min())

    def ratios(self, v: Array) -> Array:
        """Ratios at velocities (..., nv), (..., edges): above 1 it turns over; infinite: it cannot stand."""
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

    ``unevenness``: m, by which the height of each foot may differ from the model at most. Two such feet
    differ by up to twice as much from each other, and over the width of the support that leans the body: less
    is left to the point above the edge.
    """
    footings = [_footing(down) for down in downs]
    known = [one for one in footings if isinstance(one, _Footing)]
    made = iter(_supports(known, unevenness) if known else ())
    return [one if isinstance(one, ValueError) else next(made) for one in footings]


class _Footing(NamedTuple):
    """What a body stands on, before its edges are looked at."""

    down: Touchdown
    rest: Rest
    level: bool
    sinking: float

    @property
    def corners(self) -> np.ndarray:
        """Which contacts these are, (m,), counter-clockwise."""
        return np.asarray(self.down.over_ground[self.rest.corners])


def _footing(down: Touchdown) -> _Footing | ValueError:
    try:
        return _stand(down)
    except ValueError as error:
        return error


def _stand(down: Touchdown) -> _Footing:
    seen, load, up = down.seen, down.load, down.up
    pull = math.sqrt(load.weight @ load.weight)
    if not -load.weight @ up > 0.0:
        raise InputError(
            "gravity",
            got=f"{load.gravity.tolist()}, which does not pull the body onto {seen.geoms[0][0]}",
            wanted="ground below it",
        )
    names = [seen.names[k] for k in down.over_ground]
    if len(names) < 3 and len(names) < len(seen.names):
        raise _other_ground(down, int(np.setdiff1d(np.arange(len(seen.names)), down.over_ground)[0]))
    if len(names) < 3:
        raise InputError(
            "support",
            wrong=(f"only {', '.join(names)} would carry it (within a slope of {SLOPE:g} of the ground)"),
            wanted="at least three contacts that span an area",
        )
    try:
        rest = down.rest
    except ValueError as error:
        raise InputError(
            "support", wrong=f"{', '.join(names)} are {error}", wanted="contacts that span an area"
        ) from None
    _check_ground(down, rest)
    if float(rest.normal @ up) < _STEEPEST:
        raise InputError(
            "support",
            wrong=(
                f"{', '.join(seen.names[k] for k in down.carrying)} would carry it, tilted by "
                f"{math.degrees(math.acos(float(rest.normal @ up))):.0f} degrees now"
            ),
            wanted=f"at least three contacts within a slope of {SLOPE:g} of the ground",
        )
    gravity = load.weight / pull
    lowest = int(down.over_ground[np.argmin(seen.dist[down.over_ground])])
    below = down.points[lowest] - seen.dist[lowest] * up - load.centre
    now = float(below @ up) / float(gravity @ up)  # m, above the ground
    level = math.hypot(*np.cross(up, gravity).tolist()) <= _LEVEL
    sinking = max(pull * (now - rest.height), 0.0) if rest.held else np.inf
    return _Footing(down, rest, level, sinking)


def _check_ground(down: Touchdown, rest: Rest) -> None:
    """What carries the body must be on one plane, and no other ground near."""
    seen, up = down.seen, down.up
    carrying = down.over_ground[rest.carrying]
    points = down.points[carrying]
    size = math.hypot(*np.ptp(points, axis=0).tolist())
    others = np.setdiff1d(np.arange(len(seen.names)), down.over_ground)
    near = others[seen.dist[others] <= max(float(seen.dist[carrying].max()), _BESIDE * size)]
    if len(near):
        raise _other_ground(down, int(near[0]))
    heights = points @ up - seen.dist[carrying]
    if np.ptp(heights) > _FLAT * size:
        raise InputError(
            "ground",
            wrong=f"the contacts stand at heights {np.ptp(heights):.3g} m apart",
            wanted="flat ground",
        )


def _other_ground(down: Touchdown, contact: int) -> ValueError:
    return InputError(
        "ground",
        wrong=(
            f"the normal at {down.seen.names[contact]} is "
            f"{down.seen.up[contact].round(3).tolist()}, where the body is nearest it is "
            f"{down.up.round(3).tolist()}"
        ),
        wanted="flat ground",
    )


def _supports(footings: Sequence[_Footing], unevenness: float | None) -> list[Support]:
    """The edges of all at once."""
    counts = [len(one.corners) for one in footings]
    state = np.repeat(np.arange(len(footings)), counts)
    cuts = np.cumsum(counts)[:-1]
    start = np.concatenate([one.down.points[one.corners] for one in footings])
    e = np.concatenate([one.down.points[np.roll(one.corners, -1)] for one in footings]) - start
    e /= np.sqrt(np.einsum("ij,ij->i", e, e))[:, None]
    up = np.array([one.rest.normal for one in footings])[state]
    outward = np.cross(e, up)
    outward /= np.sqrt(np.einsum("ij,ij->i", outward, outward))[:, None]
    weight = np.array([math.sqrt(one.down.load.weight @ one.down.load.weight) for one in footings])[state]
    rises, arms = (
        np.concatenate([getattr(one.rest, name) for one in footings]) for name in ("rises", "arms")
    )
    if unevenness:
        # V = arm (1 - cos(left)) to the point above the edge, of which the lean takes some
        left = 2.0 * np.arcsin(np.sqrt(np.clip(0.5 * rises / np.maximum(arms, 1e-300), 0.0, 1.0)))
        turned = zip(footings, np.split(start, cuts), np.split(e, cuts), strict=True)
        widths = [_widths(one.down.points[one.down.carrying], a, along) for one, a, along in turned]
        left = left - 2.0 * unevenness / np.concatenate(widths)
        rises = 2.0 * arms * np.where(left > 0.0, np.sin(0.5 * left), 0.0) ** 2
    barriers = weight * np.maximum(rises, 0.0)
    twists = [
        one.down.turning(a, along)
        for one, a, along in zip(footings, np.split(start, cuts), np.split(e, cuts), strict=True)
    ]
    twist, M = np.concatenate(twists), np.array([one.down.M for one in footings])[state]
    rate = np.einsum("ev,evw->ew", twist, M)
    inertia = np.einsum("ev,ev->e", rate, twist)
    edges = (start, e, outward, inertia, barriers, rate / inertia[:, None])
    found = []
    for one, (first, last) in zip(footings, pairwise([0, *np.cumsum(counts).tolist()]), strict=True):
        names = [one.down.seen.names[k] for k in one.corners]
        ends = tuple(zip(names, [*names[1:], names[0]], strict=True))
        at, along, out, about, least, rates = (array[first:last] for array in edges)
        feet = (one.down.carrying, one.rest.normal, one.rest.down)
        found.append(
            Support(ends, at, along, out, about, least, rates, *feet, one.rest.stands, one.level, one.sinking)
        )
    return found


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
