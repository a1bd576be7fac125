"""Slopes of worst cases against differences of worst cases, and against the symmetries of impacts."""

import numpy as np
import pytest

import routh
from problems import problem_of_size
from routh.base.status import RouthError
from routh.robust import Quadratic, sensitivity, worst_case

pytest.importorskip("ppl")
FIELDS = ("v", "mu", "Jn", "Jt", "M")


def planar(seed):
    rng = np.random.default_rng([27, seed])
    nc = 1 + seed % 3
    problem = problem_of_size(rng, nc, 1, rng.choice([0.3, 0.5, 1.0], nc), nv=3)
    return problem, rng.normal(size=3), rng


def slope(problem, objective, name, direction, step=1e-5):
    base = getattr(problem, name)
    ends = [
        worst_case(problem.replace(**{name: base + s * step * direction}), objective).value for s in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * step)


def check(problem, objective, rng, fields=FIELDS):
    found = sensitivity(problem, objective)
    assert found.method == "envelope"
    assert not found.one_sided
    for name in fields:
        direction = rng.normal(size=getattr(problem, name).shape)
        if name == "M":
            direction = direction + direction.T
        exact = found.along(**{name: direction})
        size = np.abs(found.gradient[name] * direction).sum()
        wanted = slope(problem, objective, name, direction)
        assert exact == pytest.approx(wanted, abs=1e-6 * max(size, 1e-2 * problem.speed)), name
    return found


@pytest.mark.parametrize("seed", range(9))
def test_slopes_of_supports_agree_with_differences_of_exact_supports(seed):
    problem, direction, rng = planar(seed)
    found = check(problem, direction, rng)
    # homogeneous of degree one in v and of degree zero in M
    assert np.vdot(found.gradient["v"], problem.v) == pytest.approx(found.value, abs=1e-6 * problem.speed)
    assert np.vdot(found.gradient["M"], problem.M) == pytest.approx(0.0, abs=1e-6 * problem.speed)


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_quadratics_and_named_contacts(seed):
    problem, _, rng = planar(seed)
    check(problem, Quadratic(np.diag([1.0, 2.0, 0.5]), [0.1, 0.0, -0.2]), rng)
    check(problem, problem.names[0], rng)
    check(problem, (0, [0.5, -1.0]), rng)


def test_the_path_of_filling_gives_the_same_slopes():
    problem, direction, _ = planar(4)
    exact = sensitivity(problem, direction)
    filled = sensitivity(problem, direction, method="fill", climbs=16)
    assert filled.method == "envelope"
    for name in FIELDS:
        np.testing.assert_allclose(filled.gradient[name], exact.gradient[name], atol=1e-7)


def test_friction_that_begins_has_a_one_sided_slope():
    problem, direction, _ = planar(3)
    smooth = problem.replace(mu=0.0)
    found = sensitivity(smooth, direction)
    ahead = (worst_case(smooth.replace(mu=1e-6), direction).value - found.value) / 1e-6
    assert found.gradient["mu"].sum() == pytest.approx(ahead, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
def test_with_restitution_the_slopes_are_those_of_the_sample(hypothesis):
    problem, direction, _ = planar(4)
    problem = problem.replace(restitution=0.5)
    found = sensitivity(problem, direction, max_samples=1024, hypothesis=hypothesis)
    assert found.method == "sample"
    assert found.gradient["restitution"].shape == (problem.nc,)
    # the outcome of fixed decisions is homogeneous too
    assert np.vdot(found.gradient["v"], problem.v) == pytest.approx(found.value, abs=1e-9 * problem.speed)
    assert np.vdot(found.gradient["M"], problem.M) == pytest.approx(0.0, abs=1e-8 * problem.speed)


@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
def test_in_space_the_slopes_are_those_of_the_sample(friction):
    """One contact has one outcome, so its differences are known; of several the symmetries are."""
    rng = np.random.default_rng(3)
    for nc in (1, 2):
        problem = problem_of_size(rng, nc, 2, 0.5, nv=6)
        direction = rng.normal(size=6)
        options = {"max_samples": 64, "friction": friction}
        found = sensitivity(problem, direction, **options)
        assert (found.method, found.one_sided) == ("sample", False)
        assert np.vdot(found.gradient["v"], problem.v) == pytest.approx(found.value, abs=1e-6 * problem.speed)
        assert np.vdot(found.gradient["M"], problem.M) == pytest.approx(0.0, abs=1e-5 * problem.speed)
        for name in FIELDS if nc == 1 else ():
            change = rng.normal(size=getattr(problem, name).shape)
            change = 0.1 * (change + change.T) if name == "M" else change
            ends = [
                worst_case(
                    problem.replace(**{name: getattr(problem, name) + side * 1e-3 * change}),
                    direction,
                    **options,
                ).value
                for side in (1, -1)
            ]
            slope = (ends[0] - ends[1]) / 2e-3
            assert found.along(**{name: change}) == pytest.approx(slope, abs=2e-3 * problem.speed), name


def test_where_two_outcomes_are_equally_bad_the_slope_is_one_sided():
    block = routh.systems.get("rocking-block").problem
    assert worst_case(block, Quadratic(np.diag([0.0, 0.0, 1.0]))).tied  # either corner may lift
    assert sensitivity(block, Quadratic(np.diag([0.0, 0.0, 1.0]))).one_sided
    assert not worst_case(block, [0.0, 0.0, 1.0]).tied


def test_where_nothing_approaches_only_the_velocity_counts():
    block = routh.systems.get("rocking-block").problem
    still = block.replace(v=-block.v)
    found = sensitivity(still, block.names[0])
    np.testing.assert_array_equal(found.gradient["v"], block.Jn[0])
    np.testing.assert_array_equal(found.gradient["Jn"], [still.v, 0.0 * still.v])
    assert not found.gradient["mu"].any()


def test_bad_requests_are_named():
    problem, direction, _ = planar(1)
    with pytest.raises(ValueError, match="changes: got 'colour'; wanted one of 'v', 'M'"):
        sensitivity(problem, direction).along(colour=1.0)
    nothing = worst_case(problem, direction)
    object.__setattr__(nothing, "value", np.nan)
    with pytest.raises(RouthError, match="no outcome was found"):
        sensitivity(problem, direction, worst=nothing)


def test_two_whole_numbers_are_a_direction_and_no_contact():
    problem = routh.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.3, [1.0, -1.0])
    found, same = sensitivity(problem, (0, 1)), sensitivity(problem, np.array([0.0, 1.0]))
    for name in same.gradient:
        np.testing.assert_array_equal(found.gradient[name], same.gradient[name])


def test_where_nothing_approaches_the_restitution_does_not_count_either():
    problem = routh.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.3, [1.0, 1.0], restitution=0.5)
    np.testing.assert_array_equal(sensitivity(problem, [0.0, 1.0]).gradient["restitution"], [0.0])
