"""Families of planar problems for the sampler by events, what every sample of them must obey, and a tally.

What is checked here is written down again from the model, from velocities, impulses and pieces alone: nothing
of the kernels is used. Needs no more than NumPy and SciPy.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import routh
from measure import Table, counted, in_processes, status_names, timed
from problems import apart, colliding, planar_body, problem_of_size, random_matrices, random_problem
from routh.base.results import ImpactPath
from routh.base.status import Status
from routh.problem.impact import ImpactProblem
from routh.sampling.path_residual import path_residual

ALLOWED = 1e-9  # of the speed: what a sample that says SOLVED may be off by
SAMPLES = 8
PATHS = 2  # of these, whose pieces are checked too
CHUNK = 250  # problems of one task


def feet(rng):
    """Links that stand on heel and toe: tangents of a link are equal or depend on others' tangents."""
    links, nv = int(rng.integers(2, 4)), int(rng.integers(5, 10))
    root = rng.normal(size=(nv, nv))
    Jt = np.repeat(rng.normal(size=(links, nv)), 2, axis=0)
    if rng.random() < 0.3:
        Jt = np.concatenate([Jt, Jt[:1] + Jt[-1:]])
    Jt *= rng.choice([1.0, -1.0, 0.5], len(Jt))[:, None]
    Jn = rng.normal(size=(len(Jt), nv))
    v = rng.normal(size=nv)
    if rng.random() < 0.7:  # it lands without slip, as from rest
        v -= np.linalg.pinv(Jt) @ (Jt @ v)
    Jn[Jn @ v > 0.0] *= -1.0
    return ImpactProblem(
        root @ root.T + nv * np.eye(nv), Jn, Jt[:, None], rng.choice([0.0, 0.5, 0.9, 1.9], len(Jt)), v
    )


def _redundant(rng):
    problem = planar_body(rng, int(rng.integers(2, 5)))
    order = [*range(problem.nc), *rng.integers(problem.nc, size=2)]
    return problem.replace(
        Jn=problem.Jn[order], Jt=problem.Jt[order], mu=problem.mu[order],
        restitution=np.zeros(len(order)), names=[str(k) for k in range(len(order))],
    )  # fmt: skip


def _at_rest(rng):
    """Some contacts at rest, exactly or up to rounding, in normal or tangential direction."""
    problem = random_matrices(rng, int(rng.integers(2, 5)))
    rows = np.concatenate([problem.Jn[:1], problem.Jt[: rng.integers(1, problem.nc + 1), 0]])
    v = problem.v - np.linalg.lstsq(rows, rows @ problem.v, rcond=None)[0]
    graze = 10.0 ** rng.uniform(-16, -6) * (rng.random() < 0.5)
    return colliding(problem.replace(v=v + graze * problem.v))


def _level(rng):
    """Feet on one level line under a body that falls: equal tangents, often no slip, equal approach."""
    nc = int(rng.integers(2, 5))
    x, height = np.sort(rng.uniform(-1, 1, nc)), rng.uniform(0.2, 2.0)
    Jn = np.c_[np.zeros(nc), np.ones(nc), x]
    Jt = np.c_[np.ones(nc), np.zeros(nc), np.full(nc, height)]
    v = np.array([rng.choice([0.0, 0.3]), -1.0, rng.choice([0.0, 0.1])])
    return ImpactProblem(np.diag([1.0, 1.0, rng.uniform(0.1, 1.0)]), Jn, Jt, rng.choice([0.2, 1.0, 5.0]), v)


def _units(rng):
    """Lengths, masses and times in units up to a million times larger or smaller."""
    problem = planar_body(rng, int(rng.integers(1, 5)))
    length, mass, time = 10.0 ** rng.uniform(-6, 6, 3)
    stretch = np.array([1.0, 1.0, length])  # angles stay as they are
    return problem.replace(
        M=mass * problem.M * stretch[:, None] * stretch,
        Jn=problem.Jn * stretch, Jt=problem.Jt * stretch,
        v=problem.v * np.array([length, length, 1.0]) / time,
    )  # fmt: skip


