"""How ambiguous sets are: diameter, direction, modes, extremes and scans."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from routh import systems
from routh.sampling import measure_ambiguity
from routh.sampling.ambiguity import as_functional, farthest_pair


@pytest.mark.parametrize("d", [1, 2, 4, 9])
def test_many_samples_at_the_same_places_cost_few_pairs(d):
    rng = np.random.default_rng(d)
    atoms, few = rng.normal(size=(30, d)), rng.normal(scale=0.9, size=(1500, d))
    points = np.concatenate([atoms[rng.integers(30, size=2**15)] + 1e-17 * rng.normal(size=(2**15, d)), few])
    distance, i, j, exact, _ = farthest_pair(points, pairs=2**22)  # of 2^29
    different = np.concatenate([atoms, few])
    apart = np.linalg.norm(different[:, None] - different, axis=2)
    assert exact
    assert distance == pytest.approx(apart.max(), rel=1e-12)
    assert distance == np.linalg.norm(points[i] - points[j])


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 30, 400, 2000]),
    st.integers(1, 6),
    st.sampled_from(["ball", "sphere", "atoms", "corner"]),
)
def test_the_farthest_pair_is_that_of_all_pairs(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d))
    if kind == "sphere":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    if kind == "atoms":
        points = points.round()
    if kind == "corner":  # segments that meet, most points at their end: what impacts often have
        points = np.eye(d)[rng.integers(d, size=n)] * np.maximum(points[:, :1], 0.0) + 1e-16 * points
    distance, i, j, exact, upper = farthest_pair(points)
    every = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert exact
    assert distance == pytest.approx(every.max(), rel=1e-12, abs=1e-12)
    assert distance == pytest.approx(np.linalg.norm(points[i] - points[j]), abs=1e-14)
    assert upper >= distance


def test_a_budget_gives_bounds_instead():
    points = np.random.default_rng(0).normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    distance, _, _, exact, upper = farthest_pair(points, pairs=10)
    every = max(np.linalg.norm(points - p, axis=1).max() for p in points)
    assert not exact
    assert distance <= every <= upper + 1e-12


@pytest.fixture(scope="module")
def block():
    return routh.sample(systems.get("rocking-block").problem, 300)


def test_the_rocking_block_is_ambiguous_in_its_rotation(block):
    report = measure_ambiguity(block)
    assert block.ambiguity == report.score == float(report)
    i, j = report.pair
    problem = block.problem
    apart = np.sqrt(2.0 * problem.kinetic_energy(block.v[i] - block.v[j]))
    assert report.diameter == pytest.approx(apart, rel=1e-12)
    assert 0.0 < report.score < 2.0
    # rocking to either side: mostly rotation, one direction explains nearly everything
    assert report.explained > 0.9
    assert abs(report.direction[2]) > 10.0 * abs(report.direction[1])
    assert np.sqrt(2.0 * problem.kinetic_energy(report.direction)) == pytest.approx(1.0)
    np.testing.assert_allclose(report.mode_probability.sum(axis=1), 1.0)
    left = np.mean(block.modes[:, 0] == 0)
    assert report.mode_probability[0, 0] == pytest.approx(left)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_score_has_no_units(factor):
    problem = systems.get("rocking-block").problem
    base = routh.sample(problem, 100).ambiguity
    faster = routh.sample(problem.replace(v=factor * problem.v), 100).ambiguity
    heavier = routh.sample(problem.replace(M=factor * problem.M), 100).ambiguity
    assert base == pytest.approx(faster, rel=1e-9)
    assert base == pytest.approx(heavier, rel=1e-9)


def test_one_outcome_is_not_ambiguous():
    problem = systems.get("rocking-block").problem.subset(["A"])
    report = measure_ambiguity(routh.sample(problem, 20))
    assert report.score < 1e-7
    assert report.explained == 0.0
    assert not np.any(report.direction)


def test_without_a_terminated_sample_nothing_is_known():
    problem = systems.get("rocking-block").problem
    outcomes = routh.sampling.sample_by_steps(problem, 5, step=1e-3, max_steps=1)
    assert not outcomes.terminated.any()
    assert np.isnan(measure_ambiguity(outcomes).score)
    with pytest.raises(ValueError, match="no sample is solved"):
        outcomes.extreme("A")


def test_extremes(block):
    best = block.extreme("A")
    assert best.value == pytest.approx(block.contact_velocity[:, 0, 0].max())
    np.testing.assert_array_equal(best.v, block.v[best.index])
    down = block.extreme([0.0, 0.0, -1.0])
    assert down.value == pytest.approx(-block.v[:, 2].min())
    slip = block.extreme(("B", [0.0, 1.0]))
    assert slip.value == pytest.approx(block.contact_velocity[:, 1, 1].max())
    assert block.extreme((1, (0.0, 1.0))).index == slip.index


@pytest.mark.parametrize(
    ("direction", "words"),
    [
        ("C", "contact: got 'C'"),
        ([0.0, 0.0, 0.0], "direction: got zeros"),
        ([1.0, 0.0], r"direction: got shape \(2,\)"),
        (("A", [1.0, 0.0, 0.0]), r"direction: got shape \(3,\)"),
    ],
)
def test_bad_directions_are_refused(block, direction, words):
    with pytest.raises(ValueError, match=words):
        as_functional(block.problem, direction)


def test_a_scan_finds_the_ambiguous_states():
    problem = systems.get("rocking-block").problem

    def landing(spin, mu):
        if spin < -0.5:
            return None
        return problem.replace(v=problem.v + np.array([0.0, 0.0, spin]), mu=mu)

    found = routh.scan(landing, {"spin": [-1.0, 0.0, 0.4], "mu": [0.3, 1.0]}, n=30, friction="polyhedral")
    assert found.score.shape == (3, 2)
    assert np.all(np.isnan(found.score[0]))
    assert np.all(found.contacts[0] == 0)
    assert np.all(found.share_solved[1:] > 0.0)
    worst = found.worst(2)
    assert worst[0]["score"] == pytest.approx(np.nanmax(found.score))
    assert len(found.worst(100)) == 4


def test_covariance_and_principal_directions():
    outcomes = routh.sample(routh.systems.impact("compass-gait"), 500, seed=0)
    v, M = outcomes.v[outcomes.solved], outcomes.problem.M
    assert outcomes.covariance() == pytest.approx(np.cov(v.T, bias=True))
    found = outcomes.principal()
    assert found.directions @ M @ found.directions.T == pytest.approx(np.eye(len(M)), abs=1e-9)
    assert found.shares.sum() == pytest.approx(1.0)
    spread = (v - found.mean) @ M @ found.directions.T  # coordinates along them
    assert found.widths == pytest.approx(spread.std(axis=0), abs=1e-9)
    assert found.directions[0] == pytest.approx(routh.sampling.measure_ambiguity(outcomes).direction)
    assert outcomes.principal(2).widths == pytest.approx(found.widths[:2])
    with pytest.raises(ValueError, match="k: got 0"):
        outcomes.principal(0)
