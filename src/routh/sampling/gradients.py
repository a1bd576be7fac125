"""Derivatives of outcomes by the data of the impact, with all decisions of the samples held fixed.

A sample drawn by events is a chain of pieces. Its decisions are who pushes in each piece and at which
relative rates (in the problem's own units, `routh.problem.Scaling`), who sticks, slides and which way, which
event ends a piece, and at which share of the way to it a piece is cut short. For these the velocity after is
a smooth function of M, Jn, Jt, mu, v and the restitution; the derivative here is that function's, exact, by
one pass backwards along the pieces (`routh.kernels.gradients.reverse`). Since rates and shares have no
units, the outcome of fixed decisions is homogeneous of degree one in v, so ``jacobian["v"] @ v`` is the
velocity after.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.friction import facet_directions
from routh.kernels.common.arrays import Draw, as_rows
from routh.kernels.events import Rates
from routh.kernels.gradients.pullback import frames_of, raise_cotangents
from routh.kernels.gradients.run import MU, RESTITUTION, Bars, J, M, Task, run
from routh.preparing import Problems, empty_rows, prepare, scratch
from routh.sampling.outcomes import DATA, Outcomes
from routh.sampling.redrawing import redraw
from routh.validation import Array, Options, choice, count_that_fits, real

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
    """NaN for samples without an outcome, that are others than those drawn, or whose derivative is wrong.

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
    problem, settings = outcomes.problem, outcomes.settings
    draw, rates = redraw(settings, len(outcomes), problem.nt, "jacobian", rates, keys)
    first = np.zeros(1, dtype=np.int64)
    return run_rows(as_rows(problem), first, draw, cotangents[None], wrt, settings, rates, threads)


def run_rows(
    problems: Problems,
    numbers: np.ndarray,
    draw: Draw,
    cotangents: Array,
    wrt: Sequence[str],
    settings: Options,
    rates: Rates,
    threads: int | None,
) -> Task:
    """The samples of problems of one size, without padding; in space with restitution all of them or none.

    ``numbers``: which rows of the draw they are; ``cotangents``: (rows, 1 or n, k, nv).
    """
    count, nc, nt, nv = problems.Jt.shape
    rows = empty_rows(count, nv, nc, nt)
    prepare(problems, 0, count, np.zeros(count, dtype=bool), scratch(problems), rows)
    frames, inverse = frames_of(problems, rows)
    items, k = count * draw.n, cotangents.shape[2]
    shapes = {"v": (nv,), "mu": (nc,), "M": (nv, nv), "J": (nc * (1 + nt), nv), "restitution": (nc,)}
    asked = {"v", *("J" if name in ("Jn", "Jt") else name for name in wrt)}
    numbers_each = sum(int(np.prod(shapes[name])) for name in asked)
    count_that_fits("n", items, 8 * (k * numbers_each + nv + 4))
    wanted = np.zeros(4, dtype=bool)
    wanted[[_PLACES[name] for name in wrt if name != "v"]] = True
    task = Task(
        frames,
        numbers,
        facet_directions(nt, settings.get("facets") if nt == 2 else None),
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
    polygon = settings.get("friction", "cone") == "polyhedral"
    run(rows, draw, task, polygon, rates if callable(rates) else None, threads)
    return task


def _empty_bars(shapes: dict[str, tuple[int, ...]]) -> Bars:
    """Arrays that are not filled: what is not written belongs to samples that `forget_lost` finds.

    They are parts of one: large allocations get large pages, and are there in a tenth of the time.
    """
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    parts = np.split(np.empty(ends[-1]), ends[:-1])
    return Bars(**{name: part.reshape(shapes[name]) for name, part in zip(shapes, parts, strict=True)})
