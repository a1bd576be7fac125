"""Limits of time and memory that an exploration keeps."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace


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
