"""Versions that do not work with each other are named, and nobody's modules are changed."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from routh import compiling


def test_a_numpy_without_the_names_that_numba_cuda_looks_up_is_refused(monkeypatch):
    gpu = SimpleNamespace(is_available=lambda: True)
    monkeypatch.setattr(compiling, "optional", lambda *names: gpu)
    monkeypatch.setattr(compiling, "_has_numba_cuda", lambda: True)
    monkeypatch.setattr(compiling, "is_simulated", lambda: False)
    monkeypatch.setattr(compiling, "version", {"numba-cuda": "0.30.4"}.__getitem__)
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    assert compiling.find_cuda() is gpu
    monkeypatch.delattr(np, "row_stack")
    known = set(dir(np))
    with pytest.raises(compiling.NoGPUError, match=r"numba-cuda 0\.30\.4 .* NumPy \d+\.\d+.*below 2\.5"):
        compiling.find_cuda()
    assert set(dir(np)) == known


LOOKING = """
import numpy
before = set(vars(numpy))
import routh
from routh.compiling import find_cuda
try:
    find_cuda()
except Exception:
    pass
print(sorted(set(vars(numpy)) & {"row_stack", "in1d", "trapz"} - before))
"""


def test_to_look_for_a_gpu_writes_nothing_into_numpy():
    told = subprocess.run([sys.executable, "-c", LOOKING], capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stderr
