"""The worst outcome from a box of velocities before: one linear program for each piece of a relation.

A piece is a cone of pairs (z0, z), so with z0 = B v and v in a box all of this is linear in (v, z). PPL's
simplex method solves it in fractions. The bound comes from the relaxed relation, at the largest speed in the
box; what the independent checker proves of the pair that was found is said beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType
from typing import TYPE_CHECKING, Literal

import numpy as np

from routh.base.status import CapacityError, Status
from routh.base.validation import Array
from routh.exact.checker import check_member
from routh.exact.paths import statuses_to
from routh.exact.rational import RationalProblem, Vector, difference, dot, floats, integers, times, transpose
from routh.exact.relation import Relation

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint

_INWARD = Fraction(1, 2**30)  # share of the way to the middle of a piece, where its border is only a limit

_ROUNDING = 1.0 + 1e-9  # of bounds
Box = tuple[Vector, Vector]  # lowest and highest v, (nv,)
Proof = Literal["reached", "limit", "limit of v", "unproved"]


@dataclass(frozen=True)
class WorstInBox:
    """The worst outcome from any velocity before in a box, in exact numbers."""

    value: float  # the objective there
    bound: float  # no outcome from the box is worse; infinite where the map is INCOMPLETE
    before: Vector = field(repr=False)  # (nv,), in the box
    after: Vector = field(repr=False)  # (nv,)
    #: what the independent checker proved: solutions from ``before`` end at ``after``, or as close to it as
    #: is wanted, or do so from velocities as close to ``before`` as is wanted; or nothing
    proof: Proof
    status: Status


@dataclass(frozen=True, eq=False)
class Programs:
    """Linear programs over the pairs (v in a box, z) of one relation."""

    relation: Relation
    box: Box
    height: Fraction = Fraction(0)  # at most; of a relaxed relation

    def largest(self, poly: C_Polyhedron, objective: Vector) -> tuple[Vector, Vector] | None:
        """The v and v after of a cone of pairs at which ``objective . v after`` is largest; None: no pair."""
        plain, ppl = self.relation.plain, self.relation.ppl
        nv, extra = len(plain.base), int(self.relation.relaxed)
        size = nv + extra + plain.dim
        program = ppl.MIP_Problem(size)
        for i, (low, high) in enumerate(zip(*self.box, strict=True)):
            program.add_constraint(_at_least_0(ppl, _unit(size, i), -low))
            program.add_constraint(_at_least_0(ppl, [-x for x in _unit(size, i)], high))
        if extra:
            program.add_constraint(_at_least_0(ppl, [-x for x in _unit(size, nv)], self.height))
        columns = transpose(plain.rows)
        for c in poly.minimized_constraints():
            row = [plain.start[0] * 0 + int(x) for x in c.coefficients()]
            whole = (*times(columns, row[: plain.dim]), *row[plain.dim :])
            program.add_constraint(_at_least_0(ppl, whole, equal=c.is_equality()))
        change = times(transpose(plain.back), objective)  # v after = v + back (z - rows v)
        goal = (*difference(objective, times(columns, change)), *_unit(extra, -1), *change)
        program.set_objective_function(ppl.Linear_Expression(list(integers(goal)), 0))
        program.set_optimization_mode("maximization")
        if not program.is_satisfiable():
            return None
        point = program.optimizing_point()
        values = [Fraction(int(x), int(point.divisor())) for x in point.coefficients()]
        values += [Fraction(0)] * (size - len(values))
        v = tuple(values[:nv])
        return v, self._after(v, values[nv + extra :])

    def _after(self, v: Vector, z: Sequence[Fraction]) -> Vector:
        """The velocity after with contact velocities z, of which impulses can make it from v."""
        plain = self.relation.plain
        moved = times(plain.back, difference(z, times(plain.rows, v)))
        return tuple(
            x + Fraction(int(y.numerator), int(y.denominator)) for x, y in zip(v, moved, strict=True)
        )

    def middle(self, poly: C_Polyhedron) -> tuple[Vector, Vector]:
        """A pair away from the borders of a cone of pairs: the mean of the farthest ones each way."""
        nv = len(self.box[0])
        ways = [tuple(sign * x for x in _unit(nv, i)) for i in range(nv) for sign in (1, -1)]
        pairs = [pair for way in ways if (pair := self.largest(poly, way)) is not None]
        before, after = (
            tuple(sum(c) / len(pairs) for c in zip(*each, strict=True)) for each in zip(*pairs, strict=True)
        )
        return before, after


def worst_in_box(
    problem: RationalProblem,
    relation: Relation,
    ends: Sequence[C_Polyhedron],
    objective: Vector,
    box: Box,
) -> tuple[Vector, Vector, Proof]:
    """The pair of a relation at which ``objective . v after`` is largest, and what is proved of it."""
    programs = Programs(relation, box)
    parts = [*ends, _nothing_approaches(relation)]
    pairs = [(*pair, part) for part in parts if (pair := programs.largest(part, objective)) is not None]
    if not pairs:
        raise CapacityError(
            "low, high", wrong="no outcome was found from this box", wanted="a complete map (budget)"
        )
    before, after, part = max(pairs, key=lambda pair: dot(objective, pair[1]))
    proof = _proof(problem, relation, before, after)
    if proof == "unproved":  # v is on a border that only velocities beside it come near to
        middle = programs.middle(part)
        beside = [_inward(x, y) for x, y in zip((before, after), middle, strict=True)]
        if _proof(problem, relation, *beside) != "unproved":
            proof = "limit of v"
    return before, after, proof


def bound_in_box(
    relation: Relation, ends: Sequence[C_Polyhedron], objective: Vector, box: Box, height: Fraction
) -> float:
    """What ``objective . v after`` never exceeds, from a relaxed relation up to a height."""
    programs = Programs(relation, box, height)
    parts = [*ends, _nothing_approaches(relation)]
    pairs = [pair for part in parts if (pair := programs.largest(part, objective)) is not None]
    return float(max(dot(objective, after) for _, after in pairs))


def largest_speed(mass: Array, box: Box) -> float:
    """A bound on ``|v|_M`` in the box."""
    size = np.abs(floats(box)).max(axis=0)
    return float(np.sqrt(size @ np.abs(mass) @ size)) * _ROUNDING


def _nothing_approaches(relation: Relation) -> C_Polyhedron:
    """Pairs without an impact: the diagonal, as far as no contact approaches."""
    cone = relation.origin()
    for row in relation.auto.normals:
        cone.add_constraint(relation.form(row) >= 0)
    return cone


def _proof(problem: RationalProblem, relation: Relation, before: Vector, after: Vector) -> Proof:
    """What the checker finds, along statuses that lead from one to the other in the relation."""
    plain = relation.plain
    here = RationalProblem(problem.M, problem.Jn, problem.Jt, problem.mu, before, problem.names)
    pair = (*times(plain.rows, before), *times(plain.rows, after))
    return check_member(here, after, statuses_to(relation, pair)).kind


def _inward(point: Vector, middle: Vector) -> Vector:
    return tuple(x + _INWARD * (y - x) for x, y in zip(point, middle, strict=True))


def _unit(n: int, i: int) -> list[Fraction]:
    return [Fraction(int(k == i)) for k in range(n)]


def _at_least_0(
    ppl: ModuleType, row: Sequence[Fraction], constant: Fraction = Fraction(0), *, equal: bool = False
) -> Constraint:
    *whole, last = integers((*row, constant))
    form = ppl.Linear_Expression(whole, last)
    return form == 0 if equal else form >= 0
