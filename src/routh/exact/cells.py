"""One location of the impact automaton: its constraints, its flow and what has been reached in it.

And the limits of time and memory that its exploration keeps.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from routh.exact.pieces import Piece

if TYPE_CHECKING:
    from ppl import Constraint, Constraint_System, Generator_System

Location = tuple[int, ...]  # per contact: index into its modes
Rays = list[list[int]]


@dataclass(eq=False)
class Cell:
    """One location, made by `routh.exact.reach.Reach.cell`."""

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