def _bounces(rng):
    problem = planar_body(rng, int(rng.integers(1, 5))) if rng.random() < 0.5 else random_matrices(rng)
    e = rng.choice([0.0, 1.0], problem.nc) if rng.random() < 0.2 else rng.uniform(0, 1, problem.nc)
    return problem.replace(restitution=e)


# name -> (problem by a generator, restitution by which hypothesis)
FAMILIES: dict[str, tuple[Callable[[np.random.Generator], ImpactProblem], str]] = {
    "bodies": (lambda rng: planar_body(rng, int(rng.integers(1, 5))), "energetic"),
    "random M and J": (random_matrices, "energetic"),
    "six contacts": (lambda rng: planar_body(rng, 6), "energetic"),
    "frictionless": (lambda rng: problem_of_size(rng, 3, 1, 0.0), "energetic"),
    "friction 10": (lambda rng: problem_of_size(rng, 3, 1, 10.0), "energetic"),
    "friction 1e5": (lambda rng: problem_of_size(rng, 2, 1, 1e5, nv=7), "energetic"),
    "jammed cones": (lambda rng: planar_body(rng, 3, mu=10.0 ** rng.uniform(0, 3)), "energetic"),
    "mass ratio 1e6": (lambda rng: problem_of_size(rng, 3, 1, 0.5, mass_ratio=1e6), "energetic"),
    "redundant contacts": (_redundant, "energetic"),
    "at rest, grazing": (_at_rest, "energetic"),
    "level feet": (_level, "energetic"),
    "walking feet": (feet, "energetic"),
    "units to 1e6": (_units, "energetic"),
    "repeats, any friction": (lambda rng: colliding(random_problem(rng)), "energetic"),
    "energetic restitution": (_bounces, "energetic"),
    "Poisson's restitution": (_bounces, "poisson"),
}
RELATIONS = ("scaled velocity", "permuted contacts", "duplicated contacts")


@dataclass
class Tally:
    """What came of a family: statuses of samples, and how far those that say SOLVED are from the model."""

    problems: int = 0
    statuses: Counter = field(default_factory=Counter)
    worst: float = 0.0
    wrong: int = 0
    wrong_seeds: list[int] = field(default_factory=list)
    seconds: float = 0.0  # of drawing
    slowest: float = 0.0  # s, of the samples of one problem

    def add(self, statuses, faults, seed, *, seconds=0.0, allowed=ALLOWED):
        """One problem: the statuses (n,) of its samples and what is wrong with those that are SOLVED."""
        bad = int(np.count_nonzero(~(faults <= allowed)))  # NaN is wrong
        worst = float(np.max(faults, initial=0.0))
        one = Tally(1, status_names(statuses), worst, bad, [seed] if bad else [], seconds, seconds)
        self += one

    def __iadd__(self, other):
        self.problems, self.wrong = self.problems + other.problems, self.wrong + other.wrong
        self.statuses, self.worst = self.statuses + other.statuses, max(self.worst, other.worst)
        self.wrong_seeds = (self.wrong_seeds + other.wrong_seeds)[:5]
        self.seconds, self.slowest = self.seconds + other.seconds, max(self.slowest, other.slowest)
        return self


def chunk(task):
    """Problems ``first`` to ``last`` of a family; none where it is too late for them."""
    examine, name, first, last, deadline = task
    tally = Tally()
    for seed in range(first, last) if time.monotonic() < deadline else ():
        examine(name, seed, tally)
    return name, tally


