"""Reachability of the impact automaton with exact polyhedra (Parma Polyhedra Library).

Inside a convex cell with flow cone K the set reachable from a polyhedron P is ``((P ∩ cell) + K) ∩ cell``.
A power set of polyhedra per location, pruned by containment, grows until nothing new appears.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from routh.sets.exact.algebra import integers
from routh.sets.exact.automaton import Automaton, Mode, Row
from routh.sets.exact.pieces import Piece, covered, merged
from routh.status import MissingExtraError

_EASY = 48  # pieces explored before unions are simplified, which pays only on large problems

Location = tuple[int, ...]  # per contact: index into its modes


def load_ppl() -> Any:
    """The Parma Polyhedra Library, or an error that says how to get it."""
    try:
        import ppl
    except ImportError:
        raise MissingExtraError("ppl (passagemath-ppl)", "exact") from None
    return ppl


@dataclass
class Budget:
    """Limits that a run keeps: checked between polyhedral operations."""

    seconds: float
    pieces: int
    started: float = field(default_factory=time.perf_counter)

    def spent(self, pieces: int) -> bool:
        """Whether time or the number of stored polyhedra has run out."""
        return pieces > self.pieces or time.perf_counter() - self.started > self.seconds


@dataclass
class Cell:
    """One location: its polyhedron's constraints, its flow rays and what has been reached in it."""

    constraints: Any  # ppl.Constraint_System
    rays: Any  # ppl.Generator_System, or None where nothing flows
    ended: Any  # ppl.Constraint: sum of the pushing normal velocities is 0
    ends: Any  # ppl.Constraint_System of the terminal face
    thin: tuple[Any, ...]  # see `Reach._traps`
    stuck: tuple[Any, ...]
    pieces: list[Piece] = field(default_factory=list)


