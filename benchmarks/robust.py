"""Worst cases against exact supports, certificates against samples, counterexamples against path checkers.

python benchmarks/robust.py [--problems 200] [--samples 20000] [--spatial 8]
python benchmarks/robust.py --problems 20 --samples 1000000 --minutes 5   # ends early, with what was done

Planar problems of one to four contacts whose exact set is complete within one second; one random direction,
one random convex quadratic and every contact's normal each. Differences are shares of what the objective
could reach if all kinetic energy served it. ``--samples`` are drawn of each planar problem, a quarter
of each in space and with restitution, and none may exceed a certified bound.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import routh
from measure import Table, command_line
from problems import problem_of_size
from routh.base.status import Status
from routh.exact.build import exact_set
from routh.robust import Answer, Quadratic, WorstCase, holds, worst_case
from routh.sampling.path_residual import path_residual
from spatial_path import spatial_path_residual

CHUNK = 2**17
ROUNDING = 1e-9  # share by which a sample may exceed a bound: it ends where nothing approaches faster
BUDGET = 1.0  # s for an exact set
SAMPLES = 2**13  # of filling


@dataclass
class Tally:
    """What was found of problems with as many contacts."""

    problems: int = 0
    exact: float = 0.0  # largest distance of the exact method from the support
    filled: float = 0.0  # largest distance of filling from it
    quadratic: float = 0.0  # largest distance of filling from the exact method
    samples: int = 0
    violated: int = 0
    margin: float = np.inf  # the least by which samples stay below their bounds, a share
    answers: Counter = field(default_factory=Counter)
    residual: float = 0.0  # largest of a counterexample's path


def random_planar(seed: int):
    """A planar problem without restitution and a direction."""
    rng = np.random.default_rng([25, seed])
    nc, nv = 1 + seed % 4, 3 if seed % 8 < 4 else 5
    problem = problem_of_size(rng, nc, 1, rng.choice([0.0, 0.3, 0.5, 1.0], nc), nv=nv)
    root = rng.normal(size=(nv, nv))
    return problem, rng.normal(size=nv), Quadratic(root @ root.T, rng.normal(size=nv))


def reach(problem, direction) -> float:
    """What ``direction . v`` could be if all kinetic energy served it: the unit of differences."""
    return float(np.linalg.norm(np.linalg.solve(problem.cholesky, direction))) * problem.speed


def count_violations(problem, bounds, samples: int, seed: int, tally: Tally) -> None:
    """Compare samples with certified bounds: (objective values of (n, nv), bound, unit)."""
    for start in range(0, samples, CHUNK):
        v = routh.sample(problem, min(CHUNK, samples - start), seed=seed, row=start // CHUNK).v
        tally.samples += len(v)
        for values, bound, unit in bounds:
            room = (bound - values(v)) / unit
            tally.violated += int(np.sum(~(room >= -ROUNDING)))
            tally.margin = min(tally.margin, float(room.min()))


def refute(problem, tally: Tally, **options) -> None:
    """Ask of every contact whether it leaves slower than a little less than the worst case."""
    for name, row in zip(problem.names, problem.Jn, strict=True):
        worst = worst_case(problem, name, **options)
        limit = worst.value - 1e-3 * reach(problem, row)
        answer = holds(problem, {name: limit}, **options)
        tally.answers[answer.answer] += 1
        found = answer.counterexample
        if found is not None:
            tally.residual = max(tally.residual, residual_of(problem, found, limit, row))
        proved = holds(problem, {name: worst.bound + 1e-12 * reach(problem, row)}, **options)
        tally.answers[proved.answer] += 1
        assert proved.answer is Answer.PROVED


def residual_of(problem, found: WorstCase, limit: float, row) -> float:
    """Of a counterexample's path; infinite where it does not break the limit."""
    if not (found.path is not None and float(row @ found.path.v[-1]) > limit):
        return np.inf
    check = path_residual if problem.nt == 1 else spatial_path_residual
    return check(problem, found.path)


