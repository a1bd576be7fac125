"""Derivatives of outcomes by the data of the impact, with all decisions of the samples held fixed.

A sample drawn by events is a chain of pieces. Its decisions are who pushes in each piece and at which
relative rates (in the problem's own units, `routh.problem.Scaling`), who sticks, slides and which way, which
event ends a piece, and at which share of the way to it a piece is cut short. For these the velocity after is
a smooth function of M, Jn, Jt, mu, v and the restitution; the derivative here is that function's, exact, by
one pass backwards along the pieces (`routh.kernels.reverse`). Since rates and shares have no units, the
outcome of fixed decisions is homogeneous of degree one in v, so ``jacobian["v"] @ v`` is the velocity after.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.friction import facet_directions
from routh.kernels.arrays import make_rows
from routh.kernels.gradients import MU, RESTITUTION, Bars, J, M, Task, V, run_plane, run_space
from routh.kernels.pullback import frame_of
from routh.kernels.reverse_rates import Given
from routh.sampling.outcomes import DATA, Outcomes
from routh.sampling.redrawing import Rates, redraw
from routh.validation import Array, choice, count_that_fits, real

#: Samples that come nearer than this to a change of piece are told to be one-sided. Without units.
NEAR = 1e-9

_EULER = 1e-4  # derivatives that miss Euler's theorem on homogeneous functions by more are none
_SAME = 1e-6  # a sample drawn again is the same one up to this share of the speed
_PLACES = {"v": V, "mu": MU, "M": M, "Jn": J, "Jt": J, "restitution": RESTITUTION}


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
    wrt = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for name in wrt:
        choice("wrt", name, DATA)
    real("near", near, at_least=0.0)
    task = differentiate(outcomes, cotangents, wrt, threads=threads, rates=rates, keys=keys)
    problem = outcomes.problem
    moved = np.linalg.norm((task.after - outcomes.v) @ problem.cholesky, axis=1)
    lost = ~(task.margin >= 0.0) | ~(moved <= _SAME * problem.scaling.speed)
    lost |= ~(_off_euler(outcomes, cotangents, task) <= _EULER)
    for array in task.bars:
        if array.size:
            array[lost] = np.nan
    task.margin[lost] = 0.0
    of_J = task.bars.J.reshape(*task.bars.J.shape[:2], problem.nc, 1 + problem.nt, problem.nv)
    arrays = {**task.bars._asdict(), "Jn": of_J[:, :, :, 0], "Jt": of_J[:, :, :, 1:]}
    return {**{name: arrays[name] for name in wrt}, "one_sided": task.margin < near, "margin": task.margin}


def _off_euler(outcomes: Outcomes, cotangents: Array, task: Task) -> Array:
    """By how much derivatives along v miss the velocity after, whose degree is one; shares of speed, (n,)."""
    problem = outcomes.problem
    given = np.broadcast_to(cotangents, task.bars.v.shape)  # (n, k, nv)
    size = np.linalg.norm(np.linalg.solve(problem.cholesky, cotangents[..., None])[..., 0], axis=-1)
    with np.errstate(all="ignore"):  # what overflows is far off
        missed = np.abs(task.bars.v @ problem.v - np.einsum("skr,sr->sk", given, task.after))
        off: Array = np.max(missed / (size * problem.scaling.speed + 1e-300), axis=1, initial=0.0)
    return off


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
    draw, rates = redraw(outcomes, "jacobian", rates, keys)
    problem = outcomes.problem
    task = _empty(outcomes, np.ascontiguousarray(cotangents), wrt, draw.poisson)
    own = rates if callable(rates) else None
    rows = make_rows([problem])
    if problem.nt == 1:
        run_plane(rows, draw, task, own, threads)
        return task
    polygon = outcomes.settings.get("friction", "cone") == "polyhedral"
    run_space(rows, draw, task, task.given.corners if polygon else None, own, threads)
    return task


def decisions(outcomes: Outcomes) -> np.ndarray:
    """A number for each sample, (n,) uint64: equal where roles, directions and events of all pieces are."""
    return differentiate(outcomes, np.zeros((1, 0, outcomes.problem.nv)), ()).decisions


def _empty(outcomes: Outcomes, cotangents: Array, wrt: Sequence[str], poisson: int) -> Task:
    """Room for what is asked of the samples."""
    problem, facets = outcomes.problem, outcomes.settings.get("facets")
    n, k, nv, nc = len(outcomes), cotangents.shape[1], problem.nv, problem.nc
    wanted = np.zeros(5, dtype=bool)
    wanted[[_PLACES[name] for name in wrt]] = True
    wanted[V] = True  # what `pull` checks the pass backwards with
    shapes = [(nv,), (nc,), (nv, nv), (nc * (1 + problem.nt), nv), (nc,)]
    numbers = sum(int(np.prod(shape)) for shape, asked in zip(shapes, wanted, strict=True) if asked)
    count_that_fits("n", n, 8 * (k * numbers + nv + 3))
    bars = [
        np.full((n, k, *shape) if asked else (0, k, *shape), np.nan)
        for shape, asked in zip(shapes, wanted, strict=True)
    ]
    given = Given(
        make_rows([problem]).G[0],
        np.ascontiguousarray(problem.mu),
        np.ascontiguousarray(problem.restitution),
        facet_directions(problem.nt, facets),
        poisson,
    )
    return Task(
        frame_of(problem),
        given,
        cotangents,
        wanted,
        Bars(*bars),
        np.zeros(nv),
        np.full((n, nv), np.nan),
        np.full(n, np.nan),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.uint64),
    )
