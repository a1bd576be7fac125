"""A compiled loop in slices: threads, a budget of time, and Ctrl-C within a second.

The loop is a range of independent items (samples of rows), worked on by a compiled function
``work(begin, end, scratch)`` that writes only its own items; so results depend neither on the slices nor on
the number of threads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from routh.base.interrupts import wait_for

SLICE_SECONDS = 0.05  # what one compiled call should take
FIRST_SLICE = 64
_CONTACTS = 8  # with more, samples may take seconds each: the cost grows with the cube


class _Slices:
    """Hands out slices of ``range(total)``; their length follows from how long the last ones took."""

    def __init__(self, total: int, workers: int, deadline: float, first: int) -> None:
        self.total, self.workers, self.deadline = total, workers, deadline
        self.next, self.size = 0, first
        self.stopped = False
        self._lock = threading.Lock()

    def take(self) -> tuple[int, int] | None:
        """The next slice, or None where nothing is left or time is over."""
        with self._lock:
            if self.stopped or self.next >= self.total or time.monotonic() >= self.deadline:
                return None
            fair = -(-(self.total - self.next) // self.workers)  # leave something for the others
            begin, self.next = self.next, min(self.next + min(self.size, fair), self.total)
            return begin, self.next

    def took(self, items: int, seconds: float) -> None:
        """Adapt the length, by a factor of eight at most."""
        with self._lock:
            wanted = int(items * SLICE_SECONDS / max(seconds, 1e-9))
            self.size = max(1, min(wanted, 8 * max(items, 1)))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while (piece := self.take()) is not None:
            start = time.monotonic()
            yield piece
            self.took(piece[1] - piece[0], time.monotonic() - start)


def cores() -> int:
    """Number of CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_slices(
    total: int,
    scratch: Callable[[], Any],
    work: Callable[[int, int, Any], object],
    *,
    threads: int | None = None,
    budget: float | None = None,
    contacts: int = 1,
) -> bool:
    """Call ``work(begin, end, scratch())`` on slices of ``range(total)``; whether all of it was done.

    Each thread has its own scratch. ``budget`` (s) ends the handing out of slices, and so does an interrupt,
    which is raised at once: the slices under way end by themselves. With many ``contacts`` the first slices
    are short, and the main thread only waits, so that both are heard before long even in a long sample.
    """
    first = max(int(FIRST_SLICE * min(1.0, (_CONTACTS / max(contacts, 1)) ** 3)), 1)
    count = threads if threads is not None else cores()
    count = max(1, min(count, -(-total // first)))
    slices = _Slices(total, count, float("inf") if budget is None else time.monotonic() + budget, first)

    def worker() -> None:
        own = scratch()
        for begin, end in slices:
            work(begin, end, own)

    if count == 1 and contacts <= _CONTACTS:
        worker()
        return slices.next >= total
    pool = ThreadPoolExecutor(count)
    try:
        futures = [pool.submit(worker) for _ in range(count)]
        wait_for(futures)
    finally:
        slices.stopped = True
        pool.shutdown(wait=False)  # after an interrupt a thread may still compile, which takes seconds
    for future in futures:
        future.result()
    return slices.next >= total
