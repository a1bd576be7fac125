"""Sampling by events in the plane: is every sample a member of the set, is the set filled, how fast is it?

    python benchmarks/events.py membership --count 1000   samples against exact sets, paths against checkers;
                                                          in parts: --first 250 --count 500
    python benchmarks/events.py widths                    what 2^12 samples miss of the exact width
    python benchmarks/events.py fill                      the same of `routh.fill`, systems and random bodies
    python benchmarks/events.py one                       one contact against Routh's exact path
    python benchmarks/events.py speed                     microseconds a sample, beside a peer; elastic too
    python benchmarks/events.py families --count 100000 --processes 16     no false success in any family

Directions are random in the row space of J, others than those that `fill` watches. Times are processor times
of one thread, the best of several. `families`, `one` and `speed` need NumPy and SciPy only; the others
need the extra `exact`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import routh
from event_families import FAMILIES, RELATIONS, Tally, chunk, planar_body, random_matrices
from problems import colliding, random_problem, row_of_balls
from routh import systems
from routh.kernels.common.arrays import make_rows
from routh.kernels.events import event_samples
from routh.laws import SingleContact
from routh.sampling.redrawing import make_settings
from routh.sampling.straight import path_residual
from routh.status import Status

SYSTEMS = (
    "rocking-block",
    "compass-gait",
    "box-wall",
    "ramone",
    "rimless-wheel",
    "pushing",
    "block-into-wall",
)
SECONDS = 5.0  # of an exact set
PROVED = 4  # paths of each problem that the exact checker sees
CHUNK = 250  # problems of one task


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

    if name in SYSTEMS:
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
            gap = np.array(found.v[-1], dtype=float) - outcomes.v[i]
            near = np.linalg.norm(gap @ problem.cholesky) <= 1e-9 * problem.speed
        tally |= {"proved": tally.get("proved", 0) + int(near), "tried": tally.get("tried", 0) + 1}
    return name if name in SYSTEMS else f"{name}, {1 + seed % 4} contacts", tally


def membership(options):
    """Every sample against the exact set where there is one, pieces against the model everywhere."""
    wanted = [(name, 0) for name in SYSTEMS] if options.first == 0 else []
    wanted += [("body" if k % 8 < 4 else "matrices", k) for k in range(options.first, options.count)]
    deadline = time.monotonic() + options.seconds
    tasks = [(*problem, options.samples, deadline) for problem in wanted]
    totals = defaultdict(lambda: defaultdict(float))
    for done, (name, tally) in enumerate(_spread(_judge, tasks, options.processes), 1):
        if done % 25 == 0:
            print(f"{done} of {len(tasks)}", file=sys.stderr, flush=True)
        for key, value in tally.items():
            totals[name][key] = max(totals[name][key], value) if key == "worst" else totals[name][key] + value
    columns = (
        "problems",
        "exact",
        "samples",
        "outside",
        "worst",
        "unended",
        "paths",
        "paths wrong",
        "tried",
        "proved",
    )
    print(f"{'':<24}" + "".join(f"{c:>12}" for c in columns))
    for name in sorted(totals, key=lambda n: (n not in SYSTEMS, n)):
        row = totals[name]
        if not row:  # out of time
            continue
        cells = (f"{row[c]:>12.1e}" if c == "worst" else f"{row[c]:>12.0f}" for c in columns)
        print(f"{name:<24}" + "".join(cells), flush=True)
    count, solved, outside = (sum(r[c] for r in totals.values()) for c in ("problems", "exact", "outside"))
    print(f"\n{count:.0f} problems, {solved:.0f} with their exact set, {outside:.0f} samples outside")


def widths(options):
    """Percent of the exact width that samples miss, by seed, with the default rates."""
    print(f"{'system':<18}{'2^12 samples: missed %, one number a seed':<90}{'largest outside':>16}")
    for name in SYSTEMS:
        exact = routh.exact_set(systems.get(name).rational)
        drawn = [routh.sample(exact.problem, 2**12, seed=seed, threads=1) for seed in range(options.seeds)]
        missed = [100 * missing(one.v[one.terminated], exact, seed=seed) for seed, one in enumerate(drawn)]
        outside = max(exact.outer.violation(one.v).max() for one in drawn)
        cells = " ".join(f"{m:.4f}" for m in missed)
        print(f"{name:<18}{cells:<90}{outside:>16.1e}", flush=True)


def fill(options):
    """What `routh.fill` misses, how long it takes after compiling, and the same on random bodies."""
    routh.fill(systems.get("rocking-block").problem, threads=1)
    print(f"{'system':<18}{'samples':>8}{'ms':>8}{'missed %, seeds 0 to 3':>40}{'outside':>10}")
    for name in SYSTEMS:
        exact = routh.exact_set(systems.get(name).rational)
        spent, missed, outside = [], [], 0.0
        for seed in range(4):
            begin = time.process_time()
            outcomes = routh.fill(exact.problem, seed=seed, threads=1).outcomes
            spent.append(1e3 * (time.process_time() - begin))
            missed.append(100 * missing(outcomes.v[outcomes.terminated], exact, seed=seed))
            outside = max(outside, float(exact.outer.violation(outcomes.v).max()))
        cells = "  ".join(f"{m:7.4f}" for m in missed)
        print(f"{name:<18}{len(outcomes):>8}{min(spent):>8.0f}{cells:>40}{outside:>10.1e}", flush=True)
    tasks = [(nc, seed) for seed in range(options.bodies) for nc in (2, 3, 4)]
    found = defaultdict(list)
    for nc, result in _spread(_fill_body, tasks, options.processes):
        if result is not None:
            found[nc].append(result)
    print(
        f"\n{'bodies':<10}{'solved':>8}{'fill, 2^13: mean %':>20}{'median':>9}{'largest':>9}{'outside':>10}"
    )
    for nc, rows in sorted(found.items()):
        missed, outside = 100 * np.array(rows).T[0], max(row[1] for row in rows)
        row = f"{missed.mean():>20.3f}{np.median(missed):>9.3f}{missed.max():>9.2f}{outside:>10.1e}"
        print(f"{nc:<10}{len(rows):>8}{row}", flush=True)


def _fill_body(task):
    nc, seed = task
    exact = routh.exact_set(planar_body(np.random.default_rng([seed, nc]), nc), budget=SECONDS)
    if exact.status is not Status.SOLVED:
        return nc, None
    outcomes = routh.fill(exact.problem, max_samples=2**13, patience=2**13, seed=seed, threads=1).outcomes
    v = outcomes.v[outcomes.terminated]
    return nc, (missing(v, exact, seed=seed), float(exact.outer.violation(v).max()))


def one(options):
    """One contact has one outcome: the largest distance from the law's exact path, of the speed."""
    print(f"{'problems':<28}{'count':>8}{'samples':>9}{'farthest':>12}  statuses")
    for name, ratio, frictions in (
        ("mass ratio 10", 1.0, [0.0, 0.3, 1.0, 3.0]),
        ("mass ratio 1e6, to mu 1e5", 6.0, [0.0, 0.3, 1.0, 10.0, 1e5]),
    ):
        worst, statuses = 0.0, set()
        for seed in range(options.count):
            rng = np.random.default_rng([seed, int(ratio)])
            mu, size = rng.choice(frictions), 10.0 ** rng.uniform(0.0, ratio)
            problem = colliding(random_problem(rng, nc=1, mu=mu, ratio=size))
            outcomes = routh.sample(problem, 8, seed=seed, threads=1)
            apart = np.linalg.norm((outcomes.v - SingleContact()(problem).v) @ problem.cholesky, axis=1)
            worst = max(worst, float(apart.max()) / problem.speed)
            statuses |= set(outcomes.status_counts())
        said = ", ".join(status.name for status in statuses)
        print(f"{name:<28}{options.count:>8}{8 * options.count:>9}{worst:>12.1e}  {said}", flush=True)


