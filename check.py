"""Install everything into .venv and run every check: formatting, types, tests. Needs only Python and pip.

python3 check.py            # all of it
python3 check.py -k lcp     # further arguments go to pytest
"""

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"


def run(*command: str | Path, **variables: str) -> None:
    """Echo a command and run it, with further variables of the environment; stop at the first failure."""
    print("+", *(f"{name}={value}" for name, value in variables.items()), *command, flush=True)
    # one BLAS thread per test process: the parallel test runner uses the cores
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **variables}
    code = subprocess.run([str(part) for part in command], cwd=ROOT, env=environment).returncode
    if code:
        sys.exit(code)


def main() -> None:
    """Make the environment where it is missing, then check."""
    if not (BIN / "python").exists():
        venv.create(VENV, with_pip=True)
    install("-e", ".[dev]")
    # half of an installation is compiling 200 MB of Python: a second core does it while types are checked
    with subprocess.Popen([BIN / "python", "-m", "compileall", "-qq", VENV / "lib"]):
        run(BIN / "ruff", "check", ".")
        run(BIN / "ruff", "format", "--check", ".")
        run(BIN / "mypy")
        run(BIN / "python", "docs/site_types.py")  # from what mypy has just stored
    if sys.argv[1:]:
        test(*sys.argv[1:])
        return
    # every test runs once: those of the core in a copy without any feature, the others here
    for which in ("--core", "--single", "--rest"):
        run(BIN / "python", "scripts/without_features.py", which)
    check_oldest_llvm()


def install(*what: str | Path) -> None:
    """Install with pip, without compiling."""
    pip = BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"
    run(*pip, *what)


def test(*arguments: str, **variables: str) -> None:
    """Run tests on all cores; one that has nothing left to do takes over what another one has not begun."""
    run(BIN / "python", "-m", "pytest", "-n", "auto", "--dist", "worksteal", *arguments, **variables)


def check_oldest_llvm() -> None:
    """The tests of the compiler with the oldest llvmlite that the package allows; the newest is installed."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    (oldest,) = (re.search(r">=([\d.]+)", one)[1] for one in dependencies if one.startswith("llvmlite"))
    place = VENV / f"llvmlite-{oldest}"
    if not place.exists():
        install("--no-deps", "--target", place, f"llvmlite=={oldest}.*")
    test("tests/compiling", PYTHONPATH=str(place))


if __name__ == "__main__":
    main()
