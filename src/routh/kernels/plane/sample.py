"""Sampling by events in the plane: one sample, and a range of them.

A stage draws who pushes (`routh.kernels.plane.roles`), finds the rates (`routh.kernels.plane.rates`) and
moves along a straight line to the next event, or less far (`routh.kernels.plane.pieces`). The same in two
hundred lines of NumPy, to be read first and compared with: ``tests/sampling/event_reference.py``.
"""

from __future__ import annotations

import numpy as np

from routh.base import tolerances
from routh.base.status import Status
from routh.compiling import kernel
from routh.compiling.rows import count_rows
from routh.kernels.common.arrays import MIXED, Draw, Outputs, load_problem, start_state, write_outcome
from routh.kernels.common.random import event_keys
from routh.kernels.common.record import NOBODY, Record, begin_record, finish_piece, note_passed
from routh.kernels.plane.pieces import FOREVER, ZERO, advance, cut_short, length_to_event, still_hold
from routh.kernels.plane.rates import CODES, DRIVEN, NONE, PlaneWork, tell_apart
from routh.kernels.plane.record import write_piece
from routh.kernels.plane.roles import (
    FREELY,
    NOWHERE,
    ONE_BY_ONE,
    STUCK,
    TABLE_BITS,
    TOGETHER,
    choose_roles,
    drive,
    field,
    find_known_rates,
)
from routh.problem.rows import Rows, dot

SOLVED, NO_IMPACT = int(Status.SOLVED), int(Status.NO_IMPACT)
MAX_STEPS, NUMERICAL = int(Status.MAX_STEPS), int(Status.NUMERICAL)
FREE_STAGES, FREE_STAGES_ELASTIC = 4.5, 16.0  # stages in which everything is drawn, over the persistence
SINGLES = 8  # further stages of one contact at a time; then all together
STAGES, PER_CONTACT = 40, 32  # most stages of all together: so many, and these for each contact
# with Poisson's restitution every so many of them is of one contact: what rests is stored and returned again
# and again while two others push, each time less, and a stage that lets one of them go on ends that
BETWEEN = 4
WATCHED = 0.25  # how often the slip of contacts that do not push is an event
PERSISTENCE, PERSISTENCE_ELASTIC = 0.6, 0.8  # the defaults without and with restitution
KEPT, KEPT_ELASTIC = 0.1, 0.7  # how often rates outlast an event, where they may
MOST_IMPULSE = 5e3  # of a contact that jams: beyond it rounding of velocities is no longer below ZERO
FEW = 64  # samples below which nothing is kept for later ones


@kernel
def forget_patterns(work: PlaneWork) -> None:
    """Empty the table: its rates are those of another problem."""
    # reads names; writes names
    for slot in range(len(work.names)):
        work.names[slot] = np.uint64(0)


@kernel
def load_row(rows: Rows, row: int, work: PlaneWork) -> bool:
    """Copy a problem into the scratch, forget the patterns of the one before; whether it has restitution."""
    # reads rows.nc, work.bounce, work.start
    # writes work.bounce, work.gram, work.mu, work.start
    # hands on rows, work
    forget_patterns(work)
    elastic = load_problem(rows, row, work.gram, work.start, work.mu, work.bounce)
    for a in range(2 * rows.nc[row]):
        if not abs(work.start[a]) > ZERO:
            work.start[a] = 0.0
    tell_apart(work, rows.nc[row])
    return elastic


@kernel
def residual_of_end(work: PlaneWork, nc: int, elastic: bool) -> float:
    """Momentum and energy of the whole: the velocity by the total impulse against the one at hand."""
    # reads gram, now, returned, start, stored, total
    worst, energy = 0.0, 0.0
    for a in range(2 * nc):
        change = dot(work.gram[a], work.total, 2 * nc)
        worst = max(worst, abs(work.start[a] + change - work.now[a]))
        energy += work.total[a] * (work.start[a] + 0.5 * change)
    if elastic:
        for i in range(nc):
            energy += work.stored[i] - work.returned[i]
    return max(worst, energy)


