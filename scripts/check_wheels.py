"""Build wheel and source distribution, install each in an empty environment, and try it there.

python scripts/check_wheels.py                    # every Python 3.11 to 3.14 that is found
python scripts/check_wheels.py --keep dist        # and keep what was built
python scripts/check_wheels.py --only-wheel       # not the source distribution

Interpreters are looked for on the path and among those of pyenv. Needs the package `build` and an index.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
TRIAL = """
import importlib.resources, pathlib, sys
import numpy as np
import routh

assert pathlib.Path(sys.prefix) in pathlib.Path(routh.__file__).parents, routh.__file__
assert importlib.resources.files("routh").joinpath("py.typed").is_file()
outcomes = routh.sample(routh.systems.get("rocking-block").problem, 200, seed=0)
assert np.isfinite(outcomes.v).all() and outcomes.ambiguity > 0.1
print(f"routh {routh.__version__} on Python {sys.version.split()[0]}: ambiguity {outcomes.ambiguity:.2f}")
"""


def say(*words: object) -> None:
    """Print at once."""
    print(*words, flush=True)


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command outside of the repository's sources; stop with its output where it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def interpreters() -> dict[str, Path]:
    """The first interpreter found of each version."""
    found = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in VERSIONS:
        own = sys.executable if sys.version.startswith(f"{version}.") else None
        candidates = [own, shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"))]
        for candidate in filter(None, candidates):
            answer = subprocess.run([str(candidate), "--version"], capture_output=True, text=True)
            if answer.returncode == 0 and answer.stdout.startswith(f"Python {version}."):
                found[version] = Path(candidate)
                break
    return found


def build(folder: Path) -> list[Path]:
    """A wheel made from the source distribution, and that distribution."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    assert len(wheels) == len(sources) == 1, (wheels, sources)
    return [*wheels, *sources]


def try_it(interpreter: Path, distribution: Path) -> None:
    """Install into an empty environment and use the library and the command line."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(interpreter, "-m", "venv", folder / "empty", cwd=folder)
        python = folder / "empty" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", distribution, cwd=folder)
        said = run(python, "-c", TRIAL, cwd=folder)
        table = run(
            folder / "empty" / "bin" / "routh",
            "run",
            "rocking-block",
            "-n",
            "200",
            "--no-picture",
            cwd=folder,
        )
        assert "separates" in table, table
        lander = run(folder / "empty" / "bin" / "routh", "example", "lander", cwd=folder)
        assert Path(lander.strip()).is_file(), lander
        say(f"{distribution.name}: {said.strip()}; routh run and routh example work")


def main() -> None:
    """Build once, try everywhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--keep", type=Path, help="folder for wheel and source distribution")
    parser.add_argument("--only-wheel", action="store_true")
    arguments = parser.parse_args()
    found = interpreters()
    for version in VERSIONS:
        say(f"Python {version}:", found.get(version, "not found"))
    with tempfile.TemporaryDirectory() as name:
        built = build(Path(name))
        for distribution in built[: 1 if arguments.only_wheel else 2]:
            for interpreter in found.values():
                try_it(interpreter, distribution)
        if arguments.keep:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            for distribution in built:
                say(shutil.copy(distribution, arguments.keep))
    if len(found) < len(VERSIONS):
        sys.exit("not every version was found")


if __name__ == "__main__":
    main()
