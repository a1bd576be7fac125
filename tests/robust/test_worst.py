"""Worst outcomes against exact sets, samples and the checker."""

import numpy as np
import pytest

import routh
from problems import problem_of_size
from routh.base.status import Status
from routh.exact.build import exact_set
from routh.robust import Answer, Quadratic, holds, worst_case, worst_cases
from routh.sampling.path_residual import path_residual
from spatial_path import spatial_path_residual

pytest.importorskip("ppl")
CASES = [(seed, nc) for nc in (1, 2, 3) for seed in range(4)]


def planar(seed, nc):
    return problem_of_size(np.random.default_rng(seed), nc, 1, 0.5, nv=3)


@pytest.mark.parametrize(("seed", "nc"), CASES)
def test_both_methods_agree_with_the_exact_support(seed, nc):
    problem = planar(seed, nc)
    direction = np.random.default_rng(100 + seed).normal(size=3)
    unit = problem.speed
    exact = worst_case(problem, direction)
    filled = worst_case(problem, direction, method="fill", climbs=16)
    support = float(exact_set(problem).support(direction))
    assert (exact.method, filled.method) == ("exact", "fill")
    assert exact.status is Status.SOLVED
    assert exact.value == pytest.approx(support, abs=1e-12 * unit)
    assert filled.value == pytest.approx(support, abs=1e-6 * unit)
    for found in (exact, filled):
        assert found.value == pytest.approx(float(direction @ found.v), abs=1e-9 * unit)
        assert found.bound >= support - 1e-12 * unit
        assert found.gap >= 0.0
    samples = routh.sample(problem, 2000).v @ direction
    assert samples.max() <= min(exact.bound, filled.bound) + 1e-9 * unit


@pytest.mark.parametrize(("seed", "nc"), CASES[:8])
def test_paths_lead_to_the_worst_outcome_and_obey_the_model(seed, nc):
    problem = planar(seed, nc)
    for method in ("exact", "fill"):
        found = worst_case(problem, [1.0, -0.5, 0.3], method=method, climbs=16)
        if found.path is None:  # a vertex that outcomes only approach
            continue
        np.testing.assert_allclose(found.path.v[0], problem.v, atol=1e-12)
        np.testing.assert_allclose(found.path.v[-1], found.v, atol=1e-9)
        assert path_residual(problem, found.path) < 1e-8


def test_convex_quadratics_have_their_worst_outcome_at_a_vertex():
    problem = planar(3, 2)
    objective = Quadratic(np.diag([1.0, 2.0, 0.5]), [0.1, 0.0, -0.2])
    found = worst_case(problem, objective)
    samples = objective.values(routh.sample(problem, 4000).v)
    assert samples.max() <= found.value * (1 + 1e-9) <= found.bound * (1 + 2e-9)
    filled = worst_case(problem, objective, method="fill", climbs=16)
    assert filled.value == pytest.approx(found.value, rel=1e-6)
    assert filled.bound >= found.value
    own = worst_case(problem, objective.values, climbs=16)
    assert own.bound is None
    assert own.gap is None
    assert own.value == pytest.approx(found.value, rel=1e-5)


def test_space_and_restitution_are_filled_with_a_bound_from_energy():
    spatial = problem_of_size(np.random.default_rng(1), 2, 2, 0.5, nv=6)
    for problem in (spatial, spatial.replace(restitution=0.5), planar(2, 2).replace(restitution=1.0)):
        direction = problem.Jn[0]
        found = worst_case(problem, direction, max_samples=1024)
        assert found.method == "fill"
        assert found.status is Status.INCOMPLETE
        assert (routh.sample(problem, 500).v @ direction).max() <= found.bound + 1e-9
        assert found.value <= found.bound
    created = worst_case(planar(2, 2).replace(restitution=0.9), [0.0, 1.0, 0.0], hypothesis="poisson")
    assert created.bound is None


def test_where_nothing_approaches_the_worst_outcome_is_the_only_one():
    problem = routh.systems.get("rocking-block").problem
    still = problem.replace(v=-problem.v)
    found = worst_case(still, [0.0, 1.0, 0.0])
    assert found.status is Status.NO_IMPACT
    assert found.value == found.bound == still.v[1]


