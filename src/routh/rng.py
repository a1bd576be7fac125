"""A counter-based generator: the number drawn depends only on (seed, sample, step, contact).

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). The counter holds the sample's index, the step and the
pair of contacts; the key holds the seed. Results therefore depend neither on threads nor on batch size, and
the CPU and GPU kernels draw the same numbers as this reference.
"""

from __future__ import annotations

import numpy as np

from routh.validation import Array

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)


def philox(counter: np.ndarray, key: tuple[int, int]) -> np.ndarray:
    """Ten rounds of Philox4x32: counter (..., 4) of 32-bit words in uint64 -> the same shape."""
    c0, c1, c2, c3 = (counter[..., i].astype(np.uint64) for i in range(4))
    k0, k1 = key
    for _ in range(10):
        p0 = np.uint64(_MULTIPLIERS[0]) * c0
        p1 = np.uint64(_MULTIPLIERS[1]) * c2
        c0, c1, c2, c3 = (
            (p1 >> _SHIFT) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _SHIFT) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


def uniforms(seed: int, samples: np.ndarray, step: int, nc: int) -> Array:
    """Uniform numbers in (0, 1) for each sample at one step, (n, nc).

    One Philox block serves two contacts; each number takes 53 of its 64 bits and is centred in its
    cell, so neither 0 nor 1 occurs.
    """
    samples = np.asarray(samples, dtype=np.uint64)
    pairs = (nc + 1) // 2
    counter = np.zeros((len(samples), pairs, 4), dtype=np.uint64)
    counter[..., 0] = (samples & _LOW)[:, None]
    counter[..., 1] = (samples >> _SHIFT)[:, None]
    counter[..., 2] = np.uint64(step)
    counter[..., 3] = np.arange(pairs, dtype=np.uint64)
    words = philox(counter, (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))
    high, low = words[..., 0::2], words[..., 1::2]
    bits = ((high << _SHIFT) | low) >> np.uint64(11)
    numbers = (bits.astype(np.float64) + 0.5) * 2.0**-53
    return numbers.reshape(len(samples), 2 * pairs)[:, :nc]
