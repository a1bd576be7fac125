import math

import numpy as np
import pytest
from hypothesis import given, settings

import routh
from problems import colliding, cone_generators, problems, random_problem
from routh import laws
from routh.problem.pointedness import pointedness
from routh.reproduce import theory
from routh.reproduce.unique import lipschitz_constant, uniqueness
from routh.sampling.algorithm1 import psi


@given(problems())
@settings(max_examples=40)
def test_lemma_6_direction(problem):
    cone = pointedness(problem, friction="polyhedral")
    if cone.jammed:
        return
    generators = cone_generators(problem)
    assert np.all(generators @ problem.solve_mass(cone.direction) >= 1.0 - 1e-9)  # HP23 (77)
    rng = np.random.default_rng(0)
    weights = rng.random((20, len(generators)))
    forces = weights @ generators
    assert np.all(
        forces @ problem.solve_mass(cone.direction) >= weights.sum(axis=1) - 1e-6 * weights.sum(axis=1)
    )


def test_lemma_2_bounds_the_duration_of_rouths_method():
    rng = np.random.default_rng(1)
    for _ in range(200):
        problem = colliding(random_problem(rng, nt=1, nc=1, mu=rng.choice([0.0, 0.2, 1.0, 5.0])))
        result = laws.SingleContact()(problem)
        assert result.impulse[0, 0] <= theory.single_contact_kappa(problem) * problem.speed * (1.0 + 1e-9)


def test_theorem_8_bounds_the_number_of_steps():
    for name in ("rocking-block", "compass-gait", "box-wall"):
        system = routh.systems.get(name)
        bound = theory.termination_bound(system.problem, step=system.paper.step, probability=0.999)
        outcomes = routh.sampling.sample_by_steps(system.problem, 64, step=system.paper.step)
        assert outcomes.steps.max() < bound < 10_000


def test_lemma_1_counts():
    # one cell: one sample is enough; two cells in one dimension: 1 - 2 (1/2)^N >= 1 - delta
    assert theory.dense_sample_count(step=1.0, lipschitz=0.5, dimension=1, epsilon=1.0, delta=0.1) == 1
    assert theory.dense_sample_count(
        step=1.0, lipschitz=1.5, dimension=1, epsilon=1.0, delta=0.1
    ) == math.ceil(math.log2(20))
    count = theory.dense_sample_count(step=0.3, lipschitz=2.0, dimension=2, epsilon=0.1, delta=0.05)
    cells = math.ceil(0.3 * 2.0 * math.sqrt(2) / 0.1) ** 2
    assert cells * (1.0 - 1.0 / cells) ** count <= 0.05 < cells * (1.0 - 1.0 / cells) ** (count - 1)


def test_lemma_1_is_kept_by_an_experiment():
    """Uniform samples of a square do form an epsilon-net as often as promised."""
    epsilon, delta = 0.25, 0.1
    n = theory.dense_sample_count(step=1.0, lipschitz=1.0, dimension=2, epsilon=epsilon, delta=delta)
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 21)] * 2), -1).reshape(-1, 2)
    missed = 0
    for _ in range(50):
        points = rng.random((n, 2))
        nearest = np.linalg.norm(grid[:, None] - points[None], axis=2).min(axis=1)
        missed += nearest.max() > epsilon
    assert missed / 50 <= delta


def test_counts_of_the_whole_approximation():
    """HP23 (171) is Lemma 1 for N m dimensions and the constant L^N; it is astronomically large."""
    arguments = {"step": 0.3, "max_steps": 2, "contacts": 2, "net": 0.1, "delta": 0.05}
    direct = theory.dense_sample_count(step=0.3, lipschitz=1.5**2, dimension=4, epsilon=0.1, delta=0.05)
    assert theory.approximation_sample_count(lipschitz=1.5, **arguments) == direct
    paper = theory.approximation_sample_count(**{**arguments, "max_steps": 10}, lipschitz=1.5)
    assert paper > 10**30
    with pytest.raises(ValueError, match="too large"):
        theory.approximation_sample_count(**{**arguments, "max_steps": 10_000}, lipschitz=3.0)


