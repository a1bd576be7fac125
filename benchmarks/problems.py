"""Random and degenerate problems: the one place from which tests and benchmarks take them.

Benchmarks find this module beside themselves; pytest has this folder on its path (pyproject.toml). Every
function draws the same numbers for the same generator or seed: what a benchmark counts, a test may repeat.
"""

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from routh.exact.rational import RationalProblem, product, simplest, solve, transpose
from routh.exact.snap import snap
from routh.models.base import State
from routh.models.planar import Body, PlanarModel, PlaneContact, Revolute, box, link
from routh.problem.friction import facet_directions
from routh.problem.impact import ImpactProblem

#: the papers' planar systems whose exact sets are known
PAPERS = (
    *("rocking-block", "compass-gait", "box-wall", "ramone", "rimless-wheel", "pushing"),
    "block-into-wall",
)

# Inelastic impacts


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
    return ImpactProblem(0.5 * (M + M.T), Jn, Jt, mu, rng.normal(size=nv))


def colliding(problem):
    """The same problem with at least one approaching contact."""
    return problem if np.any(problem.approaching) else problem.replace(v=-problem.v)


@st.composite
def problems(draw, nts=(1, 2), **options):
    """A colliding random problem."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return colliding(random_problem(rng, nt=draw(st.sampled_from(nts)), **options))


def hard_problem(rng, *, spatial, mu):
    """A random impact: 2 to 6 contacts, mass ratio up to 1, 1e3 or 1e6, every other with a repeat."""
    ratio = 10.0 ** rng.choice([0.0, 3.0, 6.0])
    nc = int(rng.integers(2, 7))
    nt = 2 if spatial else 1
    nv = int(rng.integers(2 + nt, 2 + nc * (1 + nt)))
    basis, _ = np.linalg.qr(rng.normal(size=(nv, nv)))
    M = basis @ np.diag(np.exp(rng.uniform(0.0, np.log(ratio), nv))) @ basis.T
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    if rng.random() < 0.5:
        Jn[-1], Jt[-1] = Jn[0], Jt[0]
    return ImpactProblem(0.5 * (M + M.T), Jn, Jt, mu, rng.normal(size=nv))


def hard_families():
    """Name and arguments of every family of `hard_problem`."""
    for spatial, mu in itertools.product((False, True), (0.0, 0.5, 10.0, 1e5)):
        yield f"{'space' if spatial else 'plane'}, mu {mu:g}", {"spatial": spatial, "mu": mu}


def problem_of_size(rng, nc, nt, mu, *, nv=None, mass_ratio=1.0, duplicate=False):
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


def family_problem(family, seed):
    """A problem of a family and bounds (nc,) on the impulses of one step, N s."""
    nc, nt, mu, options = FAMILIES[family]
    rng = np.random.default_rng([seed, sorted(FAMILIES).index(family)])
    problem = problem_of_size(rng, nc, nt, mu, **options)
    bound = problem.scaling.impulse * rng.random(nc) * 10.0 ** rng.uniform(-1.5, 0.5)
    return problem, bound


def planar_body(rng, nc, *, mu=None, collide=True):
    """One body: contacts anywhere on it, friction up to 1 unless given; something approaches if wanted."""
    points, angles = rng.uniform(-1, 1, (nc, 2)), rng.uniform(0, 2 * np.pi, nc)
    normals = np.c_[np.cos(angles), np.sin(angles)]
    tangents = np.c_[normals[:, 1], -normals[:, 0]]
    arms = [points[:, :1] * d[:, 1:] - points[:, 1:] * d[:, :1] for d in (normals, tangents)]
    M = np.diag([1.0, 1.0, rng.uniform(0.05, 1.0)])
    friction = rng.uniform(0, 1, nc) if mu is None else mu
    Jn, Jt = np.c_[normals, arms[0]], np.c_[tangents, arms[1]]
    problem = ImpactProblem(M, Jn, Jt, friction, rng.normal(size=3))
    return colliding(problem) if collide else problem


def random_matrices(rng, nc=None, *, collide=True):
    """Random M and J, nv = 2 nc, friction up to 1; something approaches if wanted."""
    nc = int(rng.integers(1, 5)) if nc is None else nc
    nv = 2 * nc
    A, J = rng.normal(size=(nv, nv)), rng.normal(size=(2 * nc, nv))
    M = A @ A.T / nv + 0.2 * np.eye(nv)
    problem = ImpactProblem(M, J[:nc], J[nc:], rng.uniform(0, 1, nc), rng.normal(size=nv))
    return colliding(problem) if collide else problem


def planar_biped(*, stride=0.4, mu=0.6, v=(0.3, -0.4, 0.0)):
    """A biped with hips, knees and ankles lands on both flat feet, each with a heel and a toe: nv = 9."""
    bodies, contacts, angles = [box("trunk", 0.3, 0.5, mass=40.0)], [], []
    lean = np.arcsin(stride / (1.6 * np.cos(0.15)))
    for side, hip in (("left", 0.15 + lean), ("right", 0.15 - lean)):
        thigh, shank, foot = (f"{side} {part}" for part in ("thigh", "shank", "foot"))
        bodies += [
            link(thigh, 0.4, mass=7.0, inertia=0.1, joint=Revolute("trunk", (0.0, -0.25))),
            link(shank, 0.4, mass=3.0, inertia=0.05, joint=Revolute(thigh, (0.0, -0.4))),
            Body(foot, 1.0, 0.006, com=(0.05, -0.05), joint=Revolute(shank, (0.0, -0.4))),
        ]
        angles += [hip, -0.3, 0.3 - hip]
        for end, x in (("heel", -0.06), ("toe", 0.18)):
            contacts.append(PlaneContact(f"{side} {end}", foot, point=(x, -0.08), mu=mu))
    model = PlanarModel(bodies, contacts)
    q = np.array([0.0, 0.0, 0.0, *angles])
    q[1] -= model.gaps(q)[0]
    return model.problem(State(q, np.array([*v, *np.zeros(6)])))


# Impacts with restitution


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
    return ImpactProblem(M, Jn, np.zeros((len(Jn), 1, n)), 0.0, v, restitution=e)


def ball_on_ball_and_wall(e, *, angle=0.7, mass=2.0, mu=0.0):
    """A disc that hits another one, obliquely, and a wall in the same moment: x1, y1, x2, y2."""
    normal = np.array([np.cos(angle), np.sin(angle)])
    tangent = np.array([-normal[1], normal[0]])
    Jn = np.array([[*-normal, *normal], [0.0, 1.0, 0.0, 0.0]])  # the second contact: wall below
    Jt = np.array([[[*-tangent, *tangent]], [[1.0, 0.0, 0.0, 0.0]]])
    M = np.diag([1.0, 1.0, mass, mass])
    return ImpactProblem(M, Jn, Jt, mu, [1.0, -0.8, -0.1, 0.2], restitution=e)


def random_elastic_problem(rng, *, nc=None, nt=None, e=None, mu=1.0):
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
    return ImpactProblem(M, Jn, Jt, friction, v, restitution=restitution)


def hard_elastic_problem(rng):
    """2 to 6 contacts; a third are plain, the others redundant, frictionless, ill-scaled, grazing, rough."""
    nc, nt, nv = int(rng.integers(2, 7)), int(rng.integers(1, 3)), int(rng.integers(2, 9))
    A = rng.normal(size=(nv, nv))
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, nt, nv))
    mu, v, scale = rng.uniform(0.0, 1.0, nc), rng.normal(size=nv), np.ones(nv)
    kind = int(rng.integers(8))
    if kind == 0:
        Jn[1], Jt[1] = Jn[0], Jt[0]
    elif kind == 1:
        mu[:] = 0.0
    elif kind == 2:
        scale = 10.0 ** rng.uniform(-1.5, 1.5, nv)  # masses over six decades
    elif kind == 3:
        v -= np.linalg.lstsq(Jn[:1], Jn[:1] @ v, rcond=None)[0]
    elif kind == 4:
        mu *= 10.0
    M = scale[:, None] * (A @ A.T + 0.1 * np.eye(nv)) * scale
    restitution = rng.choice([0.0, 1.0], nc) if kind == 5 else rng.uniform(0.0, 1.0, nc)
    return ImpactProblem(M, Jn, Jt, mu, v, restitution=restitution)


# An impact in rational numbers


def with_simple_delassus(problem, tolerance=1e-3):
    """A rational problem near one with a square J whose ``J M^-1 J^T``, not M, is made of simple numbers.

    Exact sets compute with that matrix; snapping M gives it twice the digits.
    """
    near = snap(problem, tolerance=tolerance).rational
    J = problem.J.reshape(problem.nv, problem.nv)
    factor = np.linalg.cholesky(J @ problem.solve_mass(J.T))
    simple = [[simplest(float(x), tolerance * np.abs(factor).max()) for x in row] for row in factor]
    half = solve(simple, near.rows)
    return RationalProblem(product(transpose(half), half), near.Jn, near.Jt, near.mu, near.v, near.names)


def rational_block(mu=1, slip=0, speed=Fraction(4429, 10000)):
    """The rocking block in round numbers, with friction and sliding to choose."""
    return RationalProblem(
        [[1, 0, 0], [0, 1, 0], [0, 0, Fraction(5, 12)]],
        [[0, 1, Fraction(-1, 2)], [0, 1, Fraction(1, 2)]],
        [[[1, 0, 1]], [[1, 0, 1]]],
        [mu, mu],
        [slip, -speed, 0],
        "AB",
    )


# Two bodies, one contact in space

KINDS = ("any", "slow", "still", "invariant", "grazing", "steep")


def inverse_inertias(rng, n):
    """W (n, 3, 3) of pairs of random bodies: masses over four decades, inertia ratios to 1e4."""
    w = np.zeros((n, 3, 3))
    for _ in range(2):
        mass = 10.0 ** rng.uniform(-2, 2, n)
        inertia = 10.0 ** (rng.uniform(-4, 0, (n, 3)) + rng.uniform(-1, 1, (n, 1))) * mass[:, None]
        turn = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
        arm = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 0, (n, 1))
        cross = np.zeros((n, 3, 3))
        cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -arm[:, 2], arm[:, 1], -arm[:, 0]
        cross -= np.swapaxes(cross, 1, 2)
        inverse = np.einsum("nij,nj,nkj->nik", turn, 1.0 / inertia, turn)
        w += np.eye(3) / mass[:, None, None] + np.einsum("nji,njk,nkl->nil", cross, inverse, cross)
    return 0.5 * (w + np.swapaxes(w, 1, 2))


def impacts(seed, n):
    """W, v, mu, e and the kind of each: an index into KINDS."""
    rng = np.random.default_rng(seed)
    w = inverse_inertias(rng, n)
    v = rng.normal(size=(n, 3))
    v[:, 2] = -np.abs(v[:, 2])
    mu = np.where(rng.random(n) < 0.5, rng.uniform(0, 1, n), rng.uniform(0, 10, n))
    mu[rng.random(n) < 0.02] = 0.0
    e = rng.uniform(0, 1, n)
    e[rng.random(n) < 0.05] = 0.0
    e[rng.random(n) < 0.05] = 1.0
    kind = rng.choice(len(KINDS), n, p=[0.6, 0.1, 0.05, 0.1, 0.1, 0.05])
    v[kind == 1, :2] *= 10.0 ** rng.uniform(-14, -1, ((kind == 1).sum(), 1))
    v[kind == 2, :2] = 0.0
    v[kind == 4, 2] *= 10.0 ** rng.uniform(-4, -1, (kind == 4).sum())
    v[kind == 5, :2] *= 0.1
    invariant = np.flatnonzero(kind == 3)
    for rows in np.array_split(invariant, 1 + len(invariant) // 2000):
        speed = np.hypot(v[rows, 0], v[rows, 1])
        v[rows, :2] = speed[:, None] * rest_directions(w[rows], mu[rows], rng)
    return w, v, mu, e, kind


def rest_directions(w, mu, rng):
    """One invariant direction of each contact, (n, 2), by scanning and bisection; any of them by chance."""
    n = len(mu)
    theta = np.linspace(0, 2 * np.pi, 721) + 0.1
    f = direction_rate(w, mu, np.broadcast_to(theta, (n, 721)))
    change = f[:, :-1] * f[:, 1:] <= 0.0
    pick = np.where(change, rng.random(change.shape), -1.0).argmax(axis=1)
    low, high = theta[pick], theta[pick + 1]
    sign = np.sign(f[np.arange(n), pick])
    for _ in range(60):
        middle = 0.5 * (low + high)
        same = np.sign(direction_rate(w, mu, middle[:, None])[:, 0]) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.stack([np.cos(high), np.sin(high)], axis=-1)


def direction_rate(w, mu, theta):
    """f at angles (n, k)."""
    c, s = np.cos(theta), np.sin(theta)
    wxx, wxy, wyy = (w[:, i, j, None] for i, j in ((0, 0), (0, 1), (1, 1)))
    fx = w[:, 0, 2, None] - mu[:, None] * (wxx * c + wxy * s)
    fy = w[:, 1, 2, None] - mu[:, None] * (wxy * c + wyy * s)
    return c * fy - s * fx


# What outcomes are held against


def apart(problem, one, other):
    """Distances of velocities (..., nv) by their kinetic energy, shares of the speed before."""
    return np.linalg.norm((one - other) @ problem.cholesky, axis=-1) / problem.scaling.speed


def cone_violation(impulse, mu):
    """How far impulses (..., nc, 1 + nt) lie outside Coulomb's cone, N s, (..., nc); 0 inside."""
    normal = impulse[..., 0]
    excess = np.linalg.norm(impulse[..., 1:], axis=-1) - mu * np.maximum(normal, 0.0)
    return np.maximum(np.maximum(excess, -normal), 0.0)


def cone_generators(problem, facets=None):
    """Generalized forces of unit normal impulse at the edges of each polyhedral friction cone, (nc k, nv)."""
    directions = facet_directions(problem.nt, facets)
    edges = np.einsum("i,kt,itv->ikv", problem.mu, directions, problem.Jt)
    return (problem.Jn[:, None, :] + edges).reshape(-1, problem.nv)
