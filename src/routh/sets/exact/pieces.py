"""Polyhedra that know their own floating-point shadow, and unions of them.

The floating-point vertices and facets only ever save work: they reject what cannot be covered or convex
before the exact test is made, and the exact test decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from routh.validation import Array

_MARGIN = 1e-7  # share of a facet's size by which a point must lie outside to be rejected without exact test
_PATIENCE = 12  # cuts that an exact covering test may take
_BLENDS = np.random.default_rng(0).dirichlet(np.full(64, 0.2), size=24)  # weights of trial points


class Piece:
    """One closed convex polyhedron of the reachable set."""

    def __init__(
        self,
        poly: Any,
        *,
        location: tuple[int, ...] = (),
        parent: Piece | None = None,
        parts: tuple[Piece, ...] = (),
    ) -> None:
        self.poly = poly
        self.location = location  # where it was reached; empty for the start
        self.parent = parent  # the piece whose points flowed here
        self.parts = parts  # where it is the convex union of others: those

    @cached_property
    def points(self) -> Array:
        """Vertices, (k, dim)."""
        return np.array([_point(g) for g in self.poly.minimized_generators() if g.is_point()])

    @cached_property
    def facets(self) -> tuple[Array, Array]:
        """``A z + b >= 0`` with rows of unit norm; an equation is two rows."""
        rows = []
        for c in self.poly.minimized_constraints():
            row = _row(c)
            rows.append(row)
            if c.is_equality():
                rows.append(-row)
        if not rows:
            return np.zeros((0, self.poly.space_dimension())), np.zeros(0)
        table = np.array(rows)
        return table[:, :-1], table[:, -1]

    @cached_property
    def trials(self) -> Array:
        """Vertices and a few points inside."""
        k = len(self.points)
        weights = _BLENDS[:, :k] if k <= 64 else np.tile(_BLENDS, (1, k // 64 + 1))[:, :k]
        return np.vstack([self.points, weights / weights.sum(axis=1, keepdims=True) @ self.points])

    def outside(self, points: Array) -> np.ndarray:
        """Which of (k, dim) points are clearly outside."""
        A, b = self.facets
        size = 1.0 + np.abs(points).max(initial=0.0)
        return np.any(points @ A.T + b < -_MARGIN * size, axis=1)


def covered(piece: Piece, others: Sequence[Piece], ppl: Any) -> bool:
    """Whether a polyhedron lies in the union of others, exactly."""
    dim = piece.poly.affine_dimension()
    others = [other for other in others if other.poly.affine_dimension() >= dim]
    if len(others) < 2:
        return bool(others) and others[0].poly.contains(piece.poly)
    left = np.ones(len(piece.trials), dtype=bool)
    for other in others:
        left &= other.outside(piece.trials)
    if left.any():
        return False
    near = [other for other in others if not other.poly.is_disjoint_from(piece.poly)]
    return _covered(piece.poly, near, 0, ppl, [_PATIENCE])


def _covered(part: Any, others: Sequence[Piece], first: int, ppl: Any, patience: list[int]) -> bool:
    """Cut ``part`` by the first polyhedron that meets it fully, and ask the same of what sticks out.

    False where the patience runs out: to keep a piece that is covered costs time, nothing else.
    """
    patience[0] -= 1
    if patience[0] < 0:
        return False
    dim = part.affine_dimension()
    included = ppl.Poly_Con_Relation.is_included()
    for j in range(first, len(others)):
        other = others[j].poly
        common = ppl.C_Polyhedron(part)
        common.intersection_assign(other)
        if common.affine_dimension() < dim:
            continue
        rest = ppl.C_Polyhedron(part)
        for c in other.minimized_constraints():
            if rest.relation_with(c).implies(included):
                continue
            beyond = ppl.C_Polyhedron(rest)
            beyond.add_constraint(ppl.Linear_Expression(c.coefficients(), c.inhomogeneous_term()) <= 0)
            if beyond.affine_dimension() == dim and not _covered(beyond, others, j + 1, ppl, patience):
                return False
            rest.add_constraint(c)
        return True
    return False


def merged(piece: Piece, others: Sequence[Piece], ppl: Any) -> Piece:
    """The piece joined with those of the others with which its union is convex, exactly."""
    rest = list(others)
    index = 0
    while index < len(rest):
        other = rest[index]
        hull = _convex_union(piece, other, ppl)
        if hull is None:
            index += 1
            continue
        piece = hull
        rest = [o for o in rest if o is not other]
        index = 0
    return piece


def _convex_union(a: Piece, b: Piece, ppl: Any) -> Piece | None:
    """The union of two polyhedra where it is convex, else None."""
    dim = a.poly.affine_dimension()
    if b.poly.affine_dimension() != dim or (dim > 2 and _clearly_not_convex(a, b)):
        return None
    hull = ppl.C_Polyhedron(a.poly)
    hull.poly_hull_assign(b.poly)
    if hull.affine_dimension() != dim or a.poly.is_disjoint_from(b.poly):
        return None
    if not _covered(hull, [a, b], 0, ppl, [_PATIENCE]):
        return None
    return Piece(hull, location=a.location, parts=(a, b))


def _clearly_not_convex(a: Piece, b: Piece) -> bool:
    """Whether the middle of two vertices, one of each, lies outside both."""
    only_a, only_b = a.points[b.outside(a.points)], b.points[a.outside(b.points)]
    if not (len(only_a) and len(only_b)):
        return False
    middle = 0.5 * (only_a[:16, None] + only_b[None, :16]).reshape(-1, only_a.shape[1])
    return bool(np.any(a.outside(middle) & b.outside(middle)))


def _point(generator: Any) -> list[float]:
    scale = int(generator.divisor())
    return [int(x) / scale for x in generator.coefficients()]


def _row(constraint: Any) -> Array:
    """Coefficients and inhomogeneous term, scaled so that the coefficients have unit norm."""
    values = [int(x) for x in (*constraint.coefficients(), constraint.inhomogeneous_term())]
    largest = max(abs(x) for x in values[:-1]) or 1
    row = np.array([x / largest for x in values])
    return row / (np.linalg.norm(row[:-1]) or 1.0)
