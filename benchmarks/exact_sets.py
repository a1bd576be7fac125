"""Exact sets: the papers' systems, and how often random problems are solved to the end.

python benchmarks/exact_sets.py systems              # pieces, times, gap, checker
python benchmarks/exact_sets.py bodies --count 1000  # planar single bodies with 2 to 4 contacts
python benchmarks/exact_sets.py general --count 300  # random M and J, nv = 2 nc
python benchmarks/exact_sets.py general --contacts 5 --count 30 --limit 10
python benchmarks/exact_sets.py filling              # the sampler that fills the set, beside uniform sampling
python benchmarks/exact_sets.py bounds               # certified outer bounds against the exact widths
python benchmarks/exact_sets.py membership           # velocities judged a second, inside and on the border
python benchmarks/exact_sets.py biped                # the bound of its incomplete set, by contact
python benchmarks/exact_sets.py stack                # five contacts with friction, from both sides

Times are CPU times of one thread, so a busy machine does not change them much; a problem counts as complete
where both sets were completed within ``--limit`` CPU seconds.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import routh
from measure import Table, command_line, counted, run_part, timed
from problems import PAPERS, planar_biped, planar_body, random_matrices, with_simple_delassus
from routh.exact.checker import check_member, verify_invariance
from routh.exact.rational import RationalProblem
from routh.exact.result import ExactSet
from routh.exact.snap import snap
from routh.problem.pointedness import pointedness
from routh.sampling.fill import watch_directions
from routh.systems import get

_STEP = 0.02  # of the momentum that each contact's effective mass carries: the small step of the samples
_NOTICED = 1e-5  # share of the speed: samples farther out than this are drawn again at a quarter of the step
Draw = Callable[[np.random.Generator, int], RationalProblem | None]  # None: try again


def bodies(given: argparse.Namespace) -> None:
    """Planar bodies, friction up to 1, pointed cone, something approaches."""

    def draw(rng: np.random.Generator, nc: int) -> RationalProblem | None:
        problem = planar_body(rng, nc, collide=False)
        if problem.contact_velocity()[:, 0].min() < -0.1 and not pointedness(problem).jammed:
            return snap(problem, tolerance=1e-3).rational
        return None

    family(draw, given)


def general(given: argparse.Namespace) -> None:
    """Random M and J with nv = 2 nc, friction up to 1, something approaches."""

    def draw(rng: np.random.Generator, nc: int) -> RationalProblem | None:
        problem = random_matrices(rng, nc, collide=False)
        return with_simple_delassus(problem) if problem.contact_velocity()[:, 0].min() < -0.1 else None

    family(draw, given)


@dataclass
class Tally:
    """What came of one number of contacts: one entry per problem, counts over all."""

    complete: list[bool] = field(default_factory=list)
    spent: list[float] = field(default_factory=list)  # CPU s
    gaps: list[float] = field(default_factory=list)  # of the complete
    excess: list[float] = field(default_factory=list)  # of samples beyond the outer set, over speed
    halved: list[tuple[float, float]] = field(
        default_factory=list
    )  # excess at the step and at a quarter of it
    nested: int = 0
    samples: int = 0
    unended: int = 0
    kinds: Counter[str] = field(default_factory=Counter)  # what the checker said of vertices

    def __str__(self) -> str:
        gaps, spent = np.array(self.gaps or [0.0]), np.array(self.spent)
        wide, narrow = np.array(self.halved or [(0.0, 0.0)]).T
        return (
            f"complete {sum(self.complete)} of {len(spent)}, inner within outer {self.nested}; "
            f"CPU median {1e3 * np.median(spent):.1f} ms, 95 % {1e3 * np.quantile(spent, 0.95):.0f} ms; "
            f"gap median {np.median(gaps):.1e}, 95 % {np.quantile(gaps, 0.95):.1e}, "
            f"largest {gaps.max():.1e}; "
            f"{self.samples} samples ({self.unended} did not end), beyond the outer set by at most "
            f"{max(self.excess, default=0.0):.1e}; where by more than {_NOTICED:g} ({len(self.halved)}): "
            f"{wide.mean():.1e} on average, {narrow.mean():.1e} at a quarter of the step; "
            f"vertices: {counted(self.kinds)}"
        )


def family(draw: Draw, given: argparse.Namespace) -> None:
    """Random problems: both sets, samples of small step against the outer one, every vertex checked."""
    rng = np.random.default_rng(given.seed)
    tallies = {nc: Tally() for nc in given.contacts}
    for k in range(given.count):
        nc = given.contacts[k % len(given.contacts)]
        while (rational := draw(rng, nc)) is None:
            pass
        examine(rational, tallies[nc], given, k)
        if (k + 1) % 50 == 0 or k + 1 == given.count:
            print(f"--- {k + 1} problems")
            for nc, tally in tallies.items():
                print(f"{nc} contacts: {tally}", flush=True)


def examine(rational: RationalProblem, tally: Tally, given: argparse.Namespace, seed: int) -> None:
    exact, spent = timed(routh.exact_set, rational, budget=1.4 * given.limit)
    tally.spent.append(spent)
    tally.complete.append(exact.status.ok and spent <= given.limit)
    vertices = exact.vertices()
    inside = exact.contains(np.array(vertices, dtype=float), tolerance=1e-9) if vertices else True
    tally.nested += int(np.all(inside))
    if exact.status.ok:
        tally.gaps.append(exact.gap)
    if given.samples:
        compare_samples(exact, tally, -(-given.samples // given.count), seed)
    for vertex in vertices if given.check else ():
        tally.kinds[check_member(rational, vertex, exact.statuses_to(vertex)).kind] += 1


def compare_samples(exact: ExactSet, tally: Tally, count: int, seed: int) -> None:
    """Samples of HP23's Algorithm 1; where they leave the outer set, also at a quarter of the step."""
    worst = []
    for share in (_STEP, _STEP / 4):
        outcomes = routh.sampling.sample_by_steps(
            exact.problem,
            count,
            step=share * exact.problem.scaling.impulse,
            max_steps=20_000,
            seed=seed,
            friction="polyhedral",
            facets=exact.facets,
        )
        ended = outcomes.v[outcomes.terminated]
        worst.append(float(np.max(exact.outer.violation(ended), initial=0.0)))
        if share == _STEP:
            tally.samples += count
            tally.unended += count - len(ended)
            tally.excess.append(worst[0])
            if worst[0] <= _NOTICED:
                return
    tally.halved.append((worst[0], worst[1]))


