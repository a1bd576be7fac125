"""Outcomes near one that was sampled: how near does the set come to a velocity?

Each try is an outcome of its own: the nearest so far with some of its decisions changed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from routh.kernels.arrays import make_rows
from routh.laws.set_valued import accumulate, impulse_step
from routh.problem import ImpactProblem
from routh.rng import event_key, uniforms
from routh.sampling.breeding import EVENTS, changed_keys
from routh.sampling.events import Again, event_samples
from routh.sampling.outcomes import Outcomes
from routh.sampling.redrawing import redraw
from routh.status import Status
from routh.step import make_step
from routh.validation import Array

_LITTER = 16  # changed copies of the nearest sample that are drawn together


def refined(
    outcomes: Outcomes, after: Array, known_best: tuple[Array, float], tries: int, deadline: float
) -> tuple[Array, float]:
    """The outcome nearest to ``after`` (nv,) among ``tries`` more, and its distance in sqrt(J)."""
    settings = outcomes.settings
    by_events = settings.get("method") == "events"
    if not by_events and ("step" not in settings or settings.get("points") != "random"):
        raise ValueError(
            f"refine: got {tries} with outcomes that Algorithm 1 did not draw at random, nor events; wanted 0"
        )
    if not np.isfinite(known_best[1]):
        return known_best
    work = _by_events if by_events else _by_increments
    return work(outcomes, after, known_best, tries, deadline)


def _index_of(outcomes: Outcomes, v: Array) -> int:
    return int(np.argmin(np.linalg.norm((outcomes.v - v) @ outcomes.problem.cholesky, axis=1)))


def _by_events(
    outcomes: Outcomes, after: Array, known_best: tuple[Array, float], tries: int, deadline: float
) -> tuple[Array, float]:
    """The keys of the nearest sample's events, one or two or all behind one changed, again and again."""
    nearest, distance = known_best
    problem, settings = outcomes.problem, outcomes.settings
    again = outcomes.replay if isinstance(outcomes.replay, Again) else Again()
    draw, rates = redraw(settings, len(outcomes), problem.nt, "refine", again.rates, None)
    start = _index_of(outcomes, nearest)
    keys = np.array([event_key(int(draw.seed), draw.row, start, k) for k in range(EVENTS)], dtype=np.uint64)
    if again.keys is not None and start < len(again.keys):
        keys[: again.keys.shape[1]] = again.keys[start, :EVENTS]
    events = int(outcomes.events[start])
    rng, rows = np.random.default_rng(int(draw.seed)), make_rows([problem])
    options = {name: settings[name] for name in ("friction", "facets") if settings.get(name) is not None}
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
    return nearest, distance


def _by_increments(
    outcomes: Outcomes, after: Array, known_best: tuple[Array, float], tries: int, deadline: float
) -> tuple[Array, float]:
    """A random descent over the increments of the nearest sample: each try is an outcome of its own."""
    nearest, distance = known_best
    problem, settings = outcomes.problem, outcomes.settings
    start = _index_of(outcomes, nearest)
    length = int(outcomes.steps[start]) + 2
    step = impulse_step(problem, settings["step"])
    known = np.array([uniforms(settings["seed"], np.array([start]), k, problem.nc)[0] for k in range(length)])
    rng = np.random.default_rng(settings["seed"])
    outcome = _replayer(problem, settings["friction"], step, rng)
    width = 0.3
    for _ in range(tries):
        if time.monotonic() >= deadline:
            break
        trial = np.clip(known + width * rng.normal(size=known.shape), 0.0, None)
        v = outcome(trial)
        found = np.inf if v is None else float(np.linalg.norm((v - after) @ problem.cholesky))
        if v is not None and found < distance:
            known, nearest, distance, width = trial, v, found, 1.5 * width
        else:
            width *= 0.92  # widths stay level at one success in five
    return nearest, distance


def _replayer(
    problem: ImpactProblem, friction: str, step: Array, rng: np.random.Generator
) -> Callable[[Array], Array | None]:
    solver = make_step(problem, friction=friction)

    def outcome(shares: Array) -> Array | None:
        def lambda_max(k: int) -> Array:
            return step * (shares[k] if k < len(shares) else rng.random(problem.nc))

        result = accumulate(problem, solver, lambda_max, len(shares) + 20)
        return result.v if result.status.ok else None

    return outcome
