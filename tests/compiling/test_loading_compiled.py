"""Compiled kernels are loaded from disk without anything that only compiling needs."""

import os
import subprocess
import sys

DRAW = "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1); "
LOADED = (
    "import sys; from routh.compiling import compile_seconds; "
    "print(compile_seconds(), 'scipy.linalg' in sys.modules, 'numba' in sys.modules)"
)


def _run(code, folder):
    environment = {**os.environ, "ROUTH_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_loading_compiles_nothing_and_brings_no_scipy(tmp_path):
    _run(DRAW, tmp_path)  # compiles
    assert _run(DRAW + LOADED, tmp_path) == ["0.0", "False", "False"]
