"""Compiled kernels are loaded from disk without all that numba could compile."""

import subprocess
import sys

DRAW = "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1); "


def _run(code, folder):
    command = [sys.executable, "-c", f"import os; os.environ['NUMBA_CACHE_DIR'] = {str(folder)!r}; " + code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_loading_brings_no_scipy_and_other_jitted_code_still_compiles(tmp_path):
    _run(DRAW, tmp_path)  # compiles
    loaded = (
        "import sys; from routh.compiling import compile_seconds; "
        "print(compile_seconds(), 'scipy.linalg' in sys.modules, 'numba.np.arraymath' in sys.modules); "
        "import numba, numpy as np; print(numba.njit(lambda a: np.linalg.solve(a, a).sum())(np.eye(3)))"
    )
    assert _run(DRAW + loaded, tmp_path) == ["0.0", "False", "False", "3.0"]
