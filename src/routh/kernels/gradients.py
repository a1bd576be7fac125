"""Derivatives of samples of one problem: each is drawn again, written down and gone through backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np

from routh import tolerances
from routh.compiling import kernel
from routh.compiling.foreign import Plain
from routh.kernels.arrays import Draw, Rows
from routh.kernels.callback import rates_function
from routh.kernels.events_plane import FIRST_ROOM, NO_IMPACT, SOLVED, load_row, one_sample, workspace
from routh.kernels.events_rates import TOTAL, PlaneWork
from routh.kernels.events_space import NUMERICAL, SLACK, finish, run_sample
from routh.kernels.events_space import load_row as load_space
from routh.kernels.pullback import Frame, Pull, pull_J, pull_M, pull_S, pull_v, pull_workspace, start_bars
from routh.kernels.record import (
    CURVE,
    ENTRIES,
    EVENT,
    FACE,
    MARGIN,
    OTHER,
    ROLE,
    SETTER,
    TIED,
    WHO,
    Record,
    make_record,
    note_margin,
)
from routh.kernels.reverse import back_from, clear_bars, reverse
from routh.kernels.reverse_curve import align_ends
from routh.kernels.reverse_rates import (
    OF_BOUNCE,
    OF_MU,
    PUSH,
    STATE,
    Given,
    ReverseWork,
    reverse_workspace,
)
from routh.kernels.slices import run_slices
from routh.kernels.space_names import ERROR, GLOBAL, ORDER, Books, Corners, SpaceWork
from routh.kernels.space_names import TOTAL as SPACE_TOTAL
from routh.kernels.space_names import workspace as space_workspace
from routh.validation import Array

BASIS, MIX = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the Fowler-Noll-Vo hash
PERSISTS = 1e-8  # derivatives below this of a coordinate that vanishes are none
V, MU, M, J, RESTITUTION = range(5)
Scratch = TypeVar("Scratch")


class Bars(NamedTuple):
    """Derivatives for k cotangents of every sample; without samples where they are not asked for."""

    v: Array  # (samples, k, nv)
    mu: Array  # (samples, k, nc)
    M: Array  # (samples, k, nv, nv) symmetric
    J: Array  # (samples, k, n, nv) normal first
    restitution: Array  # (samples, k, nc)


class Task(NamedTuple):
    """What is asked for, and where it goes."""

    frame: Frame
    given: Given
    cotangents: Array  # (1 or samples, k, nv)
    wanted: np.ndarray  # (5,) bool: V, MU, M, J, RESTITUTION
    bars: Bars
    nothing: Array  # (nv,) zeros
    after: Array  # (samples, nv) the velocity after, as it was drawn again
    margin: Array  # (samples,) least distance from a change of piece; NaN: no outcome, or no room for it
    entries: np.ndarray  # (samples,) int64 of the record
    decisions: np.ndarray  # (samples,) uint64: equal where the pieces and events are


class GradientWork(NamedTuple):
    """Scratch of one thread."""

    record: Record
    own: ReverseWork
    pull: Pull


@kernel
def digest(record: Record, nc: int) -> np.uint64:
    """A number that tells sequences of pieces and events apart."""
    value = BASIS
    for k in range(int(record.total[ENTRIES])):
        if record.head[k, EVENT] == CURVE:
            continue  # how a curve is cut into steps is no decision
        for column in (EVENT, WHO, OTHER, SETTER):
            value = (value ^ np.uint64(record.head[k, column] + 8)) * MIX
        for i in range(nc):
            for row in (ROLE, FACE):
                value = (value ^ np.uint64(record.marks[k, row, i] + 8)) * MIX
    return value


@kernel
def differentiate(task: Task, work: GradientWork, curved: int | None, total: Array, sample: int) -> None:
    """All cotangents of one sample whose record is written; ``total``: its scaled impulse."""
    frame, own, pull, bars = task.frame, work.own, work.pull, task.bars
    nc = len(frame.root)
    width = frame.S.shape[0] // nc
    mine = min(sample, task.cotangents.shape[0] - 1)
    for q in range(task.cotangents.shape[1]):
        cotangent = task.cotangents[mine, q]
        start_bars(frame, cotangent, own)
        reverse(work.record, task.given, own, curved)
        of_speed = pull_S(frame, cotangent, total, own, pull)
        if task.wanted[V]:
            pull_v(frame, cotangent, of_speed, own, bars.v[sample, q])
        if task.wanted[M]:
            pull_M(frame, pull, of_speed, width, bars.M[sample, q])
        if task.wanted[J]:
            pull_J(frame, pull, width, bars.J[sample, q])
        for i in range(nc):
            if task.wanted[MU]:
                bars.mu[sample, q, i] = own.bars[OF_MU, i]
            if task.wanted[RESTITUTION]:
                bars.restitution[sample, q, i] = own.bars[OF_BOUNCE, i]


@kernel
def judge_ties(task: Task, work: GradientWork, curved: int | None, total: Array) -> None:
    """Coordinates that vanish together: a change of piece is near unless they do so for all data nearby.

    They do where a piece was cut short for it, or where the coordinates depend on each other.
    """
    frame, own, pull, record = task.frame, work.own, work.pull, work.record
    n, nv = frame.S.shape
    for tie in range(int(record.total[TIED])):
        clear_bars(own)
        for a in range(n):
            own.bars[PUSH, a] = 0.0
        own.bars[STATE, record.ties[tie, 1]] = 1.0
        back_from(record, task.given, own, curved, record.ties[tie, 0])
        pull_S(frame, task.nothing, total, own, pull)
        worst = 0.0
        for i in range(len(frame.root)):
            worst = max(worst, max(abs(own.bars[OF_MU, i]), abs(own.bars[OF_BOUNCE, i])))
        for r in range(nv):
            of_v, size = 0.0, 0.0
            for a in range(n):
                of_v += frame.S[a, r] * own.bars[STATE, a]
                size += abs(frame.S[a, r])
                worst = max(worst, abs(pull.S[a, r]) * frame.speed / (abs(frame.v[r]) + frame.speed))
            worst = max(worst, abs(of_v) / max(size, 1e-300))
        if worst > PERSISTS:
            note_margin(record, 0.0)
            return


@kernel
def finish_sample(
    task: Task, work: GradientWork, curved: int | None, total: Array, sample: int, status: int
) -> None:
    """Write what is known of one drawn sample; without a solution, or room, its margin stays NaN."""
    frame, record = task.frame, work.record
    nv, n = frame.U.shape
    task.entries[sample] = int(record.total[ENTRIES])
    if status == NO_IMPACT:
        record.total[ENTRIES] = 0.0
        for a in range(n):
            total[a] = 0.0
    elif status != SOLVED or task.entries[sample] > record.head.shape[0]:
        return
    if curved is not None:
        align_ends(record, task.given, work.own)
    if record.total[MARGIN] > 0.0:
        judge_ties(task, work, curved, total)
    task.margin[sample] = record.total[MARGIN]
    task.decisions[sample] = digest(record, len(frame.root))
    for r in range(nv):
        value = 0.0
        for a in range(n):
            value += frame.U[r, a] * total[a]
        task.after[sample, r] = frame.v[r] + frame.speed * value
    differentiate(task, work, curved, total, sample)


@kernel
def plane_range(
    rows: Rows, draw: Draw, task: Task, plane: PlaneWork, work: GradientWork, custom: int | None,
    begin: int, end: int,
) -> None:  # fmt: skip
    """The samples ``begin`` to ``end`` of the first row."""
    row, nc = begin - begin, rows.nc[0]
    elastic = load_row(rows, row, plane)
    for sample in range(begin, end):
        status, _, _ = one_sample(plane, nc, draw, row, sample, elastic, custom, work.record)
        finish_sample(task, work, None, plane.values[TOTAL, : 2 * nc], sample, status)


def run_plane(rows: Rows, draw: Draw, task: Task, rates: Plain | None, threads: int | None) -> None:
    """Draw the samples of the plane again and differentiate them."""
    nc = rows.contact.shape[2]
    own = None if rates is None else rates_function(rates)
    custom = None if own is None else own.address

    def scratch(room: int) -> tuple[PlaneWork, GradientWork]:
        return workspace(nc, draw.n), gradient_workspace(room, task)

    def work(begin: int, end: int, given: tuple[PlaneWork, GradientWork]) -> None:
        plane_range(rows, draw, task, *given, custom, begin, end)

    run_with_room(draw.n, task, scratch, work, threads)


def gradient_workspace(room: int, task: Task, powers: int = 0) -> GradientWork:
    """Scratch arrays of one thread, with room for so many pieces."""
    nc, (n, nv) = len(task.frame.root), task.frame.S.shape
    return GradientWork(
        make_record(room, nc, n // nc, powers), reverse_workspace(nc, n // nc), pull_workspace(n, nv)
    )


def run_with_room(
    n: int,
    task: Task,
    scratch: Callable[[int], Scratch],
    work: Callable[[int, int, Scratch], None],
    threads: int | None,
) -> None:
    """All samples, then, with more room, those whose records had too little."""
    room = FIRST_ROOM
    run_slices(n, lambda: scratch(room), work, threads=threads)
    long = np.flatnonzero(task.entries > room)
    if len(long) > 0:
        own = scratch(int(task.entries.max()))
        for sample in long.tolist():
            work(sample, sample + 1, own)


@kernel
def space_range(
    rows: Rows, draw: Draw, task: Task, works: tuple[SpaceWork, GradientWork], corners: Corners,
    books: Books, custom: int | None, begin: int, end: int,
) -> None:  # fmt: skip
    """The samples ``begin`` to ``end`` of the first row, in space; ``corners`` None: the true cone."""
    row, nc = begin - begin, rows.nc[0]
    space, work = works
    load_space(rows, row, space)
    for sample in range(begin, end):
        status, _ = run_sample(space, nc, corners, books, work.record, draw, custom, draw.row, sample)
        limit = tolerances.RESIDUAL_HUGE_FRICTION + SLACK * space.values[GLOBAL, ERROR]
        if status == SOLVED and not finish(space, nc, books) <= limit:
            status = NUMERICAL
        total = space.values[SPACE_TOTAL, : 3 * nc]
        if corners is None:
            finish_sample(task, work, 1, total, sample, status)
        else:
            finish_sample(task, work, None, total, sample, status)


def run_space(
    rows: Rows, draw: Draw, task: Task, corners: Array | None, rates: Plain | None, threads: int | None
) -> None:
    """Draw the samples in space again and differentiate them; without corners: with the true cone."""
    nc = rows.contact.shape[2]
    own = None if rates is None else rates_function(rates)
    custom = None if own is None else own.address
    books = int(draw.poisson) if np.any(task.given.bounce > 0.0) else None

    powers = ORDER + 1 if corners is None else 0

    def scratch(room: int) -> tuple[SpaceWork, GradientWork]:
        return space_workspace(nc), gradient_workspace(room, task, powers)

    def work(begin: int, end: int, given: tuple[SpaceWork, GradientWork]) -> None:
        space_range(rows, draw, task, given, corners, books, custom, begin, end)

    run_with_room(draw.n, task, scratch, work, threads)
