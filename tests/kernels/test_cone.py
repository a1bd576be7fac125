"""The true friction cone: the block method against the reference step solver."""

import numpy as np

from problems import family_problem
from routh.base.status import Status
from routh.compiling import interpreted
from routh.kernels.algorithm1.cone import cone_step, load_cone, pushed, solve_contact
from routh.kernels.algorithm1.sampling import run
from routh.kernels.algorithm1.work import StepDraw, load_row, make_work
from routh.kernels.common.arrays import make_rows
from routh.kernels.common.one_contact import disc_axes, on_disc
from routh.step import make_step


def test_friction_on_a_disc_is_opposite_to_slip():
    rng = np.random.default_rng(0)
    for _ in range(200):
        root = rng.normal(size=(2, 2))
        A = root @ root.T + 1e-3 * np.eye(2)
        b, radius = rng.normal(size=2), 10.0 ** rng.uniform(-6, 1)
        p = np.array(on_disc(disc_axes(A[0, 0], A[0, 1], A[1, 1]), *b, radius))
        slip = A @ p + b
        if np.linalg.norm(slip) < 1e-12:
            assert np.linalg.norm(p) <= radius * (1 + 1e-12)
        else:
            np.testing.assert_allclose(
                p, -radius * slip / np.linalg.norm(slip), rtol=1e-7, atol=1e-9 * radius
            )


def test_axes_are_those_of_the_tangential_block():
    rng = np.random.default_rng(1)
    blocks = [np.diag([1.0, 2.0]), np.diag([2.0, 1.0]), np.eye(2), np.ones((2, 2)), np.zeros((2, 2))]
    blocks += [np.array([[1.0, 1e-12], [1e-12, 1.0]]), np.array([[1.0, -1e-9], [-1e-9, 2.0]])]
    for _ in range(100):
        root = rng.normal(size=(2, 2)) * 10.0 ** rng.uniform(-4, 4, size=2)
        blocks.append(root @ root.T)
    for A in blocks:
        large, small, cosine, sine = disc_axes(A[0, 0], A[0, 1], A[1, 1])
        axes = np.array([[cosine, -sine], [sine, cosine]])
        np.testing.assert_allclose(axes @ axes.T, np.eye(2), rtol=0, atol=1e-14)
        np.testing.assert_allclose(
            axes @ np.diag([large, small]) @ axes.T, A, rtol=0, atol=1e-14 * max(large, 1e-280)
        )
        assert 0.0 < small <= large


def test_steps_agree_with_the_reference():
    solved = 0
    for family in ("spatial-1", "spatial-3", "spatial-3-rough", "spatial-one-body", "spatial-duplicate"):
        for seed in range(8):
            problem, bound = family_problem(family, seed)
            rows, work, nc = make_rows([problem]), make_work(problem.nc, 2, 0), problem.nc
            load_row(rows, 0, StepDraw(1, 0, np.uint64(0), np.empty((0, nc)), np.empty((1, 0)), 1), 2, work)
            load_cone(work, nc)
            work.inputs[:] = np.concatenate([rows.start[0], bound / problem.scaling.impulse])
            gap = cone_step(work, nc)
            if not gap < 1e-9:
                continue  # left to the sure method
            solved += 1
            step = make_step(problem, friction="cone")
            impulse = work.impulse.reshape(-1, 3) * problem.scaling.impulse[:, None]
            assert step.residual(problem.v, bound, impulse) < 1e-9
            reference = step.solve(problem.v, bound)
            if family != "spatial-3-rough":  # there a step can have several solutions
                difference = problem.kinetic_energy(problem.apply(impulse) - reference.v)
                assert np.sqrt(2.0 * difference) < 1e-6 * problem.speed
    assert solved >= 36


def test_one_contact_alone_stops_or_takes_all_that_it_may():
    for seed in range(8):
        problem, _ = family_problem("spatial-1", seed)
        rows, work = make_rows([problem]), make_work(1, 2, 0)
        load_row(rows, 0, StepDraw(1, 0, np.uint64(0), np.empty((0, 1)), np.empty((1, 0)), 1), 2, work)
        load_cone(work, 1)
        w = rows.start[0]
        for bound in (1e-3, 1e3):
            normal = interpreted(solve_contact)(work, bound, 0, *w)[0]
            left = interpreted(pushed)(work, 0, *w, normal)[2]
            assert 0.0 < normal <= bound
            assert abs(left) < 1e-12 or (normal == bound and left < 0.0)


def test_samples_end_and_dissipate():
    problem, bound = family_problem("spatial-one-body", 1)
    v, impulse, _, status, residual = run(problem, 40, step=bound, max_steps=200, seed=1, directions=None)
    assert (status == Status.SOLVED).all()
    assert residual.max() < 1e-9
    assert (problem.kinetic_energy(v) <= problem.kinetic_energy() * (1 + 1e-9)).all()
    friction = np.linalg.norm(impulse[:, :, 1:], axis=2)
    assert (friction <= problem.mu * impulse[:, :, 0] + 1e-9 * problem.scaling.impulse).all()
    assert ((problem.contact_velocity(v)[:, :, 0]) >= -1e-7 * problem.scaling.velocity).all()
