"""Loading the polyhedra library leaves floating-point arithmetic as it was."""

import subprocess
import sys
import types

import pytest

from routh.exact import polyhedra


def test_arithmetic_rounds_to_nearest_after_loading():
    pytest.importorskip("ppl")
    polyhedra.load_ppl()
    assert polyhedra._rounds_to_nearest()
    assert float("0.3") == 0.3


def test_a_build_that_changes_the_rounding_is_set_right(monkeypatch):
    restored = []
    build = types.SimpleNamespace(restore_pre_PPL_rounding=lambda: restored.append(True))
    monkeypatch.setitem(sys.modules, "ppl", build)
    monkeypatch.setattr(polyhedra, "_rounds_to_nearest", lambda: False)
    assert polyhedra.load_ppl() is build
    assert restored == [True]


IN_A_THREAD = """
import signal, sys, threading
handler = signal.getsignal(signal.SIGINT)
import routh
problem = routh.systems.impact("rocking-block")
found = []
def work():
    found.append(routh.exact_set(problem).status.name)
    found.append(routh.robust.worst_case(problem, "A").value > 0.0)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert "cysignals" not in sys.modules and signal.getsignal(signal.SIGINT) is handler
found.append(routh.exact_set(problem).status.name)
import cysignals
cysignals.init_cysignals()
found.append(routh.exact_set(problem).status.name)
print(*sorted(map(str, found)))
"""


def test_the_first_use_may_be_in_any_thread():
    pytest.importorskip("ppl")
    told = subprocess.run([sys.executable, "-c", IN_A_THREAD], capture_output=True, text=True)
    assert told.stdout.split() == ["SOLVED"] * 4 + ["True"] * 2, told.stderr
