"""Everyday landings in space: does what says SOLVED solve, and is the rest owned up to?

The families are those of `landing_families`. A sample breaks a law where its path does so by more than the
promise of docs/theory/space.md, ten times the error that it reports. Where fewer than 99 % of the samples are
solved, the first line of the answer has to say so; and nothing that is said is made of those that failed.
"""

import time

import numpy as np

import routh
from attacking.report import Found
from landing_families import FAMILIES
from spatial_path import SLACK, allowed, sample_faults, total_faults

PATHS = 1  # of each problem; to follow one of 16 contacts takes a second
PROMISED = 10.0  # times the error that a sample reports
# minutes until they are made, or their longest paths followed: only when they are named
SLOW = ("robots", "feet, boxes", "feet, spheres", "box feet", "to 24 contacts")
FARTHEST = 2.0  # two outcomes without gain of energy are at most this far apart, in units of the speed before


def chosen(names):
    """Families by the starts of their names; without any, those that are quickly made."""
    if not names:
        return [name for name in FAMILIES if name not in SLOW]
    return [name for name in FAMILIES if name.startswith(tuple(names))]


def attack(name, count, seed):
    """So many samples of a family, spread over its problems; and the path of the first of each."""
    found, problems = Found(f"landings: {name}"), FAMILIES[name]()
    each = max(count // max(len(problems), 1), 1)
    for k, problem in enumerate(problems):
        routh.sample(problem, 1, seed=seed, threads=1)  # compiles
        start = time.process_time()
        outcomes = routh.sample(problem, each, seed=seed, threads=1)
        spent = (time.process_time() - start) / each
        said = misleading(outcomes)
        for i, wrong in enumerate(broken_laws(outcomes, range(PATHS))):
            told = "; ".join(word for word in (wrong, said if i == 0 else "") if word)
            place = f"{name}, problem {k}, seed {seed}, sample {i}"
            found.count(spent, wrong=f"{place}: {told}" if told else "", honest=not outcomes.solved[i])
    return found


def broken_laws(outcomes, paths):
    """For each sample the law that it breaks, "" for none or where it says that it failed."""
    total = total_faults(outcomes)
    words = []
    for i in range(len(outcomes)):
        limit = PROMISED * allowed(outcomes, i)
        faults = {"total": float(total[i])}
        if i in paths and outcomes.solved[i]:
            faults |= sample_faults(outcomes, i) if outcomes.problem.nt == 2 else {}
        broken = {law: size for law, size in faults.items() if not size <= max(limit, SLACK)}
        told = ", ".join(f"{law} {size:.1e} of {limit:.1e}" for law, size in broken.items())
        words.append(told if outcomes.solved[i] else "")
    return words


def misleading(outcomes):
    """What the answer hides: that too few samples are solved, or that one which is not had a say."""
    share, first = float(outcomes.solved.mean()), str(outcomes.answer()).splitlines()[0]
    if share < 0.99 and not first.startswith(("Only", "No sample")):
        return f"{share:.1%} solved, but the answer begins with {first!r}"
    if not share:
        return ""
    farthest = float(outcomes.ambiguity)
    v = outcomes.v[outcomes.solved] @ outcomes.problem.cholesky / outcomes.problem.scaling.speed
    apart = float(np.linalg.norm(np.ptp(v, axis=0)))  # the diagonal of a box around the solved ones
    return "" if farthest <= min(apart, FARTHEST) + SLACK else f"ambiguity {farthest:.3g}"
