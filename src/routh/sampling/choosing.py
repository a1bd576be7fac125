"""Which of many outcomes to show: their combinations of contact modes by name, and samples far apart."""

from __future__ import annotations

from collections import Counter

import numpy as np

from routh.sampling.outcomes import Outcomes
from routh.validation import Array

_WORDS = ("separates", "sticks", "slides")


def mode_names(outcomes: Outcomes) -> tuple[list[str], np.ndarray]:
    """Combinations of contact modes, the most frequent first, and which one each sample has, (n,) int."""
    rows = [tuple(row) for row in outcomes.modes.tolist()]
    ranked = [row for row, _ in Counter(rows).most_common()]
    place = {row: k for k, row in enumerate(ranked)}
    names = _distinct([_sentence(row, outcomes.problem.names) for row in ranked])
    return names, np.array([place[row] for row in rows])


def _distinct(names: list[str]) -> list[str]:
    """The same names, numbered where they repeat: a choice in the panel must be one."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _sentence(modes: tuple[int, ...], names: tuple[str, ...]) -> str:
    parts: dict[int, list[str]] = {}
    for mode, name in zip(modes, names, strict=True):
        parts.setdefault(mode, []).append(name)
    told = []
    for mode in sorted(parts):
        who = parts[mode]
        told.append(f"{who[0]} {_WORDS[mode]}" if len(who) == 1 else f"{len(who)} {_WORDS[mode][:-1]}")
    return ", ".join(told)


def spread_choice(values: Array, count: int) -> np.ndarray:
    """Indices of ``count`` samples that lie far apart: each next one is the farthest from those before."""
    chosen = [int(np.argmax(np.linalg.norm(values - values.mean(axis=0), axis=1)))]
    nearest = np.full(len(values), np.inf)
    while len(chosen) < min(count, len(values)):
        nearest = np.minimum(nearest, np.linalg.norm(values - values[chosen[-1]], axis=1))
        chosen.append(int(np.argmax(nearest)))
    return np.array(chosen)
