"""Sampling by events in space: is every sample a member of the set, how exact is the curve, how fast is it?

    python benchmarks/events_space.py one            one contact against routh.two_body, inelastic and elastic
    python benchmarks/events_space.py exact          polygons against exact sets, one and two contacts
    python benchmarks/events_space.py families --count 10000 --processes 16
                                                     random and degenerate problems: no false success, cost
    python benchmarks/events_space.py timing         ANYmal on four feet, with restitution, with an octagon

Times are processor times of one thread.
"""

from __future__ import annotations

import numpy as np

import routh
from event_families import Tally, show_families
from measure import Table, command_line, counted, run_part, status_names, timed
from problems import apart, cone_violation, problem_of_size
from routh import two_body
from routh.kernels.common.arrays import make_draw, make_outputs, make_rows
from routh.kernels.events import EventSampler
from routh.problem.friction import facet_directions

CONE = None
SAMPLES = 4  # of a problem of a family


def samples(problems, n, *, dirs=CONE, tolerance=1e-6, poisson=False, seed=0):
    """Raw outputs of the kernel and microseconds a sample; rows of the batch are the problems."""
    rows = make_rows(problems)
    drawn = make_draw(n, seed=seed, row=0, rates=0, persistence=0.6, poisson=poisson, tolerance=tolerance)
    out = make_outputs(rows, n, elastic=bool(np.any(rows.contact[:, 1] > 0.0)))
    _, seconds = timed(EventSampler(rows, drawn, out, dirs).run, threads=1)
    return out, 1e6 * seconds / (len(problems) * n)


def regular(facets):
    """The exact sets' own friction polygon: its corners are rational, so not quite regular."""
    from routh.exact.rational import friction_directions

    return np.array([[float(x) for x in d] for d in friction_directions(2, facets)])


def one(given):
    """One contact has one outcome; the largest distance from two_body's, in units of the speed before.

    Impacts that compress again while they return (event k) are left out: there two_body begins the books
    anew, while the samplers return the share e^2 of all that was stored.
    """
    rng = np.random.default_rng(0)
    columns = {"restitution": "<12", "problems": "d", "left out": "d", "farthest": ".1e", "reported": ".1e"}
    table = Table({**columns, "us": ".1f"})
    for name, e, poisson in (("none", 0.0, False), ("energetic", 0.7, False), ("poisson", 0.7, True)):
        problems = [
            problem_of_size(rng, 1, 2, rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]), nv=6).replace(restitution=e)
            for _ in range(given.count)
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
            worst = max(worst, apart(problem, found, v).max())
        assert np.all(out.status == 0), counted(status_names(out.status))
        table.row(name, given.count, again, worst, out.error.max(), us)


def exact(given):
    """Every sample with a polygon must lie in the exact set's outer polytopes."""
    table = Table(dict.fromkeys(("contacts", "facets", "problems", "solved", "samples", "outside 1e-9"), "d"))
    rng = np.random.default_rng(0)
    for nc, facets in ((1, 4), (1, 8), (2, 4), (2, 8)):
        solved, tried, outside = 0, 0, 0
        while solved < given.count and tried < 4 * given.count:
            tried += 1
            problem = problem_of_size(rng, nc, 2, rng.choice([0.2, 0.5, 1.0], nc), nv=3 * nc)
            found = routh.exact_set(problem, friction="polyhedral", facets=facets, budget=5.0)
            if found.status is not routh.Status.SOLVED:
                continue
            solved += 1
            out, _ = samples([found.problem], given.samples, dirs=regular(facets))
            assert np.all(out.status == 0)
            outside += int(np.count_nonzero(~found.contains(out.v[0], tolerance=1e-9)))
        table.row(nc, facets, tried, solved, solved * given.samples, outside)


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
    """How far each sample that says SOLVED or NO_IMPACT is from the model, (n,), in what is allowed of it."""
    unit, v, impulse = problem.scaling, out.v[0], out.impulse[0]
    solved = out.status[0] == routh.Status.SOLVED
    rough = 1.0 + float(problem.mu.max(initial=0.0))
    curve = 10.0 * np.where(np.isfinite(out.error[0]), out.error[0], np.inf)
    momentum = apart(problem, v, problem.apply(impulse))
    momentum /= np.maximum(1.0, np.abs(impulse / unit.impulse[:, None]).max(axis=(1, 2)))  # their rounding
    cone = cone_violation(impulse, problem.mu) / unit.impulse  # a polygon lies in its disc
    gained = (problem.kinetic_energy(v) / problem.kinetic_energy() - 1.0) if not poisson else 0.0 * v[:, 0]
    approach = -(v @ problem.Jn.T) / unit.velocity
    broken = np.max(
        [momentum, cone.max(axis=1) / rough - curve, gained - curve, approach.max(axis=1) - curve], axis=0
    )
    wrong = np.where(solved, broken / (1e-7 if rough > 1e3 else 2e-8), 0.0)
    approaches = (problem.Jn @ problem.v / unit.velocity).min() < -2e-8
    still = out.status[0] == routh.Status.NO_IMPACT
    return np.where(still & (approaches | np.any(v != problem.v, axis=1)), np.inf, wrong)


def judge(name, seed, tally):
    """One problem of a family, with the cone or an octagon."""
    kind, friction = name.split(", ")
    problem = KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
    dirs = CONE if friction == "cone" else facet_directions(2, 8)
    out, us = samples([problem], SAMPLES, dirs=dirs, seed=seed, poisson=kind == "poisson")
    moves = problem.kinetic_energy() > 0.0
    found = (
        faults(problem, out, kind == "poisson") if moves else np.where(np.any(out.v, axis=2)[0], np.inf, 0.0)
    )
    tally.add(out.status, found, seed, seconds=1e-6 * us * SAMPLES, allowed=1.0)


def families(given):
    """Statuses and cost of random and degenerate families, and what is wrong with samples that say SOLVED."""
    for name in ("random", "energetic", "poisson"):
        for friction in ("cone", "octagon"):
            judge(f"{name}, {friction}", 0, Tally())  # compiles before there are processes
    names = [
        f"{name}, {friction}" for name in KINDS if given.only in name for friction in ("cone", "octagon")
    ]
    show_families(judge, names, given)


def timing(given):
    """Microseconds a sample on one core."""
    from robots import quadruped

    problem = quadruped()
    cases = [("ANYmal, four feet, cone", problem, CONE), ("ANYmal, four feet, octagon", problem, regular(8))]
    cases += [("the same, restitution 0.5, cone", problem.replace(restitution=0.5), CONE)]
    table = Table({"problem": "<32", "us": ".1f", "pieces": ".1f", "error": ".1e", "statuses": "<"})
    for name, problem, dirs in cases:
        samples([problem], 1, dirs=dirs)  # compiles
        out, us = min(
            (samples([problem], given.samples, dirs=dirs) for _ in range(3)), key=lambda pair: pair[1]
        )
        table.row(name, us, out.events.mean(), out.error.max(), counted(status_names(out.status)))


def main():
    parser = command_line(__doc__, one, exact, families, timing)
    parser.add_argument("--count", type=int, default=25, help="problems of a kind")
    parser.add_argument("--samples", type=int, default=1000, help="of a problem; of families always 4")
    parser.add_argument("--processes", type=int, default=1, help="of families")
    parser.add_argument("--only", default="", help="families whose names contain this")
    parser.add_argument("--seconds", type=float, default=np.inf, help="after which no family is gone on with")
    run_part(parser)


if __name__ == "__main__":
    main()