def planar(count: int, samples: int, deadline: float) -> dict[str, Tally]:
    """Tallies by the number of contacts; and how many problems were passed over."""
    tallies: dict[str, Tally] = {}
    seed, passed = 0, 0
    while sum(tally.problems for tally in tallies.values()) < count and time.monotonic() < deadline:
        problem, direction, quadratic = random_planar(seed)
        seed += 1
        exact = exact_set(problem, budget=BUDGET)
        if exact.status is not Status.SOLVED:
            passed += 1
            continue
        tally = tallies.setdefault(f"plane, {problem.nc} contacts", Tally())
        tally.problems += 1
        show(tallies)
        unit, support = reach(problem, direction), float(exact.support(direction))
        by_set = worst_case(problem, direction, method="exact", budget=2 * BUDGET)
        filled = worst_case(problem, direction, method="fill", max_samples=SAMPLES)
        tally.exact = max(tally.exact, abs(by_set.value - support) / unit)
        tally.filled = max(tally.filled, abs(filled.value - support) / unit)
        curved = worst_case(problem, quadratic, method="exact", budget=2 * BUDGET)
        other = worst_case(problem, quadratic, method="fill", max_samples=SAMPLES, climbs=0)
        back = np.linalg.inv(problem.cholesky.T)
        size = np.linalg.norm(back.T @ quadratic.P @ back, 2) * problem.speed**2 + reach(problem, quadratic.q)
        tally.quadratic = max(tally.quadratic, abs(other.value - curved.value) / size)
        bounds = [(lambda v, d=direction: v @ d, found.bound, unit) for found in (by_set, filled)]
        bounds += [(quadratic.values, found.bound, size) for found in (curved, other)]
        count_violations(problem, bounds, samples, seed, tally)
        refute(problem, tally, budget=2 * BUDGET, max_samples=SAMPLES)
    print(f"{passed} problems passed over: their exact set was not complete within {BUDGET:g} s")
    return tallies


def elsewhere(count: int, samples: int, deadline: float) -> dict[str, Tally]:
    """In space and with restitution, where there is no exact set: bounds from energy."""
    tallies: dict[str, Tally] = {}
    for seed in range(count):
        if time.monotonic() >= deadline:
            break
        for name, nt, e in (("plane, e = 0.5", 1, 0.5), ("space", 2, 0.0), ("space, e = 0.5", 2, 0.5)):
            rng = np.random.default_rng([26, seed])
            problem = problem_of_size(rng, 1 + seed % 3, nt, 0.5, nv=3 * nt).replace(restitution=e)
            tally = tallies.setdefault(name, Tally(exact=np.nan, filled=np.nan, quadratic=np.nan))
            tally.problems += 1
            direction = rng.normal(size=problem.nv)
            found = worst_case(problem, direction, max_samples=SAMPLES)
            bounds = [(lambda v, d=direction: v @ d, found.bound, reach(problem, direction))]
            count_violations(problem, bounds, samples, seed, tally)
            refute(problem, tally, max_samples=SAMPLES)
    return tallies


def show(tallies: dict[str, Tally]) -> None:
    """How far it is, on a terminal's error line."""
    done = sum(tally.problems for tally in tallies.values())
    print(f"\r{done} problems", end="", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__)
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--spatial", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=np.inf, help="after which no problem is begun")
    given = parser.parse_args()
    deadline = time.monotonic() + 60.0 * given.minutes
    tallies = dict(sorted(planar(given.problems, given.samples, deadline).items()))
    tallies |= elsewhere(given.spatial, max(given.samples // 4, 1), deadline)
    columns = {"": "<17", "problems": "d", "exact": ".1e", "fill": ".1e", "quadratic": ".1e"}
    columns |= dict.fromkeys(("samples", "violated", "proved", "refuted", "unknown"), "d")
    table = Table({**columns, "path": ".1e"})
    for name, t in tallies.items():
        answers = [t.answers[answer] for answer in Answer]
        table.row(
            name, t.problems, t.exact, t.filled, t.quadratic, t.samples, t.violated, *answers, t.residual
        )


if __name__ == "__main__":
    main()
