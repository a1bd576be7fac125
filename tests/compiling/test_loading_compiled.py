"""Compiled kernels are loaded from disk without anything that only compiling needs."""

import os
import subprocess
import sys

import pytest

CALLS = {
    "a sample": "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1); ",
    "a motion": (
        "import routh; block = routh.systems.get('rocking-block'); "
        "routh.simulate(block.model, block.state, duration=0.3); "
    ),
}
LOADED = (
    "import sys; from routh.compiling import compile_seconds; "
    "print(compile_seconds(), 'scipy' in sys.modules, 'numba' in sys.modules)"
)


def _run(code, folder):
    environment = {**os.environ, "ROUTH_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_loading_compiles_nothing_and_brings_no_scipy(call, tmp_path):
    _run(call, tmp_path)  # compiles
    assert _run(call + LOADED, tmp_path) == ["0.0", "False", "False"]
