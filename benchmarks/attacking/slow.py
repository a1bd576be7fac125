"""The case that once took minutes: one body in space with six contacts, condition 1e5, 16 samples."""

import time

import numpy as np

import routh
from attacking.physics import SECONDS, WARM, judged_samples
from attacking.report import Found, chunks, merged
from measure import in_processes

SAMPLES = 16
CONTACTS = 6
ROWS = [("events", "polyhedral"), ("events", "cone"), ("algorithm1", "polyhedral"), ("algorithm1", "cone")]


def blow_up(rng):
    """One free body, contacts all around, mass matrix with condition 1e5."""
    basis, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    M = basis @ np.diag(np.geomspace(1.0, 1e5, 6)) @ basis.T
    rows = np.empty((CONTACTS, 3, 6))
    for i in range(CONTACTS):
        axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        rows[i] = np.hstack([axes, np.cross(rng.normal(size=3), axes)])
    v = rng.normal(size=6)
    v = v if (rows[:, 0] @ v).min() < 0.0 else -v
    return routh.ImpactProblem(0.5 * (M + M.T), rows[:, 0], rows[:, 1:], 0.5, v)


def attack(method, friction, count, seed, processes=1):
    """The samples of ``count`` such problems."""
    part_of_row((method, friction, seed, range(min(WARM, count))))  # Algorithm 1 compiles after some
    cases = [(method, friction, seed, chunk) for chunk in chunks(count, together=1)]
    limit = SECONDS["algorithm1"] if method == "algorithm1" else CONTACTS * SECONDS[friction]
    parts = in_processes(part_of_row, cases, processes)
    return merged(f"condition 1e5, {method}, {friction}", parts, limit=limit)


def part_of_row(given):
    """Problems by number."""
    method, friction, seed, numbers = given
    found = Found("")
    for k in numbers:
        problem = blow_up(np.random.default_rng([seed, 99, k]))
        start = time.process_time()
        made = routh.sample if method == "events" else routh.sampling.sample_by_steps
        outcomes = made(problem, SAMPLES, friction=friction, seed=k, threads=1)
        spent = (time.process_time() - start) / SAMPLES
        wrong, failed = judged_samples(problem, outcomes)
        found.count(spent, wrong=f"seed {seed}, problem {k}: {wrong}" if wrong else "", honest=failed)
    return found
