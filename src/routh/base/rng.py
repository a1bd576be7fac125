"""A counter-based generator: the number drawn depends only on (seed, row, sample, step, contact).

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011). The counter holds the sample's index, the row of the
problem in its batch (a single problem is row 0), the step and the pair of contacts; the key holds the seed.
Results therefore depend neither on threads nor on batch size, and the CPU and GPU kernels draw the same
numbers as this reference. Row and sample have 32 bits each; a larger index shares its upper half with rows.
"""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array

_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)

#: The fourth word of the counter for keys of events: apart from every pair of contacts.
EVENTS = 0x45564E54


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


def uniforms(seed: int, samples: np.ndarray, step: int, nc: int, *, row: int = 0) -> Array:
    """Uniform numbers in (0, 1) for each sample at one step, (n, nc).

    One Philox block serves two contacts; each number takes 53 of its 64 bits and is centred in its
    cell, so neither 0 nor 1 occurs.
    """
    samples = np.asarray(samples, dtype=np.uint64)
    pairs = (nc + 1) // 2
    counter = np.zeros((len(samples), pairs, 4), dtype=np.uint64)
    counter[..., 0] = (samples & _LOW)[:, None]
    counter[..., 1] = ((samples >> _SHIFT) ^ np.uint64(row))[:, None]
    counter[..., 2] = np.uint64(step)
    counter[..., 3] = np.arange(pairs, dtype=np.uint64)
    words = philox(counter, (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))
    high, low = words[..., 0::2], words[..., 1::2]
    bits = ((high << _SHIFT) | low) >> np.uint64(11)
    numbers = (bits.astype(np.float64) + 0.5) * 2.0**-53
    return numbers.reshape(len(samples), 2 * pairs)[:, :nc]


def event_key(seed: int, row: int, sample: int, event: int) -> int:
    """The 64 random bits from which everything at one event of one sample is drawn, see `event_number`."""
    counter = np.array([sample & 0xFFFFFFFF, (sample >> 32) ^ row, event >> 1, EVENTS], dtype=np.uint64)
    words = philox(counter, (seed & 0xFFFFFFFF, seed >> 32))
    half = 2 * (event & 1)
    return (int(words[half]) << 32) | int(words[half + 1])


def event_word(key: int, index: int) -> int:
    """64 further random bits that belong to an event's key.

    The finaliser of SplitMix64 (Steele, Lea and Flood, 2014) on the key and a Weyl sequence.
    """
    mask = 0xFFFFFFFFFFFFFFFF
    z = (key + (index + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def event_number(key: int, index: int) -> float:
    """The uniform number in (0, 1) with this index that belongs to an event's key."""
    return ((event_word(key, index) >> 11) + 0.5) * 2.0**-53
