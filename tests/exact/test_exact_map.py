"""The set as a function of the velocity before: at any velocity it is the exact set of that velocity."""

import numpy as np
import pytest

import routh
from exact_map import differences, shapes, velocity
from feature_marks import needs
from routh.base.status import CapacityError, Status
from routh.exact import reach, relation
from routh.exact.checker import check_member, verify_invariance
from routh.exact.rational import RationalProblem

pytest.importorskip("ppl")


def rational(name):
    return routh.systems.get(name).rational


def with_velocity(problem, v):
    return RationalProblem(problem.M, problem.Jn, problem.Jt, problem.mu, v, problem.names)


@pytest.fixture(scope="module")
def block():
    return routh.exact_map(rational("rocking-block"), budget=600)


@pytest.mark.parametrize(("name", "count"), [("rocking-block", 60), ("box-wall", 20), ("compass-gait", 4)])
def test_at_every_velocity_it_is_the_exact_set(name, count):
    problem, rng = rational(name), np.random.default_rng(7)
    whole = routh.exact_map(problem, budget=600)
    assert whole.status is Status.SOLVED
    for v in [problem.v, *(velocity(problem, rng) for _ in range(count))]:
        ours, exact = whole.at(v), routh.exact_set(with_velocity(problem, v))
        assert not differences(ours, exact, rng)
        assert shapes(ours) == shapes(exact)


@pytest.mark.parametrize("name", ["rocking-block", "pushing"])
def test_slivers_that_are_put_off_are_explored_in_the_end(name, monkeypatch):
    problem, rng, asked = rational(name), np.random.default_rng(5), []

    def two_of_three(*_):
        asked.append(len(asked) % 3 < 2)
        return asked[-1]

    monkeypatch.setattr(relation, "_PLENTY", 0)
    monkeypatch.setattr(reach, "_EASY", 0)
    monkeypatch.setattr(relation, "nearly_covered", two_of_three)
    whole = routh.exact_map(problem, budget=600)
    assert whole.status is Status.SOLVED
    assert any(asked)
    assert not any(part.left_out for part in whole.reached)
    for _ in range(8):
        v = velocity(problem, rng)
        assert not differences(whole.at(v), routh.exact_set(with_velocity(problem, v)), rng)


def test_the_comparison_notices_another_set(block):
    rng = np.random.default_rng(0)
    one, two = (block.at(v) for v in ([0, -1, 0], [0.125, -1, 0.25]))
    assert {"the union", "outer set", "support"} <= set(differences(one, two, rng))


def test_what_it_says_of_a_velocity_is_proved_by_the_independent_checker(block):
    rng = np.random.default_rng(1)
    for _ in range(6):
        exact = block.at(velocity(block.rational, rng))
        for vertex in exact.vertices():
            assert check_member(exact.rational, vertex, exact.statuses_to(vertex))
        outer = [piece.vertices for piece in exact.outer]
        assert verify_invariance(exact.rational, exact.thresholds, exact.region, outer)


def test_from_floating_point_coincidences_are_restored_as_in_one_set():
    problem = routh.systems.impact("box-wall")
    whole = routh.exact_map(problem, budget=600)
    for v in (problem.v, np.array([0.3, -1.0, 0.7]), np.array([0.1, 1.0, 0.0])):
        ours, exact = whole.at(v), routh.exact_set(problem.replace(v=v))
        assert (ours.status, shapes(ours)) == (exact.status, shapes(exact))
        assert ours.snapped.at_rest == exact.snapped.at_rest
        assert ours.outer.radius == exact.outer.radius


def test_pairs_lie_in_a_piece_and_others_do_not(block):
    rng = np.random.default_rng(2)

    def inside(before, after):
        pair = np.array([*before, *after], dtype=float)
        for piece in block.pieces:
            values, equal = np.array(piece.facets, dtype=float) @ pair, np.array(piece.equal)
            if np.all(values > -1e-9) and np.all(values[equal] < 1e-9):
                return True
        return False

    for _ in range(20):
        v = velocity(block.rational, rng)
        vertices = block.at(v).vertices()
        assert all(inside(v, vertex) for vertex in vertices)
        assert not inside(v, [x + 1 for x in vertices[0]])


def test_in_a_region_the_vertices_are_linear_functions_of_the_velocity(block):
    rng, regions = np.random.default_rng(3), block.regions()
    seen = set()
    for v in rng.normal(size=(200, 3)):
        here = [k for k, region in enumerate(regions) if region.contains(v)]
        if np.min(block.rational.problem.Jn @ v) >= 0.0:
            assert not here
            continue
        assert len(here) == 1
        if here[0] in seen:
            continue
        seen.update(here)
        corners, exact = regions[here[0]].vertices @ v, block.at(v)
        points = np.array(exact.vertices(), dtype=float)
        for point in points:
            assert np.abs(corners - point).max(axis=1).min() < 1e-12
        assert exact.inner.contains(corners, 1e-12).all()
    assert len(seen) > 20


def test_the_worst_outcome_of_a_box_is_attained_and_none_is_worse(block):
    rng = np.random.default_rng(4)
    problem, low, high = block.rational, np.array([-0.2, -1.0, -0.3]), np.array([0.3, -0.5, 0.4])
    for objective in rng.normal(size=(3, 3)):
        worst = block.worst(objective, low, high)
        assert worst.proof in {"reached", "limit"}
        assert np.all(low <= np.array(worst.before, dtype=float) + 1e-15)
        assert worst.value <= worst.bound < worst.value + 1e-4
        there = routh.exact_set(with_velocity(problem, worst.before))
        assert there.support(objective) == pytest.approx(worst.value, abs=1e-12)
        for v in rng.uniform(low, high, size=(20, 3)):
            assert block.at(v).support(objective) <= worst.value + 1e-12


def test_a_velocity_that_no_impact_changes_counts_as_its_own_outcome(block):
    low, high = [0, 0.5, 0], [0.1, 1.0, 0]
    worst = block.worst([0, 1, 0], low, high)
    assert (worst.value, worst.proof, worst.before) == (1.0, "reached", worst.after)


def test_a_budget_that_runs_out_is_a_status():
    problem = rational("rocking-block")
    part = routh.exact_map(problem, budget=1e-6)
    assert part.status is Status.INCOMPLETE
    with pytest.raises(CapacityError, match="INCOMPLETE"):
        part.regions()
    assert np.isinf(part.worst([1, 0, 0], [0, 1, 0], [1, 1, 0]).bound)
    with pytest.raises(CapacityError, match="no outcome was found"):
        part.worst([1, 0, 0], [0, -1, 0], [1, -1, 0])
    assert shapes(part.at(problem.v)) == shapes(routh.exact_set(problem))


@needs("two_body")
def test_bad_input_is_named(block):
    with pytest.raises(ValueError, match="low: got"):
        block.worst([1, 0, 0], [1, 0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="objective: got"):
        block.worst([1, 0], [0, 0, 0], [0, 0, 0])
    with pytest.raises(ValueError, match="planar"):
        routh.exact_map(routh.systems.impact("sphere-half-space").replace(restitution=0.0))
