"""Equal seeds, equal samples: every promise of `routh.sample`'s docstring, to the last bit, in the plane.

Samples look up rates that earlier ones have found. So whatever decides who comes first (the number of
samples, threads, the rows of a batch) shows where a name in that table leaves something out.
"""

import time

import numpy as np

import routh
from attacking.report import Found, chunks, merged
from event_families import feet
from measure import in_processes

MANY, FEW, LATER = 160, 40, 7  # samples: with a table, without one (below 64); rows of a batch by an offset
PATHS = 2  # samples of a problem whose paths are followed again
SAME = 1e-12  # of the velocity: a path adds up in another order
HYPOTHESES = {"mu = 0": "energetic", "Poisson": "poisson", "feet": "energetic"}


def problem_of(family, rng):
    """Some contacts without friction, or restitution, often with a contact that is there twice or at rest."""
    if family == "feet":
        return feet(rng)
    nc, nv = int(rng.integers(3, 8)), int(rng.integers(3, 10))
    Jn, Jt, v = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nv)), rng.normal(size=nv)
    mu, e = rng.choice([0.0, 0.3, 10.0], nc), np.zeros(nc)
    twist = rng.choice(["plain", "double", "rest"])
    if family == "Poisson":
        mu, e = rng.choice([0.1, 0.3, 1.0, 10.0], nc), rng.choice([0.3, 0.8, 1.0], nc)
    if twist == "double":
        Jn[1], Jt[1] = Jn[0] * rng.choice([1.0, 2.0, 0.5]), Jt[0]
    if twist == "rest":
        v -= Jn[0] * (Jn[0] @ v) / (Jn[0] @ Jn[0])
    Jn[(Jn @ v > 0.0) & (rng.random(nc) < 0.6)] *= -1.0
    return routh.ImpactProblem(np.eye(nv), Jn, Jt[:, None], mu, v, restitution=e)


def problems_of(family, seed, numbers):
    """Problems by number."""
    place = list(HYPOTHESES).index(family)
    return [problem_of(family, np.random.default_rng([seed, place, k])) for k in numbers]


def differing(problems, family, seed):
    """For each problem what differs, in words; "" for nothing."""
    options = {"seed": seed, "hypothesis": HYPOTHESES[family]}
    batch = routh.ImpactBatch.from_problems(problems)
    together = routh.sample(batch, MANY, **options)
    later = routh.sample(routh.ImpactBatch.from_problems(problems[:1]), MANY, row=LATER, **options)
    found = []
    for k, problem in enumerate(problems):
        alone = routh.sample(problem, MANY, row=k, threads=1, **options)
        others = {
            "fewer samples": routh.sample(problem, FEW, row=k, threads=1, **options),
            "two threads": routh.sample(problem, MANY, row=k, threads=2, **options),
            "a row of a batch": together[k],
        }
        if k % 10 == 0:
            others["within a budget"] = routh.sample(problem, MANY, row=k, budget=3600.0, **options)
        words = [word for word, other in others.items() if not same(alone, other)]
        if k == 0 and not same(routh.sample(problem, MANY, row=LATER, **options), later[0]):
            words.append("the row of a batch's beginning")
        size = SAME * (1.0 + np.abs(alone.v).max())
        for i in np.linspace(0, MANY - 1, PATHS).astype(int):
            if not np.abs(alone.path(int(i)).v[-1] - alone.v[i]).max() <= size:
                words.append(f"the path of sample {i}")
        found.append(", ".join(words))
    return found


def same(alone, other):
    """Whether velocities, impulses, statuses, pieces and residuals are the same bits, as far as both go."""
    fields = ("v", "impulse", "status", "steps", "residual")
    pairs = [(np.asarray(getattr(alone, name)), np.asarray(getattr(other, name))) for name in fields]
    return all(one[: len(two)].tobytes() == two.tobytes() for one, two in pairs)


def part_of_family(given):
    """Problems of a family by number."""
    family, seed, numbers = given
    found = Found(f"equal bits: {family}")
    start = time.process_time()
    words = differing(problems_of(family, seed, numbers), family, seed)
    spent = (time.process_time() - start) / len(numbers)
    for k, word in zip(numbers, words, strict=True):
        found.count(spent, wrong=f"seed {seed}, problem {k}: {word}" if word else "")
    return found


def attack(family, count, seed, processes=1):
    """Every promise for ``count`` problems of a family."""
    part_of_family((family, seed, range(1)))  # compiles
    parts = in_processes(part_of_family, [(family, seed, chunk) for chunk in chunks(count)], processes)
    return merged(f"equal bits: {family}", parts)
