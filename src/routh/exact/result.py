"""The exact set of outcomes of an impact as data, and how much of it a cloud of samples fills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routh.base import tolerances
from routh.base.results import Drawable, Whole
from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, integer, real, real_array
from routh.exact.paths import statuses_to
from routh.exact.polytopes import PolytopeUnion, Vertex, largest_distance, lifted
from routh.exact.rational import RationalProblem, times
from routh.exact.reach import Reach
from routh.exact.snap import Snapped
from routh.problem.friction import friction_polygon
from routh.problem.impact import FIELDS, ImpactProblem
from routh.sampling.answers import SAME_MODE, Answer, contact_modes, make_answer
from routh.sampling.fill import watch_directions
from routh.sampling.outcomes import Outcomes
from routh.step.base import residual_tolerance

Side = Literal["inner", "outer"]


@dataclass(frozen=True, eq=False)
class ExactSet(Drawable):
    """Two unions of polytopes around the set of post-impact velocities: inner ⊆ closure(set) ⊆ outer.

    ``inner`` holds velocities that solutions of HP23 (39) reach (or approach arbitrarily closely); no
    solution ends outside ``outer``. Both have exact rational vertices.
    """

    rational: RationalProblem = field(repr=False)
    inner: PolytopeUnion
    outer: PolytopeUnion
    status: Status
    eta: float  # relaxation of "may push", a share of the speed before
    seconds: float  # processor time spent, s
    explored: tuple[int, int]  # polyhedra explored for the inner and the outer set
    outer_from: str  # how the outer set was obtained
    snapped: Snapped | None = field(default=None, repr=False)  # where the problem came in floating point
    facets: int | None = None  # directions of friction at each contact in space; None in the plane
    reached: tuple[Reach, Reach] | None = field(default=None, repr=False)  # all states, inner and relaxed

    def __repr__(self) -> str:
        pieces = f"inner={len(self.inner)} pieces, outer={len(self.outer)} pieces"
        friction = f"friction={self.friction!r}" + ("" if self.facets is None else f", facets={self.facets}")
        return f"ExactSet({self.status.name}, {pieces}, eta={self.eta:g}, {friction}, {self.problem!r})"

    def answer(self, threshold: float = SAME_MODE) -> Answer:
        """How ambiguous the impact is, between which two vertices of ``inner``, and at which contact.

        Vertices are numbered piece by piece. ``threshold``: see `routh.Outcomes.answer`.
        """
        points = [piece.points for piece in self.inner] or [np.empty((0, self.rational.nv))]
        v, problem = np.concatenate(points), self.problem
        answer = make_answer(problem, v, contact_modes(problem, v, threshold), whole=True)
        return replace(answer, incomplete=self.status is Status.INCOMPLETE)

    def _sentences(self) -> list[str]:
        return self.answer().lines()

    def _facts(self) -> list[tuple[object, ...]]:
        corners = len(self.inner.vertices())
        friction = self.friction if self.facets is None else f"polygons, {self.facets} facets"
        gap = f"{self.gap:.2g} of the speed"
        return [("status", "vertices", "gap", "friction"), (self.status.name, corners, gap, friction)]

    @property
    def friction(self) -> str:
        """The friction that it has: Coulomb's "cone" in the plane, "polyhedral" in space."""
        return "cone" if self.facets is None else "polyhedral"

    @property
    def problem(self) -> ImpactProblem:
        """The impact problem in floating point."""
        return self.rational.problem

    @property
    def whole(self) -> PolytopeUnion | None:
        """``inner`` where it is all of the set; None where a budget ran out."""
        return None if self.status is Status.INCOMPLETE else self.inner

    @cached_property
    def gap(self) -> float:
        """Upper bound on the distance of any point of ``outer`` from ``inner``.

        In the energy norm as a share of the speed before, see `routh.exact.polytopes`.
        """
        return largest_distance(self.outer, self.inner)

    def contains(self, v: ArrayLike, *, tolerance: float = 1e-9, which: Side = "outer") -> NDArray[np.bool_]:
        """Whether (..., nv) lies in the union: beyond no facet by over ``tolerance`` times the speed before.

        Outside ``outer`` is a proof that nothing within ``tolerance`` of a velocity is an outcome;
        inside ``inner`` with ``tolerance=0`` that it is one. Both are decided without rounding:
        floating point says yes or no only where a bound on its rounding lets it, and fractions decide
        the rest. A velocity counts as the numbers that it is made of, so one that was computed needs
        a ``tolerance`` for its own rounding. Not finite is not inside.
        """
        nv = self.rational.nv
        velocity = np.asarray(v, dtype=np.float64)
        if velocity.shape[-1:] != (nv,):
            raise InputError("v", got=f"shape {velocity.shape}", wanted=f"(..., {nv})")
        return self._side(which).contains(velocity, real("tolerance", tolerance, at_least=0.0))

    def support(self, direction: ArrayLike, *, which: Side = "inner") -> Array:
        """Largest ``direction . v`` over the set, for (nv,) or (k, nv)."""
        nv = self.rational.nv
        d = real_array("direction", direction, [(nv,), (None, nv)], f"shape ({nv},) or (k, {nv})")
        return self._side(which).support(d)

    def vertices(self, *, which: Side = "inner") -> tuple[Vertex, ...]:
        """Vertices of all pieces as exact rational numbers."""
        return self._side(which).vertices()

    def project(self, rows: ArrayLike, *, which: Side = "inner") -> list[Array]:
        """Each piece's image under ``rows`` (k, nv), as vertices (in convex order where k is 2)."""
        return self._side(which).project(rows)

    def statuses_to(self, v: Sequence[Fraction]) -> list[list[tuple[str, ...]]]:
        """Sequences of contact statuses along which an exact member (nv,) of ``inner`` may be reached.

        Hints for `routh.exact.checker.rebuild_path`, the shortest first.
        """
        if self.reached is None:
            return []
        auto = self.reached[0].auto
        return statuses_to(self.reached[0], times(auto.rows, [auto.start[0] * 0 + x for x in v]))

    @property
    def thresholds(self) -> tuple[Fraction, ...]:
        """Normal velocities (nc,) up to which the outer set lets contacts push, m/s, exact."""
        if self.reached is None:
            return ()
        relaxed = self.reached[1]
        return tuple(a / b for a, b in zip(relaxed.eta, relaxed.auto.stretches, strict=True))

    @cached_property
    def region(self) -> tuple[tuple[Vertex, ...], ...]:
        """Vertices of the polytopes whose union no solution of the relaxed inclusion leaves."""
        if self.reached is None:
            return tuple(piece.vertices for piece in self.outer)
        relaxed = self.reached[1]
        polys = [relaxed.point(relaxed.auto.start)]
        polys += [piece.poly for cell in relaxed.cells.values() for piece in cell.pieces]
        return tuple(lifted(poly, relaxed.auto) for poly in polys)

    def _side(self, which: str) -> PolytopeUnion:
        return self.inner if choice("which", which, ("inner", "outer")) == "inner" else self.outer


