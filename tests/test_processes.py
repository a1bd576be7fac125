"""Work in processes: all of it, in its order, and nothing left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from routh.base.processes import in_processes, parts_of
from routh.base.status import RouthError

PATIENCE = 600  # s: what is not whole takes for ever, and busy machines their time


def squares(part):
    time.sleep(0.02 * (part.start % 2))  # later parts are ready first
    return os.getpid(), [k * k for k in part]


def refuse(part):
    if 5 in part:
        raise ValueError(f"not {part}")
    return part


def sleep_long(part):
    time.sleep(600.0 * part.start)


@pytest.mark.parametrize(
    ("count", "size", "wanted"), [(5, 2, [2, 2, 1]), (4, 2, [2, 2]), (1, 9, [1]), (0, 3, [])]
)
def test_parts_are_all_of_it(count, size, wanted):
    parts = parts_of(count, size)
    assert [len(part) for part in parts] == wanted
    assert [k for part in parts for k in part] == list(range(count))


def test_parts_come_in_their_order_from_other_processes():
    found = []
    in_processes(squares, parts_of(23, 3), 2, found.append)
    assert [square for _, made in found for square in made] == [k * k for k in range(23)]
    assert os.getpid() not in {process for process, _ in found}


def test_an_error_in_a_process_is_raised_here():
    found = []
    with pytest.raises(ValueError, match=r"not range\(4, 6\)"):
        in_processes(refuse, parts_of(10, 2), 2, found.append)
    assert found == parts_of(4, 2)


class Stubborn(Exception):
    """An error that does not go into a pickle."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")
        self.lock = threading.Lock()


def refuse_stubbornly(part):
    raise Stubborn(part.start, "more")


def test_an_error_that_cannot_travel_is_told_of():
    with pytest.raises(RouthError, match="processes: Stubborn: 0 and more") as raised:
        in_processes(refuse_stubbornly, parts_of(4, 2), 2, lambda _: None)
    assert "in refuse_stubbornly" in raised.value.__notes__[0]  # where it came from


def make_what_cannot_travel(part):
    return lambda: part


def test_a_result_that_cannot_travel_is_an_error():
    wanted = "processes: a function cannot leave its process: .*make_what_cannot_travel"
    with pytest.raises(RouthError, match=wanted):
        in_processes(make_what_cannot_travel, parts_of(2, 1), 2, lambda _: None)


def die(part):
    if part.start == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_process_that_is_killed_is_told_of():
    found = []
    with pytest.raises(RouthError, match="exit code -9"):
        in_processes(die, parts_of(200, 1), 2, found.append)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_it_ends_the_processes(error):
    """The second part would take ten minutes."""

    def stop(_):
        raise error

    began = time.monotonic()
    with pytest.raises(error):
        in_processes(sleep_long, parts_of(2, 1), 2, stop)
    assert time.monotonic() - began < 300.0
    assert multiprocessing.active_children() == []


def test_an_error_leaves_the_processes_of_others_alone():
    found = []
    other = threading.Thread(target=in_processes, args=(squares, parts_of(300, 3), 2, found.append))
    other.start()
    with pytest.raises(ValueError, match="not"):
        in_processes(refuse, parts_of(10, 2), 2, lambda _: None)
    other.join()
    assert [square for _, made in found for square in made] == [k * k for k in range(300)]


def test_no_more_processes_than_parts():
    found = []
    in_processes(squares, parts_of(3, 1), 50, found.append)
    assert len({process for process, _ in found}) <= 3
    in_processes(squares, [], 2, found.append)
    assert len(found) == 3


SCRIPT = """
import multiprocessing, sys, threading
from routh.base.processes import in_processes, parts_of

def large(part):
    if part.start == 5 and sys.argv[1] == "error":
        raise ValueError("mine")
    return part.start, bytes(20_000_000)

def take(made):
    print(made[0], flush=True)

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[2])
    in_processes(large, parts_of(10_000, 1), 2, take)
"""


def begun(tmp_path, *arguments):
    """A process in the middle of large messages of its workers."""
    script = tmp_path / "large.py"
    script.write_text(SCRIPT)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    run = subprocess.Popen([sys.executable, str(script), *arguments], **pipes)
    assert [run.stdout.readline() for _ in range(3)] == ["0\n", "1\n", "2\n"]
    return run


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_error_in_the_middle_of_large_messages(tmp_path, method):
    """A process that was cut off in the middle of one must not keep the interpreter from ending."""
    _, err = begun(tmp_path, "error", method).communicate(timeout=PATIENCE)
    assert err.rstrip().count("ValueError: mine") == 2  # here, and where it was raised
    assert "In a process:" in err


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["alone", "group"])
def test_ctrl_c_in_the_middle_of_large_messages(tmp_path, method, send):
    run = begun(tmp_path, "no error", method)
    send(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=PATIENCE)  # which waits for all who hold the pipes: the workers, too
    assert run.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in err


def test_workers_end_with_a_parent_that_is_killed(tmp_path):
    run = begun(tmp_path, "no error", "fork")
    run.kill()
    run.communicate(timeout=PATIENCE)
