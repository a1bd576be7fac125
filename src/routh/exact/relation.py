"""The reachable set of all velocities before at once: pairs (z before, z reached) as polyhedral cones.

The automaton does not know where it started, so the same steps are taken with the velocity before beside z:
nothing flows in it. A step cuts by a cell and adds a flow cone in z alone, and both commute with a look at
one velocity before: at z0 the relation is what is reached from z0. It starts as the diagonal and is a union
of cones, since a faster impact is the same impact. The relaxed one has the height up to which contacts may
push, in units of each contact, as one more coordinate: it is a share of the speed, and so no form in z0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from routh.exact.automaton import Automaton, Mode, Row
from routh.exact.polyhedra import Piece, covered, merged, nearly_covered
from routh.exact.rational import Vector, dot, integers
from routh.exact.reach import CLOSE, Budget, Cell, Location, Rays, Reach

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Linear_Expression


_PLENTY = 640  # cones explored before slivers are put off; the compass gait's 525 do without


class Relation(Reach):
    """Pairs of velocities, coordinates (z0, z) or, relaxed, (z0, height, z).

    The automaton's units are those of unit speed.
    """

    def __init__(self, automaton: Automaton, *, relaxed: bool) -> None:
        self.plain = automaton
        self._height = int(relaxed)
        self._plain_flows: dict[Location, Rays] = {}  # of all sets at one velocity
        super().__init__(_beside(automaton, self._height), eta=Fraction(self._height))

    def form(self, row: Row, constant: Fraction = Fraction(0)) -> Linear_Expression:
        """``row . (z0, height, z) + constant height``, times the constant's denominator."""
        scaled = [x * constant.denominator for x in row]
        if self._height:
            scaled[self.plain.dim] += constant.numerator
        return self.ppl.Linear_Expression(scaled, 0)

    def origin(self) -> C_Polyhedron:
        """The diagonal, at every height."""
        ppl, d, size = self.ppl, self.plain.dim, self.auto.dim
        system = ppl.Generator_System(ppl.point(ppl.Linear_Expression([0] * size, 0)))
        for i in range(d):
            unit = [int(k in (i, size - d + i)) for k in range(size)]
            system.insert(ppl.line(ppl.Linear_Expression(unit, 0)))
        if self._height:
            system.insert(ppl.ray(ppl.Linear_Expression([int(k == d) for k in range(size)], 0)))
        return ppl.C_Polyhedron(system)

    def run(self, budget: Budget, most: float = math.inf) -> bool:
        """Explore until nothing new appears (True), what was put off included, or a limit comes first."""
        queue = self._begin()
        while queue:
            if not self._explore(queue, budget, most):
                return False
            put_off, self.left_out, queue = self.left_out, [], []
            for piece, cell in put_off:
                if budget.spent(self.stored):
                    return False
                if not any(old.poly.contains(piece.poly) for old in cell.pieces):
                    self._store(merged(piece, cell.pieces, self.ppl), cell, queue)
        self.complete = True
        return True

    def simplified(self, piece: Piece, cell: Cell) -> Piece | None:
        """The piece joined with stored ones, or None where these cover it.

        Where there are many, slivers are put off: wide ones that come later may swallow them.
        """
        if self.explored > _PLENTY and nearly_covered(piece, cell.pieces, CLOSE):
            self.left_out.append((piece, cell))
            return None
        return None if covered(piece, cell.pieces, self.ppl) else merged(piece, cell.pieces, self.ppl)

    def at(self, automaton: Automaton, speed: Fraction, eta: Fraction) -> Reach:
        """What is reached from the automaton's start; contacts push up to ``eta speed`` of their units."""
        return Slice(self, automaton, speed, eta if self.relaxed else Fraction(0), self._plain_flows)

    def before(self, piece: Piece) -> C_Polyhedron:
        """The cone of z0 at which a piece has something."""
        cone = self.ppl.C_Polyhedron(piece.poly)
        cone.remove_higher_space_dimensions(self.plain.dim)
        return cone

    def ancestors(self) -> list[Piece]:
        """All pieces that what is stored came from, and these."""
        seen: dict[int, Piece] = {}
        left = [piece for cell in self.cells.values() for piece in cell.pieces]
        while left:
            piece = left.pop()
            if id(piece) not in seen:
                seen[id(piece)] = piece
                left += [*piece.parts, *([piece.parent] if piece.parent else [])]
        return list(seen.values())

    @cached_property
    def leaving(self) -> frozenset[Location]:
        """Cells whose forces let contacts that have just stopped approach again, or stay at rest and slip.

        As at Painlevé's paradox. In all others what has ended stays where it is, although a relation lets it
        flow on where it is only the border of what has not.
        """
        found = set()
        for location, cell in self.cells.items():
            if not cell.pieces:
                continue
            cone = self.ppl.C_Polyhedron(self.auto.dim, "empty")
            cone.add_generator(self.ppl.point(self.ppl.Linear_Expression([0] * self.auto.dim, 0)))
            cone.add_generators(cell.rays)
            for contact, index in enumerate(location):
                if index:
                    cone.add_constraint(self.form(self.auto.normals[contact]) <= 0)
            if cone.affine_dimension() > 0:
                found.add(location)
        return frozenset(found)


class Slice(Reach):
    """A relation at one velocity before."""

    def __init__(
        self,
        relation: Relation,
        automaton: Automaton,
        speed: Fraction,
        eta: Fraction,
        flows: dict[Location, Rays],
    ) -> None:
        units = tuple(speed * unit for unit in relation.plain.units)
        super().__init__(replace(automaton, units=units), eta=eta, flows=flows)
        self._relation = relation
        height = automaton.start[0] * 0 + eta * speed
        self._before = (*automaton.start, height) if relation.relaxed else automaton.start
        self.complete, self.explored = relation.complete, relation.explored
        for location, cell in relation.cells.items():
            parts = [(piece, self._cut_at(piece.poly)) for piece in cell.pieces]
            left = [Piece(poly, self.auto.gram, location) for _, poly in parts if not poly.is_empty()]
            if left:
                self.cell(location).pieces = left

    def _cut_at(self, poly: C_Polyhedron) -> C_Polyhedron:
        """A polyhedron of the relation at this velocity before."""
        ppl, known = self.ppl, self._before
        cut = ppl.C_Polyhedron(self.auto.dim)
        for c in poly.minimized_constraints():
            row = [Fraction(int(x)) for x in c.coefficients()]
            *whole, constant = integers((*row[len(known) :], dot(known, row[: len(known)])))
            form = ppl.Linear_Expression(whole, constant)
            cut.add_constraint(form == 0 if c.is_equality() else form >= 0)
        return cut

    def traced(self, z: Vector) -> tuple[Reach, Vector]:
        """The relation, and the pair."""
        return self._relation, (*self._before, *z)


def _beside(automaton: Automaton, height: int) -> Automaton:
    """The automaton in (z0, z) or (z0, height, z)."""
    d, still = automaton.dim, (0,) * (automaton.dim + height)

    def wider(rows: Sequence[Row]) -> tuple[Row, ...]:
        return tuple((*still, *row) for row in rows)

    modes = tuple(
        tuple(Mode(m.pushing, *map(wider, (m.inside, m.zero, m.forces, m.walls))) for m in each)
        for each in automaton.modes
    )
    gram = np.zeros((2 * d + height, 2 * d + height))
    gram[:d, :d] = gram[-d:, -d:] = automaton.gram
    gram[d : d + height, d : d + height] = np.trace(automaton.gram) / d
    return replace(automaton, dim=len(gram), normals=wider(automaton.normals), modes=modes, gram=gram)
