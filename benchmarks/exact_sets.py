"""Exact sets: the papers' systems, and how often random problems are solved to the end.

python benchmarks/exact_sets.py systems              # pieces, times, gap, checker
python benchmarks/exact_sets.py bodies --count 1000  # planar single bodies with 2 to 4 contacts
python benchmarks/exact_sets.py general --count 300  # random M and J, nv = 2 nc
python benchmarks/exact_sets.py filling              # the sampler that fills the set, beside uniform sampling

Times are CPU times of one thread, so a busy machine does not change them much; a problem counts as complete
where both sets were completed within ``--limit`` CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import routh
from routh import systems
from routh.problem import ImpactProblem
from routh.sets.checker import check_member
from routh.sets.checker_outer import verify_invariance
from routh.sets.rational import snap
from routh.sets.theory import pointedness

SYSTEMS = [
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
    "rimless-wheel",
    "pushing",
    "block-into-wall",
]
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


def family(draw: Draw, count: int, limit: float, check_every: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows: dict[int, list[tuple[bool, float, float]]] = {2: [], 3: [], 4: []}
    proved = refuted = nested = checked = 0
    for k in range(count):
        nc = 2 + k % 3
        rational = snap(draw(rng, nc), tolerance=1e-3).rational
        started = time.process_time()
        exact = routh.exact_set(rational, seconds=20 * limit)
        spent = time.process_time() - started
        complete = exact.status.ok and spent <= limit
        rows[nc].append((complete, spent, exact.gap if complete and len(exact.outer) < 200 else np.nan))
        if len(exact.inner):
            inside = exact.contains(np.array(exact.vertices(), dtype=float), tol=1e-9)
            nested += int(np.all(inside))
        else:
            nested += 1
        if complete and check_every and k % check_every == 0:
            checked += 1
            for vertex in exact.vertices():
                if check_member(rational, vertex, exact.statuses_to(vertex)):
                    proved += 1
                else:
                    refuted += 1
        if (k + 1) % 50 == 0:
            table(rows, nested, k + 1, checked, proved, refuted)
    table(rows, nested, count, checked, proved, refuted)


def table(
    rows: dict[int, list[tuple[bool, float, float]]],
    nested: int,
    done: int,
    checked: int,
    proved: int,
    refuted: int,
) -> None:
    print(f"--- {done} problems, inner within outer in {nested}", flush=True)
    for nc, results in rows.items():
        values = np.array(results, dtype=float).reshape(-1, 3)
        if len(values):
            gaps = values[:, 2][np.isfinite(values[:, 2])]
            print(
                f"{nc} contacts: complete {int(values[:, 0].sum())} of {len(values)}, CPU median "
                f"{1e3 * np.median(values[:, 1]):.1f} ms, 95 % "
                f"{1e3 * np.quantile(values[:, 1], 0.95):.0f} ms; "
                f"gap median {np.median(gaps):.1e}, largest {gaps.max():.1e}",
                flush=True,
            )
    print(f"checker: {proved} vertices proved, {refuted} not, on {checked} problems", flush=True)


def named_systems() -> None:
    print("system, CPU ms, status, pieces (dimension, vertices), gap, vertices proved")
    for name in SYSTEMS:
        rational = systems.get(name).rational
        times = []
        for _ in range(5):
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
        uniform = routh.sample(system.problem, 2**12, step=step, max_steps=system.paper.max_steps)
        theirs = routh.coverage(uniform, exact)
        print(
            f"{name:16} {100 * ours.worst:6.2f} % ({len(filling.outcomes)}, {spent:.1f}, {filling.stopped}), "
            f"outside {ours.outside:.1e} | {100 * theirs.worst:6.2f} %, outside {theirs.outside:.1e}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["systems", "bodies", "general", "filling"])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--limit", type=float, default=5.0, help="CPU seconds for each problem")
    parser.add_argument("--check-every", type=int, default=10, help="check the vertices of every nth problem")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.what == "systems":
        named_systems()
    elif options.what == "filling":
        filling()
    else:
        draw = body if options.what == "bodies" else general
        family(draw, options.count, options.limit, options.check_every, options.seed)


if __name__ == "__main__":
    main()
