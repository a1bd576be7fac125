"""Exact sets: the papers' systems, and how often random problems are solved to the end.

python benchmarks/exact_sets.py systems              # pieces, times, gap, checker
python benchmarks/exact_sets.py bodies --count 1000  # planar single bodies with 2 to 4 contacts
python benchmarks/exact_sets.py general --count 300  # random M and J, nv = 2 nc
python benchmarks/exact_sets.py general --contacts 5 --count 30 --limit 10
python benchmarks/exact_sets.py filling              # the sampler that fills the set, beside uniform sampling
python benchmarks/exact_sets.py bounds               # certified outer bounds against the exact widths
python benchmarks/exact_sets.py membership           # velocities judged a second, inside and on the border
python benchmarks/exact_sets.py stack                # five contacts with friction, from both sides

Times are CPU times of one thread, so a busy machine does not change them much; a problem counts as complete
where both sets were completed within ``--limit`` CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import routh
from problems import with_simple_delassus
from routh import systems
from routh.exact.checker import check_member
from routh.exact.checker_outer import verify_invariance
from routh.exact.rational import RationalProblem
from routh.exact.result import ExactSet
from routh.exact.snapping import snap
from routh.pointedness import pointedness
from routh.problem import ImpactProblem
from routh.sampling.filling import watch_directions

SYSTEMS = [
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
    "rimless-wheel",
    "pushing",
    "block-into-wall",
]
_STEP = 0.02  # of the momentum that each contact's effective mass carries: the small step of the samples
_NOTICED = 1e-5  # share of the speed: samples farther out than this are drawn again at a quarter of the step
Draw = Callable[[np.random.Generator, int], ImpactProblem]


def body(rng: np.random.Generator, nc: int) -> ImpactProblem:
    """One planar body: contacts anywhere, friction up to 1, pointed cone, something approaches."""
    while True:
        points, angles = rng.uniform(-1, 1, (nc, 2)), rng.uniform(0, 2 * np.pi, nc)
        normals = np.c_[np.cos(angles), np.sin(angles)]
        tangents = np.c_[normals[:, 1], -normals[:, 0]]
        arms = [points[:, :1] * d[:, 1:] - points[:, 1:] * d[:, :1] for d in (normals, tangents)]
        M = np.diag([1.0, 1.0, rng.uniform(0.05, 1.0)])
        problem = ImpactProblem(
            M,
            np.c_[normals, arms[0]],
            np.c_[tangents, arms[1]],
            rng.uniform(0, 1, nc),
            rng.normal(size=3),
        )
        if problem.contact_velocity()[:, 0].min() < -0.1 and not pointedness(problem).jammed:
            return problem


def general(rng: np.random.Generator, nc: int) -> ImpactProblem:
    """Random M and J with nv = 2 nc, friction up to 1, something approaches."""
    nv = 2 * nc
    while True:
        A, J = rng.normal(size=(nv, nv)), rng.normal(size=(2 * nc, nv))
        M = A @ A.T / nv + 0.2 * np.eye(nv)
        problem = ImpactProblem(M, J[:nc], J[nc:], rng.uniform(0, 1, nc), rng.normal(size=nv))
        if problem.contact_velocity()[:, 0].min() < -0.1:
            return problem


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
        vertices = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kinds.items()))
        return (
            f"complete {sum(self.complete)} of {len(spent)}, inner within outer {self.nested}; "
            f"CPU median {1e3 * np.median(spent):.1f} ms, 95 % {1e3 * np.quantile(spent, 0.95):.0f} ms; "
            f"gap median {np.median(gaps):.1e}, 95 % {np.quantile(gaps, 0.95):.1e}, "
            f"largest {gaps.max():.1e}; "
            f"{self.samples} samples ({self.unended} did not end), beyond the outer set by at most "
            f"{max(self.excess, default=0.0):.1e}; where by more than {_NOTICED:g} ({len(self.halved)}): "
            f"{wide.mean():.1e} on average, {narrow.mean():.1e} at a quarter of the step; "
            f"vertices: {vertices}"
        )


def family(draw: Draw, options: argparse.Namespace) -> None:
    """Random problems: both sets, samples of small step against the outer one, every vertex checked."""
    rng = np.random.default_rng(options.seed)
    tallies = {nc: Tally() for nc in options.contacts}
    for k in range(options.count):
        nc = options.contacts[k % len(options.contacts)]
        problem = draw(rng, nc)
        rational = snap(problem, tolerance=1e-3).rational if draw is body else with_simple_delassus(problem)
        examine(rational, tallies[nc], options, k)
        if (k + 1) % 50 == 0 or k + 1 == options.count:
            print(f"--- {k + 1} problems")
            for nc, tally in tallies.items():
                print(f"{nc} contacts: {tally}", flush=True)


def examine(rational: RationalProblem, tally: Tally, options: argparse.Namespace, seed: int) -> None:
    started = time.process_time()
    exact = routh.exact_set(rational, budget=1.4 * options.limit)
    tally.spent.append(time.process_time() - started)
    tally.complete.append(exact.status.ok and tally.spent[-1] <= options.limit)
    vertices = exact.vertices()
    inside = exact.contains(np.array(vertices, dtype=float), tol=1e-9) if vertices else True
    tally.nested += int(np.all(inside))
    if exact.status.ok:
        tally.gaps.append(exact.gap)
    if options.samples:
        compare_samples(exact, tally, -(-options.samples // options.count), seed)
    for vertex in vertices if options.check else ():
        tally.kinds[check_member(rational, vertex, exact.statuses_to(vertex)).kind] += 1


def compare_samples(exact: ExactSet, tally: Tally, count: int, seed: int) -> None:
    """Samples of HP23's Algorithm 1; where they leave the outer set, also at a quarter of the step."""
    worst = []
    for share in (_STEP, _STEP / 4):
        outcomes = routh.sample(
            exact.problem,
            count,
            step=share * exact.problem.scaling.impulse,
            max_steps=20_000,
            seed=seed,
            friction="polyhedral",
            facets=exact.facets,
            method="algorithm1",
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


def named_systems() -> None:
    print("system, CPU ms, status, pieces (dimension, vertices), gap, vertices proved")
    for name in SYSTEMS:
        rational = systems.get(name).rational
        times = []
        for _ in range(20):
            started = time.process_time()
            exact = routh.exact_set(rational)
            times.append(time.process_time() - started)
        shapes = ", ".join(f"({p.dimension}, {len(p.vertices)})" for p in exact.inner)
        kinds = [check_member(rational, v, exact.statuses_to(v)).kind for v in exact.vertices()]
        outer = [piece.vertices for piece in exact.outer]
        invariant = bool(verify_invariance(rational, exact.thresholds, exact.region, outer))
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
        print(
            f"{name:17} {1e3 * min(times):7.1f} {exact.status.name:10} {shapes:34} {exact.gap:8.1e}  "
            f"{counts}; outer invariant: {invariant}",
            flush=True,
        )


def filling() -> None:
    """Share of the exact width that is missed in 32 directions, by `fill` and by the paper's sampling."""
    print("system: fill (samples, CPU s, stopped) | uniform at the paper's settings, up to 2^12 samples")
    for name in SYSTEMS:
        system = systems.get(name)
        exact = routh.exact_set(system.rational)
        started = time.process_time()
        filling = routh.fill(exact.problem)
        spent = time.process_time() - started
        ours = routh.coverage(filling.outcomes, exact)
        step = system.paper.step
        uniform = routh.sample(
            system.problem, 2**12, step=step, max_steps=system.paper.max_steps, method="algorithm1"
        )
        theirs = routh.coverage(uniform, exact)
        print(
            f"{name:16} {100 * ours.worst:6.2f} % ({len(filling.outcomes)}, {spent:.1f}, {filling.stopped}), "
            f"outside {ours.outside:.1e} | {100 * theirs.worst:6.2f} %, outside {theirs.outside:.1e}",
            flush=True,
        )


def stack(directions: int) -> None:
    """The disc stack from both sides: samples that are outcomes, bounds that are certified, and the gap.

    Inner supports are the best found so far, by this row or those before.
    """
    problem = systems.get("disk-stack").rational.problem
    rows = watch_directions(problem, directions)
    half = len(rows) // 2
    inner = np.full(len(rows), -np.inf)
    print("samples, climbs, level: largest and mean (outer width / inner width); largest gap over the speed")
    for samples, climbs, level in ((512, 0, 0), (2048, 0, 1), (512, 250, 2), (512, 1000, 2), (512, 4000, 2)):
        started = time.process_time()
        filling = routh.fill(
            problem, max_samples=samples, directions=directions, patience=10**6, climbs=climbs
        )
        sampled = time.process_time()
        ended = filling.outcomes.v[filling.outcomes.terminated]
        inner = np.maximum(inner, np.max(ended @ rows.T, axis=0))
        outer = routh.outer_bound(problem, level=level).support(rows)
        ratio = (outer[:half] + outer[half:]) / (inner[:half] + inner[half:])
        print(
            f"{samples:6} {climbs:5} {level}: {ratio.max():6.2f} {ratio.mean():6.2f}  "
            f"{np.max(outer - inner) / problem.speed:5.2f}   inner within outer "
            f"{bool(np.all(inner <= outer))}; CPU {sampled - started:.0f} s inside, "
            f"{time.process_time() - sampled:.0f} s outside",
            flush=True,
        )


def bounds() -> None:
    """Width of the certified bounds over the exact width, in 8 directions."""
    print("system: largest (outer width / exact width) at levels 0, 1, 2; CPU s")
    for name in SYSTEMS:
        exact = routh.exact_set(systems.get(name).rational)
        rows = watch_directions(exact.problem, 8)
        half = len(rows) // 2
        top = exact.support(rows)
        width = top[:half] + top[half:]
        wide = width > 1e-6 * width.max()
        cells = []
        for level in (0, 1, 2):
            started = time.process_time()
            outer = routh.outer_bound(exact.problem, level=level).support(rows)
            ratio = ((outer[:half] + outer[half:])[wide] / width[wide]).max()
            cells.append(f"{ratio:7.2f} ({time.process_time() - started:.1f} s)")
            assert np.all(outer >= top - 1e-9 * exact.problem.speed)
        print(f"{name:16} {'  '.join(cells)}", flush=True)


def membership() -> None:
    """How many velocities a second `ExactSet.contains` judges: samples, and all on the boundary itself."""
    print("system: pieces; million samples a second, tol 1e-9; thousand vertices a second, tol 0; inside")
    for name in SYSTEMS:
        exact = routh.exact_set(systems.get(name).rational)
        samples = routh.sample(exact.problem, 20_000, seed=1).v
        corners = np.tile(np.array(exact.vertices(which="outer"), dtype=float), (50, 1))
        rates, inside = [], []
        for v, tol in ((samples, 1e-9), (corners, 0.0)):
            spent = []
            for _ in range(5):
                started = time.process_time()
                found = exact.contains(v, tol=tol)
                spent.append(time.process_time() - started)
            rates.append(len(v) / min(spent))
            inside.append(float(np.mean(found)))
        print(
            f"{name:16} {len(exact.outer):3}; {1e-6 * rates[0]:6.2f}; {1e-3 * rates[1]:8.2f}; "
            f"{100 * inside[0]:.0f} %, {100 * inside[1]:.0f} %",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", choices=["systems", "bodies", "general", "filling", "bounds", "membership", "stack"]
    )
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument(
        "--contacts", type=int, nargs="+", default=[2, 3, 4], help="of random problems, in turn"
    )
    parser.add_argument("--limit", type=float, default=5.0, help="CPU seconds for each problem")
    parser.add_argument("--samples", type=int, default=10**5, help="samples of small step, over all problems")
    parser.add_argument("--check", action=argparse.BooleanOptionalAction, default=True, help="every vertex")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--directions", type=int, default=8, help="of the disc stack, in opposite pairs")
    options = parser.parse_args()
    if options.what == "systems":
        named_systems()
    elif options.what == "filling":
        filling()
    elif options.what == "bounds":
        bounds()
    elif options.what == "membership":
        membership()
    elif options.what == "stack":
        stack(options.directions)
    else:
        draw = body if options.what == "bodies" else general
        family(draw, options)


if __name__ == "__main__":
    main()
