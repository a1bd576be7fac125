"""`exact_map`: the exact set as a function of the velocity before, the formula that HP19 section V asks for.

The pairs (v before, v after) are a union of polyhedral cones, found once (`routh.exact.relation`). Looked at
from one velocity before they are the exact set there; linear programs give the worst outcome over a box of
velocities before; and `ExactMap.regions` tells where the vertices are which linear functions of v.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from routh.base.results import Result
from routh.base.status import CapacityError, InputError, Status
from routh.base.validation import integer, real, real_array
from routh.exact.automaton import Automaton, automaton
from routh.exact.boxes import WorstInBox, bound_in_box, largest_speed, worst_in_box
from routh.exact.build import ETA, PIECES, Displacement, explore, in_rationals, set_from
from routh.exact.paths import terminal_pieces
from routh.exact.polyhedra import Piece
from routh.exact.rational import Matrix, RationalProblem, Vector, dot, simplest, times, transpose
from routh.exact.reach import Budget, Reach
from routh.exact.regions import Region, regions_of
from routh.exact.relation import Relation
from routh.exact.result import ExactSet
from routh.problem.impact import ImpactProblem


@dataclass(frozen=True, eq=False)
class MapPiece:
    """One polyhedral cone of pairs (v before, v after); the two differ only by what impulses can change."""

    facets: Matrix  # rows (2 nv,): ``row . (before, after) >= 0``
    equal: tuple[bool, ...]  # which of them are equations
    dimension: int  # in independent contact velocities before and after


@dataclass(frozen=True, eq=False)
class ExactMap(Result):
    """All outcomes from all velocities before, for the masses, contacts and friction of one problem.

    Where ``status`` is INCOMPLETE, `at` computes each set from the start, `worst` looks at what was found and
    has no bound, and there are no `regions`.
    """

    rational: RationalProblem = field(repr=False)  # its v does not count
    status: Status  # SOLVED, or INCOMPLETE where a budget ran out
    eta: float  # relaxation of "may push", a share of the speed before
    seconds: float  # processor time spent, s
    explored: tuple[int, int]  # cones explored for the inner and the outer relation
    given: ImpactProblem | RationalProblem = field(repr=False)
    reached: tuple[Relation, Relation] = field(repr=False)  # as it is, and relaxed
    shift: Displacement = field(repr=False)  # of outcomes, by dependent rows of J made exactly so

    def at(self, v: ArrayLike | Sequence[Fraction]) -> ExactSet:
        """The exact set of the impact with velocity v (nv,) before: what `routh.exact_set` gives."""
        started, given = time.thread_time(), self.given
        if isinstance(given, ImpactProblem):
            here: ImpactProblem | RationalProblem = given.replace(v=v)
        else:
            here = RationalProblem(given.M, given.Jn, given.Jt, given.mu, v, given.names)  # type: ignore[arg-type]
        return set_from(here, self._at, self.eta, started=started)

    def _at(self, auto: Automaton) -> tuple[Reach, Reach]:
        """What is reached from one velocity: by a look at the relations, or from the start."""
        inner, outer = self.reached
        plain = inner.plain
        same = (auto.rows, auto.normals, auto.modes) == (plain.rows, plain.normals, plain.modes)
        if not (self.status.ok and same) or self._on_a_border(auto.start):
            return explore(auto, self.eta, Budget(math.inf, PIECES))
        root = math.sqrt(auto.energy)
        speed, eta = simplest(root, 1e-5 * root), simplest(self.eta, 1e-9 * self.eta)
        return inner.at(auto, speed, eta), outer.at(auto, speed, eta)

    def _on_a_border(self, z: Vector) -> bool:
        """Whether a relation can have more at z than is reached from z: only the limits of what others reach.

        That is where a cone of pairs begins, if forces can lead on from where an impact has ended.
        """
        for walls in self._borders:
            values = [(dot(row, z), equal) for row, equal in walls]
            if all(x >= 0 and not (equal and x) for x, equal in values) and any(
                x == 0 and not equal for x, equal in values
            ):
                return True
        return False

    @cached_property
    def _borders(self) -> list[list[tuple[Vector, bool]]]:
        """Walls of the cones of z0 of all that was ever reached in such cells."""
        relation = self.reached[0]
        number = type(relation.plain.start[0])
        pieces = [piece for piece in relation.ancestors() if piece.location in relation.leaving]
        cones = [relation.before(piece).minimized_constraints() for piece in pieces]
        return [[(tuple(map(number, c.coefficients())), c.is_equality()) for c in walls] for walls in cones]

    @cached_property
    def _ends(self) -> list[Piece]:
        return terminal_pieces(self.reached[0])

    @cached_property
    def pieces(self) -> tuple[MapPiece, ...]:
        """The cones whose union the pairs are."""
        plain = self.reached[0].plain
        d, exact = (
            plain.dim,
            [[Fraction(int(x.numerator), int(x.denominator)) for x in c] for c in transpose(plain.rows)],
        )
        pieces = []
        for piece in self._ends:
            walls = list(piece.poly.minimized_constraints())
            rows = [[Fraction(int(x)) for x in c.coefficients()] for c in walls]
            facets = tuple((*times(exact, row[:d]), *times(exact, row[d:])) for row in rows)
            equal = tuple(c.is_equality() for c in walls)
            pieces.append(MapPiece(facets, equal, int(piece.poly.affine_dimension())))
        return tuple(pieces)

    def regions(self) -> tuple[Region, ...]:
        """Regions of v in which each vertex of the set is linear in v; together all v with an impact.

        They are closed and have inner points. At a v between them (a foot exactly at rest) the set can have
        more vertices than the regions on both sides say: ask `at`.
        """
        if not self.status.ok:
            raise CapacityError(
                "budget",
                wrong=f"the map is {self.status.name} after {self.seconds:.0f} s",
                wanted="a complete one",
            )
        return self._regions

    @cached_property
    def _regions(self) -> tuple[Region, ...]:
        return regions_of(self.reached[0], self._ends)

    def worst(self, objective: ArrayLike, low: ArrayLike, high: ArrayLike) -> WorstInBox:
        """The largest ``objective . v`` after, over all outcomes from all v before with ``low <= v <= high``.

        One linear program for each piece, in fractions. Where nothing approaches, v stays as it is.
        """
        shape = [(self.rational.nv,)]
        rows = (("objective", objective), ("low", low), ("high", high))
        arrays = [real_array(name, row, shape, f"shape {shape[0]}") for name, row in rows]
        if np.any(arrays[1] > arrays[2]):
            raise InputError("low", got=arrays[1], wanted=f"no component above that of high, {arrays[2]}")
        goal, *box = (tuple(Fraction(float(x)) for x in row) for row in arrays)
        inner, outer = self.reached
        corners = (box[0], box[1])
        before, after, proof = worst_in_box(self.rational, inner, [p.poly for p in self._ends], goal, corners)
        bound = math.inf
        if self.status.ok:
            speed = largest_speed(self.rational.problem.M, corners)
            height = simplest(1.01 * self.eta * speed, 0.01 * self.eta * speed)
            bound = bound_in_box(outer, [p.poly for p in self._outer_ends], goal, corners, height)
            dual = np.linalg.solve(self.rational.problem.cholesky, arrays[0])
            bound += self.shift.radius * speed * float(np.linalg.norm(dual))
        return WorstInBox(float(dot(goal, after)), bound, before, after, proof, self.status)

    @cached_property
    def _outer_ends(self) -> list[Piece]:
        return terminal_pieces(
            self.reached[1], simplest(1.05 * self.shift.room / self.eta, 0.05 * self.shift.room / self.eta)
        )


def exact_map(
    problem: ImpactProblem | RationalProblem,
    *,
    eta: float = ETA,
    budget: float | None = None,
    pieces: int = PIECES,
) -> ExactMap:
    """The exact set of a planar impact as a function of the velocity before, see `ExactMap`.

    Parameters
    ----------
    problem : its masses, contacts and friction count, its velocity does not.
    eta : how far beyond contact the outer sets let contacts push, as in `routh.exact_set`.
    budget : processor time of this thread that may be spent, in s; None: as in `routh.exact_set`.
    pieces : polyhedra that may be stored, the memory budget.

    Returns
    -------
    ExactMap with status ``SOLVED``; ``INCOMPLETE`` where a budget ran out, as with more than a few contacts.
    """
    started = time.thread_time()
    eta = real("eta", eta, above=0.0, at_most=0.1)
    seconds = math.inf if budget is None else real("budget", budget, above=0.0)
    limits = Budget(seconds, integer("pieces", pieces, at_least=1), started)
    rational, _, shift = in_rationals(problem, eta)
    if rational.nt != 1:
        raise InputError("problem", got="contacts in space", wanted="planar ones, routh.exact_set takes both")
    plain = automaton(rational)
    speed = math.sqrt(plain.energy)
    units = tuple(simplest(float(unit) / speed, 1e-5 * float(unit) / speed) for unit in plain.units)
    inner, outer = (Relation(replace(plain, units=units), relaxed=relaxed) for relaxed in (False, True))
    complete = inner.run(limits.half) and outer.run(limits)
    status = Status.SOLVED if complete else Status.INCOMPLETE
    spent, counts = time.thread_time() - started, (inner.explored, outer.explored)
    return ExactMap(rational, status, eta, spent, counts, problem, (inner, outer), shift)