def show_families(examine, names, given):
    """The table of families: ``examine(name, seed, tally)`` adds one problem."""
    begin, totals = time.monotonic(), {name: Tally() for name in names}
    ends = [(k, min(k + CHUNK, given.count), begin + given.seconds) for k in range(0, given.count, CHUNK)]
    tasks = [(examine, name, *end) for end in ends for name in names]
    for name, tally in in_processes(chunk, tasks, given.processes):
        totals[name] += tally
    columns = {"family": "<24", "problems": "d", "us": ".1f", "slowest": ".0f", "wrong": "d", "worst": ".0e"}
    table = Table({**columns, "statuses": "<", "seeds of wrong ones": "<"})
    for name, tally in totals.items():
        each = 1e6 * tally.seconds / max(tally.statuses.total(), 1)
        seeds = ", ".join(map(str, tally.wrong_seeds))
        cells = each, 1e6 * tally.slowest, tally.wrong, tally.worst, counted(tally.statuses), seeds
        table.row(name, tally.problems, *cells)
    count, wrong = (sum(getattr(tally, what) for tally in totals.values()) for what in ("problems", "wrong"))
    print(f"\n{count} problems, {wrong} false successes, {time.monotonic() - begin:.0f} s", flush=True)


def faults(problem, outcomes, hypothesis):
    """How far each SOLVED sample is from momentum, cones, energy and the end, in units of the speed."""
    unit, speed = problem.scaling, problem.scaling.speed
    v, impulse = outcomes.v, outcomes.impulse / problem.scaling.impulse[:, None]
    unexplained = apart(problem, v, problem.apply(outcomes.impulse))
    outside = np.max(np.abs(impulse[..., 1]) - problem.mu * impulse[..., 0], axis=1)
    pulling = np.max(-impulse[..., 0], axis=1)
    approaching = np.max(-(v @ problem.Jn.T) / unit.velocity, axis=1)
    found = [unexplained, outside, pulling, approaching, outcomes.residual]
    if hypothesis != "poisson":
        found.append((outcomes.kinetic_energy - problem.kinetic_energy()) / speed**2)
    return np.max(found, axis=0)[outcomes.status == Status.SOLVED]


def examine(family, seed, tally):
    """One problem of a family: every sample, and the pieces of some; or a relation between two."""
    if family in RELATIONS:
        relate(family, seed, tally)
        return
    make, hypothesis = FAMILIES[family]
    problem = make(np.random.default_rng([seed, sorted(FAMILIES).index(family)]))
    options = {"seed": seed, "hypothesis": hypothesis, "threads": 1}
    outcomes, seconds = timed(routh.sample, problem, SAMPLES, **options)
    paths = [i for i in range(PATHS) if outcomes.status[i] == Status.SOLVED]
    pieces = [path_residual(problem, outcomes.path(i), hypothesis=hypothesis) for i in paths]
    found = np.append(faults(problem, outcomes, hypothesis), pieces)
    tally.add(outcomes.status, found, seed, seconds=seconds)


def relate(relation, seed, tally):
    """A problem and its image: samples of the image, taken back, solve the problem itself."""
    rng = np.random.default_rng([seed, RELATIONS.index(relation)])
    problem = planar_body(rng, int(rng.integers(2, 5))) if seed % 2 else random_matrices(rng)
    draw = {"seed": seed, "threads": 1}
    if relation == "scaled velocity":
        factor = 2.0 ** int(rng.integers(-40, 41))
        one = routh.sample(problem, SAMPLES, **draw)
        two = routh.sample(problem.replace(v=factor * problem.v), SAMPLES, **draw)
        other = float(np.any(one.status != two.status))
        tally.add(two.status, np.append(apart(problem, two.v / factor, one.v), other), seed)
        return
    nc = problem.nc
    more = [] if relation == "permuted contacts" else [rng.integers(nc)]
    order = np.append(rng.permutation(nc), more).astype(int)
    image = problem.replace(
        Jn=problem.Jn[order], Jt=problem.Jt[order], mu=problem.mu[order],
        restitution=np.zeros(len(order)), names=[str(k) for k in range(len(order))],
    )  # fmt: skip
    outcomes = routh.sample(image, SAMPLES, **draw)
    found = []
    for i in np.flatnonzero(outcomes.status == Status.SOLVED)[: 2 * PATHS]:
        path = outcomes.path(int(i))
        impulse = np.zeros((len(path.impulse), nc, 2))
        np.add.at(impulse, (slice(None), order), path.impulse)  # duplicates push together
        found.append(path_residual(problem, ImpactPath(path.v, impulse, path.kind)))
    tally.add(outcomes.status, np.array(found), seed)