def test_batches_row_by_row():
    problem = routh.systems.get("rocking-block").problem
    spatial = problem_of_size(np.random.default_rng(1), 2, 2, 0.5, nv=6)
    given = [problem, None, problem.replace(mu=0.1), problem.replace(v=-problem.v), spatial]
    batch = routh.ImpactBatch.from_problems(given)
    directions = np.random.default_rng(0).normal(size=(5, 6))
    found = worst_cases(batch, directions, max_samples=512)
    assert found.value.shape == found.bound.shape == found.gap.shape == found.status.shape == (5,)
    assert found.v.shape == (5, 6)
    assert found.status.tolist()[1::2] == [Status.NO_CONTACT, Status.NO_IMPACT]
    for row in (0, 2, 3, 4):
        alone = worst_case(given[row], directions[row, : given[row].nv], max_samples=512)
        assert found.value[row] == alone.value
        assert found.bound[row] == alone.bound
        assert found.gap[row] == alone.gap
        np.testing.assert_array_equal(found[row].v, alone.v)
        np.testing.assert_array_equal(found[row].path.v[-1], alone.path.v[-1])
    assert np.isnan(found.value[1])  # nothing touches, and nobody knows how it moves
    created = worst_cases(batch, lambda v: v[:, 0] ** 2, max_samples=512, climbs=16)
    assert created.bound[0] == created.gap[0] == np.inf
    assert created[0].bound is None
    with pytest.raises(ValueError, match=r"objective: got shape \(2, 3\)"):
        worst_cases(batch, np.ones((2, 3)))


def test_a_batch_keeps_rows_that_could_not_be_done():
    problem = routh.systems.get("rocking-block").problem
    batch = routh.ImpactBatch.from_problems([problem, problem.replace(v=-problem.v)])
    found = worst_cases(batch, [0.0, 1.0, 0.0], method="exact", budget=1e-9)
    assert found.status.tolist() == [Status.INCOMPLETE, Status.NO_IMPACT]
    assert np.isnan([found.value[0], found.gap[0]]).all()


def test_a_row_in_which_nothing_touches_keeps_its_velocity():
    problem = routh.systems.get("rocking-block").problem
    arrays = {"M": problem.M, "Jn": problem.Jn, "Jt": problem.Jt, "mu": problem.mu}
    there = [[True, True], [False, False]]
    batch = routh.ImpactBatch(**arrays, v=[problem.v, problem.v], present=there, names=problem.names)
    found = worst_cases(batch, [0.0, 1.0, 0.0])
    assert found.status.tolist() == [Status.SOLVED, Status.NO_CONTACT]
    assert found.value[1] == found.bound[1] == problem.v[1]
    assert np.isnan(worst_cases(batch, problem.names[0]).value[1])  # a contact that is not there


@pytest.mark.parametrize("friction", ["cone", "polyhedral"])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_paths_in_space_lead_to_the_worst_outcome_and_obey_the_model(friction, restitution):
    problem = problem_of_size(np.random.default_rng(2), 3, 2, 0.5, nv=6).replace(restitution=restitution)
    found = worst_case(problem, problem.Jn[0] + problem.Jt[0, 0], max_samples=512, friction=friction)
    assert found.path.kind == ("curved" if friction == "cone" else "straight")
    np.testing.assert_allclose(found.path.v[0], problem.v, atol=1e-12)
    np.testing.assert_allclose(found.path.v[-1], found.v, atol=1e-9)
    facets = None if friction == "cone" else 8
    assert spatial_path_residual(problem, found.path, facets=facets) < 1e-6