def systems(given: argparse.Namespace) -> None:
    """The papers' systems."""
    columns = {
        "system": "<16",
        "CPU ms": ".1f",
        "status": "<",
        "pieces (dimension, vertices)": "<",
        "gap": ".1e",
    }
    table = Table({**columns, "vertices proved": "<", "outer invariant": "<"})
    for name in PAPERS:
        rational = get(name).rational
        exact, seconds = timed(routh.exact_set, rational, repeats=20)
        shapes = ", ".join(f"({p.dimension}, {len(p.vertices)})" for p in exact.inner)
        kinds = Counter(check_member(rational, v, exact.statuses_to(v)).kind for v in exact.vertices())
        outer = [piece.vertices for piece in exact.outer]
        invariant = bool(verify_invariance(rational, exact.thresholds, exact.region, outer))
        table.row(name, 1e3 * seconds, exact.status.name, shapes, exact.gap, counted(kinds), invariant)


def filling(given: argparse.Namespace) -> None:
    """Share of the exact width that is missed in 32 directions, by `fill` and by the paper's sampling."""
    columns = {
        "system": "<16",
        "fill misses": ".2%",
        "samples": "d",
        "CPU s": ".1f",
        "stopped": "<",
        "outside": ".1e",
    }
    table = Table({**columns, "uniform, 2^12 samples, misses": ".2%", "outside by": ".1e"})
    for name in PAPERS:
        system = get(name)
        exact = routh.exact_set(system.rational)
        filled, spent = timed(routh.fill, exact.problem)
        ours = routh.coverage(filled.outcomes, exact)
        paper = {"step": system.paper.step, "max_steps": system.paper.max_steps}
        theirs = routh.coverage(routh.sampling.sample_by_steps(system.problem, 2**12, **paper), exact)
        cells = len(filled.outcomes), spent, filled.stopped, ours.outside
        table.row(name, ours.worst, *cells, theirs.worst, theirs.outside)


def stack(given: argparse.Namespace) -> None:
    """The disc stack from both sides: samples that are outcomes, bounds that are certified, and the gap.

    Inner supports are the best found so far, by this row or those before.
    """
    problem = get("disk-stack").rational.problem
    rows = watch_directions(problem, given.directions)
    half = len(rows) // 2
    inner = np.full(len(rows), -np.inf)
    columns = {
        "samples": "d",
        "climbs": "d",
        "level": "d",
        "outer / inner width, largest": ".2f",
        "mean": ".2f",
    }
    columns |= {"largest gap over the speed": ".2f", "CPU s inside": ".0f", "outside": ".0f"}
    table = Table({**columns, "inner within outer": ""})
    for samples, climbs, level in ((512, 0, 0), (2048, 0, 1), (512, 250, 2), (512, 1000, 2), (512, 4000, 2)):
        options = {
            "max_samples": samples,
            "directions": given.directions,
            "patience": 10**6,
            "climbs": climbs,
        }
        filled, inside = timed(routh.fill, problem, **options)
        ended = filled.outcomes.v[filled.outcomes.terminated]
        inner = np.maximum(inner, np.max(ended @ rows.T, axis=0))
        outer, outside = timed(lambda level=level: routh.outer_bound(problem, level=level).support(rows))
        ratio = (outer[:half] + outer[half:]) / (inner[:half] + inner[half:])
        gap = np.max(outer - inner) / problem.speed
        cells = ratio.max(), ratio.mean(), gap, inside, outside, bool(np.all(inner <= outer))
        table.row(samples, climbs, level, *cells)


