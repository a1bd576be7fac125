"""Laws with one answer on many random problems: energy, cones, approach after, order of contacts, the set.

python benchmarks/laws.py [--problems 10000] [--orders 1000] [--sets 100] [--law lzb] [--seconds 300]

Half of the problems are planar, half have the true cone in space: 1 to 4 contacts, every third with a
repeated contact, friction 0 to 10 and restitution 0 to 1, one for all contacts in every other problem. Many
have fewer velocities than contacts, and jam. Of the first ones the contacts are also put in another order,
and of some the answer is compared with 512 outcomes of the energetic set. A law that takes longer than
--seconds gets fewer problems; the table says how many.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np

import routh
from measure import Table, command_line, counted
from problems import apart, colliding, random_problem
from routh import laws
from routh.status import Status

NAMES = ("moreau", "moreau-convex", "poisson", "energetic", "chatterjee-ruina", "lzb", "sequential")
OPTIONS = {"lzb": {"resolution": 10, "max_steps": 1000}, "sequential": {"max_impacts": 1000}}
SAME = 1e-6  # share of the speed before within which answers agree
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


def measured(name: str, most_problems: int, orders: int, sets: int, seconds: float) -> list:
    """The cells of a law's row."""
    law = laws.LAWS[name](**OPTIONS.get(name, {}))
    statuses: Counter[str] = Counter()
    most = np.full(3, -np.inf)
    gained = reordered = compared = outside = judged = 0
    begun, clock, count = time.process_time(), time.monotonic(), 0
    for seed in range(most_problems):
        if time.monotonic() - clock > seconds:
            break
        count += 1
        problem = problem_of(seed)
        result = law(problem)
        statuses[result.status.name] += 1
        gained += result.status is Status.ENERGY_GAINED
        if result.status not in (Status.SOLVED, Status.ENERGY_GAINED):
            continue
        faults = np.array(worst(problem, result))
        if result.status is Status.ENERGY_GAINED:
            faults[0] = -np.inf  # it says so: counted on its own
        most = np.maximum(most, faults)
        if seed < orders and problem.nc > 1:
            turned = law(problem.subset(list(reversed(range(problem.nc)))))
            if turned.status in (Status.SOLVED, Status.ENERGY_GAINED):
                compared += 1
                reordered += int(apart(problem, turned.v, result.v) > SAME)
        if seed < sets:
            drawn = routh.sample(problem, 512, seed=0, threads=1)
            if drawn.solved.all():
                judged += 1
                outside += int(apart(problem, drawn.v, result.v).min() > NEAR)
    each = 1e3 * (time.process_time() - begun) / max(count, 1)
    answered = statuses.pop("SOLVED", 0) + statuses.pop("ENERGY_GAINED", 0)
    shares = [f"{reordered} of {compared}", f"{outside} of {judged}", counted(statuses) or "none"]
    return [name, count, answered / count, gained / count, *np.maximum(most, 0.0), *shares, each]


def main() -> None:
    """Print the table."""
    parser = command_line(__doc__)
    parser.add_argument("--problems", type=int, default=10_000)
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=np.inf, help="for each law")
    parser.add_argument("--law", action="append", choices=NAMES)
    args = parser.parse_args()
    columns = {"law": "<16", "problems": "d", "answers": ".1%", "says it gained energy": ".1%"}
    columns |= dict.fromkeys(("energy gained otherwise", "approach after", "outside the cones"), ".0e")
    columns |= dict.fromkeys(("order changes it", "outside the set", "no answer"), "<")
    table = Table({**columns, "ms each": ".0f"})
    for name in args.law or NAMES:
        table.row(*measured(name, args.problems, args.orders, args.sets, args.seconds))


if __name__ == "__main__":
    main()
