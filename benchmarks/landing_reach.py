"""How far sets reach in 64 directions, beside another version's: shares of draws do not matter to it.

    python benchmarks/landing_reach.py ../old/src --problems rough,points --samples 65536 --seeds 2

Of the problems of `landings.py widths` those whose name contains one of ``--problems``. The farthest of all
samples of all seeds at either end, with rates as drawn and with extreme ones; each version in a process of
its own. "less" and "more": of the 64 widths those that differ most. "chance": twice the root of the mean
square by which widths of this version with other seeds differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import routh

DIRECTIONS, SEED = 64, 45
FIELDS = ("M", "Jn", "Jt", "mu", "v", "restitution")


def reach(problem: routh.ImpactProblem, n: int, seeds: range) -> list[float]:
    """Widths (64,) by the farthest samples, shares of the speed."""
    directions = np.random.default_rng([SEED, 7]).normal(size=(DIRECTIONS, problem.nv))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    low, high = np.full(DIRECTIONS, np.inf), np.full(DIRECTIONS, -np.inf)
    for seed in seeds:
        for rates in ("mixed", "extreme"):
            outcomes = routh.sample(problem, n, seed=seed, rates=rates, threads=1)
            v = outcomes.v[outcomes.status == 0]  # SOLVED
            along = v @ problem.cholesky @ directions.T / problem.scaling.speed
            low, high = np.minimum(low, along.min(axis=0)), np.maximum(high, along.max(axis=0))
    return (high - low).tolist()


def reaches(folder: Path, given, first: int) -> dict[str, list[float]]:
    """Of the problems of a folder, by file name."""
    found = {}
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as stored:
            problem = routh.ImpactProblem(**{name: stored[name] for name in FIELDS})
        found[file.stem] = reach(problem, given.samples, range(first, first + given.seeds))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="the src folder of another version")
    parser.add_argument("--problems", default="rough,5 points")
    parser.add_argument("--samples", type=int, default=65536, help="of a seed and a way to draw rates")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--inside", type=Path, help="a folder of problems; this version prints their widths")
    given = parser.parse_args()
    if given.inside:
        print(json.dumps(reaches(given.inside, given, SEED)))
        return
    from landings import width_problems
    from measure import Table

    with TemporaryDirectory() as folder:
        for name, problem in width_problems().items():
            if any(part in name for part in given.problems.split(",")):
                np.savez(Path(folder) / name, **{field: getattr(problem, field) for field in FIELDS})
        now, other = (np.array(list(reaches(Path(folder), given, seed).values())) for seed in (SEED, 1000))
        command = [sys.executable, __file__, str(given.source), "--inside", folder]
        command += ["--samples", str(given.samples), "--seeds", str(given.seeds)]
        environment = {**os.environ, "PYTHONPATH": str(given.source.resolve())}
        answer = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    before = json.loads(answer.stdout)
    table = Table({"problem": "<20", "mean width": ".4f", "less": ".2%", "more": ".2%", "chance": ".2%"})
    for (name, old), width, again in zip(before.items(), now, other, strict=True):
        off = width / np.array(old) - 1.0
        chance = 2.0 * np.sqrt(np.mean((again / width - 1.0) ** 2))
        table.row(name, np.mean(width), max(-off.min(), 0.0), max(off.max(), 0.0), chance)


if __name__ == "__main__":
    main()
