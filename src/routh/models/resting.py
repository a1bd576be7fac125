"""Points on which a body comes to rest on a plane, and edges over which it leaves them again.

What can touch are points of the body. Of their convex hull the facets count that are seen from the ground. A
body at rest lies on one of them, with the line of gravity through its centre of weight inside. From where it
is, it gets there by turning from the facet that this line meets to the one that it meets once that one lies
on the ground, and so on.

Feet are never quite equal: four of them make two facets, and to rock from one to the other is not to turn
over. So the facet grows across every edge that is crossed more easily than what lies beyond is left again.
Points above that region, such as knees, carry nothing.

To leave a region, the line of gravity has to pass through its border, in some point x of the body. No point
of the body is below the ground, so the centre c is then at least ``|x - c|`` above it, whatever the body did
before: on level ground the least distance from the centre to an edge is a height that it cannot do without.
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np

from routh.base.status import InputError
from routh.base.validation import Array

#: Share of the support's size: points nearer than this are one.
SAME = 1e-6

_THIN = 1e-3  # width over length below which points are on a line
_APEX = 100.0  # sizes above the points: what is seen from there is not seen from the ground
_COPLANAR = math.cos(1e-3)  # of the angle (rad) between facets that are one where nothing else decides


class Rest(NamedTuple):
    """A body at rest, in the world's frame as it is turned now."""

    carrying: np.ndarray  # (k,) points that lie on the facets which count
    corners: np.ndarray  # (m,) of them: the border of these facets, counter-clockwise seen from above
    normal: Array  # (3,) of the facet on which it comes to rest, upwards
    down: Array  # (3,) unit vector of gravity, as the body feels it when that facet is on the ground
    height: float  # m, of the centre above the ground then, along gravity
    rises: Array  # (m,) m, of the centre along gravity, from there to balancing on each edge
    arms: Array  # (m,) m, from the edges to the centre, times the share of gravity across the edge
    stands: bool  # whether it stays there
    held: bool  # whether the line of gravity meets these facets already now, inside of a border without gaps


def rest_of(points: Array, up: Array, centre: Array, down: Array) -> Rest:
    """The rest to which a body comes; a ValueError where its points (k, 3) span no area.

    Parameters
    ----------
    points : of the body, that can touch the ground, m.
    up : unit vector, the ground's normal; down : unit vector of gravity.
    centre : (3,) m, where the weight acts.
    """
    x = points - centre
    size = float(np.ptp(x, axis=0).max())
    kept = _distinct(x, SAME * size)
    triangles, neighbours, normals = _lower_hull(x[kept], up, size)
    triangles = kept[triangles]
    a = x[triangles[:, 0]]
    first, stands = _settled(x, triangles, normals, up, down, size)
    normal = normals[first]
    felt = turned_onto(down, up, normal)
    offset = float(normal @ a[first])
    edges = Edges.of(x[triangles], x[np.roll(triangles, -1, axis=1)], normal, offset, felt)
    if stands:
        region = _hardest_to_leave(first, neighbours, edges.passes)
    else:
        region = _coplanar_with(first, neighbours, normals)
    corners, whole = _border(triangles, neighbours, region)
    corners = _bends(corners, x, normal, SAME * size * size)
    border = Edges.of(x[corners], x[np.roll(corners, -1)], normal, offset, felt)
    heights = np.abs(np.einsum("fi,kfi->kf", normals[region], x[:, None] - a[region])).min(axis=1)
    inside = _meets(x, triangles[region], down, size)
    return Rest(
        np.union1d(np.flatnonzero(heights <= SAME * size), corners),
        corners,
        normal,
        felt,
        border.height,
        border.rises if stands else np.where(border.inside, border.rises, 0.0),
        border.arms,
        stands,
        whole and bool(inside.any()),
    )


