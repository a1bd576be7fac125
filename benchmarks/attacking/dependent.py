"""Exact sets of impacts whose rows of J nearly depend: are samples inside, and supports in order?

Heel and toe of one link of a planar chain, three points of one body, one contact's rows as the sum of two
others': each with noise in the Jacobians as another program would leave it, friction from 0.3 to 1000.
"""

import time

import numpy as np

import routh
from attacking.report import Found, chunks, merged
from measure import in_processes
from routh.base.status import Status

NOISES = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8)
SAMPLES = 100
DIRECTIONS = 16
BUDGET = 3.0  # s of one core for one set; what is not finished is bounded by energy, and held to the same
TOLERANCE = 1e-9  # of the speed: what samples promise


def attack(count, seed, processes=1):
    """Sets, samples and memberships of ``count`` problems."""
    parts = in_processes(part_of, [(seed, chunk) for chunk in chunks(count, 10)], processes)
    return merged("nearly dependent rows, exact sets", parts)


def part_of(given):
    """Problems by number."""
    seed, numbers = given
    found = Found("")
    for k in numbers:
        rng = np.random.default_rng([seed, k])
        problem, name = problem_of(rng, NOISES[k % len(NOISES)])
        start = time.process_time()
        wrong, whole = judged(problem, rng, k)
        spent = time.process_time() - start
        found.count(
            spent, wrong=f"seed {seed}, problem {k}, {name}: {wrong}" if wrong else "", honest=not whole
        )
    return found


def problem_of(rng, noise):
    """A problem in which something approaches, and what it is."""
    kind = ("chain", "body", "sum")[int(rng.integers(3))]
    while True:
        M, Jn, Jt = {"chain": chain, "body": body, "sum": added}[kind](rng)
        Jn, Jt = Jn + noise * rng.normal(size=Jn.shape), Jt + noise * rng.normal(size=Jt.shape)
        mu = rng.choice([0.3, 0.5, 1.0] if kind != "sum" or rng.random() < 0.5 else [30.0, 1000.0], len(Jn))
        v = rng.normal(size=len(M))
        problem = routh.ImpactProblem(M, Jn, Jt, mu, -v if (Jn @ v).min() > 0.0 else v)
        if problem.approaching.any():
            return problem, f"{kind}, noise {noise:g}"


def chain(rng):
    """Heel and toe of the last link of a planar chain on a base that moves freely."""
    links = int(rng.integers(1, 4))
    lengths, angles = rng.uniform(0.2, 0.6, links), rng.uniform(0.0, 2.0 * np.pi, links)
    joints = np.vstack(
        [[0.0, 0.0], np.cumsum(lengths[:, None] * np.c_[np.cos(angles), np.sin(angles)], axis=0)]
    )
    ahead = np.array([np.cos(angles[-1]), np.sin(angles[-1])])
    along = rng.choice([0.1, -0.1, 0.2]) * ahead
    feet = [joints[-1] - along, joints[-1] + 2.0 * along]
    J = np.array(
        [
            [[1.0, 0.0, *(a[1] - p[1] for a in joints)], [0.0, 1.0, *(p[0] - a[0] for a in joints)]]
            for p in feet
        ]
    )
    root = rng.normal(size=(links + 3, links + 3))
    M = root @ root.T + 0.5 * (links + 3) * np.eye(links + 3)
    return M, J[:, 1], J[:, 0]


def body(rng):
    """Three points of one edge of a body."""
    turn = rng.uniform(0.0, 2.0 * np.pi)
    normal, tangent = np.array([-np.sin(turn), np.cos(turn)]), np.array([np.cos(turn), np.sin(turn)])
    points = rng.choice([-1.0, -0.5, 0.0, 0.3, 0.5, 0.7], 3, replace=False)[:, None] * tangent - 0.5 * normal
    rows = [
        np.column_stack([np.tile(d, (3, 1)), points[:, 0] * d[1] - points[:, 1] * d[0]])
        for d in (normal, tangent)
    ]
    return np.diag([1.0, 1.0, 0.2]), *rows


def added(rng):
    """Three contacts, the rows of the last of which are the sums of those of the others."""
    nv = int(rng.integers(3, 7))
    Jn, Jt = rng.normal(size=(2, 3, nv))
    Jn[2], Jt[2] = Jn[0] + Jn[1], Jt[0] + Jt[1]
    return np.eye(nv), Jn, Jt


def judged(problem, rng, seed):
    """What is wrong, in words, and whether the set was finished."""
    exact = routh.exact_set(problem, budget=BUDGET)
    outcomes = routh.sample(problem, SAMPLES, seed=seed, threads=1)
    ended = outcomes.v[outcomes.status == Status.SOLVED]
    whole = exact.status in (Status.SOLVED, Status.JAMMED)
    if not len(ended):
        return "", whole
    loose = TOLERANCE if problem.mu.max() < 100.0 else 100.0 * TOLERANCE
    out = int(np.count_nonzero(~exact.contains(ended, tolerance=loose)))
    if out:
        return (
            f"{out} of {len(ended)} samples outside by up to {exact.outer.violation(ended).max():.2g}",
            whole,
        )
    if len(exact.inner):
        if not np.all(exact.contains(np.array(exact.vertices(), dtype=float), tolerance=loose)):
            return "inner vertices outside of outer", whole
        if routh.coverage(outcomes, exact).outside != 0.0:
            return f"coverage says {routh.coverage(outcomes, exact).outside:.2g} outside", whole
    directions = rng.normal(size=(DIRECTIONS, problem.nv))
    sizes = problem.speed * np.sqrt(np.einsum("ki,ik->k", directions, problem.solve_mass(directions.T)))
    inner, outer = exact.support(directions), exact.support(directions, which="outer")
    if np.any(inner > outer + TOLERANCE * sizes) or np.any(
        (ended @ directions.T).max(axis=0) > outer + loose * sizes
    ):
        return "supports out of order", whole
    far = problem.speed * rng.normal(size=(8, problem.nv)) * 1e3
    if np.any(exact.contains(far)):
        return "velocities of a thousand times the energy inside", whole
    return "", whole
