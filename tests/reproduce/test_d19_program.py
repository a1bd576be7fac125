"""D19's program against the energy method; appendix A itself is a verdict of d19.toml."""

from dataclasses import replace

import numpy as np
import pytest

from routh import systems
from routh.base.status import Status
from routh.constraints import Bilateral, ConstrainedSystem, from_model, solve
from routh.models.base import State
from routh.reproduce.checks import d19_contact as checks
from routh.reproduce.checks.draws import mass
from routh.reproduce.d19_program import paper_program, solve_paper
from routh.sim.time_stepping import constraint_forces


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
    """B_r = 1e6 / h over D19's second: at mu = 0.25 a step at 0.38 s needs the damper's square as scale."""
    assert systems.get("block-on-incline", mu=mu).run(rule=solve_paper).ok


def test_the_transcription_is_told_from_other_matrices():
    """`appendix_a` compares with what is printed: a program of another damper is not that of the system."""
    system, other = (checks.random_system(np.random.default_rng(0), damper=d) for d in (1.0, 2.0))
    H, g, _, _ = checks.literal(system)
    hessian, gradient, _ = checks.printed_form(paper_program(other))
    at = checks.printed_order(system)
    assert np.abs(hessian[np.ix_(at, at)] - H).max() > 1e-3 * np.abs(H).max()
    assert np.abs(gradient[at] - g).max() > 1e-3 * np.abs(g).max()
