"""Laws with one answer on many random problems: energy, cones, approach after, order of contacts, the set.

python benchmarks/laws.py [--problems 10000] [--orders 1000] [--sets 100] [--law lzb] [--seconds 300]
                          [--keep FOLDER]

Half of the problems are planar, half have the true cone in space: 1 to 4 contacts, every third with a
repeated contact, friction 0 to 10 and restitution 0 to 1, one for all contacts in every other problem. Many
have fewer velocities than contacts, and jam. Of the first ones the contacts are also put in another order,
and of some the answer is compared with 512 outcomes of the energetic set. A law that takes longer than
--seconds gets fewer problems; the table says how many. With --keep the counts of each law are kept in a file
of this folder, and the same command goes on where the last one ended.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

import routh
from measure import Table, command_line, counted
from problems import apart, colliding, random_problem
from routh import laws
from routh.base import storage
from routh.base.status import Status

NAMES = ("moreau", "moreau-convex", "poisson", "energetic", "chatterjee-ruina", "lzb", "sequential")
OPTIONS = {"lzb": {"resolution": 10, "max_steps": 1000}, "sequential": {"max_impacts": 1000}}
SAME = 1e-6  # share of the speed before within which answers agree
ANSWERS = (Status.SOLVED, Status.ENERGY_GAINED)
NEAR = 0.05  # share of the speed before beyond which an answer is outside of the sampled set


def problem_of(seed: int) -> routh.ImpactProblem:
    """Planar for even seeds, spatial for odd ones."""
    rng = np.random.default_rng([49, seed])
    problem = colliding(random_problem(rng, nt=1 + seed % 2))
    equal = rng.random() < 0.5
    return problem.replace(
        restitution=np.round(rng.random(1 if equal else problem.nc), 2) * np.ones(problem.nc)
    )


def worst(problem: routh.ImpactProblem, result: routh.ImpactResult) -> tuple[float, float, float]:
    """Energy gained, approach left and how far impulses are outside of their cones: shares."""
    gained = result.kinetic_energy / float(problem.kinetic_energy()) - 1.0
    approach = float(np.max(-(problem.Jn @ result.v) / problem.scaling.velocity))
    normal, tangential = result.impulse[:, 0], np.linalg.norm(result.impulse[:, 1:], axis=1)
    over = np.maximum(tangential - problem.mu * normal, -normal) / np.maximum(problem.mu, 1.0)
    return gained, approach, float(np.max(over / problem.scaling.impulse))


@dataclass
class Tally:
    """What was counted of one law so far."""

    statuses: dict[str, int] = field(default_factory=dict)
    problems: int = 0
    worst: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # as `worst` has them
    compared: int = 0  # with the contacts in another order
    reordered: int = 0  # of them, those with another answer
    judged: int = 0  # against the sampled set
    outside: int = 0
    seconds: float = 0.0  # of processor time

    def count(self, law: laws.ImpactLaw, seed: int, orders: int, sets: int) -> None:
        """Ask a law one problem."""
        problem = problem_of(seed)
        self.problems += 1
        result = law(problem)
        self.statuses[result.status.name] = self.statuses.get(result.status.name, 0) + 1
        if result.status not in ANSWERS:
            return
        faults = np.array(worst(problem, result))
        if result.status is Status.ENERGY_GAINED:
            faults[0] = 0.0  # it says so: counted on its own
        self.worst = np.maximum(self.worst, faults).tolist()
        if seed < orders and problem.nc > 1:
            turned = law(problem.subset(list(reversed(range(problem.nc)))))
            if turned.status in ANSWERS:
                self.compared += 1
                self.reordered += int(apart(problem, turned.v, result.v) > SAME)
        if seed < sets:
            drawn = routh.sample(problem, 512, seed=0, threads=1)
            if drawn.solved.all():
                self.judged += 1
                self.outside += int(apart(problem, drawn.v, result.v).min() > NEAR)

    def cells(self) -> list:
        """Those of the law's row, without its name."""
        statuses, count = Counter(self.statuses), max(self.problems, 1)
        gained = statuses.pop("ENERGY_GAINED", 0)
        answered = statuses.pop("SOLVED", 0) + gained
        shares = [f"{self.reordered} of {self.compared}", f"{self.outside} of {self.judged}"]
        said = [answered / count, gained / count, *self.worst, *shares, counted(statuses) or "none"]
        return [self.problems, *said, 1e3 * self.seconds / count]


def measured(name: str, kept: Path | None, problems: int, orders: int, sets: int, seconds: float) -> Tally:
    """The tally of a law, which goes on from the one that was kept."""
    law = laws.LAWS[name](**OPTIONS.get(name, {}))
    tally = Tally(**json.loads(kept.read_text())) if kept is not None and kept.exists() else Tally()
    before, clock, begun = tally.seconds, time.monotonic(), time.process_time()
    while tally.problems < problems and time.monotonic() - clock < seconds:
        tally.count(law, tally.problems, orders, sets)
        tally.seconds = before + time.process_time() - begun
    if kept is not None:
        storage.write_text(kept, json.dumps(asdict(tally)))
    return tally


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=np.inf, help="for each law")
    parser.add_argument("--law", action="append", choices=NAMES)
    parser.add_argument("--keep", type=Path, help="folder of counts to go on from")
    args = parser.parse_args()
    columns = {"law": "<16", "problems": "d", "answers": ".1%", "says it gained energy": ".1%"}
    columns |= dict.fromkeys(("energy gained otherwise", "approach after", "outside the cones"), ".0e")
    columns |= dict.fromkeys(("order changes it", "outside the set", "no answer"), "<")
    table = Table({**columns, "ms each": ".0f"})
    for name in args.law or NAMES:
        kept = None if args.keep is None else args.keep / f"{name}.json"
        tally = measured(name, kept, args.problems, args.orders, args.sets, args.seconds)
        table.row(name, *tally.cells())


if __name__ == "__main__":
    main()
