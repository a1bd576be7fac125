"""Hill climbing over sequences of contact statuses: what reaches farthest in one direction.

For given statuses the farthest outcome is a linear program (`routh.sampling.polishing`), so the sequence is
left to be found. Segments are changed, put in or left out, and the best sequences so far are those that are
changed. Every outcome is one of a solution of HP23 (39), however it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from routh.sampling.polishing import Walk, joined
from routh.sampling.statuses import APART, SMOOTH, STICK, Statuses
from routh.validation import Array

_POOL = 32  # sequences that are kept and changed
_SAME = 1e-9  # share of the largest reach: closer ones are the same outcome


def climb(
    extreme: Callable[[tuple[Statuses, ...], Array], Walk | None],
    seeds: Sequence[Walk],
    direction: Array,
    tries: int,
    rng: np.random.Generator,
) -> list[Walk]:
    """The best outcomes in a direction (nv,), from samples that have ended and ``tries`` changes.

    ``extreme`` finds the farthest outcome of a sequence in a direction, or None.
    """
    smooth = frozenset(i for s in seeds for x in s.sequence for i, status in enumerate(x) if status == SMOOTH)
    pool: list[tuple[float, Walk]] = []
    seen: set[tuple[Statuses, ...]] = set()

    def attempt(sequence: tuple[Statuses, ...]) -> None:
        seen.add(sequence)
        found = extreme(sequence, direction)
        if found is None or not found.sequence:
            return
        value = float(direction @ found.v)
        if any(abs(value - other) <= _SAME * abs(other) for other, _ in pool):
            return
        pool.append((value, found))
        pool.sort(key=lambda entry: -entry[0])
        del pool[_POOL:]

    best = sorted(seeds, key=lambda seed: -float(direction @ seed.v))[:_POOL]
    others = [seeds[k] for k in rng.permutation(len(seeds))[:_POOL]]  # so as not to see one kind only
    for seed in (*best, *others):
        if seed.sequence not in seen:
            attempt(seed.sequence)
    for _ in range(tries if pool else 0):
        sequence = pool[int(len(pool) * rng.random() ** 2)][1].sequence  # the better ones more often
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
    return joined(segments)


def _other(statuses: Statuses, smooth: frozenset[int], rng: np.random.Generator) -> Statuses:
    """One or two contacts changed; ``smooth`` ones have no friction."""
    changed = list(statuses)
    for _ in range(1 + int(rng.random() < 0.4)):
        i = int(rng.integers(len(changed)))
        changed[i] = int(rng.choice([APART, SMOOTH] if i in smooth else [APART, STICK, 1, -1]))
    return tuple(changed)
