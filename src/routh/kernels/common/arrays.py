"""The data of the samplers by events: named tuples of arrays with a leading axis of rows.

A single problem is a batch with one row. ``rows`` problems have at most ``nc`` contacts each, coordinates
``n = nc (1 + nt)`` (contact by contact, normal first) and ``nv`` velocities; where a row has fewer contacts,
the rest of its arrays is padding that no kernel reads. Quantities are in each problem's own units
(`routh.problem.impact.Scaling`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from routh.base import tolerances
from routh.base.status import InputError, Status
from routh.base.validation import Array
from routh.compiling import Patient, kernel
from routh.problem.batch import ImpactBatch
from routh.problem.impact import ImpactProblem
from routh.problem.rows import IMPULSE, MU, RESTITUTION, SLOT, Problems, Rows, empty_rows, prepare, scratch


class Draw(NamedTuple):
    """What is drawn: the samples 0 to ``n - 1`` of every row."""

    n: int  # samples of each row
    seed: Any  # np.uint64
    row: int  # number of the first row: row r of the arrays draws the numbers of row ``row + r``
    rates: int  # how relative rates are drawn: MIXED, UNIFORM, EXTREME or CUSTOM
    persistence: float  # probability that drawn rates stay until something happens; 0: the default of the row
    poisson: int  # 1: restitution is Poisson's, else energetic
    tolerance: float  # error allowed where paths are curved (the true cone); straight ones have none
    keys: np.ndarray  # (m, events) uint64: keys of the first events of sample k where k < m, else by `seed`


MIXED, UNIFORM, EXTREME, CUSTOM = range(4)
RATES = ("mixed", "uniform", "extreme")


class Outputs(NamedTuple):
    """What becomes of every sample; axes (row, sample, ...)."""

    v: Array  # (rows, n, nv) SI
    impulse: Array  # (rows, n, nc, 1 + nt) N s
    status: np.ndarray  # (rows, n) int8, `routh.base.status.Status`
    events: np.ndarray  # (rows, n) int32, pieces of the path
    residual: Array  # (rows, n) of the model, recomputed from the pieces
    error: Array  # (rows, n) sum of the local errors, a share of the speed; 0 on straight pieces
    work: Array  # (rows, n, 2, nc) stored, returned; shares of |v|_M^2; (rows, n, 2, 0) without restitution


Verdict = tuple[int, float, float]  # of a sample: status, residual, error
NO_IMPACT = int(Status.NO_IMPACT)
SLOW = 0.01  # share of the speed below which an approach is slow
FASTEST_SLIP = 1e-4  # the least unit as a share of the fastest slip, whose rounding it must not show

_prepare_one = Patient(prepare)


def make_rows(problems: Sequence[ImpactProblem]) -> Rows:
    """Problems of one ``nt`` (any sizes) as rows."""
    nt = problems[0].nt
    for r, problem in enumerate(problems):
        if problem.nt != nt:
            raise InputError("problems", got=f"nt = {problem.nt} in row {r}", wanted=f"{nt} as in row 0")
    one = len(problems) == 1
    return prepared(as_rows(problems[0]) if one else ImpactBatch.from_problems(problems).arrays)


def in_units_of_approach(rows: Rows) -> tuple[Rows, float]:
    """One problem in units of its fastest approach, if that is slow beside the motion; their size in its own.

    What a sample may miss is a share of the unit: of an impact with 1e-5 of the speed little else would be
    left. Slip keeps its speed, in these units a large one.
    """
    start, width = rows.start[0], rows.start.shape[1] // rows.contact.shape[2]
    fastest = -float(start[::width].min())
    if not tolerances.APPROACH < fastest < SLOW:
        return rows, 1.0
    share = max(fastest, FASTEST_SLIP * float(np.abs(start).max()))
    contact = rows.contact.copy()
    contact[:, IMPULSE] *= share
    return rows._replace(start=rows.start / share, response=rows.response * share, contact=contact), share


def prepared(problems: Problems) -> Rows:
    """All rows of a batch; of one problem without waiting for the compiler."""
    n, nc, nt, nv = problems.Jt.shape
    rows = empty_rows(n, nv, nc, nt)
    (_prepare_one if n == 1 else prepare)(problems, 0, n, np.zeros(n, dtype=bool), scratch(problems), rows)
    return rows


def as_rows(problem: ImpactProblem) -> Problems:
    """One problem as a batch with one row, nothing copied."""
    return Problems(
        problem.M[None],
        problem.Jn[None],
        problem.Jt[None],
        problem.mu[None],
        problem.restitution[None],
        problem.v[None],
        _frozen(np.ones((1, problem.nc), dtype=bool)),
        _frozen(np.array([[problem.nv, problem.nc, problem.nt]], dtype=np.int32)),
    )


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


@kernel
def load_problem(rows: Rows, row: int, G: Array, start: Array, mu: Array, bounce: Array) -> bool:
    """Copy a problem into the scratch of a thread; whether it has restitution."""
    # reads G, contact, nc, start
    nc, elastic = rows.nc[row], False
    n = nc * (rows.start.shape[1] // rows.contact.shape[2])
    for a in range(n):
        start[a] = rows.start[row, a]
        for b in range(n):
            G[a, b] = rows.G[row, a, b]
    for i in range(nc):
        mu[i], bounce[i] = rows.contact[row, MU, i], rows.contact[row, RESTITUTION, i]
        elastic = elastic or bounce[i] > 0.0
    return elastic


@kernel
def start_state(work: Any, nc: int, width: int) -> bool:
    """The state before the impact in a sampler's scratch, nothing pushed yet; whether anything approaches."""
    # reads now, start; writes budget, now, returned, stored, total
    approaches = False
    for i in range(nc):
        for a in range(width * i, width * (i + 1)):
            work.now[a], work.total[a] = work.start[a], 0.0
        work.budget[i] = work.stored[i] = work.returned[i] = 0.0
        approaches = approaches or not work.now[width * i] >= -tolerances.APPROACH
    return approaches


