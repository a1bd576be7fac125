"""Impacts with restitution on many random problems: energy, termination, order of the step, continuity.

python benchmarks/elastic.py [--problems 100000] [--single 1000] [--pairs 2000] [--jobs 2]
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import routh
from problems import hard_elastic_problem
from routh import two_body
from routh.kernels.elastic_host import run
from routh.laws.elastic import accumulate_elastic
from routh.status import Status
from routh.step import make_step

SIZES = (0.2, 0.1, 0.05, 0.025)  # of the momentum scale


def one_impact(seed: int) -> tuple[float, float, int, int, float]:
    """Energy gained beyond the hypothesis, energy gained, status, increments, residual; of one sample."""
    problem = hard_elastic_problem(np.random.default_rng([1, seed]))
    facets = 4 if problem.nt == 2 else None
    step = problem.scaling.impulse
    v, _, steps, status, residual, stored, returned = run(
        problem, 1, hypothesis="energetic", step=step, max_steps=1000, seed=seed, facets=facets
    )
    if status[0] == Status.NUMERICAL:
        solver, rng = make_step(problem, facets=facets), np.random.default_rng(seed)
        again = accumulate_elastic(
            problem, solver, lambda _: step * rng.random(problem.nc), 1000, "energetic"
        )
        v, steps, status = again.v[None], [len(again.path.impulse)], [again.status]
        stored, returned, residual = again.stored[None], again.returned[None], [again.residual]
    before = problem.kinetic_energy()
    gain = problem.kinetic_energy(v[0]) - before
    allowed = float(returned[0].sum() - stored[0].sum())
    excess = max(gain - allowed, float((returned[0] - problem.restitution**2 * stored[0]).max()))
    jammed = (
        status[0] == Status.MAX_STEPS
        and routh.pointedness.pointedness(problem, friction="polyhedral", facets=facets).jammed
    )
    code = int(Status.JAMMED if jammed else status[0])
    return excess / before, gain / before, code, int(steps[0]), float(residual[0])


def single_contact(seed: int) -> list[float]:
    """Errors of one contact against the exact impact, for each size of the step."""
    rng = np.random.default_rng([2, seed])
    A = rng.normal(size=(3, 3))
    W = A @ A.T + 0.1 * np.eye(3)
    contact = rng.normal(size=3)
    contact[2] = -abs(contact[2])
    mu, e = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.0)
    exact = two_body.impact(W, contact, mu, e).contact_velocity
    Jt = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    problem = routh.ImpactProblem(np.linalg.inv(W), [[0.0, 0.0, 1.0]], Jt, mu, contact, restitution=e)
    solver = make_step(problem, friction="cone")
    errors = []
    for size in SIZES:
        bound = size * problem.scaling.impulse
        found = accumulate_elastic(problem, solver, lambda _, b=bound: b, 10_000, "energetic")
        errors.append(float(np.sqrt(2.0 * problem.kinetic_energy(found.v - exact))) / problem.speed)
    return errors


def continuity(seed: int) -> list[float]:
    """Change of the outcome of one history of rates with e + 1e-4, 1e-6, 1e-8, as a share of the speed.

    NaN where the history did not end in 1000 increments, or rounding spoiled it: it has no outcome.
    """
    problem = hard_elastic_problem(np.random.default_rng([3, seed]))
    problem = problem.replace(restitution=np.clip(problem.restitution, 0.05, 0.95))
    facets = 4 if problem.nt == 2 else None
    found = []
    for change in (0.0, 1e-4, 1e-6, 1e-8):
        bouncy = problem.replace(restitution=problem.restitution + change)
        step = problem.scaling.impulse
        v, _, _, status, *_ = run(
            bouncy, 1, hypothesis="energetic", step=step, max_steps=1000, seed=seed, facets=facets
        )
        found.append(v[0] if Status(int(status[0])).ok else np.full(problem.nv, np.nan))
    return [float(np.sqrt(2.0 * problem.kinetic_energy(v - found[0]))) / problem.speed for v in found[1:]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--single", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        errors = np.array(list(pool.map(single_contact, range(options.single), chunksize=8)))
        print(f"one contact against the exact impact, {options.single} problems, error / speed")
        for size, column in zip(SIZES, errors.T, strict=True):
            print(f"  step {size:5g}: median {np.median(column):.2e}, mean {column.mean():.2e}", flush=True)
        print("  mean error halves with the step:", np.round(errors.mean(0)[1:] / errors.mean(0)[:-1], 2))

        changes = np.array(list(pool.map(continuity, range(options.pairs), chunksize=16)))
        print(f"\nchange of the outcome with e, one history of rates, {options.pairs} problems")
        ended = np.isfinite(changes).all(axis=1)
        print(f"  {int((~ended).sum())} histories did not end, or were not solved, and are left out")
        jumping = np.flatnonzero((np.nan_to_num(changes) > 1e-2).any(axis=1))
        print(f"  seeds of those that jump: {jumping.tolist()}")
        changes = changes[ended]
        for size, column in zip((1e-4, 1e-6, 1e-8), changes.T, strict=True):
            jumps = int((column > 1e-2).sum())
            quantiles = ", ".join(f"{np.quantile(column, q):.1e}" for q in (0.5, 0.9, 0.99))
            print(f"  e + {size:g}: median, 90 %, 99 %: {quantiles}; above 0.01: {jumps}", flush=True)

        if options.problems == 0:
            return
        rows = np.array(list(pool.map(one_impact, range(options.problems), chunksize=64)))
    print(f"\n{options.problems} random problems, 2 to 6 contacts, e from 0 to 1, one sample each")
    print(f"  largest gain of kinetic energy / energy before:      {rows[:, 1].max():.1e}")
    print(f"  largest excess over what the hypothesis allows:      {rows[:, 0].max():.1e}")
    for code, count in zip(*np.unique(rows[:, 2], return_counts=True), strict=True):
        print(f"  {Status(int(code)).name:10s} {count}")
    solved = rows[rows[:, 2] <= Status.NO_IMPACT]
    print(f"  increments: mean {solved[:, 3].mean():.1f}, 99 % {np.quantile(solved[:, 3], 0.99):.0f}")
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
