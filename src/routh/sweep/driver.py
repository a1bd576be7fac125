"""The loop that drives a study: hand out chunks, keep a few under way, blame those that kill fairly."""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field

import numpy as np

from routh.status import Status
from routh.sweep.chunks import KILLED, PENDING, RAISED, Chunk, Computed, compute, killed
from routh.sweep.executors import Executor, WorkerLost
from routh.sweep.manifest import Plan
from routh.validation import Options

TRIES = 3  # how often a single point may lose its worker before it is given up
_COMPANY = 2  # how often it may lose it among others before it is tried alone
_AHEAD = 2  # chunks under way for each worker: the next one is there when a worker is free
_PROBE = 0.25  # s of computing after which the pace is known
_LARGEST = 65536  # points of a chunk


@dataclass
class Progress:
    """Where a run stands."""

    total: int  # points of the study
    done: int = 0  # points stored
    before: int = 0  # points that were stored when the run began
    statuses: Counter[str] = field(default_factory=Counter)  # of the points computed in this run
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Points a second in this run."""
        return (self.done - self.before) / max(self.elapsed, 1e-9)

    @property
    def left(self) -> float:
        """Seconds to go at this rate; infinite before the first chunk."""
        return (self.total - self.done) / self.rate if self.done > self.before else math.inf

    def count(self, result: Computed) -> None:
        """Take note of a chunk that was stored."""
        self.done += len(result.status)
        self.statuses.update(status_name(int(code)) for code in result.status)


def status_name(code: int) -> str:
    """A word for the status of a point."""
    special = {KILLED: "KILLED", RAISED: "RAISED", PENDING: "PENDING"}
    return special[code] if code in special else Status(code).name


def computed(
    data: Options, plan: Plan, chunks: list[Chunk], executor: Executor
) -> Iterator[tuple[Chunk, Computed]]:
    """Results of all chunks as they come, no more than a few of them at a time in memory.

    A chunk whose worker dies waits for its turn again, and from the second time on is tried alone, since a
    pool of processes dies as a whole; if it keeps killing, it is halved until the points that kill stand
    alone, and those are recorded as KILLED. Dask tells who killed, so there it is halved at once.
    """
    waiting = deque(chunks)
    under_way: dict[Future[Computed], Chunk] = {}
    suspects: deque[Chunk] = deque()
    losses: Counter[Chunk] = Counter()
    while waiting or under_way or suspects:
        while waiting and len(under_way) < _AHEAD * executor.workers:
            chunk = waiting.popleft()
            under_way[executor.submit(compute, data, chunk)] = chunk
        finished, _ = wait(under_way, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in finished:
            chunk = under_way.pop(future)
            try:
                yield chunk, future.result()
            except WorkerLost:
                losses[chunk] += 1
                sure = executor.blames or losses[chunk] >= _COMPANY
                (suspects if sure else waiting).append(chunk)
        if suspects and not under_way:
            chunk = suspects.popleft()
            yield chunk, _alone(data, plan, chunk, executor, known=executor.blames)


def _alone(data: Options, plan: Plan, chunk: Chunk, executor: Executor, *, known: bool = False) -> Computed:
    """A chunk that lost a worker, or is ``known`` to kill: by itself, then in halves, a point as KILLED."""
    tries = 1 if len(chunk) > 1 or executor.blames else TRIES
    for _ in range(0 if known else tries):
        try:
            return executor.alone(compute, data, chunk)
        except WorkerLost:
            continue
    if len(chunk) == 1:
        return killed(plan, chunk)
    middle = len(chunk) // 2
    parts = [_alone(data, plan, half, executor) for half in (chunk[:middle], chunk[middle:])]
    return Computed(
        {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns},
        np.concatenate([part.status for part in parts]),
        {row: text for part in parts for row, text in part.messages.items()},
    )


def chunk_size(data: Options, total: int, executor: Executor, seconds: float) -> int:
    """Points that take about ``seconds``, measured on a worker with the first points of the grid."""
    count = 1
    while True:
        try:
            spent = executor.alone(timed, data, Chunk(0, count))
        except WorkerLost:
            return max(1, count // 4)
        if spent >= _PROBE or count >= min(total, _LARGEST):
            return max(1, min(_LARGEST, total, round(count * seconds / max(spent, 1e-9))))
        count = min(total, _LARGEST, count * 4)


def timed(data: Options, chunk: Chunk) -> float:
    """Seconds that a chunk takes once everything is compiled."""
    compute(data, Chunk(chunk.start, chunk.start + 1))
    begun = time.perf_counter()
    compute(data, chunk)
    return time.perf_counter() - begun