def microseconds(problem, n, *, repeats=7):
    """Of one sample by events, and pieces of a sample."""
    rows, best = make_rows([problem]), np.inf
    for seed in range(repeats):
        begin = time.process_time()
        out = event_samples(rows, make_settings(n, seed=seed), threads=1)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / n, float(out.events.mean())


def peer_microseconds(problem, step, max_steps):
    """Of one sample of Algorithm 1 with quantecon's Lemke in a compiled loop; None where it is missing."""
    try:
        from peer import Peer
    except ImportError:
        return None
    size = problem.scaling.impulse if step is None else step * np.ones(problem.nc)
    peer, best = Peer(problem, size, max_steps or 300), np.inf
    peer(8)
    for seed in range(3):
        begin = time.process_time()
        peer(256, seed)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / 256


def speed(options):
    """Microseconds a sample; the peer's Algorithm 1 at the paper's step on the same problem."""
    begin = time.process_time()
    routh.sample(systems.get("rocking-block").problem, 64, threads=1)
    print(f"first call (compilation, or loading from disk): {time.process_time() - begin:.1f} s\n")
    bounces = {"rocking block, e 0.5": "rocking-block", "disk stack, e 0.5": "disk-stack"}
    cases = {name: systems.get(name).problem for name in (*SYSTEMS, "disk-stack")}
    cases["three balls, e 1"] = row_of_balls(3, 1.0)
    cases |= {name: systems.get(of).problem.replace(restitution=0.5) for name, of in bounces.items()}
    print(f"{'problem':<24}{'us':>8}{'pieces':>9}{'peer us':>10}{'ratio':>8}")
    for name, problem in cases.items():
        spent, pieces = microseconds(problem, 2**12 if problem.nc < 5 else 2**10)
        paper = systems.get(name).paper if name in systems.names() else None
        peer = None if paper is None else peer_microseconds(problem, paper.step, paper.max_steps)
        beside = "" if peer is None else f"{peer:>10.1f}{peer / spent:>8.1f}"
        print(f"{name:<24}{spent:>8.2f}{pieces:>9.1f}{beside}", flush=True)


