"""Random impact problems of the families that the reference is tested on."""

import numpy as np

from routh.problem import ImpactProblem


def random_problem(rng, nc, nt, mu, *, nv=None, mass_ratio=1.0, duplicate=False):
    """Random M, J and v, at least one contact approaching."""
    nv = nv or int(rng.integers(3 * nt, 3 * nt + 3))
    root = rng.normal(size=(nv, nv))
    M = root @ root.T + 0.1 * nv * np.eye(nv)
    stretch = mass_ratio ** rng.uniform(-0.25, 0.25, nv)
    M *= stretch[:, None] * stretch
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    if duplicate:
        Jn[-1], Jt[-1] = Jn[0], Jt[0]
    v = rng.normal(size=nv)
    return ImpactProblem(M, Jn, Jt, mu, v if (Jn @ v).min() < 0.0 else -v)


# name -> (nc, nt, mu, options)
FAMILIES = {
    "planar-2": (2, 1, 0.5, {}),
    "planar-3-frictionless": (3, 1, 0.0, {}),
    "planar-3-rough": (3, 1, 10.0, {}),
    "planar-one-body": (3, 1, 0.5, {"nv": 3}),
    "planar-duplicate": (3, 1, 0.5, {"duplicate": True}),
    "planar-mass-ratio": (4, 1, 0.5, {"mass_ratio": 1e6}),
    "planar-6": (6, 1, 0.5, {}),
    "planar-huge-friction": (2, 1, 1e5, {"nv": 7}),
    "spatial-1": (1, 2, 0.5, {}),
    "spatial-3": (3, 2, 0.5, {}),
    "spatial-3-rough": (3, 2, 10.0, {}),
    "spatial-one-body": (4, 2, 0.5, {"nv": 6}),
    "spatial-duplicate": (3, 2, 0.5, {"duplicate": True}),
}


def draw(family, seed):
    nc, nt, mu, options = FAMILIES[family]
    rng = np.random.default_rng([seed, sorted(FAMILIES).index(family)])
    problem = random_problem(rng, nc, nt, mu, **options)
    bound = problem.scaling.impulse * rng.random(nc) * 10.0 ** rng.uniform(-1.5, 0.5)
    return problem, bound
