"""Derivatives at a change of piece, to one side of it: those of the same sample a little to that side.

There another sequence of pieces begins: a foot at rest slips for a moment before it sticks, say. The piece
more takes an event more, and so the random numbers of the events after it would be those of others. A key put
in at its place lets the sample go on as it was. Whether it does is seen from its velocity after: it must have
moved as the derivative says, from the change of piece itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from routh.kernels.common.arrays import as_rows
from routh.kernels.events import TOLERANCE, Rates
from routh.kernels.gradients.run import Task
from routh.problem import ImpactProblem
from routh.sampling.gradients import forget_lost, named, run_rows
from routh.sampling.outcomes import Outcomes
from routh.sampling.redrawing import keys_of, redraw
from routh.status import Status
from routh.validation import Array, Options, real_array

_AWAY = 1e-7  # how far to the side, a share of the speed
_SAME = 1e-4  # an outcome that is farther off is another one; a share of the speed
_EXACT = 1e-12  # the largest tolerance with which curves can be compared over that distance
_AGREES = 1e-5  # by how much the way to the side may miss the derivative, a share of it and the speed
_ROUNDS, _PLACES, _SPARE = 3, 8, 12  # keys put in at most; events before which; others that are tried there


@dataclass(frozen=True, eq=False)
class Beside:
    """Samples of a problem a little to one side of the one that they were drawn of."""

    problem: ImpactProblem
    v: Array  # (n, nv) velocities after of the samples themselves
    side: Array  # (nv,) of the length of the speed
    settings: Options
    rates: Rates | None
    threads: int | None

    def task(self, keys: np.ndarray, cotangents: Array, wrt: Sequence[str]) -> Task:
        """Draw the samples with these keys, and differentiate them."""
        moved = self.problem.replace(v=self.problem.v + _AWAY * self.side)
        draw, rates = redraw(self.settings, len(keys), moved.nt, "jacobian", self.rates, keys)
        first = np.zeros(1, dtype=np.int64)
        options = (wrt, self.settings, rates, self.threads)
        return run_rows(as_rows(moved), first, draw, cotangents[None], *options)

    def distances(self, keys: np.ndarray, rows: np.ndarray) -> Array:
        """How far the outcomes with these keys are from some of the samples; infinite where there is none."""
        after = self.task(keys, np.zeros((1, 0, len(self.side))), ()).after
        off = np.linalg.norm((after - self.v[rows]) @ self.problem.cholesky, axis=1)
        return np.asarray(np.nan_to_num(off / self.problem.scaling.speed, nan=np.inf))

    def follow(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keys with which the samples go on as they were, and which of them do, (n,) bool."""
        best = self.distances(keys, np.arange(len(keys)))
        for _ in range(_ROUNDS):
            rows = np.flatnonzero(best > _SAME)
            if len(rows) == 0:
                break
            found = keys.copy()
            for tried in _with_one_more(keys[rows]):
                off = self.distances(tried, rows)
                nearer = off < best[rows]
                best[rows[nearer]], found[rows[nearer]] = off[nearer], tried[nearer]
            keys = found
        return keys, (best <= _SAME) & self._agree(keys)

    def _agree(self, keys: np.ndarray) -> np.ndarray:
        """Whether the velocities after have moved as the derivative says, (n,) bool."""
        task = self.task(keys, np.eye(len(self.side))[None], ())
        moved = (task.after - self.v) / _AWAY
        missed = np.linalg.norm((moved - task.bars.v @ self.side) @ self.problem.cholesky, axis=1)
        size = self.problem.scaling.speed + np.linalg.norm(moved @ self.problem.cholesky, axis=1)
        return (task.margin >= 0.0) & (missed <= _AGREES * size)


def _with_one_more(keys: np.ndarray) -> Iterator[np.ndarray]:
    """Keys with one more: one of them twice, or another one in between."""
    spare = np.random.default_rng(0).integers(0, 2**64, _SPARE, dtype=np.uint64)
    for place in range(min(_PLACES, keys.shape[1] - 1)):
        longer = np.insert(keys, place, keys[:, place], axis=1)[:, :-1]
        yield longer
        for key in spare:
            longer[:, place] = key
            yield longer


def pull_beside(
    outcomes: Outcomes,
    cotangents: Array,
    side: Array,
    found: dict[str, np.ndarray],
    *,
    wrt: Sequence[str],
    threads: int | None,
    rates: Rates | None,
    keys: np.ndarray | None,
) -> None:
    """Put the derivatives to one side in place of those of one-sided samples; "to_side" says where."""
    problem = outcomes.problem
    along = real_array("side", side, [(problem.nv,)], f"shape ({problem.nv},)")
    size = float(np.linalg.norm(along @ problem.cholesky))
    if not size > 0.0:
        raise ValueError("side: got zeros; wanted a change of the velocity")
    tolerance = float(outcomes.settings.get("tolerance", TOLERANCE))
    curved = problem.nt == 2 and outcomes.settings.get("friction", "cone") == "cone"
    if curved and tolerance > _EXACT:  # samples to the side could not be told from others
        raise ValueError(
            f"side: the samples were drawn with tolerance={tolerance:g}; with the true cone in space wanted "
            f"{_EXACT:g} or less"
        )
    found["to_side"] = np.zeros(len(outcomes), dtype=bool)
    rows = np.flatnonzero(found["one_sided"] & (outcomes.status == Status.SOLVED))
    if len(rows) == 0:
        return
    unit = along * (problem.scaling.speed / size)
    beside = Beside(problem, outcomes.v[rows], unit, outcomes.settings, rates, threads)
    followed, good = beside.follow(keys_of(outcomes, rows, keys))
    if not good.any():
        return
    there = rows[good]
    task = beside.task(followed[good], cotangents if len(cotangents) == 1 else cotangents[there], wrt)
    forget_lost(task, task.after, problem.M[None])
    for name, array in named(task, wrt, 0.0).items():
        if name in wrt:
            found[name][there] = array
    found["to_side"][there] = True