def bounds(given: argparse.Namespace) -> None:
    """Width of the certified bounds over the exact width, in 8 directions."""
    levels = {
        f"level {level}{what}": form for level in (0, 1, 2) for what, form in (("", ".2f"), (", s", ".1f"))
    }
    table = Table({"largest outer width / exact width": "<16", **levels})
    for name in PAPERS:
        exact = routh.exact_set(get(name).rational)
        rows = watch_directions(exact.problem, 8)
        half = len(rows) // 2
        top = exact.support(rows)
        width = top[:half] + top[half:]
        wide = width > 1e-6 * width.max()
        cells = []
        for level in (0, 1, 2):
            outer, spent = timed(
                lambda p=exact.problem, level=level, r=rows: routh.outer_bound(p, level=level).support(r)
            )
            cells += [((outer[:half] + outer[half:])[wide] / width[wide]).max(), spent]
            assert np.all(outer >= top - 1e-9 * exact.problem.speed)
        table.row(name, *cells)


def biped(given: argparse.Namespace) -> None:
    """A biped's largest contact velocities: the outer set of `exact_set` beside the farthest samples.

    Beside each contact's own velocities, sums of them in random directions, in opposite pairs.
    """
    problem = planar_biped()
    exact = routh.exact_set(problem, budget=given.budget)
    columns = {"contact": "<11", "velocity": "<9", "inner set, m/s": ".4f", "found": ".4f", "bound": ".4f"}
    table = Table({**columns, "ratio": ".2f"})
    rows = [
        (name, what, row)
        for name, (normal, slip) in zip(problem.names, problem.J, strict=True)
        for what, row in (("normal", normal), ("slip", slip), ("- slip", -slip))
    ]
    rows += [("all", "random", row) for row in watch_directions(problem, given.directions)]
    watched = np.array([row for _, _, row in rows])
    outcomes = routh.fill(problem, directions=watched, max_samples=2**16, patience=64).outcomes
    for name, what, row in rows:
        found = float((outcomes.v[outcomes.solved] @ row).max())
        inner, bound = (float(exact.support(row, which=which)) for which in ("inner", "outer"))
        table.row(name, what, inner, found, bound, bound / found if found > 1e-3 else float("nan"))
    print(f"{exact.status.name} in {exact.seconds:.1f} s; outer set by {exact.outer_from}")


def membership(given: argparse.Namespace) -> None:
    """How many velocities a second `ExactSet.contains` judges: samples, and all on the boundary itself."""
    columns = {"system": "<16", "pieces": "d", "million samples a second, tol 1e-9": ".2f"}
    table = Table({**columns, "thousand vertices, tol 0": ".2f", "samples inside": ".0%", "vertices": ".0%"})
    for name in PAPERS:
        exact = routh.exact_set(get(name).rational)
        samples = routh.sample(exact.problem, 20_000, seed=1).v
        corners = np.tile(np.array(exact.vertices(which="outer"), dtype=float), (50, 1))
        found, seconds = timed(exact.contains, samples, tolerance=1e-9, repeats=5)
        held, longer = timed(exact.contains, corners, tolerance=0.0, repeats=5)
        rates = 1e-6 * len(samples) / seconds, 1e-3 * len(corners) / longer
        table.row(name, len(exact.outer), *rates, np.mean(found), np.mean(held))


def main() -> None:
    parser = command_line(__doc__, systems, bodies, general, filling, bounds, membership, biped, stack)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument(
        "--contacts", type=int, nargs="+", default=[2, 3, 4], help="of random problems, in turn"
    )
    parser.add_argument("--limit", type=float, default=5.0, help="CPU seconds for each problem")
    parser.add_argument("--budget", type=float, default=1.0, help="CPU seconds for the biped's set")
    parser.add_argument("--samples", type=int, default=10**5, help="samples of small step, over all problems")
    parser.add_argument("--check", action=argparse.BooleanOptionalAction, default=True, help="every vertex")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--directions", type=int, default=8, help="of the disc stack and the biped, in opposite pairs"
    )
    run_part(parser)


if __name__ == "__main__":
    main()
