"""Work in processes beside this one.

Python's threads share one lock: work that is half Python goes on faster in processes only. A `Worker` is a
process with a pipe of its own, so that one that is ended in the middle of a message disturbs nobody and one
that dies is known by name; it does not hear Ctrl-C, and ends by itself when its parent is gone.
`in_processes` gives a list of parts to some of them. `routh.sweep.driver` gives chunks to others.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from typing import TypeVar, cast

from routh.base import interrupts
from routh.base.status import RouthError

Made = TypeVar("Made")
Answer = tuple[object, BaseException | None]  # what was made of a message, or what was raised

_AHEAD = 2  # parts that a process is given: the one under way, and the next
_BEFORE = 4  # results for each process that may wait for an earlier one
_WATCH = 1.0  # s between looks of a process at whether its parent still lives


class WorkerLost(RouthError):
    """The process that worked on this died."""


class Worker:
    """A process that makes something of each message, one after the other.

    It is made as ``method`` says, by default as multiprocessing is set to make them: a forked one finds
    ``work`` in its memory, others get it pickled.
    """

    def __init__(self, work: Callable[..., object], method: str | None = None) -> None:
        context = multiprocessing.get_context(method)
        self.pipe, self._theirs = context.Pipe()
        self._work, self._forked = work, context.get_start_method() == "fork"
        given = (self.pipe, work) if self._forked else (None, None)
        self._process = context.Process(target=_serve, args=(self._theirs, *given))  # type: ignore[attr-defined]

    def start(self) -> None:
        """Begin; apart from making it, so that who does can end it whenever an interrupt comes."""
        self._process.start()
        self._theirs.close()  # else nobody would hear that the process has ended
        if not self._forked:  # not as an argument: a process that dies while it is made would never read it
            self.tell(self._work)

    def tell(self, message: object) -> None:
        """Send a message; WorkerLost where it is dead."""
        try:
            self.pipe.send(message)
        except OSError:
            raise self._lost() from None

    def hear(self) -> Answer:
        """What came of the first message that is still without an answer; WorkerLost where it is dead."""
        try:
            answer: Answer = self.pipe.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        return answer

    def kill(self) -> None:
        """End it at once; it holds nothing that anybody else needs."""
        if self._process.pid is not None:
            self._process.kill()
            self._process.join()

    def _lost(self) -> WorkerLost:
        self._process.join(1.0)
        return WorkerLost(
            f"processes: one of them ended with exit code {self._process.exitcode}; "
            "was there enough memory? (fewer processes need less)"
        )


def parts_of(count: int, size: int) -> list[range]:
    """The numbers 0 to ``count - 1`` in ranges of ``size``; the last one may be shorter."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def in_processes(
    work: Callable[[range], Made], parts: Sequence[range], workers: int, take: Callable[[Made], None]
) -> None:
    """Give what ``work`` makes of each part to ``take``, in this process, in the order of the parts.

    What ``work`` raises is raised here when its part's turn comes. Whatever ends the work here ends the
    processes at once.
    """
    crew: list[Worker] = []
    try:
        for _ in range(min(workers, len(parts))):
            crew.append(Worker(work))
            crew[-1].start()
        free, done = deque(crew * _AHEAD), dict[int, Answer]()
        under_way = {worker.pipe: (worker, deque[int]()) for worker in crew}
        given = due = 0
        while due < len(parts):
            while free and given < min(len(parts), due + _BEFORE * len(crew)):
                worker = free.popleft()
                worker.tell(parts[given])
                under_way[worker.pipe][1].append(given)
                given += 1
            for pipe in wait(list(under_way)):
                worker, numbers = under_way[cast("Connection", pipe)]
                answer = worker.hear()
                done[numbers.popleft()] = answer
                free.append(worker)
            while due in done:
                made, error = done.pop(due)
                if error is not None:
                    raise error
                take(cast("Made", made))
                due += 1
    finally:
        for worker in crew:
            worker.pipe.close()  # which ends one that an interrupt kept from being known, too
            worker.kill()


def _serve(pipe: Connection, parents: Connection | None, work: Callable[..., object] | None) -> None:
    """What a process does: messages, as they come, until nobody is at the other end of its pipe."""
    interrupts.ignore()
    threading.Thread(target=_end_without, args=(os.getppid(),), daemon=True).start()
    if parents is not None:
        parents.close()  # the other end, which a fork has too: it would hide that nobody else has it
    try:
        do: Callable[..., object] = work or pipe.recv()
        while True:
            pipe.send_bytes(_answer(do, pipe.recv()))
    except (EOFError, OSError):
        return


def _end_without(parent: int) -> None:
    """End this process when its parent is gone."""
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)


def _answer(work: Callable[..., object], message: object) -> bytes:
    """A pickled result, or error."""
    try:
        return _pickled(work(message))
    except Exception as error:
        raised: Exception = error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # whatever its own arguments and fields do then
            raised = RouthError(f"processes: {type(error).__name__}: {error}")
        raised.add_note(f"In a process:\n{traceback.format_exc()}")
        return pickle.dumps((None, raised))


def _pickled(made: object) -> bytes:
    """A result as it travels; what pickle raises where it cannot depends on the version of Python."""
    try:
        return pickle.dumps((made, None), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise RouthError(f"processes: a {type(made).__name__} cannot leave its process: {error}") from error
