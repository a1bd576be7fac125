"""Sampling by events in the plane: is every sample a member of the set, is the set filled, how fast is it?

    python benchmarks/events_plane.py membership --count 1000   samples against exact sets, paths against
                                                                checkers; in parts: --first 250 --count 500
    python benchmarks/events_plane.py widths                    what 2^12 samples miss of the exact width
    python benchmarks/events_plane.py fill                      the same of `routh.fill`, and random bodies
    python benchmarks/events_plane.py speed                     microseconds a sample, beside a peer; elastic
    python benchmarks/events_plane.py families --count 100000 --processes 16    no false success in any family

Directions are random in the row space of J, others than those that `fill` watches. Times are processor times
of one thread, the best of several. `families` and `speed` need NumPy and SciPy only; the others need the
extra `exact`.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict

import numpy as np

import routh
from event_families import FAMILIES, RELATIONS, examine, show_families
from measure import Table, command_line, in_processes, run_part, timed
from problems import PAPERS, apart, planar_body, random_matrices, row_of_balls
from routh import systems
from routh.base.status import Status
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import event_samples
from routh.sampling.path_residual import path_residual
from routh.sampling.settings import ByEvents

SECONDS = 5.0  # of an exact set
PROVED = 4  # paths of each problem that the exact checker sees


def missing(v, exact, *, seed=0):
    """Largest share of the exact width that velocities (n, nv) miss, in 32 random directions."""
    problem = exact.problem
    unit = np.repeat(problem.scaling.velocity, 2)
    weights = np.random.default_rng([seed, 32]).normal(size=(32, len(unit)))
    rows = weights / unit @ problem.J.reshape(-1, problem.nv)
    top, width = exact.support(rows), exact.support(rows) + exact.support(-rows)
    wide = width > 1e-6 * problem.scaling.speed * np.linalg.norm(
        rows @ np.linalg.inv(problem.cholesky).T, axis=1
    )
    return float(np.max((top - (v @ rows.T).max(axis=0))[wide] / width[wide], initial=0.0))


def _judge(task):
    """One problem: exact status, samples outside, the worst distance, paths checked and proved."""
    name, seed, samples, deadline = task
    if time.monotonic() > deadline:
        return name, {}
    from exact_paths import exact_path
    from routh.exact.checker import verify_path

    if name in PAPERS:
        exact = routh.exact_set(systems.get(name).rational)
    else:
        rng = np.random.default_rng([seed, name == "body"])
        nc = 1 + seed % 4
        exact = routh.exact_set(
            planar_body(rng, nc) if name == "body" else random_matrices(rng, nc), budget=SECONDS
        )
    problem = exact.problem
    outcomes = routh.sample(problem, samples, seed=seed, threads=1)
    solved = outcomes.status == Status.SOLVED
    tally = {"problems": 1, "samples": samples, "unended": int(np.count_nonzero(~solved))}
    if exact.status is Status.SOLVED:
        far = exact.outer.violation(outcomes.v[solved])
        tally |= {
            "exact": 1,
            "outside": int(np.count_nonzero(~(far <= 1e-9))),
            "worst": float(far.max(initial=0.0)),
        }
    paths = np.flatnonzero(solved)[:: 1 if exact.status is not Status.SOLVED else max(samples // 16, 1)]
    off = [path_residual(problem, outcomes.path(int(i))) for i in paths[:100]]
    tally |= {"paths": len(off), "paths wrong": int(np.count_nonzero(~(np.array(off) <= 1e-9)))}
    for i in paths[:PROVED]:
        found = exact_path(exact.rational, outcomes.path(int(i)))
        near = found is not None and bool(verify_path(exact.rational, found, found.v[-1]))
        if near:
            near = apart(problem, np.array(found.v[-1], dtype=float), outcomes.v[i]) <= 1e-9
        tally |= {"proved": tally.get("proved", 0) + int(near), "tried": tally.get("tried", 0) + 1}
    return name if name in PAPERS else f"{name}, {1 + seed % 4} contacts", tally


def membership(options):
    """Every sample against the exact set where there is one, pieces against the model everywhere."""
    wanted = [(name, 0) for name in PAPERS] if options.first == 0 else []
    wanted += [("body" if k % 8 < 4 else "matrices", k) for k in range(options.first, options.count)]
    deadline = time.monotonic() + options.seconds
    tasks = [(*problem, options.samples, deadline) for problem in wanted]
    totals = defaultdict(lambda: defaultdict(float))
    for done, (name, tally) in enumerate(in_processes(_judge, tasks, options.processes), 1):
        if done % 25 == 0:
            print(f"{done} of {len(tasks)}", file=sys.stderr, flush=True)
        for key, value in tally.items():
            totals[name][key] = max(totals[name][key], value) if key == "worst" else totals[name][key] + value
    counts = ("problems", "exact", "samples", "outside", "unended", "paths", "paths wrong", "tried", "proved")
    table = Table({"": "<24", **dict.fromkeys(counts, ".0f"), "worst": ".1e"})
    for name in sorted(totals, key=lambda n: (n not in PAPERS, n)):
        if totals[name]:  # else out of time
            table.row(name, *(totals[name][column] for column in (*counts, "worst")))
    count, solved, outside = (sum(r[c] for r in totals.values()) for c in ("problems", "exact", "outside"))
    print(f"\n{count:.0f} problems, {solved:.0f} with their exact set, {outside:.0f} samples outside")


def widths(options):
    """Percent of the exact width that samples miss, by seed, with the default rates."""
    table = Table({"system": "<18", "largest outside": ".1e", "2^12 samples: missed %, by seed": "<"})
    for name in PAPERS:
        exact = routh.exact_set(systems.get(name).rational)
        drawn = [routh.sample(exact.problem, 2**12, seed=seed, threads=1) for seed in range(options.seeds)]
        missed = [100 * missing(one.v[one.terminated], exact, seed=seed) for seed, one in enumerate(drawn)]
        outside = max(exact.outer.violation(one.v).max() for one in drawn)
        table.row(name, outside, " ".join(f"{m:.4f}" for m in missed))


def fill(options):
    """What `routh.fill` misses, how long it takes after compiling, and the same on random bodies."""
    routh.fill(systems.get("rocking-block").problem, threads=1)
    columns = {"system": "<18", "samples": "d", "ms": ".0f", "outside": ".1e", "missed %, seeds 0 to 3": "<"}
    table = Table(columns)
    for name in PAPERS:
        exact = routh.exact_set(systems.get(name).rational)
        spent, missed, outside = [], [], 0.0
        for seed in range(4):
            filled, seconds = timed(routh.fill, exact.problem, seed=seed, threads=1)
            outcomes = filled.outcomes
            spent.append(1e3 * seconds)
            missed.append(100 * missing(outcomes.v[outcomes.terminated], exact, seed=seed))
            outside = max(outside, float(exact.outer.violation(outcomes.v).max()))
        table.row(name, len(outcomes), min(spent), outside, " ".join(f"{m:.4f}" for m in missed))
    tasks = [(nc, seed) for seed in range(options.bodies) for nc in (2, 3, 4)]
    found = defaultdict(list)
    for nc, result in in_processes(_fill_body, tasks, options.processes):
        if result is not None:
            found[nc].append(result)
    print()
    numbers = {"mean %": ".3f", "median": ".3f", "largest": ".2f", "outside": ".1e"}
    table = Table({"contacts of bodies, fill 2^13": "d", "solved": "d", **numbers})
    for nc, rows in sorted(found.items()):
        missed, outside = 100 * np.array(rows).T[0], max(row[1] for row in rows)
        table.row(nc, len(rows), missed.mean(), np.median(missed), missed.max(), outside)


def _fill_body(task):
    nc, seed = task
    exact = routh.exact_set(planar_body(np.random.default_rng([seed, nc]), nc), budget=SECONDS)
    if exact.status is not Status.SOLVED:
        return nc, None
    outcomes = routh.fill(exact.problem, max_samples=2**13, patience=2**13, seed=seed, threads=1).outcomes
    v = outcomes.v[outcomes.terminated]
    return nc, (missing(v, exact, seed=seed), float(exact.outer.violation(v).max()))


def microseconds(problem, n):
    """Of one sample by events, and pieces of a sample."""
    rows, settings = make_rows([problem]), ByEvents().draws(n)
    event_samples(rows, settings, threads=1)  # compiles
    out, seconds = timed(event_samples, rows, settings, threads=1, repeats=7)
    return 1e6 * seconds / n, float(out.events.mean())


def peer_microseconds(problem, step, max_steps):
    """Of one sample of Algorithm 1 with quantecon's Lemke in a compiled loop; None where it is missing."""
    try:
        from peer import Peer
    except ImportError:
        return None
    size = problem.scaling.impulse if step is None else step * np.ones(problem.nc)
    peer = Peer(problem, size, max_steps or 300)
    peer(8)
    return 1e6 * timed(peer, 256, repeats=3)[1] / 256


