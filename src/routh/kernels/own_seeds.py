"""Sampling by events where every row has a seed of its own: as if each problem were drawn alone."""

from __future__ import annotations

import numpy as np

from routh.compiling import kernel
from routh.kernels.common.arrays import Draw, Outputs
from routh.kernels.plane import sample as plane_sample
from routh.kernels.plane.rates import PlaneWork
from routh.kernels.space import sample as space_sample
from routh.kernels.space import workspace
from routh.kernels.space.workspace import Books, SpaceWork
from routh.problem_rows import Rows

Work = PlaneWork | SpaceWork
run_plane, run_space = plane_sample.run_range, space_sample.run_range


@kernel
def each_in_plane(rows: Rows, draw: Draw, seeds: np.ndarray, outputs: Outputs, work: PlaneWork) -> None:
    """Samples of every row, in the plane: those of row 0 of its own seed."""
    n, keys = draw.n, draw.keys
    for row in range(seeds.shape[0]):
        own = Draw(n, seeds[row], -row, draw.rates, draw.persistence, draw.poisson, draw.tolerance, keys)
        run_plane(rows, own, outputs, work, None, row * n, (row + 1) * n)


@kernel
def each_in_space(
    rows: Rows, draw: Draw, seeds: np.ndarray, outputs: Outputs, work: SpaceWork, books: Books
) -> None:
    """Samples of every row, in space with the true cone: those of row 0 of its own seed."""
    n, keys = draw.n, draw.keys
    for row in range(seeds.shape[0]):
        own = Draw(n, seeds[row], -row, draw.rates, draw.persistence, draw.poisson, draw.tolerance, keys)
        run_space(rows, own, outputs, work, None, books, None, row * n, (row + 1) * n)


def workspace_for(rows: Rows, n: int) -> Work:
    """What `run` needs to draw n samples of each of these rows."""
    nc = rows.contact.shape[2]
    return plane_sample.workspace(nc, n) if rows.start.shape[1] == 2 * nc else workspace.workspace(nc)


def run(rows: Rows, draw: Draw, seeds: np.ndarray, outputs: Outputs, work: Work) -> None:
    """Draw ``draw.n`` samples of all rows with ``seeds`` (rows,) uint64 into ``outputs``, on this thread.

    A single row goes to the kernel that other samples use too, so that it need not be compiled twice.
    """
    single, n = len(seeds) == 1, draw.n
    own = draw._replace(seed=seeds[0], row=0)
    if isinstance(work, PlaneWork):
        if single:
            run_plane(rows, own, outputs, work, None, 0, n)
        else:
            each_in_plane(rows, draw, seeds, outputs, work)
        return
    books = draw.poisson if outputs.work.shape[3] > 0 else None
    if single:
        run_space(rows, own, outputs, work, None, books, None, 0, n)
    else:
        each_in_space(rows, draw, seeds, outputs, work, books)
