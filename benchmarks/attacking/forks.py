"""Cases that may crash or hang run in forks, many to a fork, with limits on memory and time."""

import os
import resource
import signal
import tempfile
import time

MEMORY = 4 * 2**30
SECONDS = 20


def in_forks(cases, judge, *, together=50):
    """Yield (case, verdict, seconds) of each case; ``judge(case)`` returns a word in a forked process.

    A process that dies says so of the case it was at, and the rest go on in a new one.
    """
    waiting = list(cases)
    while waiting:
        batch, waiting = waiting[:together], waiting[together:]
        done = yield from _one_fork(batch, judge)
        waiting = batch[done:] + waiting


def _one_fork(batch, judge):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            _child(batch, judge, writer)
        finally:
            os._exit(5)
    os.close(writer)
    done, start = 0, time.perf_counter()
    with os.fdopen(reader) as lines:
        for line in lines:
            yield batch[done], line.strip(), time.perf_counter() - start
            done, start = done + 1, time.perf_counter()
    _, status = os.waitpid(child, 0)
    if done < len(batch):
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        verdict = f"died of {signal.Signals(died).name}" if died else f"left with {os.WEXITSTATUS(status)}"
        yield batch[done], verdict, time.perf_counter() - start
        done += 1
    return done


def _child(batch, judge, writer):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.chdir(tempfile.gettempdir())  # MuJoCo logs into the folder where it runs
    for case in batch:
        signal.alarm(SECONDS)
        verdict = judge(case)
        os.write(writer, f"{verdict}\n".encode("ascii", "backslashreplace"))
    os._exit(0)
