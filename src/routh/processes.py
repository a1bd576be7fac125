"""Work in processes beside this one, part by part.

Python's threads share one lock: work that is half Python goes on faster in processes only. Each of them has a
pipe of its own, so that one that is ended in the middle of a message disturbs nobody, and whatever ends the
work here ends them at once. One whose parent is gone ends by itself.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar, cast

from routh.status import RouthError

Made = TypeVar("Made")
_Answer = tuple[int, object, BaseException | None]  # number of a part, what was made of it, what was raised

_AHEAD = 2  # parts that a process is given: the one under way, and the next
_BEFORE = 4  # results for each process that may wait for an earlier one
_WATCH = 1.0  # s between looks of a process that waits at whether its parent still lives


def parts_of(count: int, size: int) -> list[range]:
    """The numbers 0 to ``count - 1`` in ranges of ``size``; the last one may be shorter."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def in_processes(
    work: Callable[[range], Made], parts: Sequence[range], workers: int, take: Callable[[Made], None]
) -> None:
    """Give what ``work`` makes of each part to ``take``, in this process, in the order of the parts.

    What ``work`` raises is raised here when its part's turn comes. Processes are made as multiprocessing is
    set to make them: forked ones find ``work`` in their memory, others get it pickled.
    """
    crew: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(min(workers, len(parts))):
            _hire(work, crew)
        free, done = deque(list(crew) * _AHEAD), dict[int, _Answer]()
        given = due = 0
        while due < len(parts):
            while free and given < min(len(parts), due + _BEFORE * len(crew)):
                _told(free.popleft(), crew, (given, parts[given]))
                given += 1
            for connection in wait(list(crew)):
                assert isinstance(connection, Connection)
                answer = _heard(connection, crew)
                done[answer[0]] = answer
                free.append(connection)
            while due in done:
                _, made, error = done.pop(due)
                if error is not None:
                    raise error
                take(cast("Made", made))
                due += 1
    finally:
        for connection, process in crew.items():
            connection.close()  # which ends one that an interrupt kept from being known, too
            if process.pid is not None:
                process.kill()  # at once; it holds nothing that anybody else needs
                process.join()


def _hire(work: Callable[[range], Made], crew: dict[Connection, BaseProcess]) -> None:
    """Add a process to the crew."""
    context = multiprocessing.get_context()
    forked = context.get_start_method() == "fork"
    ours, theirs = context.Pipe()
    given = (work, [ours, *crew]) if forked else (None, [])
    process = context.Process(target=_serve, args=(theirs, *given))
    crew[ours] = process
    process.start()
    theirs.close()  # else nobody would hear that the process has ended
    if not forked:  # not as an argument: a process that dies while it is made would never read it
        _told(ours, crew, work)


def _told(connection: Connection, crew: dict[Connection, BaseProcess], message: object) -> None:
    try:
        connection.send(message)
    except OSError:
        raise _lost(crew[connection]) from None


def _heard(connection: Connection, crew: dict[Connection, BaseProcess]) -> _Answer:
    try:
        answer: _Answer = connection.recv()
    except (EOFError, OSError):
        raise _lost(crew[connection]) from None
    return answer


def _lost(process: BaseProcess) -> RouthError:
    process.join(1.0)
    return RouthError(
        f"processes: one of them ended with exit code {process.exitcode}; "
        "was there enough memory? (fewer processes need less)"
    )


def _serve(
    connection: Connection, work: Callable[[range], object] | None, others: Sequence[Connection]
) -> None:
    """What a process does: parts, as they come, until nobody is at the other end of its pipe."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C comes to all processes; the first one ends the others
    parent = os.getppid()
    for other in others:
        other.close()  # the parent's ends, which a fork has too: they would hide that it is gone
    try:
        do: Callable[[range], object] = work or connection.recv()
        while True:
            while not connection.poll(_WATCH):
                if os.getppid() != parent:
                    return
            number, part = connection.recv()
            connection.send_bytes(_answer(do, number, part))
    except (EOFError, OSError):
        return


def _answer(work: Callable[[range], object], number: int, part: range) -> bytes:
    """A pickled result, or error, of a part."""
    try:
        return pickle.dumps((number, work(part), None), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raised = _able_to_travel(error)
        raised.add_note(f"In a process:\n{traceback.format_exc()}")
        return pickle.dumps((number, None, raised))


def _able_to_travel(error: Exception) -> Exception:
    """The error itself, or its words where it does not go into a pickle and come out of it again."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its own arguments and fields do then
        return RouthError(f"processes: {type(error).__name__}: {error}")
    return error
