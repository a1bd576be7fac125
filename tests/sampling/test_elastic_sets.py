import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from problems import ball_on_ball_and_wall, random_elastic_problem, row_of_balls
from routh import laws, two_body
from routh.laws.elastic import accumulate_elastic
from routh.laws.set_valued import accumulate
from routh.rng import uniforms
from routh.step import make_step


def rates(problem, size, seed=0, sample=0):
    return lambda k: size * problem.scaling.impulse * uniforms(seed, np.array([sample]), k, problem.nc)[0]


def test_without_restitution_the_samples_are_the_inelastic_ones_bit_for_bit():
    for name in ("rocking-block", "compass-gait", "box-wall"):
        problem = routh.systems.get(name).problem
        solver = make_step(problem)
        for sample in range(8):
            draw = rates(problem, 1.0, sample=sample)
            elastic = accumulate_elastic(problem, solver, draw, 100, "energetic")
            inelastic = accumulate(problem, solver, draw, 100)
            np.testing.assert_array_equal(elastic.path.v, inelastic.path.v)
            np.testing.assert_array_equal(elastic.impulse, inelastic.impulse)
            assert elastic.status is inelastic.status
            assert np.all(elastic.returned == 0.0)


def test_hypotheses_give_the_inelastic_set_without_restitution():
    problem = routh.systems.get("rocking-block").problem
    assert np.all(problem.restitution == 0.0)
    plain = routh.sample(problem, 16)
    for hypothesis in ("energetic", "poisson"):
        np.testing.assert_array_equal(routh.sample(problem, 16, hypothesis=hypothesis).v, plain.v)
    assert plain.stored is None
    assert np.all(plain.created == 0.0)


@pytest.mark.parametrize("step", [0.03, 0.3, 3.0])
def test_three_balls_fill_the_arc_and_nothing_else(step):
    problem = row_of_balls(3, 1.0)
    outcomes = routh.sample(problem, 4096, step=step, method="algorithm1")
    assert np.all(outcomes.status == routh.Status.SOLVED)
    v = outcomes.v
    np.testing.assert_allclose(v.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose((v**2).sum(axis=1), 1.0, atol=1e-9)
    assert np.all(np.diff(v, axis=1) >= -1e-7)
    # angle about the centre (1/3, 1/3, 1/3), from (0, 0, 1) to (-1/3, 2/3, 2/3): 60 degrees
    first, last = np.array([0.0, 0.0, 1.0]) - 1 / 3, np.array([-1.0, 2.0, 2.0]) / 3 - 1 / 3
    across = last - first * (first @ last) / (first @ first)
    angle = np.degrees(
        np.arctan2(v @ across / np.linalg.norm(across), (v - 1 / 3) @ first / np.linalg.norm(first))
    )
    angle = np.sort(angle)
    assert angle[0] >= -1e-5
    assert angle[-1] <= 60.0 + 1e-5
    if step == 3.0:  # independent small steps average to equal rates: samples gather, the arc does not shrink
        assert np.diff(np.concatenate([[0.0], angle, [60.0]])).max() < 1.5


def test_five_balls_stay_on_their_sphere():
    outcomes = routh.sample(row_of_balls(5, 1.0), 512, step=2.0, method="algorithm1")
    assert np.all(outcomes.status == routh.Status.SOLVED)
    np.testing.assert_allclose(outcomes.v.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose((outcomes.v**2).sum(axis=1), 1.0, atol=1e-9)
    assert np.all(np.diff(outcomes.v, axis=1) >= -1e-7)
    values = np.linalg.svd(outcomes.v - outcomes.v.mean(axis=0), compute_uv=False)
    assert values[3] > 0.05  # the outcomes are no curve: they spread over the sphere


@pytest.mark.parametrize("step", [0.1, 1.0, 5.0])
def test_a_ball_between_ball_and_wall_keeps_its_energy(step):
    for problem in (ball_on_ball_and_wall(1.0), row_of_balls(2, 1.0, walls=True)):
        outcomes = routh.sample(problem, 256, step=step, method="algorithm1")
        assert np.all(outcomes.status == routh.Status.SOLVED)
        np.testing.assert_allclose(outcomes.kinetic_energy, problem.kinetic_energy(), rtol=1e-9)
        np.testing.assert_allclose(outcomes.returned.sum(axis=1), outcomes.stored.sum(axis=1), rtol=1e-9)


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
def test_one_contact_without_friction_obeys_newton(hypothesis):
    problem = row_of_balls(2, 0.6, masses=[1.0, 3.0])
    outcomes = routh.sample(problem, 8, hypothesis=hypothesis)
    np.testing.assert_allclose(outcomes.v @ problem.Jn[0], 0.6, rtol=1e-9)
    np.testing.assert_allclose(outcomes.returned, 0.36 * outcomes.stored, rtol=1e-8)


@pytest.mark.parametrize("hypothesis", ["energetic", "poisson"])
def test_one_contact_converges_to_the_exact_impact_at_first_order(hypothesis):
    rng = np.random.default_rng(5)
    sizes, errors = (0.2, 0.1, 0.05), []
    for _ in range(6):
        A = rng.normal(size=(3, 3))
        W = A @ A.T + 0.3 * np.eye(3)
        contact = rng.normal(size=3)
        contact[2] = -abs(contact[2])
        mu, e = rng.uniform(0.1, 0.8), rng.uniform(0.1, 1.0)
        exact = two_body.impact(W, contact, mu, e, hypothesis=hypothesis)
        problem = routh.ImpactProblem(
            np.linalg.inv(W), [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], mu, contact, restitution=e
        )
        solver = make_step(problem, friction="cone")
        row = []
        for size in sizes:
            bound = size * problem.scaling.impulse
            found = accumulate_elastic(problem, solver, lambda _, b=bound: b, 10_000, hypothesis)
            assert found.status is routh.Status.SOLVED
            row.append(np.linalg.norm(found.v - exact.contact_velocity) / np.linalg.norm(contact))
        errors.append(row)
    mean = np.mean(errors, axis=0)
    assert mean[2] < 0.02
    assert np.all(mean[1:] < 0.65 * mean[:-1])  # halves with the step


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.3, 1.0, 10.0]))
def test_energy_never_rises_whatever_the_step(seed, size):
    problem = random_elastic_problem(np.random.default_rng(seed), nc=3, nt=1)
    found = accumulate_elastic(problem, make_step(problem), rates(problem, size), 150, "energetic")
    unit = 0.5 * problem.scaling.speed**2
    energies = problem.kinetic_energy(found.path.v)
    assert np.all(energies <= energies[0] + 1e-11 * unit)
    lost = float(energies[0] - energies[-1])
    assert lost >= found.stored.sum() - found.returned.sum() - 1e-11 * unit
    assert np.all(found.returned <= problem.restitution**2 * found.stored + 1e-11 * unit)
    assert found.status in (routh.Status.SOLVED, routh.Status.NO_IMPACT, routh.Status.MAX_STEPS)


