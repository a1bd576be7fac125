"""A step of the polygons' kernel against the readable step solver."""

import numpy as np
import pytest

from problems import FAMILIES, family_problem
from routh.base.status import Status
from routh.compiling import interpreted, kernel
from routh.kernels.algorithm1.polygons import step_residual
from routh.kernels.algorithm1.sampling import run
from routh.kernels.algorithm1.work import StepDraw, load_row, make_work, velocity_after
from routh.kernels.common.arrays import make_rows
from routh.problem.friction import facet_directions
from routh.step import PolyhedralStep

TRIALS = 6


def pivot(problem, bound):
    """One step of HP23 (72) by compiled pivoting: status, residual, impulse (nc, 1 + nt)."""
    directions, points = facet_directions(problem.nt), np.ones((1, problem.nc))
    found = run(problem, 1, step=bound, max_steps=1, seed=0, directions=directions, points=points, threads=1)
    status = Status(int(found.status[0]))
    solved = status in (Status.SOLVED, Status.MAX_STEPS)  # after the one step it may still approach
    return Status.SOLVED if solved else status, float(found.residual[0]), found.impulse[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_same_solution_as_lemke_on_the_full_problem(family):
    for seed in range(TRIALS):
        problem, bound = family_problem(family, seed)
        status, residual, impulse = pivot(problem, bound)
        step = PolyhedralStep(problem)
        reference = step.solve(problem.v, bound)
        assert reference.status is Status.SOLVED
        assert status is Status.SOLVED
        huge = problem.mu.max() > 1e3
        assert residual < (1e-7 if huge else 1e-12)
        assert step.residual(problem.v, bound, impulse) < (1e-7 if huge else 1e-12)
        difference = problem.apply(impulse) - reference.v
        assert np.sqrt(2.0 * problem.kinetic_energy(difference)) < (1e-6 if huge else 1e-9) * problem.speed


def test_canonical_where_the_step_is_not_unique():
    differing = 0
    for seed in range(120):
        problem, bound = family_problem("planar-3-rough", seed)
        step = PolyhedralStep(problem)
        reference = step.solve(problem.v, bound)
        other = PolyhedralStep(problem, cover=np.random.default_rng(seed).uniform(0.1, 10.0, step.size))
        differing += np.abs(other.solve(problem.v, bound).v - reference.v).max() > 1e-6
        _, _, impulse = pivot(problem, bound)
        np.testing.assert_allclose(problem.apply(impulse), reference.v, atol=1e-9 * np.abs(problem.v).max())
    assert differing > 0  # else this test would show nothing


@kernel
def _moved_residual(work, directions, nc):
    """The residual of impulses with the velocities that they bring."""
    velocity_after(nc * (1 + directions.shape[1]), work.G, work.inputs, work.impulse, work.after)
    return step_residual(work, directions, nc)


_moved_residual.py_func.__module__ = "routh.test_pivoting"  # what `interpreted` follows


@pytest.mark.parametrize("family", ["planar-3-rough", "spatial-3"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_residual_passes_with_an_impulse_that_is_not_finite(family, bad):
    problem, _ = family_problem(family, 0)
    nc, nt, directions, rows = problem.nc, problem.nt, facet_directions(problem.nt), make_rows([problem])
    work = make_work(nc, nt, len(directions))
    draw = StepDraw(1, 0, np.uint64(0), np.empty((0, nc)), np.empty((1, 0)), 1)
    load_row(rows, 0, draw, nt, work)
    work.inputs[:] = np.concatenate([rows.start[0], np.ones(nc)])
    for place in range(nc * (1 + nt)):
        work.impulse[:] = 0.1
        work.impulse[place] = bad
        for residual in (_moved_residual, interpreted(_moved_residual)):
            with np.errstate(all="ignore"):
                assert not residual(work, directions, nc) < np.inf
