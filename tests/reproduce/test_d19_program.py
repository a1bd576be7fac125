"""Appendix A of D19 against a literal transcription of it, and against the energy method."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, minimize

from routh import systems
from routh.constraints import (
    Bilateral,
    ConstrainedSystem,
    Contact,
    Unilateral,
    from_model,
    solve,
)
from routh.models.base import State
from routh.reproduce.d19_program import paper_program, solve_paper
from routh.sim.time_stepping import constraint_forces
from routh.status import Status


def mass(rng, nv):
    R = rng.normal(size=(nv, nv))
    return R @ R.T + 0.1 * np.eye(nv)


def random_system(rng, *, nb=2, nu=1, nc=2, nt=2, dt=0.01, damper=1.0):
    nv = 8
    G = lambda n: rng.normal(size=(n, nv))  # noqa: E731
    spring = {"stiffness": 1e3, "damping": 2.0}
    items = [
        Bilateral(G(nb), 0.01 * rng.normal(size=nb), bias=rng.normal(size=nb), **spring),
        Unilateral(G(nu), -0.01 * rng.random(nu), bias=rng.normal(size=nu), **spring),
        Contact(
            *(G(nc), rng.normal(size=(nc, nt, nv)), -0.01 * rng.random(nc)),
            **{"mu": 0.4, "tangential_damping": damper, "bias": rng.normal(size=(nc, 1 + nt))},
            **spring,
        ),
    ]
    return ConstrainedSystem(mass(rng, nv), rng.normal(size=nv), rng.normal(size=nv), items, dt)


def literal(system):
    """(183)-(198), written down as printed, over (lambda_n, lambda_r, lambda_s, lambda_u)."""
    b, u, c = system.constraints
    h, v, f = system.dt, system.v, system.f
    Mi = np.linalg.inv(system.M)
    hat = lambda G: np.linalg.inv(G @ Mi @ G.T)  # noqa: E731
    Gn, Gr, Gs = c.Jn, c.Jt[0::2], c.Jt[1::2]
    Gb, Gu = b.G, u.G
    D = -(h * h * b.stiffness + h * b.damping)[:, None] * (Gb @ Mi)
    C = np.eye(len(b)) - D @ Gb.T

    def wish(G, K, B, phi, bias, inner):
        rate = G @ v + h * (G @ Mi @ inner + bias)
        return hat(G) @ bias + K * phi + (h * K + B) * rate

    cb = -wish(Gb, b.stiffness, b.damping, b.phi, b.bias, f)
    A = Mi @ (Gb.T @ np.linalg.solve(C, D) + np.eye(len(v)))
    inner = Gb.T @ np.linalg.solve(C, cb) + f
    star = np.vstack([Gn, Gr, Gs, Gu])
    X = lambda K, B: (h * h * K + h * B)[:, None]  # noqa: E731
    nc = len(c)
    Kt, Bt = c.tangential_stiffness, c.tangential_damping
    E, F = X(Kt, Bt) * (Gr @ A @ star.T), X(Kt, Bt) * (Gs @ A @ star.T)
    d = wish(Gr, Kt, Bt, c.deformation[:, 0], c.bias[:, 1], inner)
    e = wish(Gs, Kt, Bt, c.deformation[:, 1], c.bias[:, 2], inner)
    n = star.shape[0]
    pick = np.eye(n)
    Ir, Is = pick[nc : 2 * nc], pick[2 * nc : 3 * nc]
    zeta = np.concatenate([np.full(nc, 1 / h), np.ones(2 * nc), np.full(len(u), 1 / h)])
    H = np.diag(zeta) + (Ir + E).T @ (Ir + E) + (Is + F).T @ (Is + F)
    g = (Ir + E).T @ d + (Is + F).T @ e
    rows = np.vstack(
        [X(u.stiffness, u.damping) * (Gu @ A @ star.T), X(c.stiffness, c.damping) * (Gn @ A @ star.T)]
    )
    rows += np.vstack([pick[3 * nc :], pick[:nc]])
    q = -np.concatenate(
        [
            wish(Gu, u.stiffness, u.damping, u.phi, u.bias, inner),
            wish(Gn, c.stiffness, c.damping, c.phi, c.bias[:, 0], inner),
        ]
    )
    return H, g, rows, q


def order(system):
    """Printed order (n, r, s, u) as indices into ours (u, n, tangents contact by contact)."""
    nc, nu = len(system.constraints[2]), len(system.constraints[1])
    t = nu + nc + np.arange(2 * nc)
    return np.concatenate([nu + np.arange(nc), t[0::2], t[1::2], np.arange(nu)])


def printed(ours):
    """H of (183), g of (184) and A of (185) from what the solver is given."""
    law = np.eye(len(ours.X)) + ours.X[:, None] * (ours.W @ ours.W.T)
    top, slope = law[: ours.first], law[ours.first :]  # (0 I) + (E; F) of (195)-(196)
    weights = np.concatenate([np.full(ours.first, ours.zeta), np.ones(len(ours.d))])
    return np.diag(weights) + slope.T @ slope, slope.T @ ours.d, top


@pytest.mark.parametrize("trial", range(10))
def test_the_program_is_appendix_a(trial):
    system = random_system(np.random.default_rng(trial))
    ours, at = paper_program(system), order(system)
    hessian, gradient, constraint = printed(ours)
    H, g, A, q = literal(system)
    np.testing.assert_allclose(hessian[np.ix_(at, at)], H, rtol=1e-8, atol=1e-8 * np.abs(H).max())
    np.testing.assert_allclose(gradient[at], g, rtol=1e-8, atol=1e-8 * np.abs(g).max())
    np.testing.assert_allclose(constraint[:, at], A, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.q, q, rtol=1e-8, atol=1e-8)
    assert np.linalg.eigvalsh(H)[0] > 0.0  # strictly convex, as the paper proves


@pytest.mark.parametrize("trial", range(6))
def test_the_answer_minimises_the_program(trial):
    system = random_system(np.random.default_rng(trial))
    result = solve_paper(system)
    assert result.status is Status.SOLVED
    H, g, A, q = literal(system)
    _, lu, lc = result.forces
    mine = np.concatenate([lc[:, 0], lc[:, 1], lc[:, 2], lu])
    value = lambda x: 0.5 * x @ H @ x + g @ x  # noqa: E731
    nc = len(lc)
    cone = NonlinearConstraint(
        lambda x: 0.16 * x[:nc] ** 2 - x[nc : 2 * nc] ** 2 - x[2 * nc : 3 * nc] ** 2, 0, np.inf
    )
    bounds = [(0, None)] * nc + [(None, None)] * (2 * nc) + [(0, None)] * len(lu)
    start = mine + 0.1 * np.abs(mine).max() * np.concatenate(
        [np.ones(nc), np.zeros(2 * nc), np.ones(len(lu))]
    )
    other = minimize(
        value, start, jac=lambda x: H @ x + g, bounds=bounds, method="SLSQP",
        constraints=[LinearConstraint(A, q, np.inf), cone], options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    scale = abs(value(mine)) + 1.0
    assert value(mine) <= other.fun + 1e-5 * scale
    assert np.all(A @ mine >= q - 1e-6 * (1 + np.abs(q)))
    assert np.all(np.hypot(lc[:, 1], lc[:, 2]) <= 0.4 * lc[:, 0] * (1 + 1e-6) + 1e-9)


def test_bilateral_rows_agree_with_energy_but_for_the_centripetal_force():
    """lambda_energy - lambda_paper = (I + X A)^-1 (G M^-1 G^T)^-1 dG/dt v: it fades as stiffness grows."""
    rng = np.random.default_rng(3)
    M, G, v, bias = mass(rng, 5), rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=3)
    A = G @ np.linalg.solve(M, G.T)
    previous = np.inf
    for K in (1e2, 1e5, 1e8):
        system = ConstrainedSystem(
            M, np.zeros(5), v, [Bilateral(G, np.zeros(3), stiffness=K, bias=bias)], 0.01
        )
        gap = solve(system).forces[0] - solve_paper(system).forces[0]
        expected = np.linalg.solve(np.eye(3) + 1e-4 * K * A, np.linalg.solve(A, bias))
        np.testing.assert_allclose(gap, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max() + 1e-11)
        assert np.abs(gap).max() < previous
        previous = np.abs(gap).max()


def test_coupled_unilateral_rows_differ_from_the_law_they_stand_for():
    """(83)-(85) can push where (68) says zero: more than 0.1 % in most systems of three coupled rows."""
    rng = np.random.default_rng(0)
    differ = total = 0
    for _ in range(150):
        M, G = mass(rng, 4), rng.normal(size=(3, 4))
        row = Unilateral(G, -0.01 * rng.random(3), stiffness=10.0 ** rng.uniform(2, 6, 3), damping=1.0)
        system = ConstrainedSystem(M, rng.normal(size=4), rng.normal(size=4), [row], 0.01)
        law, paper = solve(system), solve_paper(system)
        assert law.status.ok
        assert paper.status.ok
        if law.forces[0].max() > 0.0:
            total += 1
            differ += np.abs(law.forces[0] - paper.forces[0]).max() > 1e-3 * law.forces[0].max()
    assert total > 100
    assert 0.3 < differ / total < 0.8


def test_redundant_rows_take_the_least_norm_centripetal_force():
    rng = np.random.default_rng(5)
    G, bias = rng.normal(size=(2, 4)), rng.normal(size=2)
    twice = Bilateral(np.vstack([G, G]), np.zeros(4), stiffness=0.0, bias=np.tile(bias, 2))
    once = Bilateral(G, np.zeros(2), stiffness=0.0, bias=bias)
    make = lambda row: ConstrainedSystem(np.eye(4), np.zeros(4), np.ones(4), [row], 0.1)  # noqa: E731
    one, two = solve_paper(make(once)), solve_paper(make(twice))
    np.testing.assert_allclose(two.forces[0], np.tile(one.forces[0] / 2, 2), rtol=1e-10)
    np.testing.assert_allclose(one.forces[0], -np.linalg.solve(G @ G.T, bias), rtol=1e-10)


def test_four_feet_are_redundant_up_to_rounding():
    """The normals of a spinning block have rank three but for rounding; their least norm ignores the rest."""
    motion = systems.get("block-on-incline", mu=0.375)
    spinning = State(motion.state.q, np.array([0.0, 0.0, 0.0, 0.3, -0.2, 0.1]))
    soft = replace(motion.compliance, tangential_damping=100.0)
    system = from_model(motion.model, spinning, dt=0.01, compliance=soft)
    assert np.linalg.matrix_rank(system.constraints[0].Jn) == 3
    paper, energy = solve_paper(system), solve(system)
    assert paper.status is Status.SOLVED
    assert np.abs(paper.forces[0]).max() < 3.0 * np.abs(energy.forces[0]).max()


def test_where_and_by_how_much_the_methods_differ_on_a_sliding_block():
    """Sliding: the paper's program lifts the block with a stiff tangential damper and halves a soft one."""
    motion = systems.get("block-on-incline", mu=0.25)
    angle = np.radians(15)
    up, down = np.array([np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, -np.sin(angle)])
    moved = {}
    for method, rule in (("constraint", constraint_forces), ("paper", solve_paper)):
        for damper in (1e3, 10.0):
            soft = replace(motion.compliance, tangential_damping=damper)
            run = motion.run(rule=rule, duration=0.1, compliance=soft)
            moved[method, damper] = run.q[:, :3] - run.q[0, :3]
    assert np.abs(moved["constraint", 1e3] @ up).max() < 1e-9
    assert np.abs(moved["paper", 1e3] @ up).max() > 1e-4
    assert (moved["paper", 10.0] @ down)[-1] > 2.0 * (moved["constraint", 10.0] @ down)[-1]


@pytest.mark.parametrize("mu", [0.125, 0.25, 0.375])
def test_d19s_own_damper_is_solved_in_every_step(mu):
    """B_r = 1e6 / h: where a slip cannot be stopped the objective is 1e12 times what it is otherwise."""
    motion = systems.get("block-on-incline", mu=mu)
    stiff = replace(motion.compliance, tangential_damping=1e8)
    assert motion.run(rule=solve_paper, duration=0.1, compliance=stiff).ok