def test_psi_bounds_the_closing_step():
    rng = np.random.default_rng(2)
    for _ in range(30):
        problem = colliding(random_problem(rng, nt=1))
        bound = np.full(problem.nc, 1e-3)
        result = routh.step.PolyhedralStep(problem).solve(problem.v, bound)
        assert np.linalg.norm(result.v - problem.v) <= 1e-3 * psi(problem)


@pytest.mark.parametrize("name", ["compass-gait", "box-wall", "ramone", "disk-stack"])
def test_assumption_6_is_refuted_by_two_solutions(name):
    problem = routh.systems.get(name).problem
    verdict = uniqueness(problem)
    assert verdict.verdict == "refuted"
    step = routh.step.PolyhedralStep(problem)
    first, second = verdict.solutions
    for solution in (first, second):
        assert step.residual(verdict.v, verdict.lambda_max, solution.impulse) < 1e-6
    assert np.sqrt(problem.kinetic_energy(first.v - second.v)) > 1e-5 * problem.speed


@given(problems(nts=(1,), mu=0.1, nv=6))
@settings(max_examples=30)
def test_assumption_6_is_never_certified_falsely(problem):
    if problem.nc > 3:
        problem = colliding(problem.subset(range(3)))
    verdict = uniqueness(problem, budget=0.0)
    if verdict.verdict == "certified":
        rng = np.random.default_rng(0)
        for _ in range(3):
            bound = problem.scaling.impulse * rng.random(problem.nc)
            velocity = rng.normal(size=problem.nv)
            moved = problem.replace(v=velocity)
            assert len(routh.step.PolyhedralStep(moved).solutions(velocity, bound)) == 1


def test_assumption_6_certificates():
    block = routh.systems.get("rocking-block").problem
    assert uniqueness(block.replace(mu=0.0)).verdict == "certified"
    independent = routh.ImpactProblem(
        np.eye(4), np.eye(4)[[0, 2]], np.eye(4)[[1, 3]], 0.5, [-1.0, 1.0, -1.0, 1.0]
    )
    assert uniqueness(independent).verdict == "certified"
    spatial = routh.ImpactProblem(np.eye(3), np.eye(3)[:1], np.eye(3)[None, 1:], 0.5, [-1.0, 1.0, 0.0])
    assert uniqueness(spatial).verdict == "certified"
    found = uniqueness(block, budget=0.0)
    assert (found.verdict, found.status) == ("undecided", routh.Status.UNDECIDED)


def test_assumption_6_of_hp23s_block_and_box():
    """Linear programs over pairs of modes: the block's step is unique, that of the box has two solutions."""
    assert uniqueness(routh.systems.impact("rocking-block")).verdict == "certified"
    box = routh.systems.impact("box-wall")
    found = uniqueness(box)
    step = routh.step.PolyhedralStep(box)
    assert len(step.solutions(found.v, found.lambda_max)) == 2  # by enumeration, which knows no programs
    assert len(step.solutions(np.array([0.654435, 0.654435, -1.0]), np.array([0.345565, 1.0]))) >= 2


@given(problems(nts=(1,), mu=1.0, nv=3))
@settings(max_examples=5)
def test_pairs_of_modes_agree_with_enumerated_solutions(problem):
    """Whatever is certified has one solution at random velocities; whatever is refuted has two."""
    problem = colliding(problem.subset(range(min(problem.nc, 2))))
    verdict = uniqueness(problem)
    step = routh.step.PolyhedralStep(problem)
    if verdict.verdict == "refuted":
        assert len(step.solutions(verdict.v, verdict.lambda_max)) >= 2
    rng = np.random.default_rng(0)
    for _ in range(5 if verdict.verdict == "certified" else 0):
        velocity, bound = rng.normal(size=problem.nv), problem.scaling.impulse * rng.random(problem.nc)
        assert len(step.solutions(velocity, bound)) == 1


