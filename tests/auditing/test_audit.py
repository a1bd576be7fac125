"""Audits: outcomes are outcomes, and whatever breaks a law of impact is told so."""

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import routh
from routh import systems
from routh.auditing import membership
from routh.auditing.membership import APPROACH, CONE, ENERGY, REACH, best_impulse, broken_laws
from routh.base.status import StateError, Status


def spatial_problem(seed, nc=3, nv=7):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(nv, nv))
    Jn, Jt = rng.normal(size=(nc, nv)), rng.normal(size=(nc, 2, nv))
    mu = rng.uniform(0.1, 1.0, nc)
    mu[0] = 0.0 if seed % 3 == 0 else mu[0]
    return routh.ImpactProblem(A @ A.T + np.eye(nv), Jn, Jt, mu, rng.normal(size=nv))


@pytest.fixture(scope="module")
def block():
    return routh.sample(systems.get("rocking-block").problem, 400)


def laws(problem, v):
    return {broken.law for broken in broken_laws(problem, v)}


def test_every_outcome_passes(block):
    for i in (0, 7, 399):
        audit = routh.audit(block.problem, block.v[i], outcomes=block)
        assert audit.inside
        assert audit.distance == 0.0
        assert not audit.broken
        assert audit.verdict.startswith("in (nearest sample")


@pytest.mark.parametrize("name", ["rocking-block", "box-wall", "compass-gait"])
def test_classical_laws_are_inside(name):
    problem = systems.get(name).problem
    outcomes = routh.sample(problem, 400)
    v = routh.laws.Simultaneous()(problem).v
    assert not broken_laws(problem, v)
    audit = routh.audit(problem, v, outcomes=outcomes)
    assert audit.distance < 0.1, audit.verdict


def test_each_broken_law_is_named(block):
    problem = block.problem
    assert laws(problem, problem.v) == {APPROACH}  # nothing happened
    assert laws(problem, 1.5 * problem.v) == {APPROACH, ENERGY, CONE}
    up = block.v[0] + np.array([0.0, 3.0, 0.0])
    assert laws(problem, up) == {ENERGY}
    # slide sideways at unchanged energy: two corners with friction 1 cannot push that far
    assert laws(problem, [0.3, 0.0, 0.0]) == {CONE}
    one = problem.subset(["A"])
    assert REACH in laws(one, [0.0, 0.1, 0.0])  # stop the fall of the centre without turning
    turned = next(b for b in broken_laws(problem, problem.v - [0.0, 0.0, 0.2]) if b.law == APPROACH)
    assert turned.contact == "B"  # turning clockwise brings the right corner down


def test_nan_is_refused(block):
    with pytest.raises(ValueError, match="v_after: got nan"):
        routh.audit(block.problem, [np.nan, 0.0, 0.0], outcomes=block)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_admissible_impulses_are_found_again(seed):
    problem = spatial_problem(seed)
    rng = np.random.default_rng(seed)
    impulse = np.abs(rng.normal(size=(3, 3)))
    impulse[:, 1:] = rng.normal(size=(3, 2))
    length = np.linalg.norm(impulse[:, 1:], axis=1)
    impulse[:, 1:] *= (problem.mu * impulse[:, 0] * rng.uniform(0, 1, 3) / length)[:, None]
    found, misfit = best_impulse(problem, problem.apply(impulse))
    assert misfit < 1e-7 * problem.speed
    assert np.all(found[:, 0] >= 0.0)
    assert np.all(np.linalg.norm(found[:, 1:], axis=1) <= problem.mu * found[:, 0] * (1 + 1e-12))


def test_the_best_impulse_is_a_projection():
    """No impulse nearby, moved inside the cones, comes nearer."""
    problem = spatial_problem(1)
    rng = np.random.default_rng(5)
    after = problem.v + rng.normal(size=problem.nv)
    impulse, misfit = best_impulse(problem, after)
    for _ in range(200):
        trial = impulse + 1e-3 * rng.normal(size=impulse.shape)
        trial[:, 0] = np.maximum(trial[:, 0], 0.0)
        length = np.linalg.norm(trial[:, 1:], axis=1)
        trial[:, 1:] *= np.minimum(1.0, problem.mu * trial[:, 0] / np.maximum(length, 1e-300))[:, None]
        distance = np.linalg.norm((problem.apply(trial) - after) @ problem.cholesky)
        assert distance >= misfit * (1.0 - 1e-9)


def test_refining_comes_nearer(block):
    problem = block.problem
    target = routh.sampling.sample_by_steps(problem, 1, seed=99).v[0]
    rough = routh.audit(problem, target, n=12, friction="polyhedral")
    fine = routh.audit(problem, target, n=12, friction="polyhedral", refine=400)
    assert fine.distance <= rough.distance
    assert fine.distance < 0.5 * rough.distance or rough.distance < 1e-6
    assert not broken_laws(problem, fine.nearest)