def families(options):
    """Statuses of samples, and what is wrong with those that say SOLVED."""
    routh.sample(_bouncing(), 64, threads=1).path(0)  # compile before there are processes
    routh.sample(_bouncing().replace(restitution=0.0), 8, threads=1).path(0)
    names = [name for name in (*FAMILIES, *RELATIONS) if options.only in name]
    begin, totals = time.monotonic(), {name: Tally() for name in names}
    chunks = [(k, min(k + CHUNK, options.count)) for k in range(0, options.count, CHUNK)]
    tasks = [(name, *ends, begin + options.seconds) for ends in chunks for name in names]
    for name, tally in _spread(_chunk_in_time, tasks, options.processes):
        totals[name] += tally
    for name in names:
        _print_family(name, totals[name])
    wrong = sum(tally.wrong for tally in totals.values())
    count = sum(tally.problems for tally in totals.values())
    print(f"\n{count} problems, {wrong} false successes, {time.monotonic() - begin:.0f} s", flush=True)


def _chunk_in_time(task):
    *what, deadline = task
    return (what[0], Tally()) if time.monotonic() > deadline else chunk(what)


def _print_family(name, tally):
    counts = ", ".join(f"{count} {status}" for status, count in tally.statuses.most_common())
    seeds = f"  seeds {tally.wrong_seeds}" if tally.wrong else ""
    print(
        f"{name:<24}{tally.problems:>8}  wrong {tally.wrong}, worst {tally.worst:.1e}; {counts}{seeds}",
        flush=True,
    )


def _bouncing():
    return systems.get("rocking-block").problem.replace(restitution=0.5)


def _spread(work, tasks, processes):
    """Results of tasks, in their order."""
    if processes == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        yield from pool.map(work, tasks)


def main():
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    work = {"membership": membership, "widths": widths, "fill": fill, "one": one}
    work |= {"speed": speed, "families": families}
    parser.add_argument("what", choices=work)
    parser.add_argument("--count", type=int, default=200, help="problems (of a family)")
    parser.add_argument("--samples", type=int, default=1000, help="of each problem against its exact set")
    parser.add_argument("--bodies", type=int, default=40, help="random bodies of each size for fill")
    parser.add_argument("--seeds", type=int, default=8, help="of widths")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", default="", help="families whose names contain this")
    parser.add_argument("--first", type=int, default=0, help="problem of membership, to go on from")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which nothing further is begun")
    options = parser.parse_args()
    work[options.what](options)


if __name__ == "__main__":
    main()
