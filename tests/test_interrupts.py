"""Ctrl-C is heard while another thread works, and what it began is brought to its end."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from routh.base.interrupts import while_listening


def test_what_the_work_returns_or_raises():
    assert while_listening(lambda: 3) == 3
    with pytest.raises(KeyError, match="x"):
        while_listening(lambda: {}["x"])


def test_in_another_thread_it_is_done_there():
    seen = []
    thread = threading.Thread(target=lambda: while_listening(lambda: seen.append(threading.current_thread())))
    thread.start()
    thread.join()
    assert seen == [thread]


def test_an_interrupt_does_not_wait_for_the_work():
    """As in a notebook, or in a script that goes on."""
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work():
        begun.set()
        may_end.wait()
        ended.set()

    def interrupt():
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        while_listening(work)
    assert not ended.is_set()
    may_end.set()
    assert ended.wait(300.0)


@pytest.mark.parametrize("moment", ["'llvmlite.binding.ffi' in sys.modules", "begun"])
def test_after_an_interrupt_while_loading_or_compiling_everything_is_whole(moment, tmp_path):
    """Half of the compiler stayed in the process before, and every later call failed."""
    code = """
import os, signal, sys, threading, time
import routh
from routh import systems
from routh.compiling import announced_to
problem = systems.get("rocking-block").problem
begun = []
def interrupt():
    while not (MOMENT):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    with announced_to(begun.append):
        routh.sample(problem, 2)
except KeyboardInterrupt:
    print("heard")
print(len(routh.sample(problem, 2)))
"""
    code, place = code.replace("MOMENT", moment), {**os.environ, "ROUTH_CACHE_DIR": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=place, capture_output=True, text=True)
    assert found.stdout == "heard\n2\n", found.stderr


@pytest.mark.parametrize(("threads", "contacts"), [(2, 1), (1, 48)])
def test_threads_that_sample_are_not_waited_for(threads, contacts):
    """One of them may be compiling, or in a sample that takes seconds, which one of many contacts can."""
    from routh.kernels.common.slices import run_slices

    may_end, ended, main = threading.Event(), [], threading.main_thread()

    def work(begin, end, scratch):
        assert threading.current_thread() is not main  # compiled code would keep it from hearing
        if begin == 0:
            os.kill(os.getpid(), signal.SIGINT)
        ended.append(not may_end.wait(300.0))

    with pytest.raises(KeyboardInterrupt):
        run_slices(1000, lambda: None, work, threads=threads, contacts=contacts)
    assert ended == []
    may_end.set()
