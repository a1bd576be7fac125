"""Samples are compared with an exact set of the same problem and the same friction, or not at all."""

import numpy as np
import pytest

import routh
from feature_marks import needs
from routh import systems

pytest.importorskip("ppl")

BALL = routh.ImpactProblem(
    np.diag([1.0, 1.0, 1.0, 0.4, 0.4, 0.4]),
    [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]],
    [[[1.0, 0.0, 0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]]],
    0.2,
    [1.0, 0.5, -1.0, 0.0, 0.0, 0.0],
)


def test_the_cone_is_never_compared_with_a_polygon():
    exact = routh.exact_set(BALL, friction="polyhedral")
    for drawn, outcomes in (
        ("Coulomb's cone", routh.sample(BALL, 20)),
        ("4 facets", routh.sample(BALL, 20, friction="polyhedral", facets=4)),
        ("Coulomb's cone", routh.sampling.sample_by_steps(BALL, 20)),
    ):
        told = f"outcomes: were drawn with {drawn}, and the exact set has 8 facets; wanted"
        with pytest.raises(ValueError, match=told):
            routh.coverage(outcomes, exact)
    same = routh.coverage(routh.sample(BALL, 200, friction="polyhedral"), exact)
    assert same.outside < 1e-3  # rad between the corners of the two octagons; the cone was 0.034 outside


@pytest.mark.parametrize("name", ["M", "Jn", "Jt", "mu", "v"])
def test_samples_of_another_problem_are_refused(name):
    problem = systems.get("rocking-block").problem
    outcomes = routh.sample(problem.replace(**{name: 1.001 * getattr(problem, name)}), 20)
    with pytest.raises(ValueError, match=f"outcomes: are of a problem with another {name};"):
        routh.coverage(outcomes, routh.exact_set(problem))


@needs("two_body")
def test_elastic_samples_are_not_compared_with_an_inelastic_set():
    problem = systems.get("rocking-block").problem
    outcomes = routh.sample(problem.replace(restitution=0.5), 20)
    with pytest.raises(ValueError, match="outcomes: are of a problem with another restitution;"):
        routh.coverage(outcomes, routh.exact_set(problem))
    with pytest.raises(ValueError, match=r"restitution: got 0\.7; exact sets are of inelastic impacts"):
        _ = systems.get("bowling").rational


@pytest.mark.parametrize("name", ["compass-gait", "ramone", "disk-stack"])
def test_a_systems_fractions_are_its_problem(name):
    """They are moved by less than a billionth; so is what either form of the problem is sampled from."""
    system = systems.get(name)
    exact = routh.exact_set(system.rational, budget=0.5)
    for problem in (system.problem, exact.problem):
        assert routh.coverage(routh.sample(problem, 50), exact).n == 50