def test_the_blocks_step_magnifies_by_lemma_7s_constant_and_no_more():
    block = routh.systems.impact("rocking-block")
    constant = lipschitz_constant(block)
    assert constant == pytest.approx(8.9678, abs=1e-4)
    step, rng = routh.step.PolyhedralStep(block), np.random.default_rng(0)
    largest = 0.0
    for _ in range(300):
        v, bound = rng.normal(size=3), rng.random(2)
        dv, more = 1e-6 * rng.normal(size=3), 1e-6 * rng.normal(size=2)
        moved = step.solve(v + dv, bound + more).v - step.solve(v, bound).v
        largest = max(largest, np.linalg.norm(moved) / np.linalg.norm([*dv, *more]))
    assert 0.2 * constant < largest <= constant * (1 + 1e-6)


def test_theorem_9_has_numbers_and_they_are_hopeless():
    block = routh.systems.impact("rocking-block")
    bound = theory.net_bound(block, step=0.3, epsilon=0.1, max_steps=2)
    assert 0.0 < bound.net <= 0.1 / 3
    assert bound.log10_runs > 16
    runs = theory.approximation_sample_count(
        step=0.3, lipschitz=bound.lipschitz, max_steps=2, contacts=2, net=0.01, delta=0.05
    )
    assert runs == pytest.approx(2e16, rel=0.05)
    # Lemma 9: nearly ended velocities end in one small step
    small, rng = 0.1 / (3 * psi(block)), np.random.default_rng(1)
    step = routh.step.PolyhedralStep(block)
    for _ in range(50):
        wanted = rng.uniform(-1.0, 1.0, size=2) * bound.separation
        v = np.array([rng.normal(), wanted.mean(), wanted[1] - wanted[0]])
        np.testing.assert_allclose(block.Jn @ v, wanted, atol=1e-15)
        assert (block.Jn @ step.solve(v, np.full(2, small)).v).min() >= -1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: theory.termination_bound(p, step=0.0), "step: got 0.0; wanted a finite number > 0"),
        (lambda p: theory.termination_bound(p, step=1.0, probability=1.5), "probability: got 1.5"),
        (lambda p: theory.single_contact_kappa(p, "Z"), "contact: got 'Z'"),
        (lambda p: uniqueness(p, trials=-1), "trials: got -1; wanted an integer >= 0"),
        (
            lambda p: theory.dense_sample_count(step=1.0, lipschitz=1.0, dimension=0, epsilon=0.1, delta=0.1),
            "dimension: got 0; wanted an integer >= 1",
        ),
        (
            lambda p: theory.dense_sample_count(
                step=1.0, lipschitz=1.0, dimension=1, epsilon=0.1, delta=np.nan
            ),
            "delta: got nan",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(routh.systems.get("rocking-block").problem)


def test_lemma_13_a_step_uses_a_bound_up_or_ends():
    rng = np.random.default_rng(5)
    for _ in range(40):
        problem = colliding(random_problem(rng, nt=1))
        bound = problem.scaling.impulse * rng.random(problem.nc) + 1e-3
        result = routh.step.PolyhedralStep(problem).solve(problem.v, bound)
        full = result.impulse[:, 0] >= bound * (1 - 1e-9)
        ended = problem.Jn @ result.v / problem.scaling.velocity >= -1e-9
        assert full.any() or ended.all()


def test_energy_can_fall_as_slowly_as_one_likes():
    """HP23 (42): two frictionless contacts along the axes; K' = v . J^T lambda."""
    for epsilon in (1e-1, 1e-3, 1e-6):
        v = -(1 + epsilon) / 2 * np.array([1.0, epsilon])
        rate = np.array([epsilon, 1.0]) / (1 + epsilon)
        assert v.max() < 0.0  # both approach
        assert rate.sum() == pytest.approx(1.0)
        assert -epsilon * (1 + 1e-12) <= v @ rate < 0.0


def test_a_jammed_cone_never_surely_ends():
    Jn, Jt = [[1.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [0.0, 1.0]]
    between_walls = routh.ImpactProblem(np.eye(2), Jn, Jt, 2.0, [1.0, -0.5])
    assert theory.termination_bound(between_walls, step=0.1) == math.inf
