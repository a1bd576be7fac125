"""Colours of contact modes."""

from __future__ import annotations

import numpy as np

#: Told apart by the colour-blind too (Okabe and Ito).
PALETTE = np.array(
    [
        (0, 114, 178),
        (230, 159, 0),
        (0, 158, 115),
        (204, 121, 167),
        (86, 180, 233),
        (213, 94, 0),
        (140, 140, 140),
    ],
    dtype=np.uint8,
)
ALL = "all modes"


def colors(which: np.ndarray) -> np.ndarray:
    """A colour for each sample, (n, 3) uint8; rare combinations share grey."""
    return PALETTE[np.minimum(which, len(PALETTE) - 1)]
