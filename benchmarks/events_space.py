"""Sampling by events in space: is every sample a member of the set, how exact is the curve, how fast is it?

    python benchmarks/events_space.py one            one contact against routh.two_body, inelastic and elastic
    python benchmarks/events_space.py exact          polygons against exact sets, one and two contacts
    python benchmarks/events_space.py facets         polygons with ever more corners against the cone's flow
    python benchmarks/events_space.py families       random and degenerate problems: statuses, residuals, cost
    python benchmarks/events_space.py timing         ANYmal on four feet; elastic problems; first compilation

Times are processor times of one thread.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

import routh
from problems import FAMILIES, family_problem, problem_of_size
from routh import two_body
from routh.exact.facets import friction_directions
from routh.kernels.arrays import make_draw, make_outputs, make_rows
from routh.kernels.events_space import run

CONE = None


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
            found = routh.exact_set(problem, facets=facets, seconds=5.0)
            if found.status is not routh.Status.SOLVED:
                continue
            solved += 1
            out, _ = samples([found.problem], n, dirs=regular(facets))
            assert np.all(out.status == 0)
            outside += int(np.count_nonzero(~found.contains(out.v[0], tol=1e-9)))
        print(f"{nc:>8}{facets:>8}{tried:>10}{solved:>8}{solved * n:>9}{outside:>14}")


def families(count, n):
    """Statuses, residuals and cost of the random families of the tests, and of degenerate ones."""
    rng = np.random.default_rng(0)
    spatial = [name for name in FAMILIES if name.startswith("spatial")]
    cases = {name: [family_problem(name, s)[0] for s in range(count)] for name in spatial}
    cases["frictionless"] = [problem_of_size(rng, 3, 2, 0.0) for _ in range(count)]
    cases["friction 1e5"] = [problem_of_size(rng, 2, 2, 1e5, nv=9) for _ in range(count)]
    cases["mass ratio 1e6"] = [problem_of_size(rng, 3, 2, 0.5, mass_ratio=1e6) for _ in range(count)]
    cases["eight contacts"] = [problem_of_size(rng, 8, 2, 0.5, nv=18) for _ in range(count)]
    print(f"{'family':<20}{'friction':<9}{'us':>9}{'pieces':>8}{'error':>9}{'residual':>9}  statuses")
    for name, problems in cases.items():
        for friction, dirs in (("cone", CONE), ("octagon", regular(8))):
            out, us = samples(problems, n, dirs=dirs)
            statuses = {routh.Status(k).name: v for k, v in Counter(out.status.ravel().tolist()).items()}
            print(
                f"{name:<20}{friction:<9}{us:>9.1f}{out.events.mean():>8.1f}{out.error.max():>9.0e}"
                f"{out.residual.max():>9.0e}  {statuses}",
                flush=True,
            )


def facets(count):
    """The same rates with ever more corners: the distance from the cone's motion, of the speed before."""
    from routh.sampling.spatial_flow import SpatialFlow

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
    given = parser.parse_args()
    if given.what == "one":
        one(given.count)
    elif given.what == "exact":
        exact(given.count, given.samples)
    elif given.what == "facets":
        facets(given.count)
    elif given.what == "families":
        families(given.count, min(given.samples, 40))
    else:
        timing(given.samples)


if __name__ == "__main__":
    main()