def test_guarantees_are_proved_refuted_with_a_path_or_unknown():
    problem = routh.systems.get("rocking-block").problem
    names = problem.names
    worst = {name: worst_case(problem, name).value for name in names}
    high = holds(problem, {name: worst[name] + 0.01 for name in names})
    assert high.answer is Answer.PROVED
    assert high.counterexample is None
    low = holds(problem, {names[0]: worst[names[0]] - 0.01, names[1]: 10.0})
    assert low.answer is Answer.REFUTED
    assert low.counterexample.path is not None
    assert path_residual(problem, low.counterexample.path) < 1e-8
    assert float(problem.Jn[0] @ low.counterexample.path.v[-1]) > worst[names[0]] - 0.01
    filled = holds(problem, {names[0]: worst[names[0]] + 1e-6}, method="fill", climbs=16)
    assert filled.answer is Answer.UNKNOWN
    with pytest.raises(TypeError, match="three answers"):
        bool(filled)


def test_filling_climbs_to_the_farthest_outcome():
    """Samples alone, polished, miss the support of this problem by 1.9e-5 of what energy allows."""
    rng = np.random.default_rng([25, 90])
    problem = problem_of_size(rng, 3, 1, rng.choice([0.0, 0.3, 0.5, 1.0], 3), nv=3)
    rng.normal(size=(3, 3))
    direction = rng.normal(size=3)
    unit = float(np.linalg.norm(np.linalg.solve(problem.cholesky, direction))) * problem.speed
    found = worst_case(problem, direction, method="fill")
    assert found.value == pytest.approx(float(exact_set(problem).support(direction)), abs=1e-9 * unit)
    assert path_residual(problem, found.path) < 1e-8


def test_guarantees_of_a_batch_are_those_of_its_rows():
    block = routh.systems.get("rocking-block").problem
    name = block.names[0]
    given = [block, block.replace(mu=0.1), block.replace(v=2.0 * block.v)]
    batch = routh.ImpactBatch.from_problems(given)
    limit = 1.5 * worst_case(block, name).value
    found = holds(batch, {name: limit, "tipping": ([0.0, 0.0, 1.0], 10.0)})
    assert len(found) == 3
    assert found.answers.tolist() == ["proved", "proved", "refuted"]
    for row, problem in enumerate(given):
        alone = holds(problem, {name: limit, "tipping": ([0.0, 0.0, 1.0], 10.0)})
        assert found[row].answer is alone.answer
        assert found[row].worst[name].value == alone.worst[name].value
    assert found.counterexamples[:2] == (None, None)
    assert path_residual(given[2], found.counterexamples[2].path) < 1e-8
    with pytest.raises(TypeError, match="three answers a row"):
        bool(found)
    with pytest.raises(ValueError, match="conditions: got none"):
        holds(batch, {})


def test_guarantees_of_rows_without_an_impact():
    block = routh.systems.get("rocking-block").problem
    arrays = {"M": block.M, "Jn": block.Jn, "Jt": block.Jt, "mu": block.mu}
    there = [[True, True], [False, False]]
    batch = routh.ImpactBatch(**arrays, v=[block.v, block.v], present=there, names=block.names)
    up = [0.0, 1.0, 0.0]  # where nothing touches, the block goes on falling
    assert holds(batch, {"up": (up, 2.0 * block.v[1])})[1].answer is Answer.REFUTED
    assert holds(batch, {"up": (up, 0.0)})[1].answer is Answer.PROVED
    assert holds(batch, {block.names[0]: 1.0}).answers.tolist() == ["proved", "unknown"]
    nobody = routh.ImpactBatch.from_problems([block, None])
    assert holds(nobody, {"up": (up, 1.0)}).answers.tolist() == ["proved", "unknown"]


@pytest.mark.parametrize(
    ("objective", "match"),
    [
        ([0.0, 0.0, 0.0], "direction: got zeros"),
        ([1.0, np.nan, 0.0], "direction"),
        ("knee", "knee"),
        (lambda v: v, r"objective: .*shape \("),
        (lambda v: np.full(len(v), np.nan), "objective"),
    ],
)
def test_bad_objectives_are_named(objective, match):
    problem = routh.systems.get("rocking-block").problem
    with pytest.raises(ValueError, match=match):
        worst_case(problem, objective)


