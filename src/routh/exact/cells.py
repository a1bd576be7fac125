"""One location of the impact automaton: its constraints, its flow and what has been reached in it."""

from __future__ import annotations

from dataclasses import dataclass, field
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
