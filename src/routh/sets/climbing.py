"""Hill climbing over sequences of contact statuses: what reaches farthest in one direction.

For given statuses the farthest outcome is a linear program (`routh.sets.polishing`), so the sequence is left
to be found. Segments are changed, put in or left out, and the best sequences so far are those that are
changed. Every outcome is one of a solution of HP23 (39), however it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np

from routh.sets.polishing import APART, SMOOTH, STICK, Statuses
from routh.status import Status
from routh.validation import Array

# velocity, impulse (nc, 2), segments, status, residual, rows of the tape used, statuses of the segments
Walked = tuple[Array, Array, int, Status, float, int, tuple[Statuses, ...]]
Extreme = Callable[[tuple[Statuses, ...], Array], Walked | None]
_POOL = 32  # sequences that are kept and changed
_SAME = 1e-9  # share of the largest reach: closer ones are the same outcome


def climb(
    extreme: Extreme,
    sequences: Sequence[tuple[Statuses, ...]],
    reach: Array,
    direction: Array,
    tries: int,
    rng: np.random.Generator,
) -> list[Walked]:
    """The best outcomes in a direction (nv,), from sequences (n of them) that reach ``reach`` (n,)."""
    smooth = frozenset(i for s in sequences for segment in s for i, x in enumerate(segment) if x == SMOOTH)
    pool: list[tuple[float, Walked]] = []
    seen: set[tuple[Statuses, ...]] = set()

    def attempt(sequence: tuple[Statuses, ...]) -> None:
        seen.add(sequence)
        found = extreme(sequence, direction)
        if found is None or not found[6]:
            return
        value = float(direction @ found[0])
        if any(abs(value - other) <= _SAME * abs(other) for other, _ in pool):
            return
        pool.append((value, found))
        pool.sort(key=lambda entry: -entry[0])
        del pool[_POOL:]

    best = np.argsort(-reach)[:_POOL]
    for k in (*best, *rng.permutation(len(reach))[:_POOL]):  # some others, so as not to see one kind only
        if sequences[k] not in seen:
            attempt(sequences[k])
    for _ in range(tries if pool else 0):
        sequence = pool[int(len(pool) * rng.random() ** 2)][1][6]  # the better ones more often
        for _ in range(1 + int(rng.integers(3))):
            sequence = _changed(sequence, smooth, rng)
        if sequence and sequence not in seen:
            attempt(sequence)
    return [found for _, found in pool]


def _changed(
    sequence: tuple[Statuses, ...], smooth: frozenset[int], rng: np.random.Generator
) -> tuple[Statuses, ...]:
    """A segment less, a segment more beside one that it resembles, or a segment with other statuses."""
    if not sequence:
        return sequence
    segments, kind = list(sequence), rng.random()
    place = int(rng.integers(len(segments)))
    if kind < 0.2:
        del segments[place]
    elif kind < 0.6:
        segments.insert(place + int(rng.integers(2)), _other(segments[place], smooth, rng))
    else:
        segments[place] = _other(segments[place], smooth, rng)
    pushing = [statuses for statuses in segments if any(status != APART for status in statuses)]
    return tuple(statuses for statuses, _ in groupby(pushing))


def _other(statuses: Statuses, smooth: frozenset[int], rng: np.random.Generator) -> Statuses:
    """One or two contacts changed; ``smooth`` ones have no friction."""
    changed = list(statuses)
    for _ in range(1 + int(rng.random() < 0.4)):
        i = int(rng.integers(len(changed)))
        changed[i] = int(rng.choice([APART, SMOOTH] if i in smooth else [APART, STICK, 1, -1]))
    return tuple(changed)
