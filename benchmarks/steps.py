"""Every step solved, with proof: random impact steps of hard families.

    python benchmarks/steps.py --count 100000   # the full run, hours on one core
    python benchmarks/steps.py --count 1000     # a look

Each row is a family of random problems with 2 to 6 contacts, mass ratios to 1e6 and, in every other, a
duplicated contact. "unsolved" and "worst" are the solver's own claims; "false" counts steps claimed as solved
whose independent residual (recomputed from impulse and velocity alone) is above ten times the tolerance.
"missed" counts disagreements of `pointedness` with a linear program on jamming, on every twentieth problem.
"""

import time

import numpy as np
from scipy.optimize import linprog

import routh
from measure import Table, command_line
from problems import cone_generators, hard_families, hard_problem
from routh.kernels.algorithm1.lemke import pivots
from routh.problem.pointedness import pointedness
from routh.step import PolyhedralStep
from routh.step.base import residual_tolerance
from routh.step.cone import ConeStep


def hull_distance(problem):
    """How far the least leaning of the cone's unit generators leans along any direction in a box."""
    g = cone_generators(problem)
    g = np.linalg.solve(problem.cholesky, g.T)
    g = (g / np.linalg.norm(g, axis=0)).T
    cost = np.append(np.zeros(problem.nv), -1.0)
    rows = np.hstack([-g, np.ones((len(g), 1))])
    box = [(-1.0, 1.0)] * problem.nv + [(None, None)]
    return max(-linprog(cost, rows, np.zeros(len(g)), bounds=box).fun, 0.0)


def run_family(arguments, count, seed, friction, pivoting):
    """Solve one random step of each of ``count`` problems."""
    rng = np.random.default_rng(seed)
    unsolved = false = retried = jam_missed = jammed = 0
    worst = worst_independent = 0.0
    start = time.process_time()
    for k in range(count):
        problem = hard_problem(rng, **arguments)
        lambda_max = problem.scaling.impulse * rng.random(problem.nc) * 10.0 ** rng.uniform(-1.0, 1.0)
        if friction == "cone":
            step = ConeStep(problem)
        else:
            step = PolyhedralStep(problem, pivoting=pivoting)
        result = step.solve(problem.v, lambda_max)
        solved = result.status is routh.Status.SOLVED
        independent = step.residual(problem.v, lambda_max, result.impulse)
        unsolved += not solved
        retried += result.method != "lemke"
        false += solved and not independent < 10.0 * residual_tolerance(problem.mu)
        if solved:
            worst, worst_independent = max(worst, result.residual), max(worst_independent, independent)
        if k < count // 20:  # a linear program each: a share is enough
            distance, verdict = hull_distance(problem), pointedness(problem, friction="polyhedral").jammed
            jammed += verdict
            jam_missed += not verdict if distance < 1e-10 else verdict and distance > 1e-6
    each = 1e3 * (time.process_time() - start) / count
    return unsolved, false, retried, worst, worst_independent, jammed, jam_missed, each


def main():
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=1000, help="problems a family")
    parser.add_argument(
        "--cone", type=int, default=None, help="problems a family with the true cone (default: count / 10)"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="families whose name contains this")
    options = parser.parse_args()
    counts = dict.fromkeys(("unsolved", "false", "retried"), "d") | {"worst": ".1e", "independent": ".1e"}
    table = Table({"family": "<29", **counts, "jammed": "d", "missed": "d", "ms each": ".2f"})
    total = bad = 0
    for friction in ("polyhedral", "cone"):
        for name, arguments in hard_families():
            label = f"{name}, {friction}"
            if options.only not in label or (friction == "cone" and not arguments["spatial"]):
                continue
            count = options.count
            if friction == "cone":
                count = options.count // 10 if options.cone is None else options.cone
            if not count:
                continue
            row = run_family(arguments, count, options.seed, friction, pivots)
            table.row(label, *row)
            total, bad = total + count, bad + row[0] + row[1] + row[6]
    print(f"{total} steps, {bad} unsolved, falsely solved or with a missed jam")


if __name__ == "__main__":
    main()
