"""The loop that drives a study: hand out chunks, keep a few under way, blame those that kill fairly."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, TypeVarTuple

import numpy as np

from routh.kernels.common.slices import cores
from routh.status import Status, optional
from routh.sweep.chunks import KILLED, PENDING, RAISED, Chunk, Computed, compute, killed
from routh.sweep.manifest import Plan
from routh.validation import Options

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture


# Where chunks are computed: in this process, in processes of this machine, or wherever Dask has workers.
#
# An executor hands out futures. A worker that dies fails the future with `WorkerLost`; what else is under way
# there may fail with it, so the caller asks again with ``alone`` to learn who is to blame.


_WATCH = 1.0  # s between looks of a worker at whether its driver still lives

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


class WorkerLost(Exception):
    """The process that computed this died."""


class Executor(Protocol):
    """Computes calls somewhere."""

    @property
    def workers(self) -> int:
        """How many calls can run at once."""
        ...

    @property
    def blames(self) -> bool:
        """Whether a lost call has killed several workers by itself; otherwise others may have."""
        ...

    def submit(self, function: Callable[[*Given], Result], *arguments: *Given) -> Future[Result]:
        """Start a call."""
        ...

    def alone(self, function: Callable[[*Given], Result], *arguments: *Given) -> Result:
        """Make a call with nothing else under way; raises WorkerLost where it kills its worker."""
        return self.submit(function, *arguments).result()

    def close(self) -> None:
        """Stop at once; what is under way is given up."""


class InProcess(Executor):
    """Everything here, one call after the other."""

    workers = 1
    blames = False

    def submit(self, function: Callable[[*Given], Result], *arguments: *Given) -> Future[Result]:
        """Make the call now."""
        future: Future[Result] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def close(self) -> None:
        """Nothing to stop."""


class Processes:
    """Processes of this machine, made anew when one of them dies."""

    blames = False  # a pool dies as a whole

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._pool: ProcessPoolExecutor | None = None
        self._single: Processes | None = None

    def submit(self, function: Callable[[*Given], Result], *arguments: *Given) -> Future[Result]:
        """Start a call in one of the processes."""
        future: Future[Result] = Future()
        for _ in range(2):
            try:
                inner = self._pool_now().submit(function, *arguments)
            except BrokenExecutor:
                self.close()
                continue
            inner.add_done_callback(lambda done: _pass_on(done, future, (BrokenExecutor, CancelledError)))
            return future
        raise WorkerLost("the pool of processes broke twice")

    def alone(self, function: Callable[[*Given], Result], *arguments: *Given) -> Result:
        """Make the call in a process beside the pool, where nothing else runs."""
        self._single = self._single or Processes(1)
        return self._single.submit(function, *arguments).result()

    def close(self) -> None:
        """Kill the processes."""
        if self._single is not None:
            self._single.close()
        pool, self._pool = self._pool, None
        if pool is not None:
            running = list(getattr(pool, "_processes", None) or {})
            pool.shutdown(wait=False, cancel_futures=True)
            for pid in running:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _pool_now(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # spawned: a forked copy of compiled code and its threads may hang
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                self.workers, mp_context=context, initializer=_begin, initargs=(os.getpid(),)
            )
        return self._pool


class Dask(Executor):
    """The workers of a Dask scheduler: other machines, SLURM, Kubernetes, whatever Dask runs on."""

    blames = True  # the scheduler itself tries a call on several workers before it says that it kills

    def __init__(self, client: str | Client) -> None:
        distributed = optional("distributed", "sweep", "dask.distributed")
        self._own = isinstance(client, str)
        self.client = distributed.Client(client) if isinstance(client, str) else client
        self._lost = (distributed.scheduler.KilledWorker, distributed.client.FutureCancelledError)

    @property
    def workers(self) -> int:
        """How many calls can run at once just now; at least one, since workers may come later."""
        return max(1, sum(self.client.nthreads().values()))

    @property
    def dashboard(self) -> str | None:
        """The address of Dask's own page; None where the scheduler has none."""
        found: str | None = self.client.dashboard_link
        return found

    def submit(self, function: Callable[[*Given], Result], *arguments: *Given) -> Future[Result]:
        """Start a call on any worker."""
        future: Future[Result] = Future()
        remote = self.client.submit(function, *arguments, pure=False)
        remote.add_done_callback(lambda done: _pass_on(done, future, self._lost))
        return future

    def close(self) -> None:
        """Let go of the client, if it was made here; the cluster stays."""
        if self._own:
            self.client.close()


def make_executor(kind: str | Executor | Client, workers: int | None = None) -> Executor:
    """An executor from "here", "local", a scheduler's address, a Dask client, or an executor."""
    if kind == "here":
        return InProcess()
    if kind == "local":
        return Processes(workers)
    if (isinstance(kind, str) and "://" in kind) or hasattr(kind, "scheduler_info"):
        return Dask(kind)
    if not isinstance(kind, str) and all(
        hasattr(kind, name) for name in ("submit", "alone", "close", "workers", "blames")
    ):
        return kind
    raise ValueError(
        f"executor: got {kind!r}; wanted 'local', 'here', a scheduler's address such as "
        "'tcp://host:8786', or a dask Client"
    )


def _pass_on(
    done: Future[Result] | DaskFuture, to: Future[Result], lost: tuple[type[Exception], ...]
) -> None:
    """Give a future what came of another; errors that tell of a worker's death are told as `WorkerLost`."""
    try:
        to.set_result(done.result())
    except lost as error:
        to.set_exception(WorkerLost(str(error) or type(error).__name__))
    except Exception as error:
        to.set_exception(error)


def _begin(driver: int) -> None:
    """First thing in a worker: leave Ctrl-C to the driver, and end when the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_WATCH)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


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
