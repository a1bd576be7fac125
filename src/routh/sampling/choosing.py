"""Which of many outcomes to show: their combinations of contact modes by name, and samples far apart."""

from __future__ import annotations

from collections import Counter

import numpy as np

from routh.sampling.outcomes import Outcomes
from routh.validation import Array

_WORDS = ("separates", "sticks", "slides")
_LISTED = 3  # contacts that are told by name


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
    """What the contacts do, those that touch by name: "LF, RH stick, 2 separate"."""
    short = _without_common_end(names)
    parts: dict[int, list[str]] = {}
    for mode, name in zip(modes, short, strict=True):
        parts.setdefault(mode, []).append(name)
    told = []
    for mode in sorted(parts, reverse=True):
        who = parts[mode]
        verb = _WORDS[mode] if len(who) == 1 else _WORDS[mode][:-1]
        listed = len(who) == 1 or (mode > 0 and len(who) <= _LISTED)
        told.append(f"{', '.join(who) if listed else len(who)} {verb}")
    return ", ".join(told)


def _without_common_end(names: tuple[str, ...]) -> list[str]:
    """Names without the "/ground" that all of them end with."""
    ends = {name.rpartition("/")[2] for name in names}
    same = len(ends) == 1 and len(names) > 1 and all("/" in name for name in names)
    return [name.rpartition("/")[0] for name in names] if same else list(names)


def spread_choice(values: Array, count: int) -> np.ndarray:
    """Indices of ``count`` samples that lie far apart: each next one is the farthest from those before."""
    chosen = [int(np.argmax(((values - values.mean(axis=0)) ** 2).sum(axis=1)))]
    nearest = np.full(len(values), np.inf)
    while len(chosen) < min(count, len(values)):
        apart = values - values[chosen[-1]]
        np.minimum(nearest, np.einsum("nk,nk->n", apart, apart), out=nearest)
        chosen.append(int(np.argmax(nearest)))
    return np.array(chosen)
