"""Install everything into .venv and run every check: formatting, types, tests. Needs only Python and pip.

python3 check.py            # all of it
python3 check.py -k lcp     # further arguments go to pytest
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"


def run(*command: str | Path) -> None:
    """Echo a command and run it; stop at the first failure."""
    print("+", *command, flush=True)
    # one BLAS thread per test process: the parallel test runner uses the cores
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    code = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment).returncode
    if code:
        sys.exit(code)


def main() -> None:
    """Make the environment where it is missing, then check."""
    if not (BIN / "python").exists():
        venv.create(VENV, with_pip=True)
    run(BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", ".[dev]")
    run(BIN / "ruff", "check", ".")
    run(BIN / "ruff", "format", "--check", ".")
    run(BIN / "mypy")
    run(BIN / "python", "-m", "pytest", "-n", "auto", *sys.argv[1:])


if __name__ == "__main__":
    main()
