"""What each method costs: processor time on a planar system, and on the landing of a small robot.

python benchmarks/methods.py            # prints the table of docs/guide/methods.md; compiles first
python benchmarks/methods.py analysis   # what is made of samples: answer, table, figure, a notebook's view
"""

import argparse
from collections.abc import Callable

import numpy as np

import routh
from measure import Table, command_line, machine, run_part, timed


def of_system(name: str) -> dict[str, Callable[[], object]]:
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


def methods(given: argparse.Namespace) -> None:
    """Print what the methods cost."""
    print(f"{machine()}, processor time\n")
    names = ("rocking-block", "compass-gait")
    table = Table({"method, ms": "<33", **dict.fromkeys(names, ".3g")})
    columns = [of_system(name) for name in names]
    for method in columns[0]:
        for column in columns:
            column[method]()  # compiles
        table.row(method, *(1e3 * timed(column[method], repeats=2)[1] for column in columns))


LOOKS: dict[str, Callable[[routh.Outcomes], object]] = {
    "answer": lambda outcomes: outcomes.answer(),
    "summary": lambda outcomes: outcomes.summary(),
    "plot": lambda outcomes: outcomes.plot(),
    "_repr_html_": lambda outcomes: outcomes._repr_html_(),
}


def analysis(given: argparse.Namespace) -> None:
    """Print what four looks at samples of the compass gait cost: of an impact never seen, and of it again.

    The rows of all are the quickest wholes, not the sums of the quickest parts.
    """
    print(f"{machine()}, processor time of the quickest of {given.repeats}\n")
    rows = []
    for size in (2**14, 2**20):
        pairs = [looks(size, seed) for seed in range(1 + given.repeats)][1:]  # the first loads
        first, again = np.swapaxes(pairs, 0, 1)
        rows.append([*first.min(axis=0), first[:, 1:].sum(axis=1).min(), again[:, 1:].sum(axis=1).min()])
    table = Table({"ms": "<25", "16384 samples": ".3g", "1048576 samples": ".3g"})
    names = ["sample", *LOOKS, "all four", "all four, samples again"]
    for name, *costs in zip(names, *rows, strict=True):
        table.row(name, *(1e3 * cost for cost in costs))


def looks(size: int, seed: int) -> list[list[float]]:
    """Seconds of drawing samples and of each of `LOOKS`: of a new impact, then of other samples of it."""
    problem = routh.systems.get("compass-gait").problem
    found = []
    for stream in (2 * seed, 2 * seed + 1):
        outcomes, drawing = timed(routh.sample, problem, size, seed=stream)
        found.append([drawing, *(timed(look, outcomes)[1] for look in LOOKS.values())])
    return found


def main() -> None:
    """Run the part that is asked for."""
    parser = command_line(__doc__, methods, analysis, default="methods")
    parser.add_argument("--repeats", type=int, default=7)
    run_part(parser)


if __name__ == "__main__":
    main()