def test_quadratics_that_are_not_convex_are_refused():
    with pytest.raises(ValueError, match="eigenvalue -1"):
        Quadratic(np.diag([1.0, -1.0]))
    with pytest.raises(ValueError, match="symmetric"):
        Quadratic([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="wanted 3"):
        worst_case(routh.systems.get("rocking-block").problem, Quadratic(np.eye(2)))


def test_a_contact_that_a_row_does_not_have_stays_unknown():
    both = problem_of_size(np.random.default_rng(1), 2, 1, 0.5).replace(names=["A", "B"])
    one = routh.ImpactProblem(np.eye(2), [[0.0, 1.0]], [[1.0, 0.0]], 0.5, [0.0, -1.0], names=["A"])
    batch = routh.ImpactBatch.from_problems([both, one])
    found = worst_cases(batch, "B", method="fill", max_samples=64)
    assert np.isfinite(found.value[0])
    assert np.isnan(found.value[1])
    assert found.status[1] == Status.NO_CONTACT
    assert found[1].bound is None
    np.testing.assert_array_equal(np.isnan(worst_cases(batch, (1, (1.0, 0.0)), max_samples=64).value), [0, 1])
    assert holds(batch, {"A": 100.0, "B": 100.0}, max_samples=64).answers.tolist() == ["proved", "unknown"]
    with pytest.raises(ValueError, match="contact: got 'C'"):
        worst_cases(batch, "C")


def test_in_space_few_samples_reach_the_worst_and_bounds_know_the_cones():
    """Extreme rates reach at once nearly what thousands of samples do; elastic bounds use the cones, too."""
    from landers import flat, lander

    from routh.robust import tipping

    q, v = flat(0.8, 1.5)
    q[3:7] = [1.0, 0.001, 0.0005, 0.0]
    for elastic, nearly in ((0.0, 0.995), (0.3, 0.95)):  # elastic extremes are rarer
        found = tipping(lander(), q, v, restitution=elastic)
        problem, direction = found.problem, found.support.rates[0]
        worst = worst_case(problem, direction)
        many = routh.sample(problem, 4096, seed=5)
        assert len(worst.sample[0]) < 2048
        assert worst.value >= nearly * (many.v @ direction).max()
        assert worst.bound >= worst.value
        assert worst.gap == pytest.approx(worst.bound - worst.value)
        down = np.array([0.0, 0.0, -1.0, 0.0, 0.0, 0.0])  # no outcome of a flat touch-down goes on downwards
        assert worst_case(problem, down).bound < 0.5 * 1.5


def test_one_of_two_contacts_stays():
    """Proved on the exact set; refuted by a path; unknown where neither is to be had."""
    block, disks = routh.systems.impact("rocking-block"), routh.systems.impact("disk-stack-5kg")
    assert holds(block, {("A", "B"): 0.0, "A": 0.1}).answer is Answer.PROVED
    assert holds(block, {("A", "B"): 0.0}, method="fill").answer is Answer.UNKNOWN
    found = holds(disks, {("C", "D"): 0.0}, budget=1e-9)
    assert found.answer is Answer.REFUTED
    path = found.counterexample.path
    assert path_residual(disks, path) < 1e-12
    assert (disks.Jn[[2, 3]] @ path.v[-1]).min() > 1e-3
    with pytest.raises(ValueError, match="at least two different contacts"):
        holds(block, {("A", "A"): 0.0})
    with pytest.raises(ValueError, match="for a single problem, not a batch"):
        holds(routh.ImpactBatch.from_problems([block]), {("A", "B"): 0.0})


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_on_the_slower_of_two_contacts_holds_for_samples(seed):
    problem = planar(seed, 2)
    names = problem.names
    worst = holds(problem, {names: 0.0}).worst[" or ".join(names)]
    least = (routh.sample(problem, 1000, seed=9).v @ problem.Jn.T).min(axis=1)
    assert least.max() <= worst.bound + 1e-9 * problem.speed


def test_beside_filling_planar_bounds_are_the_tight_ones():
    problem = routh.systems.get("compass-gait").problem
    loose, tight = (worst_case(problem, "A", method="fill", climbs=0, level=level) for level in (0, None))
    assert tight.value == loose.value
    assert tight.value <= tight.bound < 0.9 * loose.bound
