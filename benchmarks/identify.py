"""Parameters from simulated impacts whose parameters are known: how often the intervals contain the truth.

    python benchmarks/identify.py [--trials 200] [--jobs 3]

Measured tosses are in `cube_tosses.py` and `elbow_tosses.py`.
"""

from __future__ import annotations

import argparse

import numpy as np

import routh
from measure import Table, command_line, in_processes, share_interval
from routh.identification import Identified, MeasuredImpacts, identify

TRUE = {"mu": 0.3, "restitution": 0.4, "inertia": 0.15, "half_width": 0.4}
RANGES = {"mu": (0.05, 0.8), "restitution": (0.05, 0.95), "inertia": (0.05, 0.4), "half_width": (0.2, 0.6)}
DEVIATION = 0.03  # m/s and rad/s, of the simulated measurements


class Block:
    """Impacts of a block of 1 kg in the plane: a third on one corner, the others on two together."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.v = np.column_stack([rng.normal(0, 1, n), -rng.uniform(0.5, 1.5, n), rng.normal(0, 1, n)])
        self.shift = rng.uniform(-0.1, 0.1, n)  # of the corners against the centre of mass
        self.present = np.ones((n, 2), dtype=bool)
        self.present[: n // 3, 1] = False

    def __call__(self, values: dict) -> routh.ImpactBatch:
        """The problems for some values of the parameters."""
        n = len(self.v)
        Jn, Jt = np.zeros((n, 2, 3)), np.zeros((n, 2, 1, 3))
        Jn[:, :, 1], Jt[..., 0], Jt[..., 2] = 1.0, 1.0, 0.5
        Jn[:, :, 2] = self.shift[:, None] + values["half_width"] * np.array([-1.0, 1.0])
        M = np.diag([1.0, 1.0, values["inertia"]])
        e = values["restitution"]
        return routh.ImpactBatch(M, Jn, Jt, values["mu"], self.v, present=self.present, restitution=e)


def one_trial(task: tuple[int, int, int]) -> Identified:
    """Outcomes drawn from the true sets, with errors of measurement, and fitted without knowing them."""
    trial, impacts, samples = task
    rng = np.random.default_rng([trial, 7])
    block = Block(rng, impacts)
    drawn = routh.sample(block(TRUE), 1, seed=1000 + trial, threads=1).v[:, 0]
    after = drawn + DEVIATION * rng.normal(size=drawn.shape)
    return identify(MeasuredImpacts(block, after), RANGES, n=samples, noise=DEVIATION, threads=1)


def simulated(options: argparse.Namespace) -> None:
    """How often the intervals contain the truth; the table is printed every so often, the last is whole."""
    jobs = [(k, options.impacts, options.samples) for k in range(options.trials)]
    found: list[Identified] = []
    for trial in in_processes(one_trial, jobs, options.jobs):
        found.append(trial)
        if len(found) % 20 == 0 or len(found) == options.trials:
            print(f"\n{options.impacts} impacts a trial, {options.samples} samples of each outcome")
            print_coverage(found)


def print_coverage(found: list[Identified]) -> None:
    """Estimates against the truth."""
    print(f"{len(found)} trials, {sum(f.converged for f in found)} converged")
    numbers = {"truth": "g", **dict.fromkeys(("mean estimate", "standard deviation", "mean width"), ".4f")}
    table = Table({"parameter": "<12", **numbers, "inside": "d", "share [95 %]": "<"})
    inside = np.array(
        [[e.interval[0] <= TRUE[n] <= e.interval[1] for n, e in f.estimates.items()] for f in found]
    )
    for k, name in enumerate(TRUE):
        values = np.array([f.values[name] for f in found])
        width = np.mean([np.ptp(f.estimates[name].interval) for f in found])
        hits = int(inside[:, k].sum())
        table.row(name, TRUE[name], values.mean(), values.std(), width, hits, _share(hits, len(found)))
    print(f"all together: {_share(int(inside.sum()), inside.size)}, as if independent", flush=True)


def _share(hits: int, count: int) -> str:
    low, high = share_interval(hits, count)
    return f"{hits / count:.3f} [{low:.3f}, {high:.3f}]"


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--impacts", type=int, default=24)
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    simulated(parser.parse_args())


if __name__ == "__main__":
    main()
