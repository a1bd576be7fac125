"""How long a newcomer waits: processor time of first and second calls, each in a process of its own.

    python benchmarks/first_call.py [family ...]

A fresh folder for compiled kernels stands for a fresh installation. Processor time, since other work on the
machine should not count.
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
    "routh run rocking-block": ["-m", "routh", "run", "rocking-block", "--out", "{folder}/picture.png"],
}
CALL = "import sys; from routh.cli.precompile import FAMILIES; FAMILIES[int(sys.argv[1])].call()"
FIRST_OUTCOME = "import routh; routh.sample(routh.systems.get('rocking-block').problem, 1)"


def processor_seconds(arguments, folder):
    """Processor time of a Python process and its children, s."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, *(argument.format(folder=folder) for argument in arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return float("nan")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name, arguments, folder):
    first, second = processor_seconds(arguments, folder), processor_seconds(arguments, folder)
    print(f"{name:28s} {first:8.2f} {second:8.2f}", flush=True)


def main():
    from routh.cli.precompile import FAMILIES

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("family", nargs="*")
    wanted = parser.parse_args().family
    print(f"{date.today()}  {platform.machine()}  processor time, s")
    print(f"{'':28s} {'first':>8s} {'second':>8s}")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            if not wanted or name in wanted:
                row(name, arguments, folder)
        if not wanted:
            row("first outcome, warm", ["-c", FIRST_OUTCOME], folder)
    for number, family in enumerate(FAMILIES):
        if not wanted or family.name in wanted:
            with tempfile.TemporaryDirectory() as folder:
                row(family.name, ["-c", CALL, str(number)], folder)


if __name__ == "__main__":
    main()
