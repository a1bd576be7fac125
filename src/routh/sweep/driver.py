"""The loop that drives a study: hand out chunks, keep a few under way, blame those that kill fairly.

Chunks are computed in this process, in processes of this machine, or wherever Dask has workers: an executor
hands out futures. A worker that dies fails its future with `WorkerLost`. It need not be to blame: others may
have taken the memory. So the loop asks again, and at last with nothing else under way (``alone``).
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar, TypeVarTuple, cast

import numpy as np

from routh.base.processes import Worker, WorkerLost
from routh.base.status import InputError, Status, optional
from routh.base.validation import Options
from routh.kernels.common.slices import cores
from routh.sweep.chunks import KILLED, PENDING, RAISED, Chunk, Computed, compute
from routh.sweep.manifest import StudyPlan

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

TRIES = 3  # how often a single point may lose its worker before it is given up
_COMPANY = 2  # how often it may lose it among others before it is tried alone
_AHEAD = 2  # chunks under way for each worker: the next one is there when a worker is free
_PROBE = 0.25  # s of computing after which the pace is known
_LARGEST = 65536  # points of a chunk

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


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
        """Do nothing: there is nothing to stop."""


class Processes(Executor):
    """Processes of this machine. Each answers to a thread here; one that dies is made anew."""

    workers = 1
    blames = False  # who dies for lack of memory need not be who took it

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or cores()
        self._threads: ThreadPoolExecutor | None = None
        self._crew: dict[threading.Thread, Worker] = {}
        self._lock = threading.Lock()

    def submit(self, function: Callable[[*Given], Result], *arguments: *Given) -> Future[Result]:
        """Start a call in one of the processes."""
        crew = self._crew

        def call() -> Result:
            try:
                worker = self._own_worker(crew)
                worker.tell((function, arguments))
                made, error = worker.hear()
            except WorkerLost:
                crew.pop(threading.current_thread(), None)
                raise
            if error is not None:
                raise error
            return cast("Result", made)

        self._threads = self._threads or ThreadPoolExecutor(self.workers)
        return self._threads.submit(call)

    def _own_worker(self, crew: dict[threading.Thread, Worker]) -> Worker:
        thread = threading.current_thread()
        with self._lock:
            if crew is not self._crew:
                raise WorkerLost("closed before it began")
            if thread not in crew:
                # spawned: a forked copy of compiled code and its threads may hang
                crew[thread] = Worker(_call, "spawn")
                crew[thread].start()
            return crew[thread]

    def close(self) -> None:
        """Kill the processes."""
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._threads, crew, self._crew = None, self._crew, {}
            for worker in list(crew.values()):
                worker.kill()


def _call(message: tuple[Callable[..., object], tuple[object, ...]]) -> object:
    """What a process makes of a message."""
    function, arguments = message
    return function(*arguments)


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

        def pass_on(done: DaskFuture) -> None:
            try:
                future.set_result(done.result())
            except self._lost as error:
                future.set_exception(WorkerLost(str(error) or type(error).__name__))
            except Exception as error:
                future.set_exception(error)

        self.client.submit(function, *arguments, pure=False).add_done_callback(pass_on)
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
    raise InputError(
        "executor",
        got=repr(kind),
        wanted=("'local', 'here', a scheduler's address such as 'tcp://host:8786', or a dask Client"),
    )


@dataclass
class Progress:
    """Progress of a run."""

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
    data: Options, plan: StudyPlan, chunks: list[Chunk], executor: Executor
) -> Iterator[tuple[Chunk, Computed]]:
    """Results of all chunks as they come, no more than a few of them at a time in memory.

    A chunk whose worker dies waits for its turn again, and from the second time on is tried alone; if it
    keeps killing, it is halved until the points that kill stand alone, and those are recorded as KILLED. Dask
    has tried it on several workers before it tells, so there it is halved at once.
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


def _alone(
    data: Options, plan: StudyPlan, chunk: Chunk, executor: Executor, *, known: bool = False
) -> Computed:
    """A chunk that lost a worker, or is ``known`` to kill: by itself, then in halves, a point as KILLED."""
    tries = 1 if len(chunk) > 1 or executor.blames else TRIES
    for _ in range(0 if known else tries):
        try:
            return executor.alone(compute, data, chunk)
        except WorkerLost:
            continue
    if len(chunk) == 1:
        return Computed(plan.empty(1), np.array([KILLED], dtype=np.int8), {chunk[0]: "its worker died"})
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
