"""Derivatives of the outcomes of many impacts: rows of one size together, see `routh.sampling.gradients`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from routh.batch import ImpactBatch
from routh.kernels.events import Rates
from routh.preparing import Problems
from routh.sampling.batch import BatchOutcomes
from routh.sampling.gradients import NEAR, checked, forget_lost, named, run_rows
from routh.sampling.outcomes import DATA
from routh.sampling.redrawing import redraw
from routh.status import Status
from routh.validation import Array, count_that_fits


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
    for rows in _groups(batch):
        nv, _, nt = (int(size) for size in batch.size[rows[0]])
        draw, drawn_by = redraw(outcomes.settings, n, nt, "jacobian", rates, None)
        problems, slots = _without_padding(batch, rows)
        given = np.ascontiguousarray(cotangents[rows][..., :nv])
        task = run_rows(problems, rows, draw, given, wrt, outcomes.settings, drawn_by, threads)
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
    shapes = {
        "v": (nv,),
        "mu": (nc,),
        "M": (nv, nv),
        "Jn": (nc, nv),
        "Jt": (nc, nt, nv),
        "restitution": (nc,),
    }
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
