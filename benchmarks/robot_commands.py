"""How long `routh impact ROBOT --drop 1.0` takes, whole, in a fresh process with compiled kernels at hand.

    python benchmarks/robot_commands.py [--only anymal]

The first of the runs may compile; the best of the others is printed. Processor time is that of all threads:
on a quiet machine the clock is ahead of it, on a busy one behind.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date

from robot_zoo import mjcf_path, urdf_path

ROBOTS = {
    "walker2d": lambda: mjcf_path("gymnasium/walker2d"),
    "anymal": lambda: urdf_path("anymal"),
    "solo12": lambda: urdf_path("solo12"),
}


def timed(arguments: list[str]) -> tuple[float, float]:
    """Processor time and clock of one command, s."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, check=True, capture_output=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=ROBOTS, default=None)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{date.today()}  {platform.machine()}, {cores} cores, load {load:.1f}")
    print(f"{'routh impact ROBOT --drop 1.0':32} {'processor s':>12} {'clock s':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name in [given.only] if given.only else ROBOTS:
            file = str(ROBOTS[name]())
            command = [sys.executable, "-m", "routh", "impact", file, "--drop", "1.0"]
            runs = [timed([*command, "--out", f"{folder}/picture.png"]) for _ in range(1 + given.runs)]
            processor, clock = (min(column) for column in zip(*runs[1:], strict=True))
            print(f"{name:32} {processor:12.1f} {clock:9.1f}", flush=True)


if __name__ == "__main__":
    main()
