"""Reachability of the impact automaton with exact polyhedra (Parma Polyhedra Library).

Inside a convex cell with flow cone K the set reachable from a polyhedron P is ``((P ∩ cell) + K) ∩ cell``.
A power set of polyhedra per location, pruned by containment, grows until nothing new appears.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from routh.exact.automaton import Automaton, Mode, Row
from routh.exact.polyhedra import Piece, covered, hull, load_ppl, merged, nearly_covered
from routh.exact.rational import Vector

if TYPE_CHECKING:
    from ppl import C_Polyhedron, Constraint, Constraint_System, Generator_System, Linear_Expression


Location = tuple[int, ...]  # per contact: index into its modes
Rays = list[list[int]]


@dataclass(eq=False)
class Cell:
    """One location of the automaton and what has been reached in it, made by `Reach.cell`."""

    flow: Rays  # extreme rays of the forces
    thin: tuple[Constraint, ...]  # a result inside one of these is found in a larger location as well
    stuck: tuple[Constraint, ...]  # an entry inside one of these does not move, or leads to such a result
    constraints: Constraint_System  # the cell itself
    rays: Generator_System  # the flow
    ends: Constraint_System  # the face on which every pushing contact has stopped
    ended: Constraint  # the same face: the sum of the pushing normal velocities is 0
    pieces: list[Piece] = field(default_factory=list)


@dataclass
class Budget:
    """Limits that a run keeps: checked between polyhedral operations."""

    seconds: float
    pieces: int
    started: float = field(default_factory=time.thread_time)

    def spent(self, pieces: int) -> bool:
        """Whether time or the number of stored polyhedra has run out."""
        return pieces > self.pieces or time.thread_time() - self.started > self.seconds

    @property
    def half(self) -> Budget:
        """Half of the time: for what only makes a complete set tighter."""
        return replace(self, seconds=0.5 * self.seconds)


_EASY = 48  # pieces explored before unions are simplified, which pays only on large problems
CLOSE = 1e-5  # share of the speed: what adds less than this to an inner set, on large problems, is put off
_SECOND_LOOKS = 4  # rounds in which pieces that were put off are explored after all

Queue = list[tuple[float, int, Cell | None, Piece]]  # rank, number, cell, piece


class Reach:
    """The forward reachable set of one automaton; ``eta`` > 0 relaxes "may push" from y <= 0 to y <= eta."""

    def __init__(
        self,
        automaton: Automaton,
        *,
        eta: Fraction = Fraction(0),
        flows: dict[Location, Rays] | None = None,
        start: Sequence[Vector] | None = None,
    ) -> None:
        self.ppl = load_ppl()
        self.auto = automaton
        self._start = [automaton.start] if start is None else list(start)  # its convex hull, in z
        self.eta = [eta * unit for unit in automaton.units]
        self.relaxed = eta > 0
        self.cells: dict[Location, Cell] = {}
        self.flows = {} if flows is None else flows  # extreme flow rays; they do not depend on eta
        self.complete = False
        self.explored = 0
        self.stored = 0  # pieces, the memory in use
        self.left_out: list[tuple[Piece, Cell]] = []
        self._normals = [self.form(row) for row in automaton.normals]
        self.walls = [[self._walls(i, mode) for mode in modes] for i, modes in enumerate(automaton.modes)]
        self.at_contact = [
            self.form(row, -eta) == 0 for row, eta in zip(automaton.normals, self.eta, strict=True)
        ]
        self.no_slip = [
            [[self.form(row) == 0 for row in mode.inside] for mode in modes] for modes in automaton.modes
        ]
        # forms (with sign) that a mode keeps >= 0, or = 0 in both signs; and those it must not meet
        self._holds = [
            [
                _both(mode.zero) | frozenset(mode.inside) | {(row, "slides") for row in mode.inside}
                for mode in modes
            ]
            for modes in automaton.modes
        ]
        self._flattens = [
            [frozenset(map(_minus, mode.inside)) | _sliding(mode.zero) for mode in modes]
            for modes in automaton.modes
        ]
        self.at_rest = [form == 0 for form in self._normals]
        relation = self.ppl.Poly_Con_Relation
        self._included, self._disjoint = relation.is_included(), relation.is_disjoint()

    # -- linear forms as PPL objects

    def form(self, row: Row, constant: Fraction = Fraction(0)) -> Linear_Expression:
        """``row . z + constant`` times the constant's denominator."""
        d = constant.denominator
        return self.ppl.Linear_Expression([x * d for x in row], constant.numerator)

    def _walls(self, contact: int, mode: Mode) -> tuple[Constraint, ...]:
        """The constraints of one mode's cell."""
        normal = self.auto.normals[contact]
        if not mode.pushing:
            return (self.form(normal, -self.eta[contact]) >= 0,)
        return (
            self.form(normal, -self.eta[contact]) <= 0,
            *(self.form(row) >= 0 for row in (*mode.inside, *mode.walls)),
            *(self.form(row) == 0 for row in mode.zero),
        )

    def traced(self, z: Vector) -> tuple[Reach, Vector]:
        """The reachable set that knows how a state was reached, and the state as a state of that."""
        return self, z

    def point(self, z: Vector) -> C_Polyhedron:
        """A polyhedron of one point."""
        return hull(self.ppl, [z])

    # -- locations

    def cell(self, location: Location) -> Cell:
        """The cell of a location, built on first use."""
        if location in self.cells:
            return self.cells[location]
        ppl = self.ppl
        walls, rays, ends = ppl.Constraint_System(), ppl.Generator_System(), ppl.Constraint_System()
        if location not in self.flows:
            self.flows[location] = self._flow_rays(location)
        flow = self.flows[location]
        for ray in flow:
            rays.insert(ppl.ray(ppl.Linear_Expression(ray, 0)))
        normals = []
        for contact, index in enumerate(location):
            for wall in self.walls[contact][index]:
                walls.insert(wall)
            if index:
                ends.insert(self.at_rest[contact])
                normals.append(self.auto.normals[contact])
        ended = self.form(tuple(map(sum, zip(*normals, strict=True)))) == 0
        self.cells[location] = Cell(flow, *self._traps(location, flow), walls, rays, ends, ended)
        return self.cells[location]

    def _flow_rays(self, location: Location) -> Rays:
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

    def _traps(self, location: Location, flow: Rays) -> tuple[tuple[Constraint, ...], tuple[Constraint, ...]]:
        """Constraints that make exploring useless, see `Cell.thin` and `Cell.stuck`.

        A larger location has sticking instead of sliding at zero slip, pushing with no force instead of
        separated.
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

    def run(self, budget: Budget, most: float = math.inf) -> bool:
        """Explore until nothing new appears (True), or the budget is spent or ``most`` pieces explored.

        Wide pieces of few vertices first: they swallow the narrow ones that would otherwise be explored
        for nothing, and what is simple stays simple.
        """
        queue = self._begin()
        if not self._explore(queue, budget, most):
            return False
        most = 2 * self.explored
        for _ in range(_SECOND_LOOKS):
            if not self.left_out:
                break
            queue = self._second_look(budget)
            if self.left_out or not self._explore(queue, budget, most):
                return False
        self.complete = True
        return True

    def _explore(self, queue: Queue, budget: Budget, most: float) -> bool:
        """Explore the queue and what it leads to; False where the budget or ``most`` pieces came first."""
        while queue:
            _, _, origin, source = heapq.heappop(queue)
            if origin is not None and not any(source is piece for piece in origin.pieces):
                continue  # a larger piece has taken its place
            for location, entry in self._neighbours(source.poly):
                if budget.spent(self.stored) or self.explored > most:
                    return False
                cell = self.cell(location)
                if any(old.poly.contains(entry) for old in cell.pieces):
                    continue  # stored pieces hold what flows from them within their cell
                grown = self._flow(entry, cell)
                if grown is None or any(old.poly.contains(grown) for old in cell.pieces):
                    continue
                piece = Piece(grown, self.auto.gram, location=location, parent=source)
                if self.explored > _EASY and cell.pieces:
                    simpler = self.simplified(piece, cell)
                    if simpler is None:
                        continue
                    piece = simpler
                self._store(piece, cell, queue)
        return True

    def _store(self, piece: Piece, cell: Cell, queue: Queue) -> None:
        """Keep a piece in place of those that it contains, and put it into the queue."""
        kept = [old for old in cell.pieces if not piece.poly.contains(old.poly)]
        self.stored += 1 + len(kept) - len(cell.pieces)
        cell.pieces = [*kept, piece]
        self.explored += 1
        rank = -self._width(piece.poly) / len(piece.poly.minimized_generators())
        heapq.heappush(queue, (rank, self.explored, cell, piece))

    def _second_look(self, budget: Budget) -> Queue:
        """Pieces that were left out because they add almost nothing: what follows them may be large."""
        queue: Queue = []
        while self.left_out and not budget.spent(self.stored):
            piece, cell = self.left_out.pop(0)
            if not any(old.poly.contains(piece.poly) for old in cell.pieces):
                self._store(merged(piece, cell.pieces, self.ppl), cell, queue)
        return queue

    def _begin(self) -> Queue:
        """Forget everything that was reached but the start, which is to be explored."""
        for cell in self.cells.values():
            cell.pieces = []
        self.stored = 0
        return [(0.0, 0, None, Piece(self.origin(), self.auto.gram))]

    def origin(self) -> C_Polyhedron:
        """The states that are reached before anything has happened."""
        return hull(self.ppl, self._start)

    def simplified(self, piece: Piece, cell: Cell) -> Piece | None:
        """The piece joined with stored ones, or None where it adds nothing, or almost nothing.

        Sequences of switches that go on for ever add less and less. The inner set leaves the rest out until
        all else is explored.
        """
        if self.relaxed:
            return None if covered(piece, cell.pieces, self.ppl) else merged(piece, cell.pieces, self.ppl)
        if nearly_covered(piece, cell.pieces, CLOSE):
            self.left_out.append((piece, cell))
            return None
        return merged(piece, cell.pieces, self.ppl)

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

    def _width(self, poly: C_Polyhedron) -> float:
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

    def _flow(self, entry: C_Polyhedron, cell: Cell) -> C_Polyhedron | None:
        """``(entry + K) ∩ cell``, or None where that is nothing new or is found in a larger location."""
        if not cell.flow or any(entry.relation_with(c).implies(self._included) for c in cell.stuck):
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
        self,
        source: C_Polyhedron,
        location: Location = (),
        pushing: bool = False,
        held: frozenset[object] = frozenset(),
    ) -> Iterator[tuple[Location, C_Polyhedron]]:
        """All (location, source ∩ cell) with a non-empty intersection and at least one pushing contact.

        One at a time: with many contacts at rest there are too many to list before a budget is asked.
        Cells that a shared slip squeezes flat (one contact slides forwards, another with the same slip
        backwards or not) are left out: sticking covers them.
        """
        contact = len(location)
        if contact == len(self.walls):
            if pushing:
                yield location, source
            return
        for index, constraints in enumerate(self.walls[contact]):
            flat = self._flattens[contact][index]
            if not flat.isdisjoint(held):
                continue
            cut = self._cut(source, constraints)
            if cut is not None:
                known = held | self._holds[contact][index]
                yield from self._neighbours(cut, (*location, index), pushing or index > 0, known)

    def _cut(self, part: C_Polyhedron, constraints: tuple[Constraint, ...]) -> C_Polyhedron | None:
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


def _minus(row: Row) -> Row:
    return tuple(-x for x in row)


def _both(rows: tuple[Row, ...]) -> frozenset[Row]:
    return frozenset(rows) | frozenset(_minus(row) for row in rows)


def _sliding(rows: tuple[Row, ...]) -> frozenset[tuple[Row, str]]:
    """Marks by which a sliding mode is recognised where a sticking one has the same form."""
    return frozenset((row, "slides") for row in _both(rows))


def _dot(row: Row, ray: list[int]) -> int:
    return sum(a * b for a, b in zip(row, ray, strict=True))