class Reach:
    """The forward reachable set of one automaton; ``eta`` > 0 relaxes "may push" from y <= 0 to y <= eta."""

    def __init__(
        self,
        automaton: Automaton,
        *,
        eta: Fraction = Fraction(0),
        flows: dict[Location, list[list[int]]] | None = None,
    ) -> None:
        self.ppl = load_ppl()
        self.auto = automaton
        self.eta = [eta * unit for unit in automaton.units]
        self.relaxed = eta > 0
        self.cells: dict[Location, Cell] = {}
        self.flows = {} if flows is None else flows  # extreme flow rays; they do not depend on eta
        self.complete = False
        self.steps = 0
        self.explored = 0
        self._normals = [self.form(row) for row in automaton.normals]
        self.walls = [[self._walls(i, mode) for mode in modes] for i, modes in enumerate(automaton.modes)]
        self.at_contact = [
            self.form(row, -eta) == 0 for row, eta in zip(automaton.normals, self.eta, strict=True)
        ]
        self.no_slip = [
            [[self.form(row) == 0 for row in mode.inside] for mode in modes] for modes in automaton.modes
        ]
        self.at_rest = [form == 0 for form in self._normals]
        relation = self.ppl.Poly_Con_Relation
        self._included, self._disjoint = relation.is_included(), relation.is_disjoint()

    # -- linear forms as PPL objects

    def form(self, row: Row, constant: Fraction = Fraction(0)) -> Any:
        """``row . z + constant`` times the constant's denominator."""
        d = constant.denominator
        return self.ppl.Linear_Expression([x * d for x in row], constant.numerator)

    def _walls(self, contact: int, mode: Mode) -> tuple[Any, ...]:
        """The constraints of one mode's cell."""
        normal = self.auto.normals[contact]
        if not mode.pushing:
            return (self.form(normal, -self.eta[contact]) >= 0,)
        return (
            self.form(normal, -self.eta[contact]) <= 0,
            *(self.form(row) >= 0 for row in mode.inside),
            *(self.form(row) == 0 for row in mode.zero),
        )

    def point(self, z: tuple[Fraction, ...]) -> Any:
        """A polyhedron of one point."""
        *numerators, scale = integers((*z, Fraction(1)))
        gs = self.ppl.Generator_System()
        gs.insert(self.ppl.point(self.ppl.Linear_Expression(numerators, 0), scale))
        return self.ppl.C_Polyhedron(gs)

    # -- locations

    def cell(self, location: Location) -> Cell:
        """The cell of a location, built on first use."""
        if location not in self.cells:
            self.cells[location] = self._build(location)
        return self.cells[location]

    def _build(self, location: Location) -> Cell:
        ppl, auto = self.ppl, self.auto
        constraints, ends = ppl.Constraint_System(), ppl.Constraint_System()
        total = [0] * auto.dim
        for i, index in enumerate(location):
            for wall in self.walls[i][index]:
                constraints.insert(wall)
            if auto.modes[i][index].pushing:
                ends.insert(self.at_rest[i])
                total = [a + b for a, b in zip(total, auto.normals[i], strict=True)]
        if location not in self.flows:
            self.flows[location] = self._flow_rays(location)
        flow = self.flows[location]
        rays = ppl.Generator_System()
        for ray in flow:
            rays.insert(ppl.ray(ppl.Linear_Expression(ray, 0)))
        thin, stuck = self._traps(location, flow)
        ended = self.form(tuple(total)) == 0
        return Cell(constraints, rays if flow else None, ended, ends, thin, stuck)

    def _flow_rays(self, location: Location) -> list[list[int]]:
        """Extreme rays (a line as two) of the forces that keep sticking contacts sticking."""
        ppl, auto = self.ppl, self.auto
        forces, held = ppl.Generator_System(), []
        forces.insert(ppl.point(ppl.Linear_Expression([0] * auto.dim, 0)))
        for i, index in enumerate(location):
            mode = auto.modes[i][index]
            held += [self.form(row) == 0 for row in mode.zero]
            for force in mode.forces:
                if any(force):
                    forces.insert(ppl.ray(ppl.Linear_Expression(force, 0)))
        cone = ppl.C_Polyhedron(forces)
        for constraint in held:
            cone.add_constraint(constraint)
        flow = []
        for g in cone.minimized_generators():
            if not g.is_point():
                ray = [int(x) for x in g.coefficients()]
                flow += [ray, [-x for x in ray]] if g.is_line() else [ray]
        return flow

    def _traps(self, location: Location, flow: list[list[int]]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Constraints that make exploring useless.

        A result inside one of the first is found in a larger location as well (sticking instead of sliding
        at zero slip, pushing with no force instead of separated). An entry inside one of the second does
        not move, or leads to such a result.
        """
        thin, stuck = [], []
        for i, index in enumerate(location):
            mode, normal = self.auto.modes[i][index], self.auto.normals[i]
            touching = self.at_contact[i]
            if not mode.pushing:
                thin.append(touching)
                if all(_dot(normal, ray) <= 0 for ray in flow):
                    stuck.append(touching)
                continue
            for row, wall in zip(mode.inside, self.no_slip[i][index], strict=True):
                thin.append(wall)
                if all(_dot(row, ray) <= 0 for ray in flow):
                    stuck.append(wall)
            if all(_dot(normal, ray) > 0 for ray in flow):
                stuck.append(touching)
        return tuple(thin), tuple(stuck)

    # -- exploration

    def run(self, budget: Budget) -> bool:
        """Explore until nothing new appears (True) or the budget is spent (False).

        Wide pieces first: they swallow the narrow ones that would otherwise be explored for nothing.
        """
        queue: list[tuple[float, int, Cell | None, Piece]] = []
        queue.append((0.0, 0, None, Piece(self.point(self.auto.start))))
        stored = 0
        while queue:
            _, _, origin, source = heapq.heappop(queue)
            if origin is not None and not any(source is piece for piece in origin.pieces):
                continue  # a larger piece has taken its place
            for location, entry in self._neighbours(source.poly):
                if budget.spent(stored):
                    return False
                cell = self.cell(location)
                grown = self._flow(entry, cell)
                if grown is None or any(old.poly.contains(grown) for old in cell.pieces):
                    continue
                piece = Piece(grown, location=location, parent=source)
                if self.explored > _EASY and cell.pieces:
                    if covered(piece, cell.pieces, self.ppl):
                        continue
                    piece = merged(piece, cell.pieces, self.ppl)
                kept = [old for old in cell.pieces if not piece.poly.contains(old.poly)]
                stored += 1 + len(kept) - len(cell.pieces)
                cell.pieces = [*kept, piece]
                self.explored += 1
                heapq.heappush(queue, (-self._width(piece.poly), self.explored, cell, piece))
        self.complete = True
        return True

    def jams(self) -> bool:
        """Whether forces can cancel (z' = 0) in some reached location, so that a solution may never end."""
        origin = self.point((Fraction(0),) * self.auto.dim)
        for location, cell in self.cells.items():
            if not cell.pieces:
                continue
            forces = self.ppl.Generator_System()
            for i, index in enumerate(location):
                for force in self.auto.modes[i][index].forces:
                    forces.insert(self.ppl.point(self.ppl.Linear_Expression(force, 0)))
            if self.ppl.C_Polyhedron(forces).contains(origin):
                return True
        return False

    def _width(self, poly: Any) -> float:
        """Sum over contacts of the extent in normal velocity, in units of each contact."""
        total = 0.0
        for expression, unit in zip(self._normals, self.auto.units, strict=True):
            high, low = poly.maximize(expression), poly.minimize(expression)
            if not (high["bounded"] and low["bounded"]):
                return math.inf
            top = int(high["sup_n"]) / int(high["sup_d"])
            bottom = int(low["inf_n"]) / int(low["inf_d"])
            total += (top - bottom) / float(unit)
        return total

    def _flow(self, entry: Any, cell: Cell) -> Any:
        """``(entry + K) ∩ cell``, or None where that is nothing new or is found in a larger location."""
        self.steps += 1
        if cell.rays is None or any(entry.relation_with(c).implies(self._included) for c in cell.stuck):
            return None
        if not self.relaxed and entry.relation_with(cell.ended).implies(self._included):
            return None
        grown = self.ppl.C_Polyhedron(entry)
        grown.add_generators(cell.rays)
        grown.add_constraints(cell.constraints)
        if any(grown.relation_with(c).implies(self._included) for c in cell.thin) or entry.contains(grown):
            return None
        return grown

    def _neighbours(
        self, source: Any, location: Location = (), pushing: bool = False
    ) -> Iterator[tuple[Location, Any]]:
        """All (location, source ∩ cell) with a non-empty intersection and at least one pushing contact.

        One at a time: with many contacts at rest there are too many to list before a budget is asked.
        """
        contact = len(location)
        if contact == len(self.walls):
            if pushing:
                yield location, source
            return
        for index, constraints in enumerate(self.walls[contact]):
            cut = self._cut(source, constraints)
            if cut is not None:
                yield from self._neighbours(cut, (*location, index), pushing or index > 0)

    def _cut(self, part: Any, constraints: tuple[Any, ...]) -> Any:
        """``part`` within the constraints, or None where it is empty; a copy only where it cuts."""
        result = part
        for constraint in constraints:
            relation = result.relation_with(constraint)
            if relation.implies(self._disjoint):
                return None
            if not relation.implies(self._included):
                if result is part:
                    result = self.ppl.C_Polyhedron(part)
                result.add_constraint(constraint)
        return result


def _dot(row: Row, ray: list[int]) -> int:
    return sum(a * b for a, b in zip(row, ray, strict=True))
