"""The sampling kernels against the enumerator: random steps of the hard families of steps.py.

    python benchmarks/steps_kernels.py --count 40

Each step is solved for several lambda_max; what the kernel leaves unsolved ("left") is drawn again by the
reference, as `routh.sample` does. The enumerator tries every basis of HP23 (75), so only problems with at
most 15 unknowns are taken: two or three planar contacts, two spatial ones with four friction directions.
"none" counts steps for which it finds nothing (its systems are too badly conditioned).
"missed" counts velocities that are not among its solutions. Where a step has one velocity, "apart" counts
those that are not it; where it has several, "other" counts those that are not the canonical one, Lemke's by
the reference. Distances are kinetic, in units of the speed before; "worst" is the largest where unique.
"""

import math

import numpy as np

from measure import Table, command_line
from problems import apart, hard_families, hard_problem
from routh.base import tolerances
from routh.base.status import Status
from routh.kernels.algorithm1.sampling import run
from routh.problem.friction import facet_directions
from routh.sampling.algorithm1 import BySteps, draw_again
from routh.step import PolyhedralStep

FAMILIES = dict(hard_families())
MOST_UNKNOWNS = 15
SPATIAL_FACETS = 4
ENDED = (Status.SOLVED, Status.MAX_STEPS)
COLUMNS = ("steps", "several", "none", "left", "unsolved", "missed", "apart", "other", "worst")


def small_problems(arguments, count, seed):
    """The first ``count`` problems of a family that the enumerator can take."""
    rng = np.random.default_rng(seed)
    k = SPATIAL_FACETS if arguments["spatial"] else 2
    found = []
    while len(found) < count:
        problem = hard_problem(rng, **arguments)
        approaching = (problem.Jn @ problem.v < 0.0).any()
        if approaching and (3 + k) * problem.nc <= MOST_UNKNOWNS:
            found.append(problem)
    return found, rng


def kernel_velocities(problem, numbers, size, facets):
    """Velocities after one step with ``lambda_max = size * numbers`` (m, nc), whether solved; those left."""
    directions = facet_directions(problem.nt, facets)
    settings = {"max_steps": 1, "seed": 0, "points": numbers, "directions": directions, "threads": 1}
    samples = run(problem, len(numbers), step=size, **settings)
    left = np.sum(~np.isin(samples.status, ENDED))
    draw_again(
        problem,
        samples,
        lambda i, _: size * numbers[i],
        BySteps(max_steps=1, friction="polyhedral", facets=facets),
        math.inf,
    )
    return samples.v, np.isin(samples.status, ENDED), left


def compare(arguments, count, seed, bounds=4):
    """One row of the table, see COLUMNS: ``count`` problems with ``bounds`` different lambda_max each."""
    problems, rng = small_problems(arguments, count, seed)
    several = none = left = unsolved = missed = differ = other = 0
    worst = 0.0
    for problem in problems:
        facets = SPATIAL_FACETS if arguments["spatial"] else None
        step = PolyhedralStep(problem, facets=facets)
        size = problem.scaling.impulse * 10.0 ** rng.uniform(-1.0, 1.0)
        numbers = rng.random((bounds, problem.nc))
        solutions = [step.solutions(problem.v, size * row) for row in numbers]
        references = [step.solve(problem.v, size * row) for row in numbers]
        unique = [
            all(apart(problem, one.v, found[0].v) < tolerances.SAME_VELOCITY for one in found)
            for found in solutions
        ]
        none += sum(not found for found in solutions)
        several += bounds - sum(unique)
        after, ended, own_left = kernel_velocities(problem, numbers, size, facets)
        left += own_left
        for i, (v, solved) in enumerate(zip(after, ended, strict=True)):
            unsolved += not solved
            if found := solutions[i]:
                missed += not min(apart(problem, v, one.v) for one in found) < tolerances.SAME_VELOCITY
            far = apart(problem, v, references[i].v)
            if unique[i]:
                differ += not far < tolerances.SAME_VELOCITY
                worst = max(worst, far)
            else:
                other += not far < tolerances.SAME_VELOCITY
    return bounds * count, several, none, left, unsolved, missed, differ, other, worst


def main():
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=40, help="problems a family")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    table = Table({"family": "<16", **dict.fromkeys(COLUMNS, "d"), "worst": ".1e"})
    for name, arguments in FAMILIES.items():
        table.row(name, *compare(arguments, options.count, options.seed))


if __name__ == "__main__":
    main()
