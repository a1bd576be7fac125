"""The counter-based generator of `routh.rng` as a scalar kernel: the same numbers, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from routh.compiling import inlined

M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
SHIFT, DROP = np.uint64(32), np.uint64(11)
HALF, CELL = 0.5, 2.0**-53


@inlined
def uniform_pair(key: Any, sample: int, step: int, pair: int) -> tuple[float, float]:
    """Two uniform numbers in (0, 1), of contacts ``2 pair`` and ``2 pair + 1``; the key is two words."""
    k0, k1 = np.uint32(key[0]), np.uint32(key[1])
    c0, c1 = np.uint32(sample), np.uint32(np.uint64(sample) >> SHIFT)
    c2, c3 = np.uint32(step), np.uint32(pair)
    for _ in range(10):  # Philox4x32-10
        p0, p1 = M0 * np.uint64(c0), M1 * np.uint64(c2)
        c0, c1, c2, c3 = (
            np.uint32(np.uint32(p1 >> SHIFT) ^ c1 ^ k0),
            np.uint32(p1),
            np.uint32(np.uint32(p0 >> SHIFT) ^ c3 ^ k1),
            np.uint32(p0),
        )
        k0, k1 = np.uint32(k0 + W0), np.uint32(k1 + W1)
    first = (((np.uint64(c0) << SHIFT) | np.uint64(c1)) >> DROP) + HALF
    second = (((np.uint64(c2) << SHIFT) | np.uint64(c3)) >> DROP) + HALF
    return first * CELL, second * CELL


@inlined
def draw_bounds(shape: Any, key: Any, sample: int, step: int, size: Any, bound: Any) -> None:
    """``lambda_max`` (nc,) of one sample at one step: size times uniform numbers (HP23 Algorithm 1)."""
    nc = shape[0]
    for pair in range((nc + 1) // 2):
        first, second = uniform_pair(key, sample, step, pair)
        bound[2 * pair] = size[2 * pair] * first
        if 2 * pair + 1 < nc:
            bound[2 * pair + 1] = size[2 * pair + 1] * second
