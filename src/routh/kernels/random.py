"""The counter-based generator of `routh.rng` as a scalar kernel: the same numbers, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.kernels.compiling import kernel

M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW, SHIFT, DROP = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(11)
HALF, CELL = 0.5, 2.0**-53


@kernel
def uniform_pair(k0: Any, k1: Any, sample: Any, step: Any, pair: Any) -> tuple[float, float]:
    """Two uniform numbers in (0, 1) of contacts ``2 pair`` and ``2 pair + 1``; all arguments are uint64."""
    c0, c1, c2, c3 = sample & LOW, sample >> SHIFT, step, pair
    for _ in range(10):  # Philox4x32-10
        p0 = M0 * c0
        p1 = M1 * c2
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1 & LOW, (p0 >> SHIFT) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    first = (((c0 << SHIFT) | c1) >> DROP) + HALF
    second = (((c2 << SHIFT) | c3) >> DROP) + HALF
    return first * CELL, second * CELL


@kernel
def draw_bounds(shape: Any, key: Any, sample: int, step: int, size: Any, bound: Any) -> None:
    """``lambda_max`` (nc,) of one sample at one step: size times uniform numbers (HP23 Algorithm 1)."""
    nc = shape[0]
    for pair in range((nc + 1) // 2):
        first, second = uniform_pair(key[0], key[1], np.uint64(sample), np.uint64(step), np.uint64(pair))
        bound[2 * pair] = size[2 * pair] * first
        if 2 * pair + 1 < nc:
            bound[2 * pair + 1] = size[2 * pair + 1] * second
