"""How far an outer union of polytopes is from an inner one: an upper bound that looks at parts of pieces."""

from __future__ import annotations

import numpy as np

from routh.exact.polytopes import Polytope, PolytopeUnion
from routh.validation import Array

_FINE = 1e-4  # share of the speed: parts this near to one inner piece are not cut further
_CUTS = 64  # of one outer piece
_NEAREST = 4  # inner pieces at whose facets a part may be cut
_POINTS = 256  # of one part, beyond which it is not cut further


def largest_distance(outer: PolytopeUnion, inner: PolytopeUnion) -> float:
    """Upper bound on the distance of any point of ``outer`` from ``inner``, as a share of the speed before.

    A distance to a convex set is convex, so over a polytope it is largest at a vertex. An outer piece may lie
    along several inner pieces: then it is cut at their facets, and each part has its own nearest piece.
    """
    if not len(inner):
        return float("inf") if len(outer) else 0.0
    worst = 0.0
    for piece in outer:
        worst = max(worst, _farthest(piece.points, inner, [_CUTS], worst))
    return worst + outer.radius


def _farthest(points: Array, inner: PolytopeUnion, cuts: list[int], enough: float) -> float:
    """The bound for the hull of (k, nv) points; a bound below ``enough`` need not be better."""
    bound, reach = np.inf, []
    for piece in inner:
        reach.append(_reach(points, piece, bound))
        bound = min(bound, reach[-1])
    if not max(_FINE, enough) < bound < 1.0 or cuts[0] <= 0 or len(points) > _POINTS:
        return bound
    for index in np.argsort(reach)[:_NEAREST]:
        parts = _cut(points, inner[int(index)])
        if parts is not None:
            cuts[0] -= 1
            return min(bound, max(_farthest(part, inner, cuts, enough) for part in parts))
    return bound


def _reach(points: Array, piece: Polytope, best: float) -> float:
    """Largest distance of the points from one piece, or the first that is not below ``best``."""
    farthest = 0.0
    for point in points:
        farthest = max(farthest, piece.distance(point))
        if farthest >= best:
            break
    return farthest


def _cut(points: Array, piece: Polytope) -> tuple[Array, Array] | None:
    """The parts of a hull on the two sides of the facet that cuts it most evenly, or None.

    Each part is the hull of its points and of all crossings of segments between the two sides.
    """
    slack = piece.slack(points)  # (k, facets)
    ahead, behind = np.maximum(slack, 0.0).max(axis=0), np.maximum(-slack, 0.0).max(axis=0)
    even = np.where(piece.equal, 0.0, np.minimum(ahead, behind))
    if not np.any(even > _FINE):
        return None
    facet = int(np.argmax(even))
    side = slack[:, facet]
    inside, outside = points[side > 0.0], points[side < 0.0]
    a, b = side[side > 0.0][:, None, None], side[side < 0.0][None, :, None]
    crossings = (inside[:, None] * -b + outside[None] * a) / (a - b)
    border = np.vstack([points[side == 0.0], crossings.reshape(-1, points.shape[1])])
    return np.vstack([inside, border]), np.vstack([outside, border])