@kernel
def place_of(rows: Rows, row: int, i: int) -> int:
    """The place of contact i of a row in the outputs: that of the batch."""
    # reads contact
    return int(rows.contact[row, SLOT, i])


@kernel
def write_impulse(rows: Rows, outputs: Outputs, row: int, sample: int, total: Array, width: int) -> None:
    """The impulse of a sample, ``width`` scaled numbers a contact, and the velocity after, to the outputs."""
    # reads outputs.v, rows.before, rows.contact, rows.nc, rows.response
    # writes outputs.impulse, outputs.v
    # hands on rows
    nc = rows.nc[row]
    for i in range(nc):
        place, unit = place_of(rows, row, i), rows.contact[row, IMPULSE, i]
        for part in range(width):
            outputs.impulse[row, sample, place, part] = total[width * i + part] * unit
    for r in range(outputs.v.shape[2]):
        v = rows.before[row, r]
        for a in range(width * nc):
            v += rows.response[row, r, a] * total[a]
        outputs.v[row, sample, r] = v


@kernel
def write_outcome(
    rows: Rows, outputs: Outputs, row: int, sample: int, verdict: Verdict, pieces: int, work: Any, width: int
) -> None:
    """A sample that has ended, as a sampler's scratch has it, to the outputs.

    Those with room for one sample of a row keep the last.
    """
    # reads outputs.status, outputs.work, rows.nc, work.returned, work.stored, work.total
    # writes outputs.error, outputs.events, outputs.residual, outputs.status, outputs.work
    # hands on outputs, rows
    sample = min(sample, outputs.status.shape[1] - 1)
    status, residual, error = verdict
    outputs.status[row, sample], outputs.events[row, sample] = status, pieces
    outputs.residual[row, sample] = residual
    if width == 3:  # in the plane no path has an error
        outputs.error[row, sample] = error
    if status == NO_IMPACT:
        return
    write_impulse(rows, outputs, row, sample, work.total, width)
    for i in range(rows.nc[row] if outputs.work.shape[3] > 0 else 0):
        place = place_of(rows, row, i)
        outputs.work[row, sample, 0, place] = work.stored[i]
        outputs.work[row, sample, 1, place] = work.returned[i]


def make_draw(
    n: int,
    *,
    seed: int,
    row: int,
    rates: int,
    persistence: float,
    poisson: bool,
    tolerance: float = 0.0,
    keys: np.ndarray | None = None,
) -> Draw:
    """A `Draw` with the types that the kernels are compiled for."""
    given = np.empty((0, 0), dtype=np.uint64) if keys is None else np.ascontiguousarray(keys, dtype=np.uint64)
    numbers = int(rates), float(persistence), int(poisson), float(tolerance)
    return Draw(int(n), np.uint64(seed), int(row), *numbers, given)


def make_outputs(rows: Rows, n: int, *, elastic: bool) -> Outputs:
    """Arrays for n samples of every row, all with the velocity before and OUT_OF_TIME until drawn."""
    count, nv = rows.before.shape
    nc = rows.contact.shape[2]
    out = empty_outputs((count, n), nv, nc, rows.start.shape[1] // nc, elastic=elastic)
    out.v[:] = rows.before[:, None]
    return out


def empty_outputs(shape: tuple[int, int], nv: int, nc: int, width: int, *, elastic: bool) -> Outputs:
    """Arrays for so many rows and samples, all OUT_OF_TIME until they are drawn; ``width`` is 1 + nt."""
    out = Outputs(*(np.zeros(*each) for each in output_shapes(shape, nv, nc, width, elastic=elastic)))
    out.status[:] = Status.OUT_OF_TIME
    return out


def output_shapes(
    shape: tuple[int, int], nv: int, nc: int, width: int, *, elastic: bool, exact: bool = False
) -> list[tuple[tuple[int, ...], type]]:
    """Shapes and types of `Outputs`; ``exact``: there is no room for errors, which only curves have."""
    shapes = [(*shape, nv), (*shape, nc, width), shape, shape, shape, (shape[0], 0) if exact else shape]
    kinds = [np.float64, np.float64, np.int8, np.int32, np.float64, np.float64, np.float64]
    return list(zip([*shapes, (*shape, 2, nc if elastic else 0)], kinds, strict=True))
