"""Polyhedra that know their own floating-point shadow, and unions of them.

The floating-point vertices and facets only ever save work: they reject what cannot be covered or convex
before the exact test is made, and the exact test decides. The polyhedra are those of the Parma Polyhedra
Library, an optional dependency under the GPL, which `load_ppl` loads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from routh.base.status import optional
from routh.base.validation import Array
from routh.exact.rational import Vector, integers

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint, Generator


_LOADING = threading.Lock()
_MARGIN = 1e-7  # share of the speed by which a point must lie outside to be rejected without exact test
_PATIENCE = 12  # cuts that an exact covering test may take
_BLENDS = np.random.default_rng(0).dirichlet(np.full(64, 0.2), size=24)  # weights of trial points


@dataclass(frozen=True, eq=False)
class Piece:
    """One closed convex polyhedron of the reachable set."""

    poly: C_Polyhedron
    gram: Array  # the dual norm of forms in z: distances are shares of the speed before
    location: tuple[int, ...] = ()  # where it was reached; empty for the start
    parent: Piece | None = None  # the piece whose points flowed here
    parts: tuple[Piece, ...] = ()  # where it is the convex union of others: those

    @cached_property
    def points(self) -> Array:
        """Vertices, (k, dim); of a cone its rays, of unit length in the norm of z."""
        generators = list(self.poly.minimized_generators())
        corners = np.array([_point(g) for g in generators if g.is_point()])
        rays = [g for g in generators if not g.is_point()]
        if not rays or np.any(corners):
            return corners
        directions = np.array([_ray(g) for g in rays] + [-_ray(g) for g in rays if g.is_line()])
        half = np.linalg.cholesky(self.gram)  # |z| = |half^-1 z|
        return directions / np.linalg.norm(np.linalg.solve(half, directions.T), axis=0)[:, None]

    @cached_property
    def facets(self) -> tuple[Array, Array, np.ndarray]:
        """``A z + b >= 0`` with rows of unit dual norm, and which of them are equations."""
        constraints = list(self.poly.minimized_constraints())
        table = np.array([_row(c) for c in constraints]).reshape(-1, self.poly.space_dimension() + 1)
        A, b = table[:, :-1], table[:, -1]
        size = np.sqrt(np.einsum("ij,jk,ik->i", A, self.gram, A))
        return A / size[:, None], b / size, np.array([c.is_equality() for c in constraints], dtype=bool)

    @cached_property
    def trials(self) -> Array:
        """Vertices and a few points inside."""
        k = len(self.points)
        weights = _BLENDS[:, :k] if k <= 64 else np.tile(_BLENDS, (1, k // 64 + 1))[:, :k]
        return np.vstack([self.points, weights / weights.sum(axis=1, keepdims=True) @ self.points])

    def outside(self, points: Array, margin: float = _MARGIN) -> np.ndarray:
        """Which of (k, dim) points violate a facet by more than the margin."""
        return np.any(self._beyond(points, margin), axis=(1, 2))

    def apart(self, other: Piece) -> bool:
        """Whether a facet clearly separates the other from this one."""
        return bool(np.any(np.all(self._beyond(other.points, _MARGIN), axis=0)))

    def _beyond(self, points: Array, margin: float) -> np.ndarray:
        """Whether (k, dim) points are beyond each facet, and beyond the other side of it, (k, m, 2) bool."""
        A, b, equal = self.facets
        slack = points @ A.T + b
        return np.stack([slack < -margin, equal & (slack > margin)], axis=-1)


def nearly_covered(piece: Piece, others: Sequence[Piece], margin: float) -> bool:
    """Whether no vertex and no trial point of a polyhedron is farther than the margin from all others.

    A sample, not a proof: to leave such a piece out of an inner set is always allowed.
    """
    left = piece.trials
    for other in others:
        left = left[other.outside(left, margin)]
        if not len(left):
            return True
    return False


def covered(piece: Piece, others: Sequence[Piece], ppl: ModuleType) -> bool:
    """Whether a polyhedron lies in the union of others, exactly."""
    dim = piece.poly.affine_dimension()
    others = [other for other in others if other.poly.affine_dimension() >= dim]
    if len(others) < 2:
        return bool(others) and others[0].poly.contains(piece.poly)
    if not nearly_covered(piece, others, _MARGIN):
        return False
    near = [other for other in others if not (other.apart(piece) or piece.apart(other))]
    return _covered(piece.poly, near, 0, ppl, [_PATIENCE])


def _covered(
    part: C_Polyhedron, others: Sequence[Piece], first: int, ppl: ModuleType, patience: list[int]
) -> bool:
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


def merged(piece: Piece, others: Sequence[Piece], ppl: ModuleType) -> Piece:
    """The piece joined with those of the others with which its union is convex."""
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


def _convex_union(a: Piece, b: Piece, ppl: ModuleType) -> Piece | None:
    """The union of two polyhedra where it is convex, else None."""
    dim = a.poly.affine_dimension()
    if b.poly.affine_dimension() != dim:
        return None
    if dim > 2 and _clearly_not_convex(a, b):
        return None
    hull = ppl.C_Polyhedron(a.poly)
    hull.poly_hull_assign(b.poly)
    if hull.affine_dimension() != dim or a.poly.is_disjoint_from(b.poly):
        return None
    if not _covered(hull, [a, b], 0, ppl, [_PATIENCE]):
        return None
    return Piece(hull, a.gram, location=a.location, parts=(a, b))


def _clearly_not_convex(a: Piece, b: Piece) -> bool:
    """Whether a point between two vertices, one of each, is clearly outside both."""
    only_a, only_b = a.points[b.outside(a.points)], b.points[a.outside(b.points)]
    if not (len(only_a) and len(only_b)):
        return False
    for share in (0.5, 0.25, 0.75):
        between = share * only_a[:24, None] + (1.0 - share) * only_b[None, :24]
        left = between.reshape(-1, only_a.shape[1])
        if b.outside(left[a.outside(left)]).any():
            return True
    return False


def _point(generator: Generator) -> list[float]:
    scale = int(generator.divisor())
    return [int(x) / scale for x in generator.coefficients()]


def _ray(generator: Generator) -> Array:
    """Coefficients, scaled so that the largest is 1."""
    values = [int(x) for x in generator.coefficients()]
    largest = max(map(abs, values))
    return np.array([x / largest for x in values])


def _row(constraint: Constraint) -> Array:
    """Coefficients and inhomogeneous term, scaled so that the largest coefficient is 1."""
    values = [int(x) for x in (*constraint.coefficients(), constraint.inhomogeneous_term())]
    largest = max(abs(x) for x in values[:-1]) or 1
    return np.array([x / largest for x in values])


def load_ppl() -> ModuleType:
    """The Parma Polyhedra Library, or an error that says how to get it; from any thread."""
    with _LOADING, _without_signal_handlers():
        ppl = optional("ppl", "exact", "ppl (passagemath-ppl)")
    # Other builds of it (pplpy on x86-64) leave the processor rounding upwards, for everything that follows.
    if not _rounds_to_nearest():
        ppl.restore_pre_PPL_rounding()
    return ppl


@contextmanager
def _without_signal_handlers() -> Iterator[None]:
    """Let ppl be imported outside of the main thread.

    It uses the module ``cysignals.signals``, whose package installs signal handlers when it is imported, and
    Python lets only the main thread do that. An empty package of that name stands in while ppl is imported;
    Ctrl-C is then heard between two operations of ppl, as everywhere in Python.
    """
    name = "cysignals"
    here = threading.current_thread() is threading.main_thread()
    spec = None if here or "ppl" in sys.modules or name in sys.modules else find_spec(name)
    if spec is None:
        yield
        return
    sys.modules[name] = module_from_spec(spec)
    try:
        yield
    finally:
        del sys.modules[name]  # who imports it next gets the whole package


def _rounds_to_nearest() -> bool:
    half_a_unit = 2.0**-54
    return 1.0 + half_a_unit == 1.0 and -1.0 - half_a_unit == -1.0


def hull(ppl: ModuleType, points: Iterable[Vector]) -> C_Polyhedron:
    """The convex hull of points."""
    corners = ppl.Generator_System()
    for point in points:
        *numerators, scale = integers((*point, Fraction(1)))
        corners.insert(ppl.point(ppl.Linear_Expression(numerators, 0), scale))
    return ppl.C_Polyhedron(corners)
