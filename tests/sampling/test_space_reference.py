"""The compiled sampler in space draws what its readable reference draws, decision by decision."""

import numpy as np
import pytest
import space_reference as reference

import routh
from landing_families import box_model, land, uneven_ground
from problems import problem_of_size
from routh.base.status import Status
from routh.problem.friction import facet_directions

FINE = 1e-9  # tolerance of curves, so that what differs is no error of theirs
CLOSE = 1e-7  # of the speed: slips below 1e-9 are none for the reference, which stiff friction multiplies


def differing(problem, n, *, facets=None, seed=5, only=None, **settings):
    """Samples (of those in ``only``) whose status or velocity is not the reference's."""
    options = {"tolerance": FINE} if facets is None else {"friction": "polyhedral", "facets": facets}
    outcomes = routh.sample(problem, n, seed=seed, threads=1, **options, **settings)
    corners = None if facets is None else facet_directions(2, facets)
    found = []
    for sample in only or range(n):
        status, pieces = reference.follow(problem, seed, sample, corners=corners, **settings)
        v = problem.apply(pieces.sum(axis=0) * problem.scaling.impulse[:, None])
        far = np.linalg.norm((v - outcomes.v[sample]) @ problem.cholesky)
        if status != outcomes.status[sample] or not far <= CLOSE * problem.speed:
            found.append(sample)
    return found


@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("nc", [2, 3, 4, 5])
@pytest.mark.parametrize("facets", [None, 4, 8])
def test_a_body_on_uneven_ground(nc, facets, e):
    assert not differing(uneven_ground(0, nc, e=e), 3, facets=facets)


@pytest.mark.parametrize("facets", [None, 8])
def test_bodies_of_random_inertia(facets):
    rng = np.random.default_rng(1)
    for nc in (1, 2, 3):
        assert not differing(problem_of_size(rng, nc, 2, 0.5), 3, facets=facets)
        repeated = problem_of_size(rng, nc + 1, 2, 0.5, duplicate=True)
        # with the cone and four contacts, two of them alike, rounding decides a tie of the second sample:
        # the compiled sampler's own choice changes with the tolerance
        assert not differing(repeated, 1 if nc == 3 and facets is None else 2, facets=facets)


@pytest.mark.parametrize("rates", ["uniform", "extreme"])
@pytest.mark.parametrize("facets", [None, 8])
def test_other_draws(rates, facets):
    assert not differing(uneven_ground(2, 3), 3, facets=facets, rates=rates, persistence=0.3)


def test_a_box_that_falls_flat():
    problem = routh.systems.impact("box-drop")
    assert not differing(problem, 6, facets=8)
    assert not differing(problem.subset(["A", "B", "C"]), 3)


@pytest.mark.parametrize(("facets", "only"), [(None, (1, 3)), (8, (0, 3, 14, 23))])
def test_a_crate_that_falls_nearly_flat(facets, only):
    problem = land(box_model((0.2, 0.15, 0.1), 1.0), tilt=(0.002, 0.003))
    assert not differing(problem, 1 + max(only), facets=facets, only=only)


def test_nothing_approaches():
    problem = uneven_ground(0, 2)
    away = problem.replace(v=np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    assert reference.follow(away, 0, 0)[0] == Status.NO_IMPACT


def test_a_wrong_reference_is_found(monkeypatch):
    """Nothing of this passes by itself: other numbers, and samples differ."""
    monkeypatch.setattr(reference, "event_number", lambda key, index: 0.5)
    assert differing(uneven_ground(0, 3), 3, facets=8)
