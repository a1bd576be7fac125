"""Sampling by events: between events impulses grow at constant relative rates (HP23 (39)), no step, no error.

First one problem, and how its samples are drawn again (`Again`, `path_of`, `select`); then batches, whose
rows are prepared in pieces that fit the cache. The kernels are behind `routh.kernels.events`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from routh.batch import ImpactBatch
from routh.friction.pointedness import is_pointed
from routh.kernels.common.arrays import Draw, Outputs, empty_outputs, make_rows
from routh.kernels.events import Rates, event_samples, piecewise_path, scaled_pieces
from routh.problem import ImpactProblem
from routh.problem_rows import Rows, empty_rows, prepare, scratch
from routh.results import ImpactPath
from routh.sampling.batch import BatchOutcomes
from routh.sampling.outcomes import _ARRAYS, _OPTIONAL, DATA, Outcomes, with_jams
from routh.sampling.settings import keys_of, make_settings, redraw
from routh.status import Status
from routh.validation import Array, Options, deadline_of, integer, seconds_left

#: Bytes of prepared rows at a time: a share of the processor's cache, and little beside what is returned.
_PIECE = 4 * 2**20


def event_outcomes(problem: ImpactProblem, n: int, settings: Options, **options: Any) -> Outcomes:
    """Samples of one problem as `Outcomes`; ``settings`` are those of `make_settings`."""
    draw = make_settings(n, **settings)
    rates = settings.get("rates", "mixed")
    out = event_samples(make_rows([problem]), draw, rates=rates, **options)
    elastic = out.work.shape[3] > 0
    joule = problem.scaling.speed**2 if elastic else 0.0
    told = {name: value for name, value in settings.items() if name != "keys"}
    told["rates"] = getattr(rates, "__name__", rates)
    found = Outcomes(
        problem,
        out.v[0],
        out.impulse[0],
        out.events[0],
        out.status[0],
        out.residual[0],
        settings={"method": "events", **{name: options.get(name) for name in ("friction", "facets")}, **told},
        stored=out.work[0, :, 0] * joule if elastic else None,
        returned=out.work[0, :, 1] * joule if elastic else None,
        error=out.error[0] if problem.nt == 2 and options.get("friction", "cone") == "cone" else None,
        replay=Again(rates, settings.get("keys")),
    )
    return with_jams(found)


@dataclass(frozen=True, eq=False)
class Again:
    """How samples are drawn again: what their settings do not say."""

    rates: Rates | None = None  # the function that drew the rates, where it was one
    keys: np.ndarray | None = None  # those of the events, where given

    def __call__(self, outcomes: Outcomes, sample: int) -> ImpactPath:
        """The path of one sample, see `path_of`."""
        return path_of(outcomes, sample, rates=self.rates, keys=self.keys)

    def pull(
        self, outcomes: Outcomes, cotangents: Array, *, side: Array | None = None, **options: Any
    ) -> dict[str, np.ndarray]:
        """Derivatives of the samples, see `sampling.derivatives.pull`; those to one side where asked."""
        from routh.sampling.derivatives import checked, pull, pull_beside

        drawn_by: Options = {"rates": self.rates, "keys": self.keys}
        found = pull(outcomes, cotangents, **options, **drawn_by)
        if side is not None:
            wrt, threads = checked(options.get("wrt", DATA)), options.get("threads")
            pull_beside(outcomes, cotangents, side, found, wrt=wrt, threads=threads, **drawn_by)
        return found

    def pull_batch(self, outcomes: BatchOutcomes, cotangents: Array, **options: Any) -> dict[str, np.ndarray]:
        """Derivatives of the samples of all rows, see `routh.sampling.derivatives.pull_batch`."""
        from routh.sampling.derivatives import pull_batch

        return pull_batch(outcomes, cotangents, **options, rates=self.rates)


def path_of(
    outcomes: Outcomes, sample: int, *, rates: Rates | None = None, keys: np.ndarray | None = None
) -> ImpactPath:
    """The pieces of one sample, drawn again from its settings; curves of the true cone point by point.

    ``rates``: the function that drew the rates, where it was one. ``keys``: those of the events, where given.
    """
    problem, settings = outcomes.problem, outcomes.settings
    index = integer("sample", sample, at_least=0, at_most=len(outcomes) - 1)
    draw, rates = redraw(settings, len(outcomes), "path", rates, keys)
    friction, facets = settings.get("friction", "cone"), settings.get("facets")
    scaled = scaled_pieces(make_rows([problem]), draw, index, friction=friction, facets=facets, rates=rates)
    return piecewise_path(problem, scaled, friction)


def select(outcomes: Outcomes, samples: Sequence[int]) -> Outcomes:
    """The outcomes with these numbers only; they can be drawn again and differentiated for as many.

    A sample is its keys, one for each event. Where it has more events than keys were given, it is another
    sample when it is drawn again: its derivative is then NaN (see `Outcomes.jacobian`).
    """
    if outcomes.settings.get("method") != "events" or not isinstance(outcomes.replay, Again):
        raise ValueError("outcomes: these samples cannot be drawn again; wanted samples drawn by 'events'")
    rows = np.asarray(samples, dtype=np.int64)
    keys = keys_of(outcomes, rows, outcomes.replay.keys)
    arrays = {name: getattr(outcomes, name) for name in (*_ARRAYS, *_OPTIONAL)}
    parts: Options = {name: array[rows] for name, array in arrays.items() if array is not None}
    return replace(outcomes, **parts, replay=Again(outcomes.replay.rates, keys))


def batch_outcomes(
    batch: ImpactBatch, draw: Draw, settings: Options, *, budget: float | None = None, **options: Any
) -> BatchOutcomes:
    """The samples of every row; row k draws the numbers of row ``draw.row + k``."""
    found, deadline = batch_outputs(batch, draw.n), deadline_of(budget)

    def sample_piece(rows: Rows, out: Outputs, begin: int, nt: int) -> None:
        facets = options["facets"] if nt == 2 else None
        given = {**options, "facets": facets, "budget": seconds_left(deadline)}
        event_samples(rows, draw._replace(row=draw.row + begin), out, **given)

    # rows with and without restitution apart: the kernels keep books of work for the former only
    for nt, with_work in product((1, 2), (False, True)):
        rows_of = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt) & (batch.bounces == with_work)
        draw_rows(batch, rows_of, (nt, with_work), found, sample_piece)
    return finished(batch, found, settings, Again(options.get("rates")))


def finished(
    batch: ImpactBatch, found: Outputs, settings: Options, replay: Again | None = None
) -> BatchOutcomes:
    """The outcomes of a batch from what was drawn of its impacts."""
    name_jams(batch, found.status, settings["friction"], settings["facets"])
    rest = batch.status != Status.SOLVED  # nothing to solve: these rows keep their velocity and their status
    found.v[rest] = batch.v[rest][:, None]
    found.v[batch.status == Status.REFUSED] = np.nan
    found.status[rest] = batch.status[rest][:, None]
    joule = energy_units(batch) if found.work.shape[3] > 0 else None
    return BatchOutcomes(
        batch,
        found.v,
        found.impulse,
        found.events,
        found.status,
        found.residual,
        found.error,
        settings,
        stored=None if joule is None else found.work[:, :, 0] * joule,
        returned=None if joule is None else found.work[:, :, 1] * joule,
        replay=replay,
    )


def batch_outputs(batch: ImpactBatch, n: int) -> Outputs:
    """Arrays for n samples of every row."""
    elastic = bool(batch.bounces.any())
    return empty_outputs((len(batch), n), batch.nv, batch.nc, 1 + batch.nt, elastic=elastic)


def draw_rows(
    batch: ImpactBatch,
    rows_of: np.ndarray,
    kind: tuple[int, bool],
    found: Outputs,
    sample_piece: Callable[[Rows, Outputs, int, int], None],
) -> None:
    """Prepare and draw the rows that are wanted, piece by piece; the others of a piece have no contacts.

    ``kind``: their number of tangents, and whether they have restitution. ``sample_piece``: fills the outputs
    of prepared rows, given the number of the first in the batch and the number of tangents.
    """
    nt, with_work = kind
    arrays, k = batch.arrays, batch.nc * (1 + nt)
    length = max(64, _PIECE // (8 * (k * k + batch.nv * (k + 1) + 4 * k)))
    for begin in range(0, len(batch), length):
        end = min(begin + length, len(batch))
        if not rows_of[begin:end].any():
            continue
        rows: Rows = empty_rows(end - begin, batch.nv, batch.nc, nt)
        prepare(arrays, begin, end, ~rows_of, scratch(arrays), rows)
        wanted = rows_of[begin:end]
        target = Outputs(*(array[begin:end] for array in found))
        whole = nt == batch.nt and bool(wanted.all()) and with_work == bool(found.work.shape[3])
        own = target
        if not whole:  # some rows of the piece are drawn at another time
            own = empty_outputs(target.status.shape, batch.nv, batch.nc, 1 + nt, elastic=with_work)
        own.v[:] = rows.before[:, None]
        sample_piece(rows, own, begin, nt)
        if whole:
            continue
        for name in ("v", "status", "events", "residual", "error", *(("work",) if with_work else ())):
            getattr(target, name)[wanted] = getattr(own, name)[wanted]
        target.impulse[wanted, :, :, : 1 + nt] = own.impulse[wanted]


def name_jams(batch: ImpactBatch, found: np.ndarray, friction: str, facets: int | None) -> bool:
    """Samples that did not end are called jammed where the row's friction cone is not pointed; whether any.

    ``found`` (rows, n): the statuses.
    """
    any_jam = False
    for row in np.flatnonzero(np.any(found == Status.MAX_STEPS, axis=1)):
        problem = batch[int(row)]
        polygon = facets if problem.nt == 2 and friction == "polyhedral" else None
        if not is_pointed(problem, friction=friction, facets=polygon):
            status = found[row]
            status[status == Status.MAX_STEPS] = Status.JAMMED
            any_jam = True
    return any_jam


def energy_units(batch: ImpactBatch) -> np.ndarray:
    """``|v|_M^2`` of each row, J, to be multiplied with (rows, n, nc)."""
    moved = np.einsum("ki,kij,kj->k", np.nan_to_num(batch.v), batch.M, np.nan_to_num(batch.v))
    return np.where(moved > 0.0, moved, 1.0)[:, None, None]
