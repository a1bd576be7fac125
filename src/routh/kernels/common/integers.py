"""Integers of 64 bits, as kernels want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

# to type checkers a plain integer: an index, a length, a number of events
if TYPE_CHECKING:
    wide = int
else:
    wide = np.int64
