"""What each method costs: processor time on a planar system, and on the landing of a small robot.

python benchmarks/methods.py            # prints the table of docs/guide/methods.md; compiles first
"""

from collections.abc import Callable

import numpy as np

import routh
from measure import Table, command_line, machine, timed


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
    command_line(__doc__).parse_args()
    print(f"{machine()}, processor time\n")
    names = ("rocking-block", "compass-gait")
    table = Table({"method, ms": "<33", **dict.fromkeys(names, ".3g")})
    columns = [methods(name) for name in names]
    for method in columns[0]:
        for column in columns:
            column[method]()  # compiles
        table.row(method, *(1e3 * timed(column[method], repeats=2)[1] for column in columns))


if __name__ == "__main__":
    main()
