"""What each method costs: processor time on a planar system, and on the landing of a small robot.

python benchmarks/methods.py            # prints the table of docs/guide/methods.md; compiles first
"""

import argparse
import os
import platform
import time
from collections.abc import Callable
from datetime import date

import numpy as np

import routh


def seconds(work: Callable[[], object], *, repeats: int = 2) -> float:
    """Best processor time of some calls, after one that compiles."""
    work()
    best = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return float(best)


def methods(name: str) -> dict[str, Callable[[], object]]:
    """Every method on one of the systems that come with routh."""
    problem = routh.systems.get(name).problem
    outcomes = routh.sample(problem, 4096)
    after = outcomes.v.mean(axis=0)
    return {
        "sample, 4096 outcomes": lambda: routh.sample(problem, 4096),
        "fill": lambda: routh.fill(problem),
        "exact_set": lambda: routh.exact_set(problem),
        "outer_bound, level 0": lambda: routh.outer_bound(problem).support(problem.Jn[0]),
        "outer_bound, level 2": lambda: routh.outer_bound(problem, level=2).support(problem.Jn[0]),
        "scan, 100 points of 256 outcomes": lambda: routh.scan(
            lambda mu: routh.systems.get(name, mu=mu).problem, {"mu": np.linspace(0.1, 1.0, 100)}
        ),
        "audit, against 4096 outcomes": lambda: routh.audit(problem, after, outcomes=outcomes),
    }


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    print(f"{date.today()}, {platform.machine()}, load {os.getloadavg()[0]:.1f}, process time\n")
    names = ("rocking-block", "compass-gait")
    print("| method |", " | ".join(names), "|")
    print("|---|" + "---|" * len(names))
    columns = [methods(name) for name in names]
    for method in columns[0]:
        times = " | ".join(f"{1e3 * seconds(column[method]):.3g} ms" for column in columns)
        print(f"| {method} | {times} |", flush=True)


if __name__ == "__main__":
    main()
