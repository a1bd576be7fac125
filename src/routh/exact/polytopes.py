"""Polytopes in velocity space with exact rational vertices, unions of them, and how far apart two are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import ArrayLike

from routh.base.status import InputError
from routh.base.validation import Array, real_array
from routh.exact.automaton import Automaton
from routh.exact.facets import Facet, Facets, exact_facets, rounded
from routh.exact.polyhedra import Piece
from routh.exact.rational import floats, times
from routh.problem.impact import ImpactProblem
from routh.problem.pointedness import hull_weights

if TYPE_CHECKING:
    from ppl import C_Polyhedron


Vertex = tuple[Fraction, ...]

# limits of `largest_distance`
_FINE = 1e-4  # share of the speed: parts this near to one inner piece are not cut further
_CUTS = 64  # of one outer piece
_NEAREST = 4  # inner pieces at whose facets a part may be cut
_POINTS = 256  # of one part, beyond which it is not cut further


@dataclass(frozen=True, eq=False)
class VelocityFrame:
    """How z = B v sits in velocity space, in floating point and in the energy norm of the velocity before."""

    automaton: Automaton = field(repr=False)  # the same, exact
    rows: Array  # (dim, nv): z = rows v
    back: Array  # (nv, dim): v = base + back z
    base: Array  # (nv,)
    half: Array  # (nv, nv): |x|_M = |half x|
    speed: float  # |v|_M before, sqrt(J); 1 where that is 0

    def norm(self, difference: Array) -> Array:
        """Length of (..., nv) in the energy norm, as a share of the speed before."""
        return np.linalg.norm(difference @ (self.half / self.speed).T, axis=-1)

    def dual_norm(self, direction: Array) -> Array:
        """The largest ``direction . x`` over velocities x as long as the speed before, for (..., nv)."""
        turned = np.linalg.solve(self.half.T, direction[..., None])[..., 0]
        return np.linalg.norm(turned, axis=-1) * self.speed


@dataclass(frozen=True, eq=False)
class Polytope:
    """A bounded convex piece with exact vertices."""

    piece: Piece = field(repr=False)  # in z
    frame: VelocityFrame = field(repr=False)
    dimension: int  # affine dimension

    @cached_property
    def vertices(self) -> tuple[Vertex, ...]:
        """The vertices in v, exact."""
        return lifted(self.piece.poly, self.frame.automaton)

    @cached_property
    def points(self) -> Array:
        """Vertices in floating point, (k, nv)."""
        return floats(self.vertices)

    @cached_property
    def facets(self) -> tuple[tuple[Facet, ...], np.ndarray]:
        """The facets in v, exact, and which of them are equations, (m,) bool."""
        return exact_facets(self.piece.poly, self.frame.automaton)

    @cached_property
    def _rounded(self) -> tuple[Array, Array]:
        return rounded(self.facets[0], len(self.frame.base))

    @property
    def equal(self) -> np.ndarray:
        """Which of the m facets are equations, (m,) bool."""
        return self.facets[1]

    def slack(self, v: Array) -> Array:
        """How far (..., nv) is inside each facet, (..., m), in the energy norm over the speed before."""
        forms, constants = self._rounded
        return np.asarray(v @ forms.T + constants)

    @cached_property
    def _alone(self) -> PolytopeUnion:
        return PolytopeUnion((self,))

    def violation(self, v: Array) -> Array:
        """Distance by which (..., nv) violates a facet for certain: see `PolytopeUnion.violation`."""
        return self._alone.violation(v)

    def distance(self, v: Array) -> float:
        """Distance of one velocity from the polytope, in the energy norm over the speed before."""
        if self.violation(v) == 0.0:
            return 0.0
        half = self.frame.half / self.frame.speed
        return distance_to_hull(self.points @ half.T, v @ half.T)


@dataclass(frozen=True, eq=False)
class PolytopeUnion(Sequence[Polytope]):
    """A finite union of polytopes in velocity space, and what lies within ``radius`` of them.

    The radius is a share of the speed before, in the energy norm; vertices are those of the polytopes alone.
    """

    pieces: tuple[Polytope, ...]
    radius: float = 0.0

    def __len__(self) -> int:
        return len(self.pieces)

    @overload
    def __getitem__(self, index: int) -> Polytope: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Polytope, ...]: ...
    def __getitem__(self, index: int | slice) -> Polytope | tuple[Polytope, ...]:
        return self.pieces[index]

    def vertices(self) -> tuple[Vertex, ...]:
        """The vertices of all pieces without repetition, exact."""
        return tuple(dict.fromkeys(vertex for piece in self.pieces for vertex in piece.vertices))

    @cached_property
    def _facets(self) -> Facets:
        frame = self.pieces[0].frame
        each = []
        for piece in self.pieces:
            facets, equal = piece.facets
            each.append((*facets, *(facets[k].other_side() for k in np.flatnonzero(equal))))
        return Facets(frame.automaton, tuple(each))

    def violation(self, v: ArrayLike) -> Array:
        """How far velocities (..., nv) are outside every piece for certain; 0 where that is not clear.

        The largest distance from a facet that it is on the wrong side of, or from the plane that impulses
        can reach, in the energy norm as a share of the speed before; the least over the pieces, less what
        rounding can have done to it and less the radius. It never exceeds the distance from the set. Infinite
        where v is not finite.
        """
        velocity = np.asarray(v, dtype=np.float64)
        if not self.pieces:
            return np.full(velocity.shape[:-1], np.inf)
        beyond = self._facets.violation(velocity.reshape(-1, velocity.shape[-1]))
        return np.maximum(beyond - self.radius, 0.0).reshape(velocity.shape[:-1])

    def contains(self, v: ArrayLike, tolerance: float = 0.0) -> np.ndarray:
        """Whether a piece has velocities (..., nv) inside all facets, to ``tolerance`` of the speed.

        The distance is that of `violation`, without rounding: what floating point does not tell is decided
        in fractions. False where v is not finite.
        """
        velocity = np.asarray(v, dtype=np.float64)
        if not self.pieces:
            return np.zeros(velocity.shape[:-1], dtype=bool)
        limit = Fraction(tolerance) + Fraction(self.radius)
        inside = self._facets.inside(velocity.reshape(-1, velocity.shape[-1]), limit)
        return inside.reshape(velocity.shape[:-1])

    def support(self, direction: ArrayLike) -> Array:
        """Largest ``direction . v`` over the union, for (..., nv)."""
        d = np.asarray(direction, dtype=np.float64)
        if not self.pieces:
            return np.full(d.shape[:-1], -np.inf)
        points = np.vstack([piece.points for piece in self.pieces])
        return np.max(d @ points.T, axis=-1) + self.radius * self.pieces[0].frame.dual_norm(d)

    def project(self, rows: ArrayLike) -> list[Array]:
        """The image of each piece under ``rows`` (k, nv): its vertices, in convex order where k is 2."""
        nv = self.pieces[0].frame.rows.shape[1] if self.pieces else 0
        matrix = real_array("rows", rows, [(None, nv)], f"shape (k, {nv})")
        images = [piece.points @ matrix.T for piece in self.pieces]
        return [_convex_order(image) for image in images] if len(matrix) == 2 else images


def frame_of(automaton: Automaton, problem: ImpactProblem) -> VelocityFrame:
    """The frame of the automaton of a problem."""
    exact = (automaton.rows, automaton.back, [automaton.base])
    rows, back, (base,) = map(floats, exact)
    return VelocityFrame(automaton, rows, back, base, problem.cholesky.T, problem.speed or 1.0)


def polytope(poly: C_Polyhedron, frame: VelocityFrame) -> Polytope:
    """A bounded PPL polyhedron in z as a polytope in v."""
    if not poly.is_bounded():
        raise InputError("poly", wrong="is unbounded", wanted="a polytope")
    return Polytope(Piece(poly, frame.automaton.gram), frame, int(poly.affine_dimension()))


def lifted(poly: C_Polyhedron, automaton: Automaton) -> tuple[Vertex, ...]:
    """The vertices of a bounded PPL polyhedron in z as exact velocities."""
    number = type(automaton.start[0])
    found = []
    for generator in poly.minimized_generators():
        scale = number(generator.divisor())
        moved = times(automaton.back, [number(x) / scale for x in generator.coefficients()])
        v = (b + m for b, m in zip(automaton.base, moved, strict=True))
        found.append(tuple(Fraction(int(x.numerator), int(x.denominator)) for x in v))
    return tuple(found)


def distance_to_hull(points: Array, target: Array) -> float:
    """Distance from a point to the convex hull of (k, n) points."""
    offsets = points - target
    weights = hull_weights(offsets / (float(np.max(np.abs(offsets))) or 1.0))
    return math.inf if weights is None else float(np.linalg.norm(weights @ offsets / weights.sum()))


def _convex_order(points: Array) -> Array:
    """Planar points in convex position, counter-clockwise, without interior points."""
    size = float(np.abs(points).max()) or 1.0
    unique = np.unique(np.round(points / size, 15), axis=0) * size
    if len(unique) <= 2:
        return unique

    def half(ordered: Array) -> list[Array]:
        chain: list[Array] = []
        for p in ordered:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 0.0:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(unique) + half(unique[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


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
