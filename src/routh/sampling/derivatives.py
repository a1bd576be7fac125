"""Derivatives of outcomes by the data of the impact, with all decisions of the samples held fixed.

A sample drawn by events is a chain of pieces. Its decisions are who pushes in each piece and at which
relative rates (in the problem's own units, `routh.problem.impact.Scaling`), who sticks, slides and which
way, which event ends a piece, and at which share of the way to it a piece is cut short. For these the
velocity after is a smooth function of M, Jn, Jt, mu, v and the restitution; the derivative here is that
function's, exact, by one pass backwards along the pieces (`routh.kernels.gradients.reverse`). Since rates and
shares have no units, the outcome of fixed decisions is homogeneous of degree one in v, so
``jacobian["v"] @ v`` is the velocity after.

In order: the samples of one impact (`pull`), those of a batch (`pull_batch`), rows of one size together, and
one-sided samples at a change of piece (`pull_beside`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from routh.base.status import InputError, Status
from routh.base.validation import Array, choice, count_that_fits, real, real_array
from routh.kernels.common.arrays import Draw, as_rows, prepared
from routh.kernels.events import Rates
from routh.kernels.gradients.pullback import frames_of, raise_cotangents
from routh.kernels.gradients.run import MU, RESTITUTION, TANGENTS, Bars, J, M, Task, run
from routh.problem.batch import ImpactBatch
from routh.problem.friction import facet_directions
from routh.problem.impact import ImpactProblem
from routh.problem.rows import Problems
from routh.sampling.batch import BatchOutcomes
from routh.sampling.outcomes import DATA, Outcomes
from routh.sampling.settings import ByEvents, drawn_by, keys_of

#: Samples that come nearer than this to a change of piece are told to be one-sided. Without units.
NEAR = 1e-9

_EULER = 1e-4  # derivatives that miss Euler's theorem on homogeneous functions by more are none
_SAME = 1e-6  # a sample drawn again is the same one up to this share of the speed
_PLACES = {"mu": MU, "M": M, "Jn": J, "Jt": J, "restitution": RESTITUTION}


def pull(
    outcomes: Outcomes,
    cotangents: Array,
    *,
    wrt: Sequence[str] = DATA,
    near: float = NEAR,
    threads: int | None = None,
    rates: Rates | None = None,
    keys: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """Derivatives of ``cotangents . v`` of every sample, (n, k, ...), and "margin" and "one_sided", (n,).

    ``cotangents``: (1, k, nv) for all samples, or (n, k, nv). ``rates``: the function that drew the rates,
    where it was one. ``keys``: those of the events, where given. See `routh.Outcomes.jacobian`.
    """
    wrt = checked(wrt, near)
    task = differentiate(outcomes, cotangents, wrt, threads=threads, rates=rates, keys=keys)
    forget_lost(task, outcomes.v, outcomes.problem.M[None])
    return named(task, wrt, near)


def checked(wrt: Sequence[str], near: float = NEAR) -> tuple[str, ...]:
    """What is asked for, as names that there are."""
    wrt = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in wrt:
        choice("wrt", name, DATA)
    real("near", near, at_least=0.0)
    return wrt


def forget_lost(task: Task, v: Array, mass: Array) -> None:
    """Write NaN for samples without an outcome, that differ from those drawn, or with a wrong derivative.

    ``v`` (items, nv): velocities as they were drawn; ``mass`` (rows, nv, nv).
    """
    rows, nv = task.frames.v.shape
    moved = (task.after - v).reshape(rows, -1, nv)
    moved = np.linalg.norm(moved @ np.linalg.cholesky(mass), axis=2) / task.frames.speed
    lost = ~(task.margin >= 0.0) | ~(moved.reshape(-1) <= _SAME) | ~(task.off <= _EULER)
    if lost.any():
        for array in task.bars:
            if array.size:
                array[lost] = np.nan
        task.margin[lost] = 0.0


def named(task: Task, wrt: Sequence[str], near: float) -> dict[str, np.ndarray]:
    """The arrays by their names, and "margin" and "one_sided"."""
    nc = task.frames.root.shape[1]
    items, k, n, nv = task.bars.J.shape
    of_J = task.bars.J.reshape(items, k, nc, n // nc, nv)
    arrays = {**task.bars._asdict(), "Jn": of_J[:, :, :, 0], "Jt": of_J[:, :, :, 1:]}
    return {**{name: arrays[name] for name in wrt}, "one_sided": task.margin < near, "margin": task.margin}


def differentiate(
    outcomes: Outcomes,
    cotangents: Array,
    wrt: Sequence[str],
    *,
    threads: int | None = None,
    rates: Rates | None = None,
    keys: np.ndarray | None = None,
) -> Task:
    """Draw the samples again and go through them backwards."""
    drawing = replace(drawn_by(outcomes.settings, "jacobian", rates), threads=threads)
    first, draw = np.zeros(1, dtype=np.int64), drawing.draws(len(outcomes), keys)
    return run_rows(as_rows(outcomes.problem), first, draw, cotangents[None], wrt, drawing)


def run_rows(
    problems: Problems,
    numbers: np.ndarray,
    draw: Draw,
    cotangents: Array,
    wrt: Sequence[str],
    drawing: ByEvents,
) -> Task:
    """The samples of problems of one size, without padding; in space with restitution all of them or none.

    ``numbers``: which rows of the draw they are; ``cotangents``: (rows, 1 or n, k, nv).
    """
    count, nc, nt, nv = problems.Jt.shape
    rows = prepared(problems)
    frames, inverse = frames_of(problems, rows)
    items, k = count * draw.n, cotangents.shape[2]
    shapes = {"v": (nv,), "mu": (nc,), "M": (nv, nv), "J": (nc * (1 + nt), nv), "restitution": (nc,)}
    asked = {"v", *("J" if name in ("Jn", "Jt") else name for name in wrt)}
    numbers_each = sum(int(np.prod(shapes[name])) for name in asked)
    count_that_fits("n", items, 8 * (k * numbers_each + nv + 4))
    wanted = np.zeros(5, dtype=bool)
    wanted[[_PLACES[name] for name in wrt if name != "v"]] = True
    wanted[TANGENTS] = "Jt" in wrt
    task = Task(
        frames,
        numbers,
        facet_directions(nt, drawing.facets if nt == 2 else None),
        raise_cotangents(cotangents, frames, inverse),
        wanted,
        _empty_bars({name: (items if name in asked else 0, k, *shape) for name, shape in shapes.items()}),
        np.zeros(nv),
        np.full((items, nv), np.nan),
        np.full(items, np.nan),
        np.full(items, np.nan),
        np.zeros(items, dtype=np.int64),
        np.zeros(items, dtype=np.uint64),
    )
    polygon, rates = drawing.friction == "polyhedral", drawing.rates
    run(rows, draw, task, polygon, rates if callable(rates) else None, drawing.threads)
    return task


def _empty_bars(shapes: dict[str, tuple[int, ...]]) -> Bars:
    """Arrays that are not filled: what is not written belongs to samples that `forget_lost` finds.

    They are parts of one: large allocations get large pages, and are there in a tenth of the time.
    """
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    parts = np.split(np.empty(ends[-1]), ends[:-1])
    return Bars(**{name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)})


def pull_batch(
    outcomes: BatchOutcomes,
    cotangents: Array,
    *,
    wrt: Sequence[str] = DATA,
    near: float = NEAR,
    threads: int | None = None,
    rates: Rates | None = None,
) -> dict[str, np.ndarray]:
    """Derivatives of ``cotangents . v`` of every sample, (rows, n, k, ...), "margin" and "one_sided".

    ``cotangents``: (rows, 1 or n, k, nv). Axes are those of the batch: derivatives by what a row does not
    have are 0. See `routh.Outcomes.jacobian`.
    """
    wrt = checked(wrt, near)
    batch, n = outcomes.batch, outcomes.status.shape[1]
    found = _empty(batch, n, cotangents, wrt)
    drawing = replace(drawn_by(outcomes.settings, "jacobian", rates), threads=threads)
    for rows in _groups(batch):
        nv = int(batch.size[rows[0], 0])
        problems, slots = _without_padding(batch, rows)
        given = np.ascontiguousarray(cotangents[rows][..., :nv])
        task = run_rows(problems, rows, drawing.draws(n), given, wrt, drawing)
        forget_lost(task, outcomes.v[rows][..., :nv].reshape(-1, nv), problems.M)
        for name, array in named(task, wrt, near).items():
            values = array.reshape(len(rows), n, *array.shape[1:])
            if name in ("v", "M"):
                square: tuple[Any, ...] = (rows, ..., *[slice(nv)] * (values.ndim - 3))
                found[name][square] = values
            elif name in DATA:
                _to_slots(found[name], rows, slots, values)
            else:
                found[name][rows] = values
    return found


def _empty(batch: ImpactBatch, n: int, cotangents: Array, wrt: Sequence[str]) -> dict[str, np.ndarray]:
    """Arrays as they are where nothing touches: the velocity after is the one before."""
    count, _, k, nv = cotangents.shape
    nc, nt = batch.nc, batch.nt
    shapes = {"v": (nv,), "mu": (nc,), "M": (nv, nv), "Jn": (nc, nv), "Jt": (nc, nt, nv)}
    shapes["restitution"] = (nc,)
    count_that_fits("n", count * n, 8 * sum(k * int(np.prod(shapes[name])) for name in wrt) + 9)
    found = {name: np.zeros((count, n, k, *shapes[name])) for name in wrt}
    if "v" in found:
        alone = batch.status == Status.NO_CONTACT
        found["v"][alone] = cotangents[alone]
    refused = batch.status == Status.REFUSED
    for array in found.values():
        array[refused] = np.nan
    margin = np.broadcast_to(np.where(refused, 0.0, 1.0)[:, None], (count, n)).copy()
    return {**found, "one_sided": margin == 0.0, "margin": margin}


def _groups(batch: ImpactBatch) -> Iterator[np.ndarray]:
    """Rows with contacts that have one size and, all of them or none, restitution."""
    bounces = np.any((batch.restitution > 0.0) & batch.present, axis=1)
    kinds = np.column_stack([batch.size, bounces])
    impacts = np.isin(batch.status, (Status.SOLVED, Status.NO_IMPACT))
    for kind in np.unique(kinds[impacts], axis=0):
        yield np.flatnonzero(impacts & np.all(kinds == kind, axis=1))


def _without_padding(batch: ImpactBatch, rows: np.ndarray) -> tuple[Problems, np.ndarray]:
    """Rows of one size as arrays of that size, and the places (rows, nc) of their contacts in the batch."""
    nv, nc, nt = (int(size) for size in batch.size[rows[0]])
    slots = np.argsort(~batch.present[rows], axis=1, kind="stable")[:, :nc]
    each = rows[:, None]
    arrays = (
        batch.M[rows, :nv, :nv],
        batch.Jn[each, slots, :nv],
        batch.Jt[each, slots, :nt, :nv],
        batch.mu[each, slots],
        batch.restitution[each, slots],
        batch.v[rows, :nv],
        np.ones((len(rows), nc), dtype=bool),
        batch.size[rows],
    )
    ready = [np.ascontiguousarray(array) for array in arrays]
    for array in ready:
        array.setflags(write=False)  # as those of a single problem: the kernels are compiled once
    return Problems(*ready), slots


def _to_slots(found: np.ndarray, rows: np.ndarray, slots: np.ndarray, values: np.ndarray) -> None:
    """Values by contacts (rows, n, k, nc, ...) to the places of their contacts in the batch."""
    inside = tuple(slice(size) for size in values.shape[4:])
    for place in range(slots.shape[1]):
        at: tuple[Any, ...] = (rows, slice(None), slice(None), slots[:, place], *inside)
        found[at] = values[:, :, :, place]


# Derivatives at a change of piece, to one side of it: those of the same sample a little to that side.
#
# There another sequence of pieces begins: a foot at rest slips for a moment before it sticks, say. The piece
# more takes an event more, and so the random numbers of the events after it would be those of others. A key
# put in at its place lets the sample go on as it was. Whether it does is seen from its velocity after: it
# must have moved as the derivative says, from the change of piece itself.

_AWAY = 1e-7  # how far to the side, a share of the speed
_SAME_OUTCOME = 1e-4  # an outcome that is farther off is another one; a share of the speed
_EXACT = 1e-12  # the largest tolerance with which curves can be compared over that distance
_AGREES = 1e-5  # by how much the way to the side may miss the derivative, a share of it and the speed
_ROUNDS, _EVENTS_BEFORE, _SPARE = 3, 8, 12  # keys put in; events before which; others that are tried there


@dataclass(frozen=True, eq=False)
class Beside:
    """Samples of a problem a little to one side of the one that they were drawn of."""

    problem: ImpactProblem
    v: Array  # (n, nv) velocities after of the samples themselves
    side: Array  # (nv,) of the length of the speed
    drawing: ByEvents

    def task(self, keys: np.ndarray, cotangents: Array, wrt: Sequence[str]) -> Task:
        """Draw the samples with these keys, and differentiate them."""
        moved = self.problem.replace(v=self.problem.v + _AWAY * self.side)
        first, draw = np.zeros(1, dtype=np.int64), self.drawing.draws(len(keys), keys)
        return run_rows(as_rows(moved), first, draw, cotangents[None], wrt, self.drawing)

    def distances(self, keys: np.ndarray, rows: np.ndarray) -> Array:
        """How far the outcomes with these keys are from some of the samples; infinite where there is none."""
        after = self.task(keys, np.zeros((1, 0, len(self.side))), ()).after
        off = np.linalg.norm((after - self.v[rows]) @ self.problem.cholesky, axis=1)
        return np.asarray(np.nan_to_num(off / self.problem.scaling.speed, nan=np.inf))

    def follow(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Keys with which the samples go on as they were, and which of them do, (n,) bool."""
        best = self.distances(keys, np.arange(len(keys)))
        for _ in range(_ROUNDS):
            rows = np.flatnonzero(best > _SAME_OUTCOME)
            if len(rows) == 0:
                break
            found = keys.copy()
            for tried in _with_one_more(keys[rows]):
                off = self.distances(tried, rows)
                nearer = off < best[rows]
                best[rows[nearer]], found[rows[nearer]] = off[nearer], tried[nearer]
            keys = found
        return keys, (best <= _SAME_OUTCOME) & self._agree(keys)

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
    for place in range(min(_EVENTS_BEFORE, keys.shape[1] - 1)):
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
        raise InputError("side", got="zeros", wanted="a change of velocity that is not zero")
    drawing = replace(drawn_by(outcomes.settings, "jacobian", rates), threads=threads)
    curved = problem.nt == 2 and drawing.friction == "cone"
    if curved and drawing.tolerance > _EXACT:  # samples to the side could not be told from others
        raise InputError(
            "side",
            wrong=f"the samples were drawn with tolerance={drawing.tolerance:g}",
            wanted=f"{_EXACT:g} or less with the true cone in space",
        )
    found["to_side"] = np.zeros(len(outcomes), dtype=bool)
    rows = np.flatnonzero(found["one_sided"] & (outcomes.status == Status.SOLVED))
    if len(rows) == 0:
        return
    unit = along * (problem.scaling.speed / size)
    beside = Beside(problem, outcomes.v[rows], unit, drawing)
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
