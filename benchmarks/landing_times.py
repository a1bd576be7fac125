"""What a sample of a tilted crate costs, against another version's box that falls flat, in one run.

    python benchmarks/landing_times.py ../old/src     version 0.1, or any that has `routh.sample`

Each version draws the same problems in processes of its own, in turns: a box that falls flat ("box"), ANYmal
on four feet, 60 crates tilted up to 0.02 rad, with the true cone and, where the version is this one, with 8
facets. Microseconds of processor time a sample on one thread, the best of three; of the crates the median and
90 %.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import routh

TURNS, SAMPLES, OF_CRATES, SEED = 2, 1000, 50, 45
FIELDS = ("M", "Jn", "Jt", "mu", "v")


def us(problem: routh.ImpactProblem, n: int, **options) -> float:
    """Microseconds a sample."""
    routh.sample(problem, 8, threads=1, seed=SEED, **options)
    best = np.inf
    for _ in range(3):
        begin = time.process_time()
        routh.sample(problem, n, threads=1, seed=SEED, **options)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / n


def times(folder: Path, facets: bool) -> dict[str, float]:
    """Of the problems of a folder."""
    found, crates, faceted = {}, [], []
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as stored:
            problem = routh.ImpactProblem(**{name: stored[name] for name in FIELDS})
        if not file.stem.startswith("crate"):
            found[file.stem] = us(problem, SAMPLES)
            continue
        crates.append(us(problem, OF_CRATES))
        if facets:
            faceted.append(us(problem, OF_CRATES, friction="polyhedral", facets=8))
    for name, each in (("crate", crates), ("crate, 8 facets", faceted)):
        if each:
            found[name], found[f"{name}, 90 %"] = float(np.median(each)), float(np.quantile(each, 0.9))
    return found


def main() -> None:
    if sys.argv[1] == "--in":
        print(json.dumps(times(Path(sys.argv[2]), "--facets" in sys.argv)))
        return
    from landing_families import FAMILIES
    from robots import quadruped

    problems = {"box": routh.systems.impact("box-drop"), "ANYmal": quadruped()}
    problems |= {f"crate{k:02d}": crate for k, crate in enumerate(FAMILIES["crate to 0.02 rad"]())}
    best: dict[str, dict[str, float]] = {"now": {}, "before": {}}
    with TemporaryDirectory() as folder:
        for name, problem in problems.items():
            np.savez(Path(folder) / name, **{field: getattr(problem, field) for field in FIELDS})
        sources = {"before": sys.argv[1], "now": str(Path(__file__).parents[1] / "src")}
        for _ in range(TURNS):
            for which, source in sources.items():
                command = [sys.executable, __file__, "--in", folder, *(["--facets"] * (which == "now"))]
                environment = {**os.environ, "PYTHONPATH": str(Path(source).resolve())}
                answer = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                for name, value in json.loads(answer.stdout).items():
                    best[which][name] = min(value, best[which].get(name, np.inf))
    for name, now in best["now"].items():
        before = best["before"].get(name, np.nan)
        box = now / best["before"]["box"]
        print(
            f"{name:16s} {now:7.1f} us, before {before:7.1f}, ratio {now / before:.2f}, to its box {box:.2f}"
        )


if __name__ == "__main__":
    main()
