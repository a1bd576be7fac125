"""Sampling by events in space: is every sample a member of the set, how exact is the curve, how fast is it?

    python benchmarks/events_space.py one            one contact against routh.two_body, inelastic and elastic
    python benchmarks/events_space.py exact          polygons against exact sets, one and two contacts
    python benchmarks/events_space.py facets         polygons with ever more corners against the cone's flow
    python benchmarks/events_space.py families --count 10000 --processes 16
                                                     random and degenerate problems: no false success, cost
    python benchmarks/events_space.py timing         ANYmal on four feet; elastic problems; first compilation

Times are processor times of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import routh
from problems import cone_violation, problem_of_size
from routh import two_body
from routh.friction import facet_directions
from routh.kernels.common.arrays import make_draw, make_outputs, make_rows
from routh.kernels.space.sample import run

CONE = None
CHUNK = 100  # problems of one task


def samples(problems, n, *, dirs=CONE, tolerance=1e-6, poisson=False, seed=0):
    """Raw outputs of the kernel and microseconds a sample; rows of the batch are the problems."""
    rows = make_rows(problems)
    drawn = make_draw(n, seed=seed, row=0, rates=0, persistence=0.6, poisson=poisson, tolerance=tolerance)
    out = make_outputs(rows, n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    begin = time.process_time()
    run(rows, drawn, out, dirs, threads=1)
    return out, (time.process_time() - begin) / (len(problems) * n) * 1e6


def regular(facets):
    """The exact sets' own friction polygon: its corners are rational, so not quite regular."""
    from routh.exact.rational import friction_directions

    return np.array([[float(x) for x in d] for d in friction_directions(2, facets)])


def one(count):
    """One contact has one outcome; the largest distance from two_body's, in units of the speed before.

    Impacts that compress again while they return (event k) are left out: there two_body begins the books
    anew, while the samplers return the share e^2 of all that was stored.
    """
    rng = np.random.default_rng(0)
    print(f"{'restitution':<14}{'problems':>10}{'left out':>10}{'farthest':>12}{'reported':>12}{'us':>8}")
    for name, e, poisson in (("none", 0.0, False), ("energetic", 0.7, False), ("poisson", 0.7, True)):
        problems = [
            problem_of_size(rng, 1, 2, rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]), nv=6).replace(restitution=e)
            for _ in range(count)
        ]
        out, us = samples(problems, 4, poisson=poisson)
        worst, again = 0.0, 0
        for problem, found in zip(problems, out.v, strict=True):
            order = np.ix_([1, 2, 0], [1, 2, 0])
            c = problem.contact_velocity()[0]
            hypothesis = "poisson" if poisson else "energetic"
            exact = two_body.impact(
                problem.delassus[order], c[[1, 2, 0]], float(problem.mu[0]), e, hypothesis=hypothesis
            )
            if "k" in exact.events:
                again += 1
                continue
            v = problem.apply(exact.impulse[[2, 0, 1]][None])
            worst = max(worst, np.sqrt(2.0 * problem.kinetic_energy(found - v)).max() / problem.speed)
        assert np.all(out.status == 0), Counter(out.status.ravel().tolist())
        print(f"{name:<14}{count:>10}{again:>10}{worst:>12.1e}{out.error.max():>12.1e}{us:>8.1f}")


def exact(count, n):
    """Every sample with a polygon must lie in the exact set's outer polytopes."""
    print(f"{'contacts':>8}{'facets':>8}{'problems':>10}{'solved':>8}{'samples':>9}{'outside 1e-9':>14}")
    rng = np.random.default_rng(0)
    for nc, facets in ((1, 4), (1, 8), (2, 4), (2, 8)):
        solved, tried, outside = 0, 0, 0
        while solved < count and tried < 4 * count:
            tried += 1
            problem = problem_of_size(rng, nc, 2, rng.choice([0.2, 0.5, 1.0], nc), nv=3 * nc)
            found = routh.exact_set(problem, facets=facets, budget=5.0)
            if found.status is not routh.Status.SOLVED:
                continue
            solved += 1
            out, _ = samples([found.problem], n, dirs=regular(facets))
            assert np.all(out.status == 0)
            outside += int(np.count_nonzero(~found.contains(out.v[0], tol=1e-9)))
        print(f"{nc:>8}{facets:>8}{tried:>10}{solved:>8}{solved * n:>9}{outside:>14}")


def _size(rng, **options):
    """One to five contacts, friction at random."""
    nc = int(rng.integers(1, 6))
    return problem_of_size(rng, nc, 2, rng.choice([0.2, 0.5, 1.0], nc), **options)


def _redundant(rng):
    """Four to eight contacts of one body: more than its six velocities need."""
    nc = int(rng.integers(4, 9))
    return problem_of_size(rng, nc, 2, 0.5, nv=6)


def _jammed(rng):
    """Two opposite contacts with steep cones: impulses that do nothing."""
    problem = problem_of_size(rng, 3, 2, 2.0)
    Jn, Jt = np.array(problem.Jn), np.array(problem.Jt)
    Jn[1], Jt[1] = -Jn[0], Jt[0]
    return problem.replace(Jn=Jn, Jt=Jt)


