"""Problems with restitution that the tests of elastic impacts share."""

import numpy as np

import routh


def row_of_balls(n, e, *, masses=None, walls=False):
    """n equal frictionless balls in a row, the first one moving; with ``walls`` the last touches a wall."""
    M = np.diag(np.ones(n) if masses is None else np.asarray(masses, dtype=float))
    Jn = np.zeros((n - 1 + walls, n))
    for i in range(n - 1):
        Jn[i, i], Jn[i, i + 1] = -1.0, 1.0
    if walls:
        Jn[-1, -1] = -1.0
    v = np.zeros(n)
    v[0] = 1.0
    return routh.ImpactProblem(M, Jn, np.zeros((len(Jn), 1, n)), 0.0, v, restitution=e)


def ball_on_ball_and_wall(e, *, angle=0.7, mass=2.0, mu=0.0):
    """A disc that hits another one, obliquely, and a wall in the same moment: x1, y1, x2, y2."""
    normal = np.array([np.cos(angle), np.sin(angle)])
    tangent = np.array([-normal[1], normal[0]])
    Jn = np.array([[*-normal, *normal], [0.0, 1.0, 0.0, 0.0]])  # the second contact: wall below
    Jt = np.array([[[*-tangent, *tangent]], [[1.0, 0.0, 0.0, 0.0]]])
    M = np.diag([1.0, 1.0, mass, mass])
    return routh.ImpactProblem(M, Jn, Jt, mu, [1.0, -0.8, -0.1, 0.2], restitution=e)


def random_problem(rng, *, nc=None, nt=None, e=None, mu=1.0):
    """M, J, friction, velocity and restitution at random; now and then something is degenerate."""
    nc = int(rng.integers(2, 7)) if nc is None else nc
    nt = int(rng.integers(1, 3)) if nt is None else nt
    nv = int(rng.integers(2, 8))
    A = rng.normal(size=(nv, nv))
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    friction = rng.uniform(0.0, mu, nc)
    kind = rng.integers(6)
    if kind == 0 and nc > 1:  # a redundant contact
        Jn[1], Jt[1] = Jn[0], Jt[0]
    if kind == 1:
        friction[:] = 0.0
    scale = np.diag(10.0 ** rng.uniform(-1.5, 1.5, nv)) if kind == 2 else np.eye(nv)
    v = rng.normal(size=nv)
    if kind == 3:  # one contact at rest
        v -= np.linalg.lstsq(Jn[:1], Jn[:1] @ v, rcond=None)[0]
    restitution = rng.uniform(0.0, 1.0, nc) if e is None else e
    M = scale @ (A @ A.T + 0.1 * np.eye(nv)) @ scale
    return routh.ImpactProblem(M, Jn, Jt, friction, v, restitution=restitution)
