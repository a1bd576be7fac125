"""Families of planar problems for the sampler by events, and what every sample of them must obey.

Needs no more than NumPy and SciPy. What is checked here is written down again from the model, from
velocities, impulses and pieces alone: nothing of the kernels is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import routh
from problems import colliding, problem_of_size, random_problem
from routh.paths import ImpactPath
from routh.problem import ImpactProblem
from routh.sampling.straight import path_residual
from routh.status import Status

ALLOWED = 1e-9  # of the speed: what a sample that says SOLVED may be off by
SAMPLES = 8
PATHS = 2  # of these, whose pieces are checked too


def planar_body(rng, nc, *, mu=None):
    """One body: contacts anywhere on it, friction up to 1, any velocity; something approaches."""
    points, angles = rng.uniform(-1, 1, (nc, 2)), rng.uniform(0, 2 * np.pi, nc)
    normals = np.c_[np.cos(angles), np.sin(angles)]
    tangents = np.c_[normals[:, 1], -normals[:, 0]]
    arms = [points[:, :1] * d[:, 1:] - points[:, 1:] * d[:, :1] for d in (normals, tangents)]
    M = np.diag([1.0, 1.0, rng.uniform(0.05, 1.0)])
    friction = rng.uniform(0, 1, nc) if mu is None else mu
    return colliding(
        ImpactProblem(M, np.c_[normals, arms[0]], np.c_[tangents, arms[1]], friction, rng.normal(size=3))
    )


def random_matrices(rng, nc=None):
    """Random M and J, nv = 2 nc, friction up to 1."""
    nc = int(rng.integers(1, 5)) if nc is None else nc
    nv = 2 * nc
    A, J = rng.normal(size=(nv, nv)), rng.normal(size=(2 * nc, nv))
    M = A @ A.T / nv + 0.2 * np.eye(nv)
    return colliding(ImpactProblem(M, J[:nc], J[nc:], rng.uniform(0, 1, nc), rng.normal(size=nv)))


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

    def add(self, statuses, faults, seed):
        """One problem: the statuses (n,) of its samples and what is wrong with those that are SOLVED."""
        self.problems += 1
        self.statuses.update(Status(int(code)).name for code in statuses)
        bad = int(np.count_nonzero(~(faults <= ALLOWED)))  # NaN is wrong
        self.wrong += bad
        self.worst = max(self.worst, float(np.max(faults, initial=0.0)))
        if bad and len(self.wrong_seeds) < 5:
            self.wrong_seeds.append(seed)

    def __add__(self, other):
        seeds = (self.wrong_seeds + other.wrong_seeds)[:5]
        return Tally(
            self.problems + other.problems, self.statuses + other.statuses,
            max(self.worst, other.worst), self.wrong + other.wrong, seeds,
        )  # fmt: skip


def faults(problem, outcomes, hypothesis):
    """How far each SOLVED sample is from momentum, cones, energy and the end, in units of the speed."""
    unit, speed = problem.scaling, problem.scaling.speed
    v, impulse = outcomes.v, outcomes.impulse / problem.scaling.impulse[:, None]
    unexplained = np.linalg.norm((v - problem.apply(outcomes.impulse)) @ problem.cholesky, axis=1) / speed
    outside = np.max(np.abs(impulse[..., 1]) - problem.mu * impulse[..., 0], axis=1)
    pulling = np.max(-impulse[..., 0], axis=1)
    approaching = np.max(-(v @ problem.Jn.T) / unit.velocity, axis=1)
    found = [unexplained, outside, pulling, approaching, outcomes.residual]
    if hypothesis != "poisson":
        found.append((outcomes.kinetic_energy - problem.kinetic_energy()) / speed**2)
    return np.max(found, axis=0)[outcomes.status == Status.SOLVED]


def examine(family, seed, tally):
    """One problem of a family: every sample, and the pieces of some."""
    make, hypothesis = FAMILIES[family]
    problem = make(np.random.default_rng([seed, sorted(FAMILIES).index(family)]))
    outcomes = routh.sample(problem, SAMPLES, seed=seed, hypothesis=hypothesis, threads=1)
    paths = [i for i in range(PATHS) if outcomes.status[i] == Status.SOLVED]
    pieces = [path_residual(problem, outcomes.path(i), hypothesis=hypothesis) for i in paths]
    tally.add(outcomes.status, np.append(faults(problem, outcomes, hypothesis), pieces), seed)


def relate(relation, seed, tally):
    """A problem and its image: samples of the image, taken back, solve the problem itself."""
    rng = np.random.default_rng([seed, RELATIONS.index(relation)])
    problem = planar_body(rng, int(rng.integers(2, 5))) if seed % 2 else random_matrices(rng)
    draw = {"seed": seed, "threads": 1}
    if relation == "scaled velocity":
        factor = 2.0 ** int(rng.integers(-40, 41))
        one = routh.sample(problem, SAMPLES, **draw)
        two = routh.sample(problem.replace(v=factor * problem.v), SAMPLES, **draw)
        apart = np.linalg.norm((two.v / factor - one.v) @ problem.cholesky, axis=1) / problem.speed
        tally.add(two.status, np.append(apart, float(np.any(one.status != two.status))), seed)
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


def chunk(task):
    """Problems ``begin`` to ``end`` of a family or relation."""
    name, begin, end = task
    tally, work = Tally(), examine if name in FAMILIES else relate
    for seed in range(begin, end):
        work(name, seed, tally)
    return name, tally
