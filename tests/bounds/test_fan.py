"""Outer bounds that are quadratic on each cell of contact velocities: valid, tighter, and proved afresh."""

import numpy as np
import pytest

import routh
from routh import systems
from routh.bounds.fan import Fan
from routh.bounds.fan_bound import FanBound
from routh.sampling.filling import watch_directions
from routh.status import CapacityError

NAMES = {"rocking-block": 1.0, "compass-gait": 0.45, "box-wall": 0.75}  # widest over that of level 2


def no_splits(problem):
    return np.zeros((0, problem.nv))


@pytest.mark.parametrize("name", NAMES)
def test_level_three_holds_the_exact_set_and_only_shrinks(name):
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get(name).rational)
    rows = watch_directions(exact.problem, 8)
    second, third = (routh.outer_bound(exact.problem, level=k).support(rows) for k in (2, 3))
    assert np.all(third >= exact.support(rows) - 1e-9 * exact.problem.speed)
    assert np.all(third <= second + 1e-12)
    widths = [(top[:4] + top[4:]).max() for top in (second, third)]
    assert widths[1] <= (NAMES[name] + 1e-9) * widths[0]


def test_the_function_alone_holds_samples_of_random_problems():
    rng = np.random.default_rng(3)
    for k in range(6):
        nv = 4 if k % 2 else 3  # with three, the four rows of J depend on each other
        A, J = rng.normal(size=(nv, nv)), rng.normal(size=(4, nv))
        problem = routh.ImpactProblem(
            A @ A.T / 4 + 0.2 * np.eye(nv), J[:2], J[2:], rng.uniform(0, 1, 2), rng.normal(size=nv)
        )
        rows = watch_directions(problem, 4)
        reached = routh.fill(problem, max_samples=256, seed=1).outcomes
        if np.min(problem.Jn @ problem.v) >= 0.0:
            bound = routh.outer_bound(problem, level=3).support(rows)
        else:
            bound = np.array([FanBound(problem, no_splits(problem)).alone(row) for row in rows])
        assert np.all(reached.v[reached.terminated] @ rows.T <= bound + 1e-9 * problem.speed)


def test_every_velocity_lies_in_a_cell_with_its_forces():
    """Also where slips are shared (the block's feet), and with a contact without friction."""
    block = systems.get("rocking-block").rational.problem
    smooth = routh.ImpactProblem(block.M, block.Jn, block.Jt[:, 0], [0.5, 0.0], block.v)
    rng = np.random.default_rng(0)
    for problem in (block, smooth, systems.get("compass-gait").rational.problem):
        fan = Fan(problem, no_splits(problem))
        for u in rng.normal(size=(40, problem.nv)):
            z = fan.forms @ u
            pushing = {i for i in range(problem.nc) if z[i] < 0.0}
            holding = [
                cell
                for cell in fan.cells
                if np.all(cell.signs * z >= -1e-12) and np.all(np.abs(z[cell.held]) < 1e-12)
            ]
            if not pushing:
                continue
            (cell,) = holding
            assert {i for i, _ in cell.rays} == pushing
            assert all(i not in fan.slips or slip * z[fan.slips[i]] > 0.0 for i, slip in cell.rays)


def test_sticking_feet_of_one_body_share_a_cell_of_their_own():
    fan = Fan(systems.get("rocking-block").rational.problem, np.zeros((0, 3)))
    stuck = [cell for cell in fan.cells if len(cell.rays) == 4]
    assert [tuple(cell.signs) for cell in stuck] == [(-1, -1, 0, 0)]
    assert not any(tuple(cell.signs[2:]) in ((1, -1), (-1, 1), (0, 1), (1, 0)) for cell in fan.cells)
    assert (1, -1, 0, 0) in [tuple(cell.signs) for cell in fan.cells]  # one sticks, the other is apart


def test_a_spoilt_function_proves_less():
    problem = systems.get("compass-gait").rational.problem
    bound = FanBound(problem, no_splits(problem))
    d = problem.Jt[0, 0] @ bound._fan.back
    d /= np.linalg.norm(d)
    program, ends, delta = bound._program(d)
    x = program.minimise([bound._value_at_start])
    good = bound.proved(x, ends, delta, d)
    assert good == pytest.approx(np.sqrt(bound._value_at_start[1] @ x[bound._value_at_start[0]]), abs=1e-3)
    rng = np.random.default_rng(0)
    for _ in range(4):
        assert bound.proved(x + 0.1 * rng.normal(size=len(x)), ends, delta, d) > good + 1e-2


def test_splits_tighten_step_by_step_and_still_hold_the_exact_set():
    pytest.importorskip("ppl")
    exact = routh.exact_set(systems.get("compass-gait").rational)
    problem = exact.problem
    row = watch_directions(problem, 8)[5]
    plain = routh.outer_bound(problem, level=3)
    finer = plain.refined(row)
    assert finer.cells > plain.cells
    assert exact.support(row) - 1e-9 <= finer.support(row) <= 0.7 * plain.support(row)
    again = routh.outer_bound(problem, level=3, splits=finer.splits)
    assert again.support(row) == pytest.approx(finer.support(row), rel=1e-6)
    for other in watch_directions(problem, 8)[:3]:
        assert finer.alone(other) >= exact.support(other) - 1e-9
    with pytest.raises(ValueError, match="splits: got 1 at level 2"):
        routh.outer_bound(problem, level=2, splits=finer.splits)


def test_too_many_contacts_are_refused():
    Jn, Jt = np.eye(14)[:7], np.eye(14)[7:]
    problem = routh.ImpactProblem(np.eye(14), Jn, Jt, 0.5, -np.ones(14))
    with pytest.raises(CapacityError, match="level: got 3 with 7 contacts and 0 splits"):
        routh.outer_bound(problem, level=3)