class Edges(NamedTuple):
    """What it takes to balance on edges, on a plane with the slope that gravity has."""

    rises: Array  # (...,) m, to balancing on the edge's line
    passes: Array  # (...,) m, on a point of the edge itself
    arms: Array  # (...,) m
    inside: np.ndarray  # (...,) bool: whether the centre is on the inner side
    height: float  # m, of the centre above the ground at rest, along gravity

    @classmethod
    def of(cls, start: Array, end: Array, normal: Array, offset: float, down: Array) -> Edges:
        """Edges between points (..., 3) from the centre, when the facet ``x . normal = offset`` lies on the
        ground. An edge that is not in its plane is level once the body balances on it.
        """
        e = end - start
        length = np.sqrt((e**2).sum(axis=-1))
        e = e / length[..., None]
        flat = e - (e @ normal)[..., None] * normal
        flat = flat / np.maximum(np.sqrt((flat**2).sum(axis=-1)), 1e-300)[..., None]
        along = flat @ down
        share = np.sqrt(np.maximum(1.0 - along**2, 0.0))  # of gravity across the edge
        lengthwise = -(start * e).sum(axis=-1)
        across = -start - lengthwise[..., None] * e
        apart = np.sqrt((across**2).sum(axis=-1))
        arms = apart * share
        past = np.maximum(np.maximum(-lengthwise, lengthwise - length), 0.0)
        farther = (np.sqrt(apart**2 + past**2) - apart) * share
        above = start @ normal - offset  # m, of the edge's start above the facet
        now = start @ down - above * (normal @ down)  # of the centre over the ground below that start
        inside = np.cross(flat, down - along[..., None] * flat)
        height = offset / float(normal @ down)
        rises = arms - now - along * lengthwise
        return cls(rises, rises + farther, arms, (across * inside).sum(axis=-1) > 0.0, height)


def turned_onto(vector: Array, up: Array, normal: Array) -> Array:
    """A vector of the world as the body feels it once its plane with this normal lies on the ground."""
    axis, cosine = np.cross(up, normal), float(up @ normal)
    found = cosine * vector + np.cross(axis, vector) + axis * (axis @ vector) / (1.0 + cosine)
    return np.asarray(found, dtype=np.float64)


def _distinct(x: Array, least: float) -> np.ndarray:
    """Points without those that are at another one's place, (k,)."""
    apart = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2)) <= least
    return np.flatnonzero(~np.tril(apart, -1).any(axis=1))


def _lower_hull(x: Array, up: Array, size: float) -> tuple[np.ndarray, np.ndarray, Array]:
    """Triangles (f, 3) that are seen from below, counter-clockwise from above; neighbours (f, 3) across the
    edge that begins at each corner, -1 where there is none; normals (f, 3), upwards."""
    from scipy.spatial import ConvexHull, QhullError

    widths = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    seen = x - (x @ up)[:, None] * up
    level = np.linalg.svd(seen - seen.mean(axis=0), compute_uv=False)
    if len(x) < 3 or not (widths[1] > _THIN * widths[0] and level[1] > _THIN * level[0]):
        raise InputError(wrong="on one line or at one point")
    apex = len(x)
    try:
        hull = ConvexHull(np.vstack([x - x.mean(axis=0), _APEX * size * up]) / size)
    except QhullError as error:
        raise InputError(wrong="on one line or at one point") from error
    lower = np.flatnonzero((hull.simplices != apex).all(axis=1))
    number = np.full(len(hull.simplices), -1)
    number[lower] = np.arange(len(lower))
    triangles, across = hull.simplices[lower], number[hull.neighbors[lower]]
    normals = -hull.equations[lower, :3]
    a, b, c = x[triangles.T]
    area = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals)
    turned = _against(triangles, across, int(np.abs(area).argmax()), area)
    triangles[turned] = triangles[turned][:, ::-1]
    across[turned] = across[turned][:, ::-1]
    return (
        triangles.astype(np.int64),
        np.roll(across, -2, axis=1),
        normals,
    )  # Qhull's: across from each corner


def _against(triangles: np.ndarray, across: np.ndarray, first: int, area: Array) -> np.ndarray:
    """Which triangles (f,) run clockwise: Qhull makes some without an area, so the others tell."""
    turned = {first: bool(area[first] < 0.0)}
    queue = [first]
    for at in queue:
        corners, way = triangles[at].tolist(), turned[at]
        for k, other in enumerate(across[at].tolist()):
            if other >= 0 and other not in turned:
                ahead, behind = corners[(k + 1) % 3], corners[(k + 2) % 3]  # the edge across from corner k
                theirs = triangles[other].tolist()
                same = theirs[(theirs.index(ahead) + 1) % 3] == behind
                turned[other] = way != same
                queue.append(other)
    return np.array([turned.get(k, bool(area[k] < 0.0)) for k in range(len(triangles))])


