from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

import routh
from problems import colliding, family_problem, problems, random_problem
from routh.base.status import Status
from routh.kernels.algorithm1.sampling import run
from routh.laws.set_valued import accumulate, impulse_step
from routh.problem.pointedness import pointedness
from routh.sampling import algorithm1
from routh.sampling.algorithm1 import sobol_table, uniform_numbers
from routh.step import make_step

NAMES = ["rocking-block", "compass-gait", "box-wall", "ramone", "disk-stack", "disk-stack-5kg"]


def draw(name, n, **options):
    system = routh.systems.get(name)
    return routh.sampling.sample_by_steps(system.problem, n, step=system.paper.step, **options)


@pytest.mark.parametrize("name", NAMES)
def test_samples_end_dissipate_and_keep_momentum(name):
    outcomes = draw(name, 128, max_steps=100)
    problem = outcomes.problem
    assert np.all(outcomes.terminated)
    assert outcomes.status_counts() == {routh.Status.SOLVED: 128}
    assert not outcomes.jammed
    assert np.all(outcomes.residual < 1e-9)
    before = problem.kinetic_energy()
    assert np.all(outcomes.kinetic_energy <= before * (1.0 + 1e-12) + 10.0 * outcomes.residual * before)
    momentum = (outcomes.v - problem.v) @ problem.M
    applied = outcomes.impulse.reshape(128, -1) @ problem.J.reshape(-1, problem.nv)
    # friction of 1e5 makes impulses that cancel to a few digits
    size = max(1.0, np.abs(outcomes.impulse).max())
    np.testing.assert_allclose(momentum, applied, atol=1e-12 * size * np.abs(problem.M).max())
    assert outcomes.contact_velocity.shape == (128, problem.nc, 2)


def test_a_sample_does_not_depend_on_its_batch():
    few, many = draw("rocking-block", 10, seed=3), draw("rocking-block", 40, seed=3)
    np.testing.assert_array_equal(few.v, many.v[:10])
    assert not np.array_equal(draw("rocking-block", 10, seed=4).v, few.v)
    few, many = draw("rocking-block", 8, points="sobol"), draw("rocking-block", 32, points="sobol")
    np.testing.assert_array_equal(few.v, many.v[:8])


def test_sampling_scales_with_the_velocity():
    problem = routh.systems.get("disk-stack").problem
    one = routh.sampling.sample_by_steps(problem, 20)
    other = routh.sampling.sample_by_steps(problem.replace(v=1024.0 * problem.v), 20)
    np.testing.assert_array_equal(other.v, 1024.0 * one.v)


def test_the_default_step_is_each_contacts_momentum_scale():
    problem = routh.systems.get("rocking-block").problem
    outcomes = routh.sampling.sample_by_steps(problem, 4)
    expected = problem.speed * np.sqrt(problem.scaling.mass)
    np.testing.assert_allclose(outcomes.settings["step"], expected)


def test_step_limits_are_statuses_and_no_sample_is_lost():
    outcomes = draw("disk-stack-5kg", 50, max_steps=6)
    assert len(outcomes) == 50
    assert set(outcomes.status_counts()) == {routh.Status.SOLVED, routh.Status.MAX_STEPS}
    np.testing.assert_array_equal(outcomes.terminated, outcomes.status == routh.Status.SOLVED)
    assert np.all(outcomes.steps <= 6)


def wedge():
    """A point mass between two facing walls with much friction: the cone is not pointed."""
    return routh.ImpactProblem(
        np.eye(2), [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]], 2.0, [1.0, -0.5]
    )


def test_a_jammed_cone_is_reported_before_and_after():
    problem = wedge()
    before = pointedness(problem)
    assert before.jammed
    assert before.margin < 1e-9
    assert np.all(np.isnan(before.direction))
    outcomes = routh.sampling.sample_by_steps(problem, 20, step=1e-3, max_steps=5)
    assert outcomes.jammed
    assert set(outcomes.status_counts()) == {routh.Status.JAMMED}
    assert not np.any(outcomes.terminated)
    free = pointedness(routh.systems.get("rocking-block").problem)
    assert free.pointed
    assert free.margin > 0.1