def test_hard_cases_end_or_say_why():
    block = routh.systems.get("rocking-block").problem
    ramone = routh.systems.get("ramone").problem
    cases = [
        block.replace(restitution=[1.0, 0.0]),
        block.replace(restitution=0.5, mu=1e5),
        ramone.replace(restitution=0.7),
        row_of_balls(3, 1.0, masses=[1.0, 1e-6, 1.0]),
        row_of_balls(3, 0.9, masses=[1e6, 1.0, 1e6]),
        block.subset([0, 1]).replace(restitution=0.5, v=np.zeros(3)),
    ]
    for problem in cases:
        outcomes = routh.sample(problem, 16, max_steps=300, method="algorithm1")
        assert np.all(np.isfinite(outcomes.v))
        assert np.all(outcomes.kinetic_energy <= problem.kinetic_energy() * (1.0 + 1e-9))
        ended = outcomes.status <= routh.Status.NO_IMPACT
        assert np.all(outcomes.terminated[ended])
        assert np.all(np.isin(outcomes.status[~ended], [routh.Status.MAX_STEPS, routh.Status.JAMMED]))


def test_outcomes_change_continuously_with_restitution():
    problem = routh.systems.get("rocking-block").problem
    solver_of = {}
    for sample in range(6):
        for e in (0.2, 0.55, 0.9):
            found = []
            for value in (e, e + 1e-6):
                bouncy = problem.replace(restitution=value)
                solver = solver_of.setdefault(value, make_step(bouncy))
                draw = rates(bouncy, 1.0, sample=sample)
                found.append(accumulate_elastic(bouncy, solver, draw, 500, "energetic").v)
            assert np.linalg.norm(found[1] - found[0]) < 1e-4 * problem.speed


def test_poisson_reports_the_energy_it_creates():
    # where friction reverses the slip, the impulse of restitution can return more than was stored
    created = []
    for seed in (0, 1, 21, 34, 44, 55):
        problem = random_elastic_problem(np.random.default_rng(seed), nc=1, nt=1, e=1.0, mu=2.0)
        unit = problem.scaling.speed**2
        outcomes = routh.sample(problem, 5, hypothesis="poisson", method="algorithm1")
        gain = outcomes.kinetic_energy - problem.kinetic_energy()
        assert np.all(gain <= outcomes.created + 1e-9 * unit)
        created.append(float(outcomes.created.max()) / unit)
        assert np.all(routh.sample(problem, 5, method="algorithm1").created <= 1e-12 * unit)
    assert max(created) > 0.05
    assert min(created) < 1e-9


def test_the_law_draws_from_the_same_inclusion_and_shows_its_work():
    problem = ball_on_ball_and_wall(0.5, mu=0.3)
    result = laws.SetValued(hypothesis="energetic")(problem, np.random.default_rng(0))
    assert result.status is routh.Status.SOLVED
    assert np.all(problem.Jn @ result.v >= -1e-7)
    np.testing.assert_allclose(result.returned, 0.25 * result.stored, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.v, problem.apply(result.impulse), atol=1e-12)


def test_work_survives_the_file(tmp_path):
    outcomes = routh.sample(
        ball_on_ball_and_wall(0.5), 8, hypothesis="poisson", points="sobol", method="algorithm1"
    )
    outcomes.save(tmp_path / "set.npz")
    again = routh.Outcomes.load(tmp_path / "set.npz")
    np.testing.assert_array_equal(again.stored, outcomes.stored)
    np.testing.assert_array_equal(again.returned, outcomes.returned)
    assert again.settings["hypothesis"] == "poisson"


def test_unknown_hypotheses_are_refused():
    problem = row_of_balls(2, 0.5)
    with pytest.raises(ValueError, match=r"hypothesis: got 'newton'; wanted one of 'energetic', 'poisson'"):
        routh.sample(problem, 1, hypothesis="newton")
    with pytest.raises(ValueError, match="hypothesis: got 'newton'"):
        laws.SetValued(hypothesis="newton")


@pytest.mark.parametrize("restitution", [0.2, 0.5, 1.0])
def test_poisson_s_disk_stack_ends(restitution):
    """Two contacts that push and a third that rests between them store and return without end."""
    problem = routh.systems.get("disk-stack").problem.replace(restitution=restitution)
    outcomes = routh.sample(problem, 1000, hypothesis="poisson")
    assert np.mean(outcomes.status == routh.Status.SOLVED) > 0.97
