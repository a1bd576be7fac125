"""Impacts with restitution on an NVIDIA GPU against the same samples on the CPU.

    python benchmarks/elastic_gpu.py [--samples 65536] [--restitution 0.3]

Prints, for each system and hypothesis, the time of `routh.sample` on both (with transfers, compiled before)
and how far the outcomes lie apart in the kinetic-energy norm, as a share of the speed before.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import routh
from routh.status import Status

SYSTEMS = ("rocking-block", "compass-gait", "box-wall", "disk-stack")


def timed(problem: routh.ImpactProblem, n: int, hypothesis: str, device: str) -> tuple[float, routh.Outcomes]:
    """Seconds of the second call, and its outcomes."""
    routh.sample(problem, min(n, 1024), hypothesis=hypothesis, device=device)
    begin = time.perf_counter()
    outcomes = routh.sample(problem, n, hypothesis=hypothesis, device=device)
    return time.perf_counter() - begin, outcomes


def compare(name: str, n: int, e: float, hypothesis: str) -> str:
    """One row of the table."""
    problem = routh.systems.get(name).problem
    problem = problem.replace(restitution=np.full(problem.nc, e))
    cpu, expected = timed(problem, n, hypothesis, "cpu")
    gpu, found = timed(problem, n, hypothesis, "cuda")
    apart = np.linalg.norm((found.v - expected.v) @ problem.cholesky, axis=1) / problem.speed
    unsolved = int((found.status != Status.SOLVED).sum())
    return (
        f"{name:14s} {hypothesis:10s} {1e3 * gpu:9.1f} {1e3 * cpu:9.1f} {(~(apart <= 1e-9)).mean():15.1e} "
        f"{np.quantile(apart, 0.99):9.1e} {apart.max():9.1e} {unsolved:8d} {found.residual.max():9.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=65536)
    parser.add_argument("--restitution", type=float, default=0.3)
    options = parser.parse_args()
    print(f"{options.samples} samples, restitution {options.restitution:g}; times in ms")
    print(
        "system         hypothesis       gpu       cpu  apart by > 1e-9      99 %   largest unsolved residual"
    )
    for name in SYSTEMS:
        for hypothesis in ("energetic", "poisson"):
            print(compare(name, options.samples, options.restitution, hypothesis), flush=True)


if __name__ == "__main__":
    main()
