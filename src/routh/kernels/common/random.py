"""The counter-based generator of `routh.base.rng` as a scalar kernel: the same numbers, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.base.rng import EVENTS
from routh.compiling import inlined

if TYPE_CHECKING:
    from routh.base.validation import Array

Key = tuple[np.uint32, np.uint32, np.uint32]  # the seed's two words, the row of the problem in its batch

M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
WORD, SHIFT, DROP = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(11)
HALF, CELL = 0.5, 2.0**-53
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX0, MIX1 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@inlined
def philox(key: Key, sample: int, first: int, second: int) -> tuple[np.uint64, np.uint64]:
    """Philox4x32-10: twice 64 bits of the counter (sample, first, second).

    Words of 32 bits stand in the lower halves of 64: what is above them is never looked at.
    """
    k0, k1 = np.uint64(key[0]), np.uint64(key[1])
    c0, c1 = np.uint64(sample), (np.uint64(sample) >> SHIFT) ^ np.uint64(key[2])
    c2, c3 = np.uint64(first), np.uint64(second)
    for _ in range(10):
        p0, p1 = M0 * (c0 & WORD), M1 * (c2 & WORD)
        c0, c1, c2, c3 = (p1 >> SHIFT) ^ c1 ^ k0, p1, (p0 >> SHIFT) ^ c3 ^ k1, p0
        k0, k1 = k0 + W0, k1 + W1
    return (c0 << SHIFT) | (c1 & WORD), (c2 << SHIFT) | (c3 & WORD)


@inlined
def draw_bounds(nc: int, key: Key, sample: int, step: int, size: Array, bound: Array) -> None:
    """``lambda_max`` (nc,) of one sample at one step: size times uniform numbers (HP23 Algorithm 1)."""
    for pair in range((nc + 1) // 2):
        first, second = philox(key, sample, step, pair)
        bound[2 * pair] = size[2 * pair] * (((first >> DROP) + HALF) * CELL)
        if 2 * pair + 1 < nc:
            bound[2 * pair + 1] = size[2 * pair + 1] * (((second >> DROP) + HALF) * CELL)


@inlined
def event_keys(seed: np.uint64, row: int, sample: int, pair: int) -> tuple[np.uint64, np.uint64]:
    """`routh.base.rng.event_key`: the random bits of the events ``2 pair`` and ``2 pair + 1`` of a sample."""
    key = (np.uint32(seed), np.uint32(np.uint64(seed) >> SHIFT), np.uint32(row))
    return philox(key, sample, pair, EVENTS)


@inlined
def event_key(seed: np.uint64, row: int, sample: int, event: int) -> np.uint64:
    """`routh.base.rng.event_key`: the 64 random bits of one event of one sample."""
    even, odd = event_keys(seed, row, sample, event >> 1)
    return odd if event & 1 else even


@inlined
def event_word(key: np.uint64, index: int) -> np.uint64:
    """`routh.base.rng.event_word`: 64 further bits of an event's key."""
    z = np.uint64(key) + np.uint64(index + 1) * GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX0
    z = (z ^ (z >> np.uint64(27))) * MIX1
    return z ^ (z >> np.uint64(31))


@inlined
def event_number(key: np.uint64, index: int) -> float:
    """`routh.base.rng.event_number`: a uniform number in (0, 1) of an event's key."""
    return ((event_word(key, index) >> DROP) + HALF) * CELL
