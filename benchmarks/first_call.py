"""How long a newcomer waits: processor time of first and second calls, each in a process of its own.

    python benchmarks/first_call.py [row ...] [--repeat 3] [--without-bytecode]

A fresh folder for compiled kernels stands for a fresh installation of routh: the first call compiles, the
second loads. Bytecode is there, since pip makes it for what it installs; ``--without-bytecode`` is for
installers that make none. Processor time with that of children, since other work on the machine should not
count; of several second calls the least. Rows are named as printed, for example "routh list" or "plane".
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date

COMMANDS = {
    "routh list": ["-m", "routh", "list"],
    "routh list rocking-block": ["-m", "routh", "list", "rocking-block"],
    "routh run rocking-block": ["-m", "routh", "run", "rocking-block", "--out", "{folder}/picture.png"],
    "the same without a picture": ["-m", "routh", "run", "rocking-block", "--no-picture"],
    "first outcome in Python": [
        "-c",
        "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1)",
    ],
}
FAMILY = "import sys; from routh.cli.precompile import FAMILIES; FAMILIES[sys.argv[1]]()"


def processor_seconds(arguments, folder, bytecode):
    """Processor time of a Python process and its children, s; NaN where it failed."""
    environment = {**os.environ, "ROUTH_CACHE_DIR": folder, "NUMBA_CACHE_DIR": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if not bytecode:
        environment["PYTHONPYCACHEPREFIX"] = folder
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *(argument.format(folder=folder) for argument in arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return float("nan")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name, arguments, repeat, bytecode):
    with tempfile.TemporaryDirectory() as folder:
        first = processor_seconds(arguments, folder, bytecode)
        second = min(processor_seconds(arguments, folder, bytecode) for _ in range(repeat))
    print(f"{name:28s} {first:8.2f} {second:8.2f}", flush=True)


def main():
    from routh.cli.precompile import FAMILIES

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("row", nargs="*")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--without-bytecode", action="store_true")
    given = parser.parse_args()
    rows = dict(COMMANDS)
    rows |= {name: ["-c", FAMILY, name] for name in FAMILIES}
    unknown = set(given.row) - set(rows)
    if unknown:
        parser.error(f"there is no row {min(unknown)!r}; wanted one of {', '.join(rows)}")
    print(f"{date.today()}  {platform.machine()}, {os.cpu_count()} cores  processor time, s")
    print(f"{'':28s} {'first':>8s} {'second':>8s}")
    for name, arguments in rows.items():
        if not given.row or name in given.row:
            row(name, arguments, given.repeat, not given.without_bytecode)


if __name__ == "__main__":
    main()