def test_modes_and_their_summary():
    outcomes = draw("rocking-block", 300)
    rows = outcomes.summary()
    assert {row.modes for row in rows} == {
        ("sticks", "separates"),
        ("separates", "sticks"),
        ("sticks", "sticks"),
    }
    assert sum(row.count for row in rows) == 300
    assert [row.count for row in rows] == sorted((row.count for row in rows), reverse=True)
    normal = outcomes.contact_velocity[..., 0]
    assert np.array_equal(outcomes.modes == 0, normal > 1e-7 * outcomes.problem.scaling.velocity)
    assert "n=300, solved=300" in repr(outcomes)


def test_saves_and_loads_without_pickle(tmp_path):
    outcomes = draw("compass-gait", 16)
    outcomes.save(tmp_path / "gait.npz")
    loaded = routh.Outcomes.load(tmp_path / "gait.npz")
    for name in ("v", "impulse", "steps", "status", "residual"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(outcomes, name))
    assert loaded.settings == outcomes.settings
    assert loaded.problem.names == outcomes.problem.names
    np.savez(tmp_path / "other.npz", a=1)
    with pytest.raises(ValueError, match="has no array 'parts'"):
        routh.Outcomes.load(tmp_path / "other.npz")


@pytest.mark.parametrize("name", ["rocking-block", "box-wall"])
def test_algorithm_two_closes_what_is_nearly_closed(name):
    system = routh.systems.get(name)
    epsilon = 0.05
    outcomes = routh.approximate(
        system.problem, epsilon, n=64, step=system.paper.step, max_steps=system.paper.max_steps
    )
    assert len(outcomes) == 64
    assert np.all(outcomes.terminated)
    cut = routh.approximate(system.problem, epsilon, n=64, step=system.paper.step, max_steps=1)
    plain = routh.sampling.sample_by_steps(system.problem, 64, step=system.paper.step, max_steps=1)
    moved = np.linalg.norm(cut.v - plain.v, axis=1)
    assert np.all(moved <= epsilon / 3.0)  # E.7: the closing step moves v by at most epsilon / 3
    assert np.all(moved[~plain.terminated] > 0.0)
    with pytest.raises(ValueError, match=r"epsilon: got 1\.0; wanted a number between 0 and the step"):
        routh.approximate(system.problem, 1.0, step=0.5)


@given(problems(nts=(2,)))
@settings(max_examples=10)
def test_random_spatial_problems_with_both_cones(problem):
    for friction in ("polyhedral", "cone"):
        outcomes = routh.sampling.sample_by_steps(problem, 3, friction=friction, max_steps=20)
        assert set(outcomes.status_counts()) <= {
            routh.Status.SOLVED,
            routh.Status.MAX_STEPS,
            routh.Status.JAMMED,
        }
        assert np.all(outcomes.residual < 1e-9)


def test_no_impact_is_a_status():
    block = routh.systems.get("rocking-block").problem
    outcomes = routh.sampling.sample_by_steps(block.replace(v=np.zeros(3)), 5)
    assert outcomes.status_counts() == {routh.Status.NO_IMPACT: 5}
    assert np.all(outcomes.terminated)
    assert np.all(outcomes.steps == 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n: got 0; wanted an integer >= 1"),
        ({"n": 1.5}, "n: got 1.5 .*wanted an integer"),
        ({"n": True}, "n: got True .*wanted an integer"),
        ({"step": 0.0}, "step: got 0.0; wanted positive impulses"),
        ({"step": [0.1, np.nan]}, "step: got nan"),
        ({"step": [0.1, 0.1, 0.1]}, r"step: got shape \(3,\)"),
        ({"max_steps": 0}, "max_steps: got 0; wanted an integer >= 1"),
        ({"seed": -1}, "seed: got -1; wanted an integer >= 0"),
        ({"seed": "lucky"}, "seed: got 'lucky'"),
        ({"points": "grid"}, "points: got 'grid'; wanted one of 'random', 'sobol'"),
        ({"friction": "round"}, "friction: got 'round'"),
        ({"facets": 8}, "facets: got 8; planar friction has exactly 2 directions"),
        ({"device": "abacus"}, "device: got 'abacus'; wanted one of"),
        ({"threads": 0}, "threads: got 0; wanted an integer >= 1"),
        ({"threads": 2, "device": "cuda"}, "threads: got 2 with device 'cuda'"),
    ],
)
def test_bad_options_are_named(options, message):
    arguments = {"n": 4, **options}
    with pytest.raises(ValueError, match=message):
        routh.sampling.sample_by_steps(
            routh.systems.get("rocking-block").problem, arguments.pop("n"), **arguments
        )


