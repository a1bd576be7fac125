"""Work in processes: all of it, in its order, and nothing left behind."""

import multiprocessing
import os
import time

import pytest

from routh.workers import in_processes, parts_of


def squares(part):
    time.sleep(0.02 * (part.start % 2))  # later parts are ready first
    return os.getpid(), [k * k for k in part]


def refuse(part):
    if 5 in part:
        raise ValueError(f"not {part}")
    return part


def sleep_long(part):
    time.sleep(60.0 * part.start)


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


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_it_ends_the_processes(error):
    """The second part would take a minute."""

    def stop(_):
        raise error

    began = time.monotonic()
    with pytest.raises(error):
        in_processes(sleep_long, parts_of(2, 1), 2, stop)
    assert time.monotonic() - began < 30.0
    while multiprocessing.active_children() and time.monotonic() - began < 30.0:
        time.sleep(0.01)  # until the last one is told that it ends
    assert multiprocessing.active_children() == []
