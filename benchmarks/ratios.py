"""Steady speed beside another version: processor time a sample in the plane, and of one warm `sample`.

    python benchmarks/ratios.py OTHER/src [--rounds 3]

The versions take turns in processes of their own, on one thread; of all rounds the least counts. First calls
are measured by ``benchmarks/first_call.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

SYSTEMS = {"rocking-block": 200_000, "compass-gait": 200_000, "disk-stack": 5_000}
OWN = Path(__file__).parents[1] / "src"


def least(work, repeats):
    """Processor time of the quickest call, s."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def measure():
    """Microseconds by row, as JSON."""
    import routh

    found = {}
    for name, n in SYSTEMS.items():
        problem = routh.systems.get(name).problem
        routh.sample(problem, n, threads=1)
        found[f"{name}, a sample"] = 1e6 / n * least(lambda: routh.sample(problem, n, threads=1), 7)  # noqa: B023
    problem = routh.systems.get("rocking-block").problem
    found["sample(problem, 1)"] = 1e6 / 400 * least(lambda: [routh.sample(problem, 1) for _ in range(400)], 7)
    print(json.dumps(found))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", nargs="?", help="the folder src of the other version")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if given.other is None:
        measure()
        return
    best = {}
    for _ in range(given.rounds):
        for place in (given.other, str(OWN)):
            environment = {**os.environ, "PYTHONPATH": place}
            command = [sys.executable, __file__]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            for row, value in json.loads(done.stdout).items():
                best[place, row] = min(value, best.get((place, row), value))
    print(f"{'us of processor time':28s} {'other':>9s} {'this':>9s} {'ratio':>7s}")
    for place, row in best:
        if place == given.other:
            other, this = best[place, row], best[str(OWN), row]
            print(f"{row:28s} {other:9.3f} {this:9.3f} {this / other:7.2f}")


if __name__ == "__main__":
    main()
