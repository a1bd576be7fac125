"""The check from outside: samples that solve the model pass, and what is wrong with others is found."""

import numpy as np
import pytest

import routh
from landing_families import uneven_ground
from routh.base.results import ImpactPath
from spatial_flow import SpatialFlow
from spatial_path import SLACK, path_faults, sample_faults, total_faults, wrong_law

FRICTION = {"cone": {}, "octagon": {"friction": "polyhedral", "facets": 8}}


def drawn(n=24, e=0.0, friction="cone", **options):
    return routh.sample(uneven_ground(0, 3, e=e), n, seed=3, threads=1, **FRICTION[friction], **options)


def broken(change, law, *, e=0.0, friction="cone"):
    """Whether a path that is changed breaks this law, which it does not before."""
    outcomes = drawn(e=e, friction=friction)
    facets = FRICTION[friction].get("facets")
    for i in range(len(outcomes)):
        path = outcomes.path(i)
        impulse = change(path.impulse.copy())
        steps = np.concatenate([np.zeros((1, *impulse.shape[1:])), np.cumsum(impulse, axis=0)])
        changed = ImpactPath(outcomes.problem.apply(steps), impulse, path.kind)
        before = path_faults(outcomes.problem, path, facets=facets)
        after = path_faults(outcomes.problem, changed, facets=facets)
        if before[law] < 10 * SLACK and after[law] > 100 * SLACK:
            return True
    return False


@pytest.mark.parametrize("friction", FRICTION)
@pytest.mark.parametrize("e", [0.0, 0.6])
def test_samples_that_solve_the_model(friction, e):
    outcomes = drawn(e=e, friction=friction)
    assert not any(wrong_law(outcomes, i) for i in range(len(outcomes)))
    assert total_faults(outcomes).max() < 1e-5


def test_poissons_restitution():
    outcomes = drawn(e=0.6, hypothesis="poisson")
    assert not any(wrong_law(outcomes, i) for i in range(len(outcomes)))


def turned(impulse):
    """Friction turned by a hundredth."""
    impulse[..., 1], impulse[..., 2] = (
        impulse[..., 1] - 0.01 * impulse[..., 2],
        impulse[..., 2] + 0.01 * impulse[..., 1],
    )
    return impulse


def weaker(impulse):
    impulse[..., 1:] *= 0.999
    return impulse


def stronger(impulse):
    impulse[..., 1:] *= 1.001
    return impulse


@pytest.mark.parametrize("friction", FRICTION)
@pytest.mark.parametrize("change", [turned, weaker, stronger])
def test_friction_that_is_not_against_slip(change, friction):
    assert broken(change, "friction", friction=friction)


@pytest.mark.parametrize(
    ("change", "law", "e"),
    [
        (lambda impulse: -impulse, "pulls", 0.0),
        (lambda impulse: impulse[:-1], "approach", 0.0),
        (lambda impulse: 1.5 * impulse, "separates", 0.0),
        (lambda impulse: -impulse, "energy", 0.0),
        (lambda impulse: 1.1 * impulse, "returns", 0.6),
    ],
)
def test_other_laws(change, law, e):
    assert broken(change, law, e=e)


def test_momentum_and_what_a_sample_tells():
    outcomes = drawn(4)
    path = outcomes.path(0)
    v = path.v.copy()
    v[1:] += 1e-3
    assert path_faults(outcomes.problem, ImpactPath(v, path.impulse, path.kind))["momentum"] > 1e-4
    faults = sample_faults(outcomes, 0)
    assert faults["ends"] < 1e-9
    assert faults["told impulses"] < 1e-9


@pytest.mark.parametrize("friction", FRICTION)
def test_samples_end_where_the_integrator_ends(friction):
    outcomes = drawn(1, friction=friction)
    problem, facets = outcomes.problem, FRICTION[friction].get("facets")
    v, _ = SpatialFlow.of(problem, facets=facets).along(outcomes.path(0), problem)
    assert np.linalg.norm((v - outcomes.v[0]) @ problem.cholesky) < 1e-6 * problem.scaling.speed
