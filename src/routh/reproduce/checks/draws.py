"""Random problems for the checks."""

from __future__ import annotations

import numpy as np

from routh.base.validation import Array
from routh.problem.impact import ImpactProblem


def impact(rng: np.random.Generator, *, nt: int = 1, nc: int | None = None) -> ImpactProblem:
    """A random impact, friction of 0, 0.3, 1 or 10; about every third of several contacts repeats one."""
    count = int(rng.integers(1, 5)) if nc is None else nc
    nv = int(rng.integers(1 + nt, 3 + count * (1 + nt)))
    basis, _ = np.linalg.qr(rng.normal(size=(nv, nv)))
    M = basis @ np.diag(np.exp(rng.uniform(0.0, np.log(10.0), nv))) @ basis.T
    Jn, Jt = rng.normal(size=(count, nv)), rng.normal(size=(count, nt, nv))
    if count > 1 and rng.random() < 0.3:
        Jn[-1], Jt[-1] = Jn[0], Jt[0]
    mu = rng.choice([0.0, 0.3, 1.0, 10.0], count)
    problem = ImpactProblem(0.5 * (M + M.T), Jn, Jt, mu, rng.normal(size=nv))
    return problem if np.any(problem.approaching) else problem.replace(v=-problem.v)


def impacts(seed: int, count: int, **options: int) -> list[ImpactProblem]:
    """``count`` random impacts; ``options`` are those of `impact`."""
    rng = np.random.default_rng(seed)
    return [impact(rng, **options) for _ in range(count)]


def mass(rng: np.random.Generator, nv: int) -> Array:
    """A random mass matrix (nv, nv)."""
    root = rng.normal(size=(nv, nv))
    return root @ root.T + 0.1 * np.eye(nv)


def inverse_inertias(rng: np.random.Generator, n: int) -> Array:
    """W (n, 3, 3) of pairs of random bodies: masses over four decades, inertia ratios to 1e4."""
    w = np.zeros((n, 3, 3))
    for _ in range(2):
        heavy = 10.0 ** rng.uniform(-2, 2, n)
        inertia = 10.0 ** (rng.uniform(-4, 0, (n, 3)) + rng.uniform(-1, 1, (n, 1))) * heavy[:, None]
        turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
        arm = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
        cross = np.zeros((n, 3, 3))
        cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -arm[:, 2], arm[:, 1], -arm[:, 0]
        cross -= np.swapaxes(cross, 1, 2)
        inverse = np.einsum("nij,nj,nkj->nik", turn, 1.0 / inertia, turn)
        w += np.eye(3) / heavy[:, None, None] + np.einsum("nji,njk,nkl->nil", cross, inverse, cross)
    return 0.5 * (w + np.swapaxes(w, 1, 2))