def _at_rest(rng):
    """Contacts that touch at rest beside one that approaches, some without slip."""
    problem = problem_of_size(rng, 3, 2, 0.5, nv=9)
    wanted = rng.normal(size=(3, 3)) * np.array([[1.0], [0.0], [rng.integers(2)]])
    wanted[0, 0], wanted[1:, 0] = -1.0, 0.0
    rows = np.concatenate([problem.Jn[:, None], problem.Jt], axis=1).reshape(9, 9)
    return problem.replace(v=np.linalg.solve(rows, wanted.ravel()))


def _grazing(rng):
    """One contact approaches a million times more slowly than it slips."""
    problem = problem_of_size(rng, 2, 2, 0.5, nv=6)
    rows = np.concatenate([problem.Jn[:, None], problem.Jt], axis=1).reshape(6, 6)
    wanted = np.concatenate(
        [[-1e-6], rng.normal(size=2), [rng.choice([0.0, -1e-6, 1.0])], rng.normal(size=2)]
    )
    return problem.replace(v=np.linalg.solve(rows, wanted))


def _still(rng):
    """Nothing moves, or nothing approaches."""
    problem = _size(rng)
    apart = np.linalg.lstsq(problem.Jn, np.ones(problem.nc), rcond=None)[0]
    return problem.replace(v=np.zeros(problem.nv) if rng.integers(2) else apart)


def _scaled(rng):
    """Other units of mass, length and time, six decades either way."""
    problem = _size(rng)
    mass, speed, length = 10.0 ** rng.uniform(-6.0, 6.0, 3)
    return problem.replace(
        M=mass * problem.M, Jn=length * problem.Jn, Jt=length * problem.Jt, v=speed * problem.v
    )


# name -> problem of a generator
KINDS = {
    "random": _size,
    "frictionless": lambda rng: problem_of_size(rng, 3, 2, 0.0),
    "friction 1e5": lambda rng: problem_of_size(rng, 2, 2, 1e5, nv=9),
    "friction 10": lambda rng: problem_of_size(rng, 3, 2, 10.0),
    "mass ratio 1e6": lambda rng: problem_of_size(rng, 3, 2, 0.5, mass_ratio=1e6),
    "redundant": _redundant,
    "duplicated": lambda rng: problem_of_size(rng, 3, 2, 0.5, duplicate=True),
    "jammed": _jammed,
    "at rest": _at_rest,
    "grazing": _grazing,
    "still": _still,
    "scaled units": _scaled,
    "eight contacts": lambda rng: problem_of_size(rng, 8, 2, 0.5, nv=18),
    "energetic": lambda rng: _size(rng).replace(restitution=rng.uniform(0.0, 1.0)),
    "poisson": lambda rng: _size(rng).replace(restitution=rng.uniform(0.0, 1.0)),
}


def faults(problem, out, poisson):
    """Of samples that say SOLVED or NO_IMPACT, how many break the model, all recomputed; and the worst."""
    unit, v, impulse = problem.scaling, out.v[0], out.impulse[0]
    solved = out.status[0] == routh.Status.SOLVED
    rough = 1.0 + float(problem.mu.max(initial=0.0))
    curve = 10.0 * np.where(np.isfinite(out.error[0]), out.error[0], np.inf)
    momentum = np.sqrt(2.0 * problem.kinetic_energy(v - problem.apply(impulse))) / problem.speed
    momentum /= np.maximum(1.0, np.abs(impulse / unit.impulse[:, None]).max(axis=(1, 2)))  # their rounding
    cone = cone_violation(impulse, problem.mu) / unit.impulse  # a polygon lies in its disc
    gained = (problem.kinetic_energy(v) / problem.kinetic_energy() - 1.0) if not poisson else 0.0 * v[:, 0]
    approach = -(v @ problem.Jn.T) / unit.velocity
    broken = np.max(
        [momentum, cone.max(axis=1) / rough - curve, gained - curve, approach.max(axis=1) - curve], axis=0
    )
    still = out.status[0] == routh.Status.NO_IMPACT
    wrong = solved & ~(broken <= (1e-7 if rough > 1e3 else 2e-8))
    approaches = (problem.Jn @ problem.v / unit.velocity).min() < -2e-8
    wrong |= still & (approaches | np.any(v != problem.v, axis=1))
    return int(wrong.sum()), float(np.max(broken[solved], initial=0.0))


def judge(task):
    """Of a chunk: statuses, false successes and their seeds, worst residual, slowest sample and time, us."""
    name, friction, first, last, n = task
    index = list(KINDS).index(name)
    statuses, wrong, seeds, worst, slowest, spent = Counter(), 0, [], 0.0, 0.0, 0.0
    for seed in range(first, last):
        problem = KINDS[name](np.random.default_rng([seed, index]))
        dirs = CONE if friction == "cone" else facet_directions(2, 8)
        out, us = samples([problem], n, dirs=dirs, seed=seed, poisson=name == "poisson")
        statuses.update(routh.Status(k).name for k in out.status.ravel().tolist())
        moves = problem.kinetic_energy() > 0.0
        bad, far = faults(problem, out, name == "poisson") if moves else (int(np.any(out.v)), 0.0)
        wrong, worst, spent = wrong + bad, max(worst, far), spent + us * n
        slowest = max(slowest, us * n)  # one sample cannot have taken more
        seeds += [seed] if bad else []
    return task, statuses, wrong, seeds, worst, slowest, spent


