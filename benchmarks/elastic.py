"""Impacts with restitution on many random problems: energy, termination, continuity.

python benchmarks/elastic.py [--friction cone] [--problems 100000] [--pairs 2000] [--jobs 2]

Friction in space is that of polygons with four corners, or the true cone.

One contact against its exact impact: `python benchmarks/events_space.py one`.
"""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import routh
from measure import command_line, counted, in_processes, status_names
from problems import apart, hard_elastic_problem
from routh.base.status import Status

CHANGES = (1e-4, 1e-6, 1e-8)  # of the restitution


def drawn(problem: routh.ImpactProblem, seed: int, friction: str) -> routh.Outcomes:
    """One sample."""
    facets = 4 if problem.nt == 2 and friction == "polyhedral" else None
    return routh.sample(problem, 1, seed=seed, threads=1, friction=friction, facets=facets)


def one_impact(seed: int, friction: str) -> tuple[float, float, int, int]:
    """Energy gained beyond the hypothesis, energy gained, status and pieces; of one sample."""
    problem = hard_elastic_problem(np.random.default_rng([1, seed]))
    found = drawn(problem, seed, friction)
    before = problem.kinetic_energy()
    gain = float(found.kinetic_energy[0]) - before
    stored, returned = (0.0, 0.0) if found.stored is None else (found.stored[0], found.returned[0])
    excess = max(gain - np.sum(returned - stored), np.max(returned - problem.restitution**2 * stored))
    return excess / before, gain / before, int(found.status[0]), int(found.steps[0])


def continuity(seed: int, friction: str) -> list[float]:
    """Change of one sample with the restitution, as a share of the speed; NaN where one has not ended."""
    problem = hard_elastic_problem(np.random.default_rng([3, seed]))
    problem = problem.replace(restitution=np.clip(problem.restitution, 0.05, 0.95))
    found = []
    for change in (0.0, *CHANGES):
        bouncy = problem.replace(restitution=problem.restitution + change)
        sample = drawn(bouncy, seed, friction)
        found.append(sample.v[0] if Status(int(sample.status[0])).ok else np.full(problem.nv, np.nan))
    return [float(apart(problem, v, found[0])) for v in found[1:]]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--friction", default="polyhedral", choices=("polyhedral", "cone"))
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = time.perf_counter()
    change, impact = (partial(one, friction=options.friction) for one in (continuity, one_impact))
    changes = np.array(list(in_processes(change, range(options.pairs), options.jobs, together=16)))
    rows = np.array(list(in_processes(impact, range(options.problems), options.jobs, together=64)))
    ended = np.isfinite(changes).all(axis=1)
    print(f"change of one sample with e, {options.pairs} problems; {int((~ended).sum())} did not end")
    for size, column in zip(CHANGES, changes[ended].T, strict=True):
        quantiles = ", ".join(f"{np.quantile(column, q) / size:.2g}" for q in (0.5, 0.9, 0.99))
        jumps = int((column > 1e-2).sum())
        print(f"  e + {size:g}: median, 90 %, 99 %, times it: {quantiles}; above 0.01: {jumps}")
    print(f"\n{options.problems} random problems, 2 to 6 contacts, e from 0 to 1, one sample each")
    known = rows[rows[:, 2] <= Status.NO_IMPACT]
    print("of those that ended:")
    print(f"  largest gain of kinetic energy / energy before:      {known[:, 1].max():.1e}")
    wrong = int((known[:, 0] > 1e-6).sum())
    print(
        f"  largest excess over what the hypothesis allows:      {known[:, 0].max():.1e}; above 1e-6: {wrong}"
    )
    print(f"  pieces: mean {known[:, 3].mean():.1f}, 99 % {np.quantile(known[:, 3], 0.99):.0f}")
    print(f"  {counted(status_names(rows[:, 2]))}")
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
