"""Sampling many impacts: rows are prepared in pieces that fit the processor's cache, and drawn by kernels."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from routh.batch import ImpactBatch
from routh.kernels.arrays import Draw, Outputs, Rows
from routh.pointedness import is_pointed
from routh.preparing import empty_rows, prepare, scratch
from routh.sampling.batch import BatchOutcomes
from routh.sampling.events import Again, event_samples
from routh.status import Status
from routh.validation import Options

#: Bytes of prepared rows at a time: a share of the processor's cache, and little beside what is returned.
_PIECE = 4 * 2**20


def batch_outcomes(
    batch: ImpactBatch, draw: Draw, settings: Options, *, budget: float | None = None, **options: Any
) -> BatchOutcomes:
    """The samples of every row; row k draws the numbers of row ``draw.row + k``."""
    bounces = np.any((batch.restitution > 0.0) & batch.present, axis=1)
    elastic = bool(bounces.any())
    found = _outputs(batch, draw.n, elastic)
    deadline = None if budget is None else time.monotonic() + budget
    # rows with and without restitution apart: the kernels keep books of work for the former only
    for nt, with_work in product((1, 2), (False, True)):
        rows_of = (batch.status == Status.SOLVED) & (batch.size[:, 2] == nt) & (bounces == with_work)
        for piece in _pieces(batch, rows_of, nt):
            left = None if deadline is None else max(deadline - time.monotonic(), 0.0)
            _draw_piece(batch, rows_of, piece, (nt, with_work), draw, found, {**options, "budget": left})
    name_jams(batch, found.status, options.get("friction", "cone"), options.get("facets"))
    _rest(batch, found)
    _to_slots(batch, found)
    joule = _energy_units(batch) if elastic else None
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
        replay=Again(options.get("rates")),
    )


def _outputs(batch: ImpactBatch, n: int, elastic: bool) -> Outputs:
    rows, nc = len(batch), batch.nc
    return Outputs(
        np.zeros((rows, n, batch.nv)),
        np.zeros((rows, n, nc, 1 + batch.nt)),
        np.full((rows, n), Status.OUT_OF_TIME, dtype=np.int8),
        np.zeros((rows, n), dtype=np.int32),
        np.zeros((rows, n)),
        np.zeros((rows, n)),
        np.zeros((rows, n, 2, nc if elastic else 0)),
    )


def _pieces(batch: ImpactBatch, rows_of: np.ndarray, nt: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows that hold some of those wanted."""
    k = batch.nc * (1 + nt)
    per_row = 8 * (k * k + batch.nv * (k + 1) + 4 * k)
    length = max(64, _PIECE // per_row)
    for begin in range(0, len(batch), length):
        end = min(begin + length, len(batch))
        if rows_of[begin:end].any():
            yield begin, end


def _draw_piece(
    batch: ImpactBatch,
    rows_of: np.ndarray,
    piece: tuple[int, int],
    kind: tuple[int, bool],
    draw: Draw,
    found: Outputs,
    options: Options,
) -> None:
    """Prepare and draw those rows of a piece that are wanted; the others have no contacts there.

    ``kind``: their number of tangents, and whether they have restitution.
    """
    (begin, end), (nt, with_work) = piece, kind
    arrays = batch.arrays
    rows: Rows = empty_rows(end - begin, batch.nv, batch.nc, nt)
    prepare(arrays, begin, end, ~rows_of, scratch(arrays), rows)
    wanted = rows_of[begin:end]
    target = Outputs(*(array[begin:end] for array in found))
    whole = nt == batch.nt and bool(wanted.all()) and with_work == bool(found.work.shape[3])
    own = target if whole else _own_outputs(target, nt, with_work)
    own.v[:] = rows.before[:, None]
    facets = options["facets"] if nt == 2 else None
    event_samples(rows, draw._replace(row=draw.row + begin), own, **{**options, "facets": facets})
    if whole:
        return
    for name in ("v", "status", "events", "residual", "error", *(("work",) if with_work else ())):
        getattr(target, name)[wanted] = getattr(own, name)[wanted]
    target.impulse[wanted, :, :, : 1 + nt] = own.impulse[wanted]


def _own_outputs(target: Outputs, nt: int, with_work: bool) -> Outputs:
    """Arrays of a piece's own, where some of its rows are drawn at another time."""
    rows, n, nc, _ = target.impulse.shape
    like = {name: np.zeros_like(getattr(target, name)) for name in ("v", "events", "residual", "error")}
    return Outputs(
        impulse=np.zeros((rows, n, nc, 1 + nt)),
        status=np.full((rows, n), Status.OUT_OF_TIME, dtype=np.int8),
        work=np.zeros((rows, n, 2, nc if with_work else 0)),
        **like,
    )


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


def _rest(batch: ImpactBatch, found: Outputs) -> None:
    """Rows in which there is nothing to solve keep their velocity and their status."""
    rest = batch.status != Status.SOLVED
    found.v[rest] = batch.v[rest][:, None]
    found.v[batch.status == Status.REFUSED] = np.nan
    found.status[rest] = batch.status[rest][:, None]


def _to_slots(batch: ImpactBatch, found: Outputs) -> None:
    """The kernels number the contacts that there are; move their results to the places of the batch."""
    moved = np.any(batch.present[:, 1:] & ~batch.present[:, :-1], axis=1)  # a gap before a contact
    for row in np.flatnonzero(moved):
        there = np.flatnonzero(batch.present[row])
        for array in (np.moveaxis(found.impulse[row], 1, 0), np.moveaxis(found.work[row], 2, 0)):
            if len(array):
                values = array[: len(there)].copy()
                array[:] = 0.0
                array[there] = values


def _energy_units(batch: ImpactBatch) -> np.ndarray:
    """``|v|_M^2`` of each row, J, to be multiplied with (rows, n, nc)."""
    moved = np.einsum("ki,kij,kj->k", np.nan_to_num(batch.v), batch.M, np.nan_to_num(batch.v))
    return np.where(moved > 0.0, moved, 1.0)[:, None, None]