@dataclass(frozen=True, eq=False)
class Coverage(Whole):
    """Samples against the exact set. All numbers are shares: 0 is perfect."""

    directions: Array = field(repr=False)  # (k, nv)
    missing: Array = field(repr=False)  # (k,): what the samples' support lacks, over the exact width
    outside: float  # largest distance from the outer set that is proved, over the speed; 0 up to `RESIDUAL`
    holes: Array = field(repr=False)  # from points spread over the set to the nearest sample, over the speed
    n: int  # solved samples

    @property
    def worst(self) -> float:
        """Largest share of a width that the samples miss."""
        return float(self.missing.max(initial=0.0))

    @property
    def largest_hole(self) -> float:
        """Largest distance from a point of the set to the nearest sample, over the speed before."""
        return float(self.holes.max(initial=0.0))

    def __str__(self) -> str:
        return (
            f"{self.n} samples miss at most {100 * self.worst:.2f} % of the width in "
            f"{len(self.missing)} directions; largest hole {self.largest_hole:.3g}, "
            f"farthest outside {self.outside:.2g} (shares of the speed before)"
        )


def coverage(outcomes: Outcomes, exact: ExactSet, *, directions: int = 32, points: int = 400) -> Coverage:
    """Compare the solved samples with the exact set, of the same problem and with the same friction.

    ``directions`` (even) directions in contact velocity, in opposite pairs, are compared by support function;
    ``points`` points spread over the inner pieces look for their nearest sample. Directions in which the
    set is flat are left out. Samples are solved to `routh.base.tolerances.RESIDUAL`
    (`RESIDUAL_HUGE_FRICTION`): ``outside`` is 0 where none is proved to be farther out than that. In space
    the corners of the exact set's polygons are rational, up to 1e-3 rad from those of the samples':
    ``outside`` shows that, too.

    Samples of another problem, or drawn with other friction or facets, are refused.
    """
    _must_agree(outcomes, exact)
    from scipy.spatial import cKDTree  # slow to load, and pictures of sets do not need it

    v = outcomes.v[outcomes.solved]
    if not len(v):
        raise InputError("outcomes", wrong="no sample is solved", wanted="at least one")
    if not len(exact.inner):
        raise InputError(
            "exact", wrong=f"has no inner pieces ({exact.status.name})", wanted="a set to compare with"
        )
    rows = watch_directions(exact.problem, directions)
    top, bottom = exact.support(rows), -exact.support(-rows)
    width = top - bottom
    wide = width > 1e-6 * width.max(initial=0.0)
    missing = np.maximum((top - (v @ rows.T).max(axis=0))[wide] / width[wide], 0.0)
    half = exact.outer[0].frame.half
    share = max(integer("points", points, at_least=1) // len(exact.inner), 1)
    rng, clouds = np.random.default_rng(points), []
    for piece in exact.inner:  # points spread over it, vertices included
        weights = rng.dirichlet(np.full(len(piece.points), 0.6), size=share)
        clouds += [piece.points, weights @ piece.points]
    distances, _ = cKDTree(v @ half.T).query(np.vstack(clouds) @ half.T)
    far = exact.outer.violation(v)
    return Coverage(
        rows[wide],
        missing,
        float(np.max(far, where=far > residual_tolerance(exact.problem.mu), initial=0.0)),
        distances / exact.outer[0].frame.speed,
        len(v),
    )


def _must_agree(outcomes: Outcomes, exact: ExactSet) -> None:
    """Refuse samples that were drawn with other friction, or of another problem."""
    nt, settings = outcomes.problem.nt, outcomes.settings
    polygon = friction_polygon(settings.get("friction", "cone"), settings.get("facets"), nt)
    if nt == 2 and exact.facets is not None and (polygon is None or len(polygon) != exact.facets):
        drawn = "Coulomb's cone" if polygon is None else f"{len(polygon)} facets"
        raise InputError(
            "outcomes",
            wrong=f"were drawn with {drawn}, and the exact set has {exact.facets} facets",
            wanted=f"routh.sample(..., friction='polyhedral', facets={exact.facets})",
        )
    for name in FIELDS:
        if not _nearly_equal(name, outcomes.problem, exact.problem):
            raise InputError(
                "outcomes", wrong=f"are of a problem with another {name}", wanted="those of `exact`"
            )


def _nearly_equal(name: str, one: ImpactProblem, other: ImpactProblem) -> bool:
    """Whether a field is the same up to what snapping moves, in units in which M has ones on its diagonal."""
    pair = [np.asarray(getattr(problem, name)) for problem in (one, other)]
    if pair[0].shape != pair[1].shape:
        return False
    units = np.sqrt(np.diag(other.M))
    scale = {"M": 1.0 / np.outer(units, units), "Jn": 1.0 / units, "Jt": 1.0 / units, "v": units}
    a, b = (values * scale.get(name, 1.0) for values in pair)
    size = np.abs(b) if name == "mu" else np.abs(b).max(initial=0.0)
    return bool(np.all(np.abs(a - b) <= tolerances.SNAP * size))
