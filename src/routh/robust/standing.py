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
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from routh.models.touchdown import SAME, SLOPE, Touchdown
from routh.validation import Array

_PARALLEL = 0.01  # rad between normals up to which the ground is one plane
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
    """The support polygon of a touch-down."""

    edges: tuple[Edge, ...]  # counter-clockwise seen from above
    carrying: np.ndarray  # (k,) which contacts of the touch-down carry
    normal: Array  # (3,) of the plane through the feet
    gravity: Array  # (3,) m/s^2, turned with that plane
    level: bool  # whether gravity is along the normal, so that nothing is gained by sliding
    sinking: float  # J that the body can still gain by laying itself flat

    @property
    def rates(self) -> Array:
        """Rates about the edges over their critical ones, (edges, nv), per velocity of the problem."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.array([edge.rate / edge.critical for edge in self.edges])

    @property
    def stands(self) -> bool:
        """Whether the body at rest would stay."""
        return all(edge.barrier > 0.0 for edge in self.edges)

    @property
    def barrier(self) -> float:
        """The least energy that turns it over, J."""
        return min(edge.barrier for edge in self.edges)

    def ratios(self, v: Array) -> Array:
        """For velocities (..., nv), (..., edges): above 1 it turns over; infinite where it cannot stand."""
        unstable = np.array([edge.barrier <= 0.0 for edge in self.edges])
        rates = np.where(unstable[:, None], 0.0, self.rates)
        return np.where(unstable, np.inf, v @ rates.T)


def support_of(down: Touchdown, unevenness: float | None = None) -> Support:
    """The support polygon of a touch-down; a ValueError says what is missing for one.

    ``unevenness``: m, by which the height of each foot differs from the model; see `_edge`.
    """
    up = _ground_normal(down)
    dist, carrying = down.problem.dist, down.carrying
    first = int(np.argmin(dist))
    if len(carrying) < 3:
        few = ", ".join(down.problem.names[k] for k in carrying)
        raise ValueError(
            f"support: only {few} would carry it (within a slope of {SLOPE:g} of the ground); wanted at "
            "least three contacts that span an area"
        )
    points = down.points[carrying]
    _check_plane(points - dist[carrying, None] * up, up)
    normal, plane = _plane(points, up, [down.problem.names[k] for k in carrying])
    gravity = _turned(down.gravity, up, normal)
    pull = float(np.linalg.norm(gravity))
    if not pull > 0.0 or -gravity @ normal <= 0.0:
        raise ValueError(
            f"gravity: got {down.gravity.tolist()}, which does not pull the body onto the ground; wanted one "
            "that does"
        )
    hull = hull_of(points @ plane.T)
    first_corner = hull.index(min(hull))  # so that the edges of like bodies come in the same order
    hull = hull[first_corner:] + hull[:first_corner]
    edges = []
    for a, b in pairwise([*hull, hull[0]]):
        names = down.problem.names[carrying[a]], down.problem.names[carrying[b]]
        width = float(np.abs(_across(points - points[a], points[b] - points[a])).max())
        lean = math.sqrt(2.0) * (unevenness or 0.0) / width
        edges.append(_edge(down, points[a], points[b], gravity, names, lean))
    flat = -float((down.com - points.mean(axis=0)) @ gravity) / pull
    lowest = down.points[first] - dist[first] * up
    now = -float((down.com - lowest) @ down.gravity) / pull
    leaning = float(np.linalg.norm(_cross(normal, gravity))) / pull
    return Support(
        tuple(edges), carrying, normal, gravity, leaning < 1e-3, max(down.mass * pull * (now - flat), 0.0)
    )


def _ground_normal(down: Touchdown) -> Array:
    mean = down.ups.mean(axis=0)
    up: Array = mean / max(float(np.linalg.norm(mean)), 1e-300)
    worst = int(np.argmin(down.ups @ up))
    if not down.ups[worst] @ up > np.cos(_PARALLEL):
        raise ValueError(
            f"ground: the normal at {down.problem.names[worst]} is {down.ups[worst].round(3).tolist()}, "
            f"those of all contacts have the mean {up.round(3).tolist()}; wanted ground that is one plane"
        )
    return up


def _check_plane(ground: Array, up: Array) -> None:
    """Points of the ground (k, 3) must lie on one plane."""
    heights = ground @ up
    size = float(np.linalg.norm(np.ptp(ground, axis=0)))
    if np.ptp(heights) > _LEVEL * size:
        raise ValueError(
            f"ground: the contacts stand at heights that differ by {np.ptp(heights):.3g} m; wanted ground "
            "that is one plane"
        )


def _plane(points: Array, up: Array, names: list[str]) -> tuple[Array, Array]:
    """The normal of the plane nearest to the points (k, 3), upwards, and two unit vectors in it (2, 3)."""
    _, widths, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if not widths[1] > _THIN * widths[0]:
        raise ValueError(
            f"support: {', '.join(names)} are on one line or at one point; wanted contacts that span an area"
        )
    normal: Array = _cross(axes[0], axes[1])
    normal = normal * np.sign(normal @ up)
    return normal, np.array([axes[0], _cross(normal, axes[0])])


def _turned(gravity: Array, up: Array, normal: Array) -> Array:
    """Gravity as the body feels it when the plane of its feet lies on the ground."""
    axis = _cross(up, normal)
    cosine = float(up @ normal)
    found = cosine * gravity + _cross(axis, gravity) + axis * (axis @ gravity) / (1.0 + cosine)
    return np.asarray(found, dtype=np.float64)


def _across(points: Array, along: Array) -> Array:
    """How far points (k, 3) are from a line through the origin, (k,)."""
    e = along / np.linalg.norm(along)
    return np.asarray(np.linalg.norm(points - np.outer(points @ e, e), axis=1))


def _edge(
    down: Touchdown, a: Array, b: Array, gravity: Array, names: tuple[str, str], lean: float = 0.0
) -> Edge:
    """An edge over which a body falls that stands leaning towards it by ``lean`` (rad).

    Two feet that each differ from the model by some height differ by sqrt(2) of it from each other, and over
    the width of the support that leans the body: less is left to the point above the edge.
    """
    e = (b - a) / np.linalg.norm(b - a)
    arm = down.com - a
    across = arm - e * (e @ arm)
    pull = gravity - e * (e @ gravity)
    strength = float(np.linalg.norm(pull))
    up = -pull / strength
    outward: Array = _cross(e, up)
    inertia = float(e @ down.inertia @ e + down.mass * across @ across)
    angle = math.atan2(-float(across @ outward), float(across @ up)) - lean  # left to the point above
    rise = 2.0 * float(np.linalg.norm(across)) * math.sin(0.5 * angle) ** 2 if angle > 0.0 else 0.0
    linear, angular = down.momentum[:3], down.momentum[3:]
    rate = (e @ angular + _cross(e, arm) @ linear) / inertia  # e . (arm x p) = (e x arm) . p
    return Edge(names, a, e, outward, inertia, down.mass * strength * rise, rate)


def hull_of(points: Array) -> list[int]:
    """The corners of the convex hull of points (k, 2), counter-clockwise, without points on its edges."""
    least = SAME * float(np.ptp(points, axis=0).max()) ** 2
    order = np.lexsort((points[:, 1], points[:, 0]))

    def half(indices: np.ndarray) -> list[int]:
        chain: list[int] = []
        for k in map(int, indices):
            while len(chain) >= 2 and _turn(points[chain[-2]], points[chain[-1]], points[k]) <= least:
                chain.pop()
            chain.append(k)
        return chain[:-1]

    return half(order) + half(order[::-1])


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the area of a triangle in the plane, positive where it turns to the left."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _cross(a: Array, b: Array) -> Array:
    """The vector product of (3,) and (3,); NumPy's takes ten times as long on three numbers."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
