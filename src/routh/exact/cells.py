"""One location of the impact automaton: its constraints, its flow and what has been reached in it."""

from __future__ import annotations

from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from routh.exact.automaton import Automaton, Row
from routh.exact.pieces import Piece

if TYPE_CHECKING:
    from ppl import Constraint, Constraint_System, Generator_System, Linear_Expression

Location = tuple[int, ...]  # per contact: index into its modes
Rays = list[list[int]]


class Tools(Protocol):
    """What a cell needs of the exploration that it belongs to."""

    ppl: ModuleType
    auto: Automaton
    flows: dict[Location, Rays]
    walls: list[list[tuple[Constraint, ...]]]
    at_rest: list[Constraint]

    def flow_rays(self, location: Location) -> Rays:
        """Extreme rays of the forces."""

    def traps(self, location: Location, flow: Rays) -> tuple[tuple[Constraint, ...], tuple[Constraint, ...]]:
        """Constraints that make exploring useless."""

    def form(self, row: Row) -> Linear_Expression:
        """A linear form in z as a PPL expression."""


class Cell:
    """One location: its flow, its constraints (built on first use) and what has been reached in it."""

    def __init__(self, reach: Tools, location: Location) -> None:
        self._reach, self._location = reach, location
        self.pieces: list[Piece] = []
        if location not in reach.flows:
            reach.flows[location] = reach.flow_rays(location)
        self.flow = reach.flows[location]
        self.thin, self.stuck = reach.traps(location, self.flow)

    @cached_property
    def constraints(self) -> Constraint_System:
        """The cell itself, a ppl.Constraint_System."""
        system = self._reach.ppl.Constraint_System()
        for walls, index in zip(self._reach.walls, self._location, strict=True):
            for wall in walls[index]:
                system.insert(wall)
        return system

    @cached_property
    def rays(self) -> Generator_System:
        """The flow as a ppl.Generator_System."""
        ppl = self._reach.ppl
        rays = ppl.Generator_System()
        for ray in self.flow:
            rays.insert(ppl.ray(ppl.Linear_Expression(ray, 0)))
        return rays

    @cached_property
    def ends(self) -> Constraint_System:
        """The face on which every pushing contact has stopped, a ppl.Constraint_System."""
        system = self._reach.ppl.Constraint_System()
        for at_rest, index in zip(self._reach.at_rest, self._location, strict=True):
            if index:
                system.insert(at_rest)
        return system

    @cached_property
    def ended(self) -> Constraint:
        """The same face as one ppl.Constraint: the sum of the pushing normal velocities is 0."""
        normals = [row for row, index in zip(self._reach.auto.normals, self._location, strict=True) if index]
        total = tuple(sum(column) for column in zip(*normals, strict=True))
        return self._reach.form(total) == 0