def _meets(x: Array, triangles: np.ndarray, down: Array, size: float) -> np.ndarray:
    """Which triangles a line from the centre downwards meets, (f,) bool."""
    return _depths(x, triangles, down) >= -SAME * size


def _depths(x: Array, triangles: np.ndarray, down: Array) -> Array:
    """How far inside of triangles the line passes, (f,) m; negative outside."""
    start, end = x[triangles], x[np.roll(triangles, -1, axis=1)]
    side = np.cross(down, end - start)
    length = np.sqrt((side**2).sum(axis=2))
    inner = (side * start).sum(axis=2) / np.maximum(length, 1e-300)
    return np.asarray(inner.min(axis=1))


def _settled(
    x: Array, triangles: np.ndarray, normals: Array, up: Array, down: Array, size: float
) -> tuple[int, bool]:
    """The triangle on which it comes to rest, and whether it stays; else the one on which it leaves."""
    now = _depths(x, triangles, down)
    at, seen = int(now.argmax()), set[int]()
    while at not in seen and now.max() >= -SAME * size:
        seen.add(at)
        depths = _depths(x, triangles, turned_onto(down, up, normals[at]))
        if depths[at] >= -SAME * size:
            return at, True
        best = int(depths.argmax())
        if depths[best] < -SAME * size:
            break
        at = best
    return at, False


def _hardest_to_leave(first: int, neighbours: np.ndarray, rises: Array) -> np.ndarray:
    """The triangles (r,) around the first one that it rocks on: behind an edge that is crossed more easily
    than what lies beyond is left, the region goes on."""
    inside, across, rise = [first], neighbours.tolist(), rises.tolist()
    for member in inside:
        for beyond, own in zip(across[member], rise[member], strict=True):
            if beyond >= 0 and beyond not in inside and own < _escape(beyond, inside, across, rise):
                inside.append(beyond)
                inside.append(member)  # to be looked at again: what is inside closes ways out
                break
    return np.unique(inside)


def _escape(start: int, inside: list[int], across: list[list[int]], rise: list[list[float]]) -> float:
    """The rise without which there is no way out from a triangle, but back inside, m."""
    heap, known = [(0.0, start)], set(inside)
    while heap:
        so_far, at = heapq.heappop(heap)
        if at < 0:
            return so_far
        if at not in known:
            known.add(at)
            for beyond, own in zip(across[at], rise[at], strict=True):
                if beyond not in known:
                    heapq.heappush(heap, (max(so_far, own), beyond))
    return math.inf


def _coplanar_with(first: int, neighbours: np.ndarray, normals: Array) -> np.ndarray:
    """The triangles (r,) that make one facet with the first."""
    inside = [first]
    for member in inside:
        for other in neighbours[member].tolist():
            if other >= 0 and other not in inside and normals[other] @ normals[first] > _COPLANAR:
                inside.append(other)
    return np.array(inside)


def _border(triangles: np.ndarray, neighbours: np.ndarray, region: np.ndarray) -> tuple[np.ndarray, bool]:
    """The corners around some triangles, counter-clockwise from the one with the lowest number; and whether
    these are all."""
    outer = ~np.isin(neighbours[region], region)
    start, end = triangles[region][outer], np.roll(triangles[region], -1, axis=1)[outer]
    follows = dict(zip(start.tolist(), end.tolist(), strict=True))
    corners = [min(follows)]
    while (corner := follows[corners[-1]]) not in corners:
        corners.append(corner)
    return np.array(corners), len(corners) == len(start)


def _bends(corners: np.ndarray, x: Array, normal: Array, least: float) -> np.ndarray:
    """Corners (m,) without those at which the border goes straight on."""
    kept = corners.tolist()
    at = 0
    while at < len(kept) and len(kept) > 3:
        before, here, after = x[kept[at - 1]], x[kept[at]], x[kept[(at + 1) % len(kept)]]
        if abs(normal @ np.cross(here - before, after - here)) <= least:
            del kept[at]
            at = max(at - 1, 0)
        else:
            at += 1
    return np.array(kept)
