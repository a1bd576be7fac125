"""NaN at every door: refused with the field's name, or counted; never arithmetic whose warnings differ.

`conftest.py` runs these tests under ``np.errstate(all="raise")``.
"""

from dataclasses import replace

import numpy as np
import pytest

import routh
from routh import lcp, systems
from routh.auditing.membership import audit_many
from routh.base.status import Status
from routh.models import State
from routh.models.spatial import PlaneContact, SpatialModel, sphere
from routh.problem.batch import ImpactBatch
from routh.sampling import measure_ambiguity

BAD = [np.nan, np.inf]


@pytest.fixture(scope="module")
def system():
    return systems.get("rocking-block")


@pytest.fixture(scope="module")
def problem(system):
    return system.problem


def spoiled(array, bad):
    """A copy with one bad number."""
    copy = np.array(array, dtype=float)
    copy.ravel()[copy.size // 2] = bad
    return copy


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("field", ["M", "Jn", "Jt", "mu", "v", "restitution"])
def test_nan_in_a_problem(problem, field, bad):
    given = {name: getattr(problem, name) for name in ("M", "Jn", "Jt", "mu", "v", "restitution")}
    given[field] = spoiled(given[field], bad)
    with pytest.raises(ValueError, match=field):
        routh.ImpactProblem(**given)
    with pytest.raises(ValueError, match=field):
        problem.replace(**{field: given[field]})


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    ("field", "call"),
    [
        ("persistence", lambda p, x: routh.sample(p, 2, persistence=x)),
        ("tolerance", lambda p, x: routh.sample(p, 2, tolerance=x)),
        ("budget", lambda p, x: routh.sample(p, 2, budget=x)),
        ("step", lambda p, x: routh.sampling.sample_by_steps(p, 2, step=x)),
        ("step", lambda p, x: routh.sampling.sample_by_steps(p, 2, step=[1.0, x])),
        ("tolerance", lambda p, x: routh.fill(p, tolerance=x)),
        ("epsilon", lambda p, x: routh.approximate(p, x)),
        ("v_after", lambda p, x: routh.audit(p, [0.0, x, 0.0])),
        ("tolerance", lambda p, x: routh.audit(p, p.v, tolerance=x)),
        ("direction", lambda p, x: routh.outer_bound(p).support([0.0, x, 0.0])),
        ("direction", lambda p, x: routh.sample(p, 4).extreme(np.array([0.0, x, 0.0]))),
        ("eta", lambda p, x: routh.exact_set(p, eta=x)),
        ("v", lambda p, x: routh.audit(p, spoiled(p.v, x))),
    ],
)
def test_nan_in_an_option(problem, field, call, bad):
    with pytest.raises(ValueError, match=field):
        call(problem, bad)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("field", ["q", "v", "duration", "dt", "rtol", "gap"])
def test_nan_in_a_motion(system, field, bad):
    state, options = system.state, {"duration": 0.01}
    if field in ("q", "v"):
        state = replace(state, **{field: spoiled(getattr(state, field), bad)})
    elif field != "dt":
        options[field] = bad
    if field in ("rtol", "gap"):
        with pytest.raises(ValueError, match=field):
            routh.simulate(system.model, state, **options)
        return
    for run in (routh.simulate, routh.step_through):
        more = {"dt": bad if field == "dt" else 1e-3} if run is routh.step_through else {}
        if field == "dt" and not more:
            continue
        with pytest.raises(ValueError, match=f"{field}|state"):
            run(system.model, state, **options, **more)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("field", ["q", "v"])
@pytest.mark.parametrize("space", [False, True])
def test_nan_in_the_state_of_a_model(system, space, field, bad):
    """A state becomes a problem: in the plane and in space."""
    model, state = system.model, system.state
    if space:
        ball = sphere("ball", 0.1, mass=1.0)
        model = SpatialModel([ball], [PlaneContact("A", "ball", radius=0.1, mu=0.5)])
        state = State([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=f"state.{field}"):
        model.problem(replace(state, **{field: spoiled(getattr(state, field), bad)}))


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("field", ["W", "q", "cover", "z_unit", "tolerance"])
def test_nan_in_a_complementarity_problem(field, bad):
    given = {"W": np.eye(2), "q": -np.ones(2), "cover": np.ones(2), "z_unit": np.ones(2), "tolerance": 1e-9}
    given[field] = spoiled(given[field], bad) if field != "tolerance" else bad
    with pytest.raises(ValueError, match=field):
        lcp.solve(given.pop("W"), given.pop("q"), **given)


def test_nan_in_outcomes_is_counted_and_never_ended(problem):
    """Samples that failed may hold NaN: they are counted, and nothing that is measured contains them."""
    drawn = routh.sample(problem, 64)
    v, residual, status = drawn.v.copy(), drawn.residual.copy(), drawn.status.copy()
    v[::4], residual[::4], status[::4] = np.nan, np.nan, Status.NUMERICAL
    spoilt = replace(drawn, v=v, residual=residual, status=status)
    rest = replace(
        drawn,
        **{name: np.delete(getattr(drawn, name), np.s_[::4], axis=0) for name in ("v", "impulse", "steps")},
        status=np.delete(drawn.status, np.s_[::4]),
        residual=np.delete(drawn.residual, np.s_[::4]),
    )
    assert spoilt.status_counts()[Status.NUMERICAL] == 16
    assert not spoilt.terminated[::4].any()
    assert spoilt.ambiguity == rest.ambiguity
    assert np.isfinite(measure_ambiguity(spoilt).score)
    assert spoilt.extreme("A").value == rest.extreme("A").value
    assert sum(row.count for row in spoilt.summary()) == 48
    found, wanted = (
        routh.audit(problem, problem.v, outcomes=spoilt),
        routh.audit(problem, problem.v, outcomes=rest),
    )
    assert found.distance == wanted.distance


def test_nan_in_a_batch(problem):
    outcomes = routh.sample(ImpactBatch.from_problems([problem, problem]), 4)
    with pytest.raises(ValueError, match="v_after"):
        audit_many(outcomes, np.full((2, problem.nv), np.nan))


@pytest.mark.parametrize("bad", BAD)
def test_nan_along_an_axis_of_a_scan(problem, bad):
    with pytest.raises(ValueError, match="mu"):
        routh.scan(lambda mu: problem.replace(mu=mu), {"mu": [0.1, bad]}, n=4)