def speed(options):
    """Microseconds a sample; the peer's Algorithm 1 at the paper's step on the same problem."""
    bounces = {"rocking block, e 0.5": "rocking-block", "disk stack, e 0.5": "disk-stack"}
    cases = {name: systems.get(name).problem for name in (*PAPERS, "disk-stack")}
    cases["three balls, e 1"] = row_of_balls(3, 1.0)
    cases |= {name: systems.get(of).problem.replace(restitution=0.5) for name, of in bounces.items()}
    table = Table({"problem": "<24", "us": ".2f", "pieces": ".1f", "peer us": ".1f", "ratio": ".1f"})
    for name, problem in cases.items():
        spent, pieces = microseconds(problem, 2**12 if problem.nc < 5 else 2**10)
        paper = systems.get(name).paper if name in systems.names() else None
        peer = None if paper is None else peer_microseconds(problem, paper.step, paper.max_steps)
        table.row(name, spent, pieces, peer, None if peer is None else peer / spent)


def families(options):
    """Statuses of samples, and what is wrong with those that say SOLVED."""
    bouncing = systems.get("rocking-block").problem.replace(restitution=0.5)
    routh.sample(bouncing, 64, threads=1).path(0)  # compile before there are processes
    routh.sample(bouncing.replace(restitution=0.0), 8, threads=1).path(0)
    show_families(examine, [name for name in (*FAMILIES, *RELATIONS) if options.only in name], options)


def main():
    parser = command_line(__doc__, membership, widths, fill, speed, families)
    parser.add_argument("--count", type=int, default=200, help="problems (of a family)")
    parser.add_argument("--samples", type=int, default=1000, help="of each problem against its exact set")
    parser.add_argument("--bodies", type=int, default=40, help="random bodies of each size for fill")
    parser.add_argument("--seeds", type=int, default=8, help="of widths")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="families whose names contain this")
    parser.add_argument("--first", type=int, default=0, help="problem of membership, to go on from")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which nothing further is begun")
    run_part(parser)


if __name__ == "__main__":
    main()