@pytest.mark.parametrize(
    ("drawn", "options"),
    [
        (routh.sampling.sample_by_steps, {}),
        (routh.sampling.sample_by_steps, {"points": "sobol"}),
        (routh.sample, {}),
    ],
)
def test_refining_works_on_outcomes_that_are_given(block, drawn, options):
    problem = block.problem
    target = routh.sample(problem, 1, seed=99).v[0]
    few = drawn(problem, 12, friction="polyhedral", **options)
    rough, fine = (routh.audit(problem, target, outcomes=few, refine=k) for k in (0, 80))
    assert fine.distance < 0.5 * rough.distance or rough.distance < 1e-6
    assert not broken_laws(problem, fine.nearest)
    if drawn is routh.sample:
        again = routh.audit(problem, target, n=12, friction="polyhedral", refine=80)
        assert fine.distance == again.distance


def test_refining_begins_with_the_keys_of_the_nearest_sample(monkeypatch):
    """Without a change the nearest sample is drawn again, so that changes are changes of it."""
    problem = systems.get("compass-gait").problem
    outcomes = routh.sample(problem, 20, seed=3, row=5)
    monkeypatch.setattr(membership, "changed_keys", lambda keys, events, rng: keys)
    drawn, real = [], membership.event_samples
    monkeypatch.setattr(membership, "event_samples", lambda *a, **k: drawn.append(real(*a, **k)) or drawn[-1])
    routh.audit(problem, outcomes.v[7] + 1e-3, outcomes=outcomes, refine=1)
    assert any(np.array_equal(drawn[0].v[0, 0], v) for v in outcomes.v)


@pytest.mark.parametrize("option", [{"n": 5}, {"seed": 1}, {"friction": "cone"}])
def test_options_of_drawing_are_refused_where_outcomes_are_given(block, option):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name}: got .* with outcomes"):
        routh.audit(block.problem, block.v[0], outcomes=block, **option)


def test_outcomes_of_another_problem_are_refused(block):
    with pytest.raises(ValueError, match="outcomes: are of a problem with another mu"):
        routh.audit(block.problem.replace(mu=0.3), block.v[0], outcomes=block)


def test_outside_without_a_broken_law(block):
    """Half of rocking left and half of rocking right is allowed by every law, but it is no outcome."""
    left, right = (block.v[i] for i in routh.sampling.measure_ambiguity(block).pair)
    audit = routh.audit(block.problem, 0.5 * (left + right), outcomes=block)
    assert not audit.broken
    assert not audit.inside
    if importlib.util.find_spec("ppl"):
        assert audit.proved is False
        assert audit.word == "outside, proved"
        assert audit.verdict.startswith("outside, proved by the exact set")
    else:
        assert audit.word == "not found within 0.03"


def test_in_the_plane_the_exact_set_decides(block):
    """An outcome between samples was called 0.001 away, as what lies beyond the set is."""
    pytest.importorskip("ppl")
    few, proved = routh.sample(block.problem, 12), 0
    for v in block.v[block.solved]:
        audit = routh.audit(block.problem, v, outcomes=few)
        assert audit.inside, audit.verdict
        proved += audit.proved is True
    assert proved
    assert "in, proved by the exact set (nearest sample" in audit.verdict or audit.proved is None
    bouncy = block.problem.replace(restitution=0.5)  # no exact set of it
    assert routh.audit(bouncy, 0.4 * bouncy.v, n=64).proved is None


def test_pictures(block):
    pytest.importorskip("matplotlib")
    audit = routh.audit(block.problem, block.problem.v * 0.5, outcomes=block)
    ax = audit.plot().axes[0]
    assert ax.get_xlabel()
    scan = routh.scan(
        lambda spin, mu: block.problem.replace(mu=mu), {"spin": [0.0, 1.0], "mu": [0.2, 0.4, 1.0]}, n=8,
        friction="polyhedral",
    )  # fmt: skip
    assert scan.plot().axes[0].get_ylabel() == "mu"


def test_a_set_without_a_sample_that_ended(block):
    problem = block.problem
    nothing = routh.sampling.sample_by_steps(problem, 4, step=1e-4, max_steps=1)
    found = routh.audit(problem, np.zeros(3), outcomes=nothing)
    assert found.distance == np.inf
    assert not found.inside
    assert "no sample of its set is solved" in found.verdict
    assert found.plot().axes[0].get_legend_handles_labels()[1] == ["outcomes: no sample is solved"]


def test_a_state_that_cannot_be_is_told_from_one_that_was_not_reached(block):
    def landing(depth):
        if depth > 0.0:
            raise StateError("the foot is in the ground")
        return block.problem

    found = routh.scan(landing, {"depth": [0.0, 1.0]}, n=8)
    assert found.status.tolist() == [Status.SOLVED, Status.REFUSED]
