"""Work in processes beside this one, part by part; Ctrl-C ends them at once.

Python's threads share one lock: work that is half Python goes on faster in processes only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import active_children
from threading import Thread
from typing import Generic, TypeVar

Made = TypeVar("Made")


def parts_of(count: int, size: int) -> list[range]:
    """The numbers 0 to ``count - 1`` in ranges of ``size``; the last one may be shorter."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def in_processes(
    work: Callable[[range], Made], parts: Sequence[range], workers: int, take: Callable[[Made], None]
) -> None:
    """Give what ``work`` makes of each part to ``take``, in this process, in the order of the parts.

    Only numbers travel to the processes: a long message that nobody reads any more would keep this one alive.
    """
    others = set(active_children())
    with ProcessPoolExecutor(workers, initializer=_Own.begin, initargs=(work,)) as pool:
        begun: Future[Iterator[Made]] = Future()

        def begin() -> None:
            try:
                begun.set_result(pool.map(_Own.make, parts))
            except BaseException as error:  # else nobody would hear of it, and wait
                begun.set_exception(error)

        # interrupts come to the main thread: a process that is just being made is not forgotten
        beginning = Thread(target=begin)
        try:
            beginning.start()
            for made in begun.result():
                take(made)
        except BaseException:
            beginning.join()
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in set(active_children()) - others:
                worker.terminate()  # else the interrupt would wait for their work
            raise


class _Own(Generic[Made]):
    """What a worker process does."""

    work: Callable[[range], Made]

    @classmethod
    def begin(cls, work: Callable[[range], Made]) -> None:
        cls.work = staticmethod(work)

    @classmethod
    def make(cls, part: range) -> Made:
        return cls.work(part)
