"""LZB in its inelastic limit lies in the set for every stiffness ratio (HP23 2.2.2)."""

import numpy as np
import pytest

import routh
from routh import laws, systems
from routh.base.status import Status
from routh.laws.lzb import _Springs


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "compass-gait", "ramone"])
@pytest.mark.parametrize("soft", [0, 1])
def test_every_stiffness_ratio_over_ten_decades_gives_a_member(name, soft):
    pytest.importorskip("ppl")
    system = systems.get(name)
    exact = routh.exact_set(system.rational)
    problem = exact.problem
    for ratio in 10.0 ** np.arange(-5.0, 6.0, 2.0):
        law = laws.LZB((1.0, ratio) if soft == 0 else (ratio, 1.0))
        result = law(problem)
        assert result.status is Status.SOLVED
        assert result.residual < 1e-12
        assert exact.contains(result.v, tolerance=1e-9), law


def test_the_ratio_sweeps_the_rocking_blocks_set_from_end_to_end():
    problem = systems.get("rocking-block").problem
    ends = [laws.LZB((1.0, ratio))(problem).contact_velocity[:, 0] for ratio in (1e-5, 1.0, 1e5)]
    sequential = laws.Sequential([0, 1])(problem).contact_velocity[:, 0]
    mirrored = laws.Sequential([1, 0])(problem).contact_velocity[:, 0]
    assert np.allclose(ends[1], 0.0, atol=1e-12)
    assert {tuple(np.round(ends[0], 4)), tuple(np.round(ends[2], 4))} == {
        tuple(np.round(np.abs(x), 4)) for x in (sequential, mirrored)
    }


def test_finer_increments_converge():
    problem = systems.get("box-wall").problem
    results = [laws.LZB((10.0, 1.0), resolution=n)(problem).v for n in (10, 20, 40, 160)]
    errors = [np.linalg.norm(v - results[-1]) for v in results[:-1]]
    assert errors[2] < 0.5 * errors[0]
    assert errors[2] < 1e-3


def test_equal_springs_scale_and_permute():
    problem = systems.get("box-wall").problem
    v = laws.LZB((3.0, 1.0))(problem).v
    assert np.allclose(laws.LZB((300.0, 100.0))(problem).v, v, rtol=0, atol=1e-12)
    swapped = problem.subset([1, 0])
    assert np.allclose(laws.LZB((1.0, 3.0))(swapped).v, v, rtol=0, atol=1e-12)
    faster = problem.replace(v=7.0 * problem.v)
    assert np.allclose(laws.LZB((3.0, 1.0))(faster).v, 7.0 * v, rtol=0, atol=1e-10)


def test_one_contact_is_rouths_method():
    problem = systems.get("rocking-block", mu=0.2).problem.subset(["A"]).replace(v=[0.3, -0.5, 0.1])
    ours, rouths = laws.LZB()(problem), laws.SingleContact()(problem)
    assert np.allclose(ours.v, rouths.v, rtol=0, atol=1e-10)


def test_friction_that_breaks_coulombs_law_is_not_called_solved(monkeypatch):
    problem = systems.get("compass-gait").problem
    right = _Springs._trial
    monkeypatch.setattr(_Springs, "_trial", lambda *given: (right(*given)[0], 1e-3))
    result = laws.LZB()(problem)
    assert result.status is Status.NUMERICAL
    assert result.residual == 1e-3


def test_nothing_approaches_and_bad_input():
    problem = systems.get("rocking-block").problem
    assert laws.LZB()(problem.replace(v=[0.0, 1.0, 0.0])).status is Status.NO_IMPACT
    assert laws.LZB(max_steps=3)(problem).status is Status.MAX_STEPS
    with pytest.raises(ValueError, match="stiffness: got"):
        laws.LZB((1.0, -1.0))
    with pytest.raises(ValueError, match="stiffness"):
        laws.LZB((1.0, 1.0, 1.0))(problem)


def test_slip_that_is_rounding_sticks():
    """A block that falls flat, its slip off zero by rounding, does as one without slip."""
    block = systems.get("rocking-block").problem
    law = laws.LZB(stiffness=[1.0, 3.0])
    nudged = block.replace(v=block.v + np.array([1e-17, 0.0, 0.0]))
    still, moved = law(block), law(nudged)
    np.testing.assert_allclose(moved.v, still.v, atol=1e-14)
    assert len(moved.path.impulse) == len(still.path.impulse)


def test_feet_of_nearly_equal_height_hold_a_block_against_a_small_moment():
    """Friction at both stops slip and spin, though its two rows differ by a thousandth only."""
    Jn, Jt = [[0, 1, -0.5], [0, 1, 0.5002]], [[1, 0, 0.3], [1, 0, 0.301]]
    feet = routh.ImpactProblem(np.diag([1.0, 1.0, 0.1]), Jn, Jt, 0.6, [0, -1, 0])
    result = laws.LZB()(feet)
    assert result.status is Status.SOLVED
    np.testing.assert_allclose(result.v, 0.0, atol=1e-11)
