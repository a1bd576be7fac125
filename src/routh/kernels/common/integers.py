"""Integers of 64 bits, as kernels want them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

# A plain integer has another type where a kernel is compiled by numba-cuda, which compiles anew for each.
if TYPE_CHECKING:
    wide = int
else:
    wide = np.int64
