"""Where chunks are computed: in this process, in processes of this machine, or wherever Dask has workers.

An executor hands out futures. A worker that dies fails the future with `WorkerLost`; what else is under way
there may fail with it, so the caller asks again with ``alone`` to learn who is to blame.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TypeVar, TypeVarTuple

from routh.kernels.common.slices import cores
from routh.status import optional

if TYPE_CHECKING:
    from distributed import Client
    from distributed import Future as DaskFuture

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
