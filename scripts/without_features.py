"""Is every feature a folder that can be deleted?

python scripts/without_features.py --core      # the tests of the core in a copy without any feature
python scripts/without_features.py --single    # without each one: import, list of commands, run, tip
python scripts/without_features.py --rest      # here: tests of features, and of what speaks of the whole
python scripts/without_features.py --each      # the tests of the core without each one; hours

A copy of the files that git knows is made in a temporary folder; with a feature go its tests, pages,
benchmarks and examples, which its ``feature.toml`` names. Further arguments go to pytest.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Tests of what speaks of the whole: pages, examples, benchmarks and the README.
WHOLE = ("tests/benchmarks", "tests/test_docs_*", "tests/test_examples.py", "tests/test_notebooks.py",
         "tests/test_readme.py")  # fmt: skip


def features() -> dict[str, dict[str, list[str]]]:
    """What belongs to each feature, by its name."""
    files = sorted((ROOT / "src/routh").glob("*/feature.toml"))
    return {file.parent.name: tomllib.loads(file.read_text())["belongs"] for file in files}


def copy_without(names: list[str], place: Path) -> None:
    """The files that git knows in ``place``, without these features."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    for name in names:
        shutil.rmtree(place / "src/routh" / name)
        for path in [place / part for parts in features()[name].values() for part in parts]:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def run(place: Path, *command: str) -> int:
    """Run Python in the copy, which stands before an installed routh; the exit code."""
    paths = os.pathsep.join(str(place / part) for part in ("src", "benchmarks", "docs"))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    return subprocess.run([sys.executable, *command], cwd=place, env=environment).returncode


def test(place: Path, *arguments: str) -> int:
    """Run tests on all cores."""
    return run(place, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *arguments)


def rest() -> list[str]:
    """The test files that are not the core's, and the plan of the house, which is of both."""
    own = [path for parts in features().values() for path in parts["tests"]]
    whole = [str(path.relative_to(ROOT)) for pattern in WHOLE for path in sorted(ROOT.glob(pattern))]
    return [*own, *whole, "tests/test_architecture.py"]


def works(place: Path, name: str) -> bool:
    """Whether what a user does first works without a feature, and its name says what is missing."""
    asked = f"""
import routh
try:
    routh.{name}
except AttributeError as error:
    assert {name!r} in str(error) and "is without the feature" in str(error), error
else:
    raise SystemExit("routh.{name} is still there")
"""
    calls = [
        ("-c", asked),
        ("-m", "routh", "--help"),
        ("-m", "routh", "run", "rocking-block", "--no-picture", "--quiet"),
        ("-m", "routh", "tip", "examples/lander.xml", "--down", "0.5", "--no-picture", "--quiet"),
    ]
    return all(run(place, *call) == 0 for call in calls)


def main() -> int:
    """Make the copies and run what is asked for; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for which in ("core", "single", "rest", "each"):
        parser.add_argument(f"--{which}", action="store_true")
    options, arguments = parser.parse_known_args()
    if options.rest:
        return test(ROOT, *rest(), *arguments)
    failed = []
    cases = [list(features())] if options.core else [[name] for name in features()]
    for names in cases:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            copy_without(names, place)
            ignored = [f"--ignore-glob={place / pattern}" for pattern in WHOLE]
            ok = works(place, names[0]) if options.single else test(place, *ignored, *arguments) == 0
            print(f"without {', '.join(names)}: {'works' if ok else 'FAILED'}", flush=True)
            failed += [] if ok else [names]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
