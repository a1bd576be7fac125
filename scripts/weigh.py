"""What an installation weighs, in MB: some sets of extras, and their heaviest packages.

python scripts/weigh.py                       # base, [viz], [viz,mujoco]
python scripts/weigh.py viz,mujoco,pinocchio  # these extras

Each in an environment of its own. Sums the files that pip lists for each package, without the bytecode that
Python writes later, and without pip itself. Needs an index.
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
USUAL = ("", "viz", "viz,mujoco")
SIZES = """
import importlib.metadata as m
for one in m.distributions():
    files = [one.locate_file(file) for file in one.files or () if file.suffix != ".pyc"]
    print(one.name, sum(file.stat().st_size for file in files if file.is_file()))
"""


def weigh(extras: str) -> dict[str, float]:
    """MB of each package that an installation with these extras has."""
    with tempfile.TemporaryDirectory() as name:
        venv.create(name, with_pip=True)
        python = Path(name) / "bin" / "python"
        what = f"{ROOT}[{extras}]" if extras else str(ROOT)
        quiet = "--quiet", "--disable-pip-version-check", "--no-compile"
        subprocess.run([python, "-m", "pip", "install", *quiet, what], check=True)
        said = subprocess.run([python, "-c", SIZES], capture_output=True, text=True, check=True).stdout
    sizes = {line.split()[0]: int(line.split()[1]) / 1e6 for line in said.splitlines()}
    return {name: size for name, size in sizes.items() if name != "pip"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("extras", nargs="*", default=USUAL, help="comma-separated")
    version = ".".join(map(str, sys.version_info[:2]))
    print(f"| Python {version} | MB | most of it |\n|---|---|---|")
    for extras in parser.parse_args().extras:
        sizes = weigh(extras)
        heavy = sorted(sizes, key=lambda name: -sizes[name])[:6]
        told = ", ".join(f"{name} {sizes[name]:.0f}" for name in heavy)
        print(
            f"| {f'[{extras}]' if extras else 'base'} | {sum(sizes.values()):.0f} | {told} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
