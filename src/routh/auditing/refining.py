"""Outcomes near one that was sampled: how near does the set come to a velocity?

Each try is an outcome of its own: the nearest so far with some of its decisions changed.
"""

from __future__ import annotations

import time

import numpy as np

from routh.kernels.common.arrays import make_rows
from routh.kernels.events import event_samples
from routh.rng import event_key
from routh.sampling.breeding import EVENTS, changed_keys
from routh.sampling.events import Again
from routh.sampling.outcomes import Outcomes
from routh.sampling.redrawing import redraw
from routh.sampling.sampler import sample
from routh.status import Status
from routh.validation import Array, Options

_LITTER = 16  # changed copies of the nearest sample that are drawn together


def refined(
    outcomes: Outcomes, after: Array, known_best: tuple[Array, float], tries: int, deadline: float
) -> tuple[Array, float]:
    """The outcome nearest to ``after`` (nv,) among ``tries`` more, and its distance in sqrt(J).

    The keys of the nearest sample's events, one or two or all behind one changed, again and again. Samples
    that were not drawn by events have none: then as many are drawn that have.
    """
    if not np.isfinite(known_best[1]) or time.monotonic() >= deadline:
        return known_best
    problem = outcomes.problem
    if outcomes.settings.get("method") != "events":
        outcomes = sample(
            problem, len(outcomes), **_given(outcomes, "friction", "facets", "seed", "hypothesis")
        )
    again = outcomes.replay if isinstance(outcomes.replay, Again) else Again()
    draw, rates = redraw(outcomes.settings, len(outcomes), problem.nt, "refine", again.rates, None)
    away = np.linalg.norm((outcomes.v - after) @ problem.cholesky, axis=1)
    start = int(np.argmin(np.where(outcomes.solved, away, np.inf)))
    nearest, distance, events = outcomes.v[start].copy(), float(away[start]), int(outcomes.events[start])
    keys = np.array([event_key(int(draw.seed), draw.row, start, k) for k in range(EVENTS)], dtype=np.uint64)
    if again.keys is not None and start < len(again.keys):
        keys[: again.keys.shape[1]] = again.keys[start, :EVENTS]
    rng, rows = np.random.default_rng(int(draw.seed)), make_rows([problem])
    options = _given(outcomes, "friction", "facets")
    for begin in range(0, tries, _LITTER):
        if time.monotonic() >= deadline:
            break
        size = min(_LITTER, tries - begin)
        litter = changed_keys(np.tile(keys, (size, 1)), np.full(size, events), rng)
        out = event_samples(rows, draw._replace(n=size, keys=litter), threads=1, rates=rates, **options)
        far = np.linalg.norm((out.v[0] - after) @ problem.cholesky, axis=1)
        far[out.status[0] != Status.SOLVED] = np.inf
        best = int(np.argmin(far))
        if far[best] < distance:
            keys, events = litter[best], int(out.events[0, best])
            nearest, distance = out.v[0, best].copy(), float(far[best])
    return (nearest, distance) if distance < known_best[1] else known_best


def _given(outcomes: Outcomes, *names: str) -> Options:
    """Settings with which samples were drawn, where they say so."""
    return {name: outcomes.settings[name] for name in names if outcomes.settings.get(name) is not None}
