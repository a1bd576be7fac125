"""Random impact problems for property tests."""

import numpy as np
from hypothesis import strategies as st

import routh


def random_problem(rng, *, nt=1, nc=None, nv=None, mu=None, ratio=10.0):
    """A random problem; about every third has a repeated contact, friction is drawn unless given."""
    nc = int(rng.integers(1, 5)) if nc is None else nc
    nv = int(rng.integers(1 + nt, 3 + nc * (1 + nt))) if nv is None else nv
    basis, _ = np.linalg.qr(rng.normal(size=(nv, nv)))
    M = basis @ np.diag(np.exp(rng.uniform(0.0, np.log(ratio), nv))) @ basis.T
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    if nc > 1 and rng.random() < 0.3:
        Jn[-1], Jt[-1] = Jn[0], Jt[0]
    mu = rng.choice([0.0, 0.3, 1.0, 10.0], nc) if mu is None else mu
    return routh.ImpactProblem(0.5 * (M + M.T), Jn, Jt, mu, rng.normal(size=nv))


def colliding(problem):
    """The same problem with at least one approaching contact."""
    return problem if np.any(problem.approaching) else problem.replace(v=-problem.v)


@st.composite
def problems(draw, nts=(1, 2), **options):
    """A colliding random problem."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return colliding(random_problem(rng, nt=draw(st.sampled_from(nts)), **options))