@kernel
def one_sample(
    work: PlaneWork, nc: int, draw: Draw, row: int, sample: int, elastic: bool, custom: int | None,
    record: Record | None,
) -> tuple[int, int, float]:  # fmt: skip
    """Status, pieces and residual of one sample; TOTAL holds its impulse, STORED and RETURNED its work.

    The pieces are written to ``record``; None: they are not.
    """
    # reads draw.keys, draw.persistence, draw.poisson, draw.rates, draw.row, draw.seed, work.budget,
    #   work.known, work.mu, work.now, work.passed, work.start, work.total, work.trace
    # writes work.role, work.trace
    # hands on record, work
    if record is not None:
        begin_record(record, work.start, work.mu, nc)
    if not start_state(work, nc, 2):
        return NO_IMPACT, 0, 0.0
    persistence = draw.persistence
    if not persistence > 0.0:
        persistence = PERSISTENCE_ELASTIC if elastic else PERSISTENCE
    freely = int((FREE_STAGES_ELASTIC if elastic else FREE_STAGES) / persistence)
    pieces, residual, forced, status = 0, 0.0, -1, MAX_STEPS
    even = odd = np.uint64(0)
    at, chosen = -1, -1
    keep, uncut = (KEPT_ELASTIC, 0.0) if elastic else (KEPT, persistence)
    for stage in range(freely + SINGLES + STAGES + PER_CONTACT * nc):
        ended = True
        for i in range(nc):
            ended = ended and work.now[2 * i] >= 0.0 and not work.budget[i] > 0.0
        if ended:
            status = SOLVED
            break
        phase = FREELY
        if stage >= freely:
            single = stage < freely + SINGLES or (draw.poisson == 1 and stage % BETWEEN == 0)
            phase = ONE_BY_ONE if single else TOGETHER
        if stage % 2 == 0:
            even, odd = event_keys(draw.seed, draw.row + row, sample, stage // 2)
        key = even if stage % 2 == 0 else odd
        if sample < draw.keys.shape[0] and stage < draw.keys.shape[1]:
            key = draw.keys[sample, stage]
        chosen = forced if at < 0 else chosen
        aimed = forced >= 0  # at a corner, which it is to reach
        if at >= 0:
            pass  # the rates of the piece before
        elif forced >= 0:
            for i in range(nc):
                work.role[i] = NONE
            drive(work, forced, DRIVEN, STUCK)
        else:
            chosen = choose_roles(work, nc, draw.rates, custom, key, phase)
        forced = -1
        if at < 0:
            at = find_known_rates(work, nc, chosen >= 0 or phase == TOGETHER, NOWHERE, key)
        if at < 0:
            continue
        watch = phase == FREELY and field(key, 3) < WATCHED
        to_event = length_to_event(work, nc, at, draw.poisson, watch)
        if not to_event < FOREVER:
            at = -1
            continue
        length, entry = to_event, NOWHERE
        whole = aimed or phase != FREELY or field(key, 0) < persistence
        if not whole:
            length, forced = cut_short(work, nc, at, key, to_event, chosen, draw.rates == MIXED, uncut)
            whole = length == to_event
            if record is not None:
                note_passed(record, work.passed[0])
        if record is not None:
            entry = write_piece(record, work, nc, at, to_event, length, forced >= 0, draw.poisson)
        residual = max(residual, advance(work, nc, at, length, whole, elastic, draw.poisson))
        if pieces < work.trace.shape[0]:
            for a in range(2 * nc):
                work.trace[pieces, a] = length * work.known[at, a]
        if record is not None:
            books = draw.poisson if elastic else NOBODY
            finish_piece(record, entry, work.now, work.budget, work.mu, books)
        pieces += 1
        kept = whole and phase == FREELY and field(key, 2) < keep
        if not (kept and still_hold(work, nc, at)):
            at = -1
    residual = max(residual, residual_of_end(work, nc, elastic))
    if status == SOLVED and not residual <= tolerances.RESIDUAL:
        status = NUMERICAL
    for i in range(nc if elastic else 0):  # whether such a contact was compressed or returned, nobody knows
        if status == SOLVED and not work.total[2 * i] <= MOST_IMPULSE:
            status = NUMERICAL
    return status, pieces, residual


@kernel
def run_range(
    rows: Rows, draw: Draw, outputs: Outputs, work: PlaneWork, custom: int | None, begin: int, end: int
) -> None:
    """The samples ``begin`` to ``end`` of the flat range over rows and samples."""
    # reads draw.n, rows.nc; hands on draw, outputs, rows, work
    loaded, elastic = -1, False
    for k in range(begin, end):
        row = k // draw.n
        sample = k - row * draw.n
        nc = rows.nc[row]
        if row != loaded:
            elastic = load_row(rows, row, work)
            loaded = row
        status, pieces, residual = one_sample(work, nc, draw, row, sample, elastic, custom, None)
        write_outcome(rows, outputs, row, sample, (status, residual, 0.0), pieces, work, 2)


def workspace(nc: int, pieces: int = 0, samples: int = 1) -> PlaneWork:
    """Scratch of one thread; ``pieces`` of a path are kept, of few samples no rates for later ones."""
    n, slots = 2 * nc, 2**TABLE_BITS if samples >= FEW else 0
    return PlaneWork(
        np.zeros((count_rows(PlaneWork, "values"), n)),
        np.zeros((count_rows(PlaneWork, "marks"), n + 1), np.int64),
        np.zeros((n, n)),
        np.zeros((n, n + 1)),
        np.zeros(n, np.bool_),
        np.zeros(slots, np.uint64),
        np.zeros((slots + 2, 5 * nc + CODES)),
        np.zeros((0, 0)),
        np.zeros((pieces, n)),
    )