def families(count, n, processes, only):
    """Statuses and cost of random and degenerate families, and what is wrong with samples that say SOLVED."""
    for name in ("random", "energetic", "poisson"):
        for friction in ("cone", "octagon"):
            judge((name, friction, 0, 1, 1))  # compiles before there are processes
    kinds = [(name, friction) for name in KINDS if only in name for friction in ("cone", "octagon")]
    tasks = [(*kind, k, min(k + CHUNK, count), n) for kind in kinds for k in range(0, count, CHUNK)]
    begin, totals, false = time.monotonic(), {}, 0
    print(
        f"{'family':<16}{'friction':<9}{'problems':>9}{'us':>8}{'slowest':>10}{'worst':>9}  wrong, statuses"
    )
    for task, statuses, wrong, seeds, worst, slowest, spent in spread(judge, tasks, processes):
        total = totals.setdefault(task[:2], [Counter(), 0, [], 0.0, 0.0, 0.0])
        total[0].update(statuses)
        total[1], total[2] = total[1] + wrong, total[2] + seeds
        total[3], total[4], total[5] = max(total[3], worst), max(total[4], slowest), total[5] + spent
        if task[3] == count:
            counts = ", ".join(f"{number} {status}" for status, number in total[0].most_common())
            told = f"  seeds {total[2][:8]}" if total[1] else ""
            mean = total[5] / (count * n)
            print(
                f"{task[0]:<16}{task[1]:<9}{count:>9}{mean:>8.1f}{total[4]:>10.0f}{total[3]:>9.0e}"
                f"  {total[1]}, {counts}{told}",
                flush=True,
            )
            false += total[1]
    seconds = time.monotonic() - begin
    print(f"\n{count * len(kinds)} problems, {n} samples each, {false} false successes, {seconds:.0f} s")


def spread(work, tasks, processes):
    """Results of tasks, in their order."""
    if processes == 1:
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        yield from pool.map(work, tasks)


def facets(count):
    """The same rates with ever more corners: the distance from the cone's motion, of the speed before."""
    from spatial_flow import SpatialFlow

    rng = np.random.default_rng(0)
    print(f"{'corners':>8}{'median':>12}{'largest':>12}")
    cases = [problem_of_size(rng, 2, 2, 0.5) for _ in range(count)]
    round_ = [SpatialFlow.of(p).follow(SpatialFlow.of(p).start, np.array([0.5, 0.5]), 0.5)[1] for p in cases]
    for corners in (8, 16, 32, 64, 128):
        far = []
        for problem, wanted in zip(cases, round_, strict=True):
            flow = SpatialFlow.of(problem, facets=corners)
            change = (flow.follow(flow.start, np.array([0.5, 0.5]), 0.5)[1] - wanted).ravel()
            far.append(np.sqrt(change @ flow.G @ change))
        print(f"{corners:>8}{np.median(far):>12.1e}{max(far):>12.1e}")


def timing(n):
    """Microseconds a sample on one core."""
    begin = time.process_time()
    samples([problem_of_size(np.random.default_rng(0), 2, 2, 0.5)], 1)
    print(f"first call (compilation, or loading from disk): {time.process_time() - begin:.1f} s")
    from robots import quadruped

    problem = quadruped()
    cases = [("ANYmal, four feet, cone", problem, CONE), ("ANYmal, four feet, octagon", problem, regular(8))]
    elastic = problem.replace(restitution=0.5)
    cases += [("the same, restitution 0.5, cone", elastic, CONE)]
    print(f"{'problem':<36}{'us':>8}{'pieces':>8}{'error':>10}  statuses")
    for name, problem, dirs in cases:
        out, us = min((samples([problem], n, dirs=dirs) for _ in range(3)), key=lambda pair: pair[1])
        statuses = {routh.Status(k).name: v for k, v in Counter(out.status.ravel().tolist()).items()}
        print(f"{name:<36}{us:>8.1f}{out.events.mean():>8.1f}{out.error.max():>10.1e}  {statuses}")


def main():
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("what", choices=("one", "exact", "facets", "families", "timing"))
    parser.add_argument("--count", type=int, default=25, help="problems of a kind")
    parser.add_argument("--samples", type=int, default=1000, help="samples of a problem")
    parser.add_argument("--processes", type=int, default=1, help="of families")
    parser.add_argument("--only", default="", help="families whose names contain this")
    given = parser.parse_args()
    if given.what == "one":
        one(given.count)
    elif given.what == "exact":
        exact(given.count, given.samples)
    elif given.what == "facets":
        facets(given.count)
    elif given.what == "families":
        families(given.count, min(given.samples, 4), given.processes, given.only)
    else:
        timing(given.samples)


if __name__ == "__main__":
    main()
