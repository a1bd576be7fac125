"""``budget=``: what is finished by then is returned, with the same bits; the rest has a status of its own."""

import inspect

import numpy as np
import pytest

import routh
from routh import systems
from routh.base import features
from routh.base.status import Status
from routh.kernels.common.slices import run_slices
from routh.models.planar import PlanarModel

TINY = 1e-9

LONG_CALLS = [
    *(features.feature(f"{name}.studies").Study.run for name in features.installed() if name == "sweep"),
    *(routh.sample, routh.fill, routh.approximate, routh.audit, routh.scan, routh.exact_set),
    *(
        routh.simulate,
        routh.simulate_many,
        routh.step_through,
        routh.step_through_many,
        routh.bounds.OuterBound.support,
    ),
    *(routh.sampling.sample_by_steps,),
]


@pytest.mark.parametrize("call", LONG_CALLS, ids=lambda call: call.__qualname__)
def test_calls_that_can_be_long_have_a_budget(call):
    """All of them, by the one name."""
    assert "budget" in inspect.signature(call).parameters


@pytest.fixture(scope="module")
def problem():
    return systems.get("rocking-block").problem


@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), "1"])
def test_a_budget_is_seconds(problem, bad):
    calls = [
        lambda: routh.sample(problem, 1, budget=bad),
        lambda: routh.fill(problem, budget=bad),
        lambda: routh.audit(problem, problem.v, budget=bad),
        lambda: routh.scan(lambda x: None, {"x": [0.0]}, budget=bad),
        lambda: routh.approximate(problem, 1e-3, budget=bad),
        lambda: routh.outer_bound(problem).support(np.eye(3), budget=bad),
        lambda: routh.exact_set(problem, budget=bad),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="budget"):
            call()


def test_without_a_budget_no_answer_depends_on_the_clock(problem, monkeypatch):
    """Every look at the clock takes an hour here; a budget ends at once, none never does."""
    pytest.importorskip("ppl")
    plain, worst = routh.exact_set(problem), routh.robust.worst_case(problem, "A")
    assert (plain.status, worst.method) == (Status.SOLVED, "exact")
    clock = iter(range(0, 10**9, 3600))
    monkeypatch.setattr("time.thread_time", lambda: float(next(clock)))
    assert routh.exact_set(problem, budget=60.0).status is Status.INCOMPLETE
    assert routh.exact_set(problem).status is Status.SOLVED
    assert routh.exact_map(problem).status is Status.SOLVED
    late = routh.robust.worst_case(problem, "A")
    assert (late.value, late.method) == (worst.value, "exact")


def test_a_filling_that_runs_out_of_time_has_not_converged(problem):
    filling = routh.fill(problem, budget=TINY, threads=1)
    assert not filling.stopped
    statuses = filling.outcomes.status_counts()
    assert statuses[Status.OUT_OF_TIME] > 0
    whole = routh.fill(problem, max_samples=2048, threads=1, budget=600.0)
    same = routh.fill(problem, max_samples=2048, threads=1)
    np.testing.assert_array_equal(whole.outcomes.v, same.outcomes.v)


def test_approximation(problem):
    late = routh.approximate(problem, 1e-3, n=2000, max_steps=2, budget=TINY)
    assert set(late.status_counts()) == {Status.OUT_OF_TIME}
    assert len(late) == 2000
    one, other = (routh.approximate(problem, 1e-3, n=64, max_steps=2, **o) for o in ({}, {"budget": 600.0}))
    np.testing.assert_array_equal(one.v, other.v)


def test_an_audit_says_whether_it_was_complete(problem):
    assert not routh.audit(problem, problem.v, budget=TINY).complete
    assert routh.audit(problem, problem.v, n=64, budget=600.0).complete


@pytest.mark.usefixtures("ticking")
def test_an_audit_that_ends_while_it_refines_is_not_complete(problem):
    assert not routh.audit(problem, problem.v, n=64, refine=10**6, budget=2.0).complete


def test_a_scan_says_which_points_were_not_reached(problem):
    def at(mu):
        if mu == 0.1:
            return None
        return problem.replace(v=-problem.v) if mu == 0.2 else problem.replace(mu=mu)

    found = routh.scan(at, {"mu": [0.1, 0.2, 0.3]}, n=16)
    assert [Status(int(code)) for code in found.status] == [
        Status.NO_CONTACT,
        Status.NO_IMPACT,
        Status.SOLVED,
    ]
    late = routh.scan(at, {"mu": [0.1, 0.2, 0.3]}, n=16, budget=TINY)
    assert set(late.status) == {Status.OUT_OF_TIME}
    assert np.all(np.isnan(late.score))


def test_directions_that_were_not_bounded_are_bounded_by_infinity(problem):
    bound = routh.outer_bound(problem)
    assert np.all(bound.support(np.eye(3), budget=TINY) == np.inf)
    np.testing.assert_array_equal(bound.support(np.eye(3), budget=600.0), bound.support(np.eye(3)))


def test_motions_end_with_a_reason():
    system = systems.get("rocking-block")
    assert isinstance(system.model, PlanarModel)
    short = routh.step_through(system.model, system.state, dt=1e-3, duration=0.01, budget=TINY)
    assert len(short) == 1
    assert short.failures() == [(0.0, Status.OUT_OF_TIME)]
    assert short.events[-1].kind == "stop"
    late = routh.simulate(system.model, system.state, duration=0.1, budget=TINY)
    assert late.failures()[-1][1] is Status.OUT_OF_TIME
    bundle = routh.simulate_many(system.model, system.state, n=2, duration=0.1, budget=TINY)
    assert not any(one.ok for one in bundle)


def test_a_rollout_is_cut_off():
    mujoco = pytest.importorskip("mujoco")
    from routh.auditing import rollout

    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.3"><freejoint/>
        <geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
    )
    found = rollout.audit(model, mujoco.MjData(model), duration=5.0, budget=TINY)
    assert found.status is Status.OUT_OF_TIME
    assert found.duration == 0.0
    assert rollout.audit(model, mujoco.MjData(model), duration=0.02).status is Status.SOLVED


def test_with_many_contacts_a_budget_is_heard_after_the_first_sample(ticking):
    begun = []
    done = run_slices(
        64, lambda: None, lambda *part: begun.append(part[:2]), threads=1, budget=0.2, contacts=60
    )
    assert not done
    assert begun[0] == (0, 1)