def test_random_problems_end_or_say_why():
    rng = np.random.default_rng(8)
    for _ in range(20):
        problem = colliding(random_problem(rng, nt=1))
        outcomes = routh.sampling.sample_by_steps(problem, 4, max_steps=60)
        ended = outcomes.status == routh.Status.SOLVED
        assert np.array_equal(ended, outcomes.terminated)


# LCPs per sample with an exact solver and uniform lambda_max, 2^16 samples, recomputed independently.
LCPS_PER_SAMPLE = {
    "rocking-block": 2.47,
    "compass-gait": 1.69,
    "box-wall": 1.54,
    "ramone": 3.00,
    "disk-stack": 2.36,
    "disk-stack-5kg": 6.68,
}


@pytest.mark.parametrize("name", NAMES)
def test_lcps_per_sample(name):
    outcomes = draw(name, 2**16)
    assert outcomes.steps.mean() == pytest.approx(LCPS_PER_SAMPLE[name], rel=0.01)
    assert outcomes.status_counts() == {routh.Status.SOLVED: 2**16}


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_agrees_with_the_reference(name):
    system = routh.systems.get(name)
    for points in ("random", "sobol"):
        fast = draw(name, 12, points=points)
        nc, size = system.problem.nc, impulse_step(system.problem, system.paper.step)
        table = sobol_table(nc, 12, 1000, 0) if points == "sobol" else None
        solver = make_step(system.problem, friction="polyhedral")
        for i in range(12):
            numbers = partial(uniform_numbers, nc, table, 0, 0, i)
            slow = accumulate(system.problem, solver, lambda k, get=numbers, h=size: h * get(k), 1000)
            np.testing.assert_allclose(fast.v[i], slow.v, atol=1e-11 * np.abs(system.problem.v).max())
            assert (fast.steps[i], fast.status[i]) == (len(slow.path.impulse), slow.status)


def test_what_the_kernel_cannot_solve_costs_a_bounded_number_of_readable_steps(monkeypatch):
    """The readable solver can need a second for a step, so not all that fail are drawn again."""
    taken = []

    class Counted:
        def __init__(self, solver):
            self.solver = solver

        def solve(self, v, bound):
            taken.append(1)
            return self.solver.solve(v, bound)

    def failing(*given, **options):
        samples = run(*given, **options)
        samples.status[:] = Status.NUMERICAL
        return samples

    monkeypatch.setattr(algorithm1, "make_step", lambda *a, **o: Counted(make_step(*a, **o)))
    monkeypatch.setattr(algorithm1, "run", failing)
    problem, _ = family_problem("spatial-3", 0)
    outcomes = routh.sampling.sample_by_steps(problem, 16, friction="cone", threads=1)
    assert 0 < len(taken) <= algorithm1.REDRAWN_STEPS
    assert sum(outcomes.status_counts().values()) == 16
    assert np.all(np.isfinite(outcomes.v))
    fewer = routh.sampling.sample_by_steps(problem, 8, friction="cone", threads=1)
    np.testing.assert_array_equal(fewer.v, outcomes.v[:8])
    np.testing.assert_array_equal(fewer.status, outcomes.status[:8])
