"""What is on the screen, and what the parts of a viewer may ask of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from routh.sampling import Outcomes
from routh.view.mechanism import Mechanism, Placed
from routh.view.scene import Scene
from routh.viz import style

ALL = "all modes"
#: Of combinations of contact modes; the last one for all that are rare.
PALETTE = np.array(
    [style.rgb(color) for color in (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY)]
    + [style.rgb(color) for color in (style.VERMILION, "#8C8C8C")],
    dtype=np.uint8,
)


def colors(which: np.ndarray) -> np.ndarray:
    """A colour for each sample, (n, 3) uint8; rare combinations share grey."""
    return PALETTE[np.minimum(which, len(PALETTE) - 1)]


@dataclass(frozen=True, eq=False)
class Shown:
    """What is on the screen: a state and its outcomes."""

    placed: Placed
    outcomes: Outcomes
    modes: list[str]
    which: np.ndarray  # (n,) int, the combination of modes of each outcome
    ended: np.ndarray  # (m,) int, outcomes that ended
    seconds: float  # of computing


class Viewing(Protocol):
    """A running viewer, as its panels see it."""

    mechanism: Mechanism
    scene: Scene
    seed: int
    shown: Shown | None
    panel: Any

    def touch(self) -> None:
        """Compute and draw again."""

    def pick(self, index: int) -> None:
        """Show one of the outcomes that ended."""
