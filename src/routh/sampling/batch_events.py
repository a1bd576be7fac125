"""Sampling batches by events: rows are prepared in pieces that fit the cache, and drawn piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from routh.base.status import Status
from routh.base.validation import deadline_of, seconds_left
from routh.kernels.common.arrays import Outputs, empty_outputs
from routh.kernels.events import event_samples
from routh.problem.batch import ImpactBatch
from routh.problem.pointedness import is_pointed
from routh.problem.rows import Rows, empty_rows, prepare, scratch
from routh.sampling.batch import BatchOutcomes
from routh.sampling.events import Again
from routh.sampling.settings import ByEvents, Drawing

#: Bytes of prepared rows at a time: a share of the processor's cache, and little beside what is returned.
_PIECE = 4 * 2**20


def batch_outcomes(batch: ImpactBatch, n: int, drawing: ByEvents) -> BatchOutcomes:
    """The samples of every row; row k draws the numbers of row ``drawing.row + k``."""
    draw, deadline = drawing.draws(n), deadline_of(drawing.budget)
    found = batch_outputs(batch, n)

    def sample_piece(rows: Rows, out: Outputs, begin: int, nt: int) -> None:
        left = seconds_left(deadline)
        event_samples(
            rows, draw._replace(row=draw.row + begin), out, budget=left, **drawing.kernel_options(nt)
        )

    # rows with and without restitution apart: the kernels keep books of work for the former only
    for nt, with_work in product((1, 2), (False, True)):
        rows_of = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt) & (batch.bounces == with_work)
        draw_rows(batch, rows_of, (nt, with_work), found, sample_piece)
    return finished(batch, found, drawing, Again(drawing.rates))


def finished(
    batch: ImpactBatch, found: Outputs, drawing: Drawing, replay: Again | None = None
) -> BatchOutcomes:
    """The outcomes of a batch from what was drawn of its impacts."""
    name_jams(batch, found.status, drawing.friction, drawing.facets)
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
        drawing.record(),
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
