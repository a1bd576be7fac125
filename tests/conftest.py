"""Settings shared by all tests."""

import itertools
import signal
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from routh.base import storage
from routh.cli import exits

# One fixed sequence of examples, no deadlines: the machines that run these are noisy.
settings.register_profile(
    "routh", derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("routh")

# A shell's background jobs, and their children, ignore Ctrl-C: the tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# NaN must be refused or counted before it meets arithmetic: which operations warn depends on the machine.
NAN_TESTS = ("nan", "not_finite", "finite", "no_number", "numbers_that")


@pytest.fixture(autouse=True)
def _nan_meets_no_arithmetic(request):
    """Tests that are about NaN, by their names and parameters, run with every signal of NumPy raised."""
    if not any(word in request.node.name.lower() for word in NAN_TESTS):
        yield
        return
    with np.errstate(all="raise"):
        yield


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    """Once a test has loaded pyplot it holds every figure made after that, and warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def ticking(monkeypatch):
    """A clock that goes on by 0.05 s whenever it is asked: budgets end as early on every machine.

    What is drawn in slices gets one of 64 samples for some three ticks.
    """
    ticks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: 0.05 * next(ticks))


@pytest.fixture
def routh_command(monkeypatch, capsys, tmp_path):
    """Run ``routh`` in this process as the entry point does, in a folder of its own: code, stdout, stderr."""
    from routh.cli import run_command as main

    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["routh", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return call


@pytest.fixture
def nothing_told(monkeypatch):
    """What a command says that it has kept begins empty, and remembers five files."""
    monkeypatch.setattr(exits, "_tellers", [])
    monkeypatch.setattr(storage, "REMEMBERED", 5)
    monkeypatch.setattr(storage, "_written", type(storage._written)(maxlen=5))
