"""The oldest and the newest versions of what routh depends on, each set in an empty environment.

python scripts/check_dependencies.py                 # both
python scripts/check_dependencies.py --only oldest   # every dependency at the floor that pyproject.toml names
python scripts/check_dependencies.py -- tests/view   # other tests

The tests are a part of the suite: a file or two for each dependency. Needs an index, and 2 GB while a
set is tried.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRA = "all"  # cuda needs a GPU, jax is tried by hand
TOOLS = ("pytest>=9", "pytest-benchmark", "hypothesis")
TESTS = (
    *("tests/test_problem.py", "tests/test_tables.py", "tests/test_saving.py", "tests/lcp", "tests/step"),
    *("tests/compiling/test_compiling.py", "tests/friction", "tests/laws/test_laws.py", "tests/bounds"),
    *("tests/exact/test_rational.py", "tests/exact/test_loading.py", "tests/models/test_mujoco.py"),
    *("tests/models/test_pinocchio.py", "tests/models/test_packages.py", "tests/viz/test_plotting.py"),
    *("tests/cli/test_groups.py", "tests/cli/test_cli_robots.py", "tests/sweep/test_study.py"),
    *("tests/learn/test_learn_env.py", "tests/view/test_session.py", "tests/view/test_guard.py"),
)


def floors() -> dict[str, str]:
    """The oldest version that is allowed of each dependency, by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]

    def named(requirements: list[str]) -> Iterator[str]:
        for one in requirements:
            own = re.fullmatch(r"routh\[(.*)\]", one)
            if own is None:
                yield one
            else:
                for extra in own[1].split(","):
                    yield from named(extras[extra])

    found = {}
    for requirement in named([*project["dependencies"], f"routh[{EXTRA}]"]):
        name, floor = re.match(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", requirement).groups()
        floor += "" if "." in floor else ".0"
        found[name] = max(found.get(name, floor), floor, key=lambda text: [int(x) for x in text.split(".")])
    return found


def run(*command: str | Path, cwd: Path) -> int:
    """Run a command against the installed package, not the sources; its exit code."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    return subprocess.run([str(part) for part in command], cwd=cwd, env=environment).returncode


def check(kind: str, tests: list[str]) -> bool:
    """Whether the package installs with the oldest or newest versions, and its tests pass there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        known = floors()
        pins = [f"{package}=={version}.*" for package, version in known.items()] if kind == "oldest" else []
        (folder / "pins.txt").write_text("\n".join(pins))
        pip: list[str | Path] = [python, "-m", "pip", "install", "-q", "--only-binary", ":all:"]
        code = run(*pip, "-c", folder / "pins.txt", f"{ROOT}[{EXTRA}]", *TOOLS, cwd=folder)
        if code:
            print(f"{kind}: cannot be installed", flush=True)
            return False
        look = "import sys; from importlib.metadata import version as v; "
        look += "print(*(f'{name} {v(name)}' for name in sys.argv[1:]), sep=', ')"
        print(f"{kind}, Python {sys.version.split()[0]}:", flush=True)
        run(python, "-c", look, *known, cwd=folder)
        code = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, cwd=ROOT)
        print(f"{kind}: {'passed' if code == 0 else 'FAILED'}", flush=True)
        return code == 0


def main() -> None:
    """Try the sets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", choices=("oldest", "newest"))
    parser.add_argument("tests", nargs="*", default=TESTS)
    wanted = parser.parse_args()
    kinds = [wanted.only] if wanted.only else ["oldest", "newest"]
    passed = [check(kind, list(wanted.tests)) for kind in kinds]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
