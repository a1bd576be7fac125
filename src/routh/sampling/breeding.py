"""Keys of samples that reached far, and changed copies of them: how sampling moves to what is unexplored.

Everything that a sampler by events decides at an event follows from the event's key (64 bits). A sample with
the keys of another up to some event takes the same path up to there.
"""

from __future__ import annotations

import numpy as np

from routh.validation import Array

EVENTS = 48  # events of a sample that have keys of their own; later ones draw by seed and sample

_FRESH = 0.25  # share of samples that have no parent
_TAIL = 0.4  # share of the others that keep a beginning only; the rest has one or two events changed


def fresh_keys(n: int, rng: np.random.Generator) -> np.ndarray:
    """Keys (n, EVENTS) without a parent."""
    return rng.integers(0, 2**64, size=(n, EVENTS), dtype=np.uint64)


def changed_keys(keys: np.ndarray, events: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Changed copies of keys (n, EVENTS) of samples with so many pieces (n,); some are fresh."""
    n, fresh = len(keys), fresh_keys(len(keys), rng)
    used = events + 2  # a stage or two may have led to no piece
    first, second = (rng.random((2, n)) * used).astype(np.int64)
    place = np.arange(EVENTS)
    tail = place >= first[:, None]
    single = (place == first[:, None]) | (place == second[:, None])
    changed = np.where((rng.random(n) < _TAIL)[:, None], tail, single)
    changed |= (rng.random(n) < _FRESH)[:, None]
    return np.where(changed, fresh, keys)


class Herd:
    """For each direction the keys of the sample that reached farthest."""

    def __init__(self, directions: Array, rng: np.random.Generator) -> None:
        self.directions, self._rng = directions, rng  # (k, nv)
        self.reach = np.full(len(directions), -np.inf)
        self.keys = np.zeros((len(directions), EVENTS), dtype=np.uint64)
        self.events = np.zeros(len(directions), dtype=np.int64)  # pieces of those samples

    def children(self, n: int) -> np.ndarray:
        """Keys (n, EVENTS) of new samples; fresh ones as long as no sample has ended."""
        if not np.all(np.isfinite(self.reach)):
            return fresh_keys(n, self._rng)
        parent = self._rng.integers(len(self.reach), size=n)
        return changed_keys(self.keys[parent], self.events[parent], self._rng)

    def learn(self, keys: np.ndarray, v: Array, events: np.ndarray) -> None:
        """Keep those samples (keys (n, EVENTS), outcomes (n, nv)) that reach farther than any before."""
        if not len(v):
            return
        reach = self.directions @ v.T  # (k, n)
        best = np.argmax(reach, axis=1)
        far = reach[np.arange(len(best)), best]
        better = far > self.reach
        self.reach = np.maximum(self.reach, far)
        self.keys[better] = keys[best[better]]
        self.events[better] = events[best[better]]
