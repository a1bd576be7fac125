"""Derivatives of samples: each is drawn again, written down and gone through backwards.

Problems of one size are rows; the samples of all rows are one range of items, ``row * samples + sample``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routh.base.validation import Array
from routh.compiling import distinct, kernel
from routh.compiling.foreign import Plain
from routh.kernels.common import record as rec
from routh.kernels.common.arrays import Draw
from routh.kernels.common.callback import rates_function
from routh.kernels.common.record import Record, make_record, note_margin
from routh.kernels.common.slices import run_slices
from routh.kernels.gradients import pullback
from routh.kernels.gradients.pullback import Cotangents, Frame, Pull, frame_at
from routh.kernels.gradients.reverse import back_from, clear_bars, reverse
from routh.kernels.gradients.reverse_curve import find_ends
from routh.kernels.gradients.reverse_rates import Given, ReverseWork, reverse_workspace
from routh.kernels.plane.pieces import MET, NORMALS_ALIKE
from routh.kernels.plane.rates import PlaneWork
from routh.kernels.plane.sample import NO_IMPACT, SOLVED, one_sample, workspace
from routh.kernels.plane.sample import load_row as load_plane
from routh.kernels.space.sample import judged, run_sample
from routh.kernels.space.sample import load_row as load_space
from routh.kernels.space.workspace import ORDER, Books, Corners, SpaceWork
from routh.kernels.space.workspace import workspace as space_workspace
from routh.problem.rows import MU as ROW_MU
from routh.problem.rows import RESTITUTION as ROW_RESTITUTION
from routh.problem.rows import Rows

BASIS, MIX = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the Fowler-Noll-Vo hash
FIRST_ROOM, CURVED_ROOM = 128, 512  # entries of a record at first; with the true cone: one a step
AT_REST = 1e-11  # of the velocity before: what is left of it below this is rounding
PERSISTS = 1e-8  # derivatives below this of a coordinate that vanishes are none
RESTS = -1.0  # `Task.off` of a sample that stays at rest, until its derivatives are set to zero
MU, M, J, RESTITUTION, TANGENTS = range(5)


class Bars(NamedTuple):
    """Derivatives for k cotangents of every sample; without samples where they are not asked for."""

    v: Array  # (items, k, nv)
    mu: Array  # (items, k, nc)
    M: Array  # (items, k, nv, nv) symmetric
    J: Array  # (items, k, n, nv) normal first
    restitution: Array  # (items, k, nc)


class Task(NamedTuple):
    """What is asked for, and where it goes."""

    frames: Frame  # with an axis of rows
    numbers: np.ndarray  # (rows,) int64: a row draws the numbers of row ``draw.row`` plus this
    corners: Array  # (facets, nt) of the friction polygon; in the plane +1 and -1
    cotangents: Cotangents
    wanted: np.ndarray  # (5,) bool: MU, M, J, RESTITUTION, TANGENTS (of J); the velocity's are always there
    bars: Bars
    nothing: Array  # (nv,) zeros
    after: Array  # (items, nv) the velocity after, as it was drawn again
    off: Array  # (items,) by how much derivatives along v miss the velocity after, whose degree is one
    margin: Array  # (items,) least distance from a change of piece; NaN: no outcome or room
    entries: np.ndarray  # (items,) int64 of the record
    decisions: np.ndarray  # (items,) uint64: equal where pieces and events are; only without cotangents


class Here(NamedTuple):
    """One sample of one row."""

    frame: Frame
    given: Given
    row: int
    sample: int
    item: int


class GradientWork(NamedTuple):
    """Scratch of one thread."""

    record: Record
    own: ReverseWork
    pull: Pull


Works = tuple[PlaneWork | None, SpaceWork | None, GradientWork]  # of the sampler that draws, and backwards


@kernel
def given_at(rows: Rows, row: int, task: Task, poisson: int) -> Given:
    """What the paths of a row depend on."""
    # hands on rows.G, rows.contact, task.corners
    contact = rows.contact[row]
    return Given(rows.G[row], contact[ROW_MU], contact[ROW_RESTITUTION], task.corners, poisson)


@kernel
def digest(record: Record, nc: int) -> np.uint64:
    """A number that tells sequences of pieces and events apart."""
    # reads event, face, other, role, setter, total, who
    value = BASIS
    for k in range(int(record.total[rec.ENTRIES])):
        if record.event[k] == rec.CURVE or record.event[k] == rec.SOLVE:
            continue  # how a curve is cut into steps is no decision
        for column in (record.event, record.who, record.other, record.setter):
            value = (value ^ np.uint64(column[k] + 8)) * MIX
        for i in range(nc):
            for row in (record.role, record.face):
                value = (value ^ np.uint64(row[k, i] + 8)) * MIX
    return value


@kernel
def differentiate(task: Task, here: Here, work: GradientWork, curved: int | None, total: Array) -> None:
    """All cotangents of one sample whose record is written; ``total``: its scaled impulse."""
    # reads here.frame.root, here.item, here.row, here.sample, task.bars.J, task.bars.v, task.cotangents.of_v,
    #   task.cotangents.push, task.cotangents.raised, task.cotangents.scale, task.off, task.wanted,
    #   work.own.of_bounce, work.own.of_mu, work.own.of_push
    # writes task.bars.J, task.bars.M, task.bars.mu, task.bars.restitution, task.bars.v, task.off,
    #   work.own.of_push
    # hands on here.frame, here.given, work.own, work.pull, work.record
    frame, own, pull, bars, wanted = here.frame, work.own, work.pull, task.bars, task.wanted
    item, cotangents = here.item, task.cotangents
    mine = min(here.sample, cotangents.of_v.shape[1] - 1)
    task.off[item] = 0.0
    for q in range(cotangents.of_v.shape[2]):
        cotangent, raised = cotangents.of_v[here.row, mine, q], cotangents.raised[here.row, mine, q]
        for a in range(len(own.of_push)):
            own.of_push[a] = cotangents.push[here.row, mine, q, a]
        reverse(work.record, here.given, own, curved)
        of_speed, missed = pullback.pull_v(frame, cotangent, own, pull, bars.v[item, q])
        missed *= cotangents.scale[here.row, mine, q]
        if not missed <= task.off[item]:
            task.off[item] = missed
        if wanted[M] or wanted[J]:
            pullback.pull_S(frame, raised, total, own, pull)
        if wanted[J]:
            pullback.pull_J(frame, pull, bars.J[item, q])
        if wanted[M]:
            pullback.pull_M(frame, pull, raised, of_speed, bars.M[item, q])
        for i in range(len(frame.root)):
            if wanted[MU]:
                bars.mu[item, q, i] = own.of_mu[i]
            if wanted[RESTITUTION]:
                bars.restitution[item, q, i] = own.of_bounce[i]


@kernel
def judge_ties(task: Task, here: Here, work: GradientWork, curved: int | None, total: Array) -> None:
    """Coordinates that vanish together: a change of piece is near unless they do so for all data nearby.

    They do where a piece was cut short for it, or where the coordinates depend on each other.
    """
    # reads task.nothing, work.own.of_state, work.record.length, work.record.share, work.record.ties,
    #   work.record.total
    # writes work.own.of_push, work.own.of_state, work.record.length, work.record.share
    # hands on here.frame, here.given, work.own, work.pull, work.record
    own, pull, record = work.own, work.pull, work.record
    for tie in range(int(record.total[rec.TIED])):
        clear_bars(own)
        for a in range(len(own.of_state)):
            own.of_push[a] = 0.0
        k = record.ties[tie, 0]
        length, share = record.length[k], record.share[k]
        record.length[k], record.share[k] = length / share, 1.0  # on to the event
        own.of_state[record.ties[tie, 1]] = 1.0
        back_from(record, here.given, own, curved, k)
        record.length[k], record.share[k] = length, share
        pullback.pull_S(here.frame, task.nothing, total, own, pull)
        if pullback.largest_of_data(here.frame, own, pull) > PERSISTS:
            note_margin(record, 0.0)
            return


@kernel
def finish_sample(
    task: Task, here: Here, work: GradientWork, curved: int | None, total: Array, status: int
) -> None:
    """Write what is known of one drawn sample; without a solution or room its margin is NaN."""
    # reads here.frame.U, here.frame.root, here.frame.speed, here.frame.v, here.item, task.after,
    #   task.cotangents.of_v, task.entries, task.wanted, work.pull.change, work.record.event,
    #   work.record.total
    # writes task.after, task.decisions, task.entries, task.margin, task.off, work.record.total
    # hands on here, here.frame, here.given, task, work, work.own, work.pull, work.record
    frame, record, item = here.frame, work.record, here.item
    task.entries[item] = int(record.total[rec.ENTRIES])
    if status == NO_IMPACT:
        record.total[rec.ENTRIES] = 0.0
        for a in range(frame.U.shape[0]):
            total[a] = 0.0
    elif status != SOLVED:
        task.entries[item] = 0  # more room would not help
        return
    elif task.entries[item] > len(record.event):
        return
    if curved is not None:
        find_ends(record, here.given, work.own)
        for k in range(task.entries[item] if task.wanted[TANGENTS] else 0):
            if record.event[k] == rec.SOLVE:  # what corners that squeeze each other do if one moves alone
                note_margin(record, 0.0)
    passed = int(record.total[rec.PASSED])  # corners as soon as one of both moves alone
    apart = (task.wanted[TANGENTS] and passed > 0) or (task.wanted[J] and passed >= NORMALS_ALIKE)
    if apart or passed >= MET:
        note_margin(record, 0.0)
    if record.total[rec.MARGIN] > 0.0:
        judge_ties(task, here, work, curved, total)
    task.margin[item] = record.total[rec.MARGIN]
    if task.cotangents.of_v.shape[2] == 0:
        task.decisions[item] = digest(record, len(frame.root))
    pullback.change_by(frame, total, work.pull)
    most, left = 0.0, 0.0
    for r in range(len(frame.v)):
        task.after[item, r] = frame.v[r] + frame.speed[0] * work.pull.change[r]
        most, left = max(most, abs(frame.v[r])), max(left, abs(task.after[item, r]))
    if record.total[rec.AIMED_FROM] >= 0.0 and left <= AT_REST * most:
        task.off[item] = RESTS  # weights aimed for rest left no velocity: so they do for all data nearby
    else:
        differentiate(task, here, work, curved, total)
        task.margin[item] = record.total[rec.MARGIN]


@distinct
def run_range(
    rows: Rows, draw: Draw, task: Task, works: Works, friction: tuple[Corners, Books], custom: int | None,
    begin: int, end: int,
) -> None:  # fmt: skip
    """The items ``begin`` to ``end``, in the plane or in space."""
    # reads draw.n, draw.row, rows.nc, task.numbers; hands on draw, draw.poisson, rows, task, task.frames
    (plane, space, work), (corners, books), loaded, elastic = works, friction, -1, False
    for item in range(begin, end):
        row, sample = item // draw.n, item % draw.n
        nc, number = rows.nc[row], task.numbers[row]
        here = Here(frame_at(task.frames, row), given_at(rows, row, task, draw.poisson), row, sample, item)
        if plane is not None:
            if row != loaded:
                elastic = load_plane(rows, row, plane)
            status, _, _ = one_sample(plane, nc, draw, number, sample, elastic, custom, work.record)
            finish_sample(task, here, work, None, plane.total[: 2 * nc], status)
        if space is not None:
            if row != loaded:
                load_space(rows, row, space)
            ended = run_sample(
                space, nc, corners, books, work.record, draw, custom, draw.row + number, sample
            )
            status, _, _ = judged(space, nc, books, ended)
            finish_sample(task, here, work, 1 if corners is None else None, space.total[: 3 * nc], status)
        loaded = row


def run(rows: Rows, draw: Draw, task: Task, polygon: bool, rates: Plain | None, threads: int | None) -> None:
    """Draw the samples again and differentiate them; in space without a polygon: with the true cone.

    There either all rows have restitution or none. Samples whose records have too little room come again.
    """
    nc, (n, nv) = rows.contact.shape[2], task.frames.S.shape[1:]
    planar = n == 2 * nc
    function = None if rates is None else rates_function(rates)
    custom = None if function is None else function.address
    bounces = not planar and bool(np.any(rows.contact[:, ROW_RESTITUTION] > 0.0))
    books = int(draw.poisson) if bounces else None
    corners = task.corners if polygon or planar else None
    powers, room = (0, FIRST_ROOM) if planar or polygon else (ORDER + 1, CURVED_ROOM)

    def scratch(room: int) -> Works:
        record, back = make_record(room, nc, n // nc, powers), reverse_workspace(nc, n // nc)
        own = GradientWork(record, back, pullback.pull_workspace(nc, n, nv))
        return (workspace(nc, 0, draw.n), None, own) if planar else (None, space_workspace(nc), own)

    def work(begin: int, end: int, own: Works) -> None:
        run_range(rows, draw, task, own, (corners, books), custom, begin, end)

    run_slices(len(task.after), lambda: scratch(room), work, threads=threads, contacts=nc)
    long = np.flatnonzero(task.entries > room)
    if len(long) > 0:
        larger = scratch(int(task.entries.max()))
        for item in long.tolist():
            work(item, item + 1, larger)
    resting = task.off == RESTS
    for array in task.bars if resting.any() else ():
        if array.size:
            array[resting] = 0.0
    task.off[resting] = 0.0
