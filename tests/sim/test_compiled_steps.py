"""Compiled time stepping against the readable loop, which it takes the place of."""

import numpy as np
import pytest

from routh import systems
from routh.base.status import Status
from routh.constraints import Compliance, coordinate_limit, solve
from routh.models import spatial
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, Revolute, link
from routh.sim import step_through, step_through_many
from routh.sim.compiled_steps import March, suits


def readable(system, warm):
    return solve(system, warm=warm)


def motion(name, **parameters):
    found = systems.get(name, **parameters)
    names = ("dt", "constraints", "compliance", "force")
    return found.model, found.state, {key: getattr(found, key) for key in names}


def tumbling():
    """Two boxes of unequal inertia that fall on corners, their friction with springs."""
    bodies = [spatial.box("a", (0.4, 0.3, 0.2), mass=1.0), spatial.box("b", (0.2, 0.2, 0.5), mass=5.0)]
    turned = np.array([[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 1.5]]) * 0.01
    bodies += [spatial.Body("c", 2.0, turned), spatial.sphere("d", 0.3, mass=3.0)]
    places = [(body, corner) for body in bodies[:2] for corner in spatial.corners(body.size)]
    contacts = [
        spatial.PlaneContact(f"{body.name}{k}", body.name, point=tuple(corner), mu=0.4)
        for k, (body, corner) in enumerate(places)
    ]
    contacts.append(spatial.SphereContact("touch", "d", "a", mu=0.5))
    contacts.append(spatial.PlaneContact("c on the floor", "c", point=(0.1, 0.0, -0.1), mu=0.2))
    model = spatial.SpatialModel(bodies, contacts)
    rng = np.random.default_rng(1)
    q = np.concatenate([np.concatenate([[0.2 * i, 0.1 * i, 0.25], rng.normal(size=4)]) for i in range(4)])
    compliance = Compliance(1e6, 50.0, tangential_stiffness=1e4, tangential_damping=20.0)
    return model, State(q, rng.normal(size=24), 0.5), {"dt": 1e-3, "compliance": compliance}


def knee():
    """Two links with limits, the lower end of which touches the floor; an input and a force."""
    links = [
        link("thigh", 0.5, mass=2.0, joint=Revolute(at=(0.0, 0.9))),
        link("shank", 0.5, mass=1.0, joint=Revolute("thigh", at=(0.0, -0.5))),
    ]
    foot = PlaneContact("foot", "shank", point=(0.0, -0.5), mu=0.6)
    model = PlanarModel(links, [foot], actuated=["shank.angle"])
    limits = [coordinate_limit("knee", 1, 2, lower=-0.1, upper=0.05, stiffness=1e4, damping=3.0)]
    limits.append(coordinate_limit("hip", 0, 2, upper=0.7, stiffness=1e8))
    more = {"compliance": Compliance(1e7, 2.0, anticipate=True), "u": lambda state: [np.sin(9.0 * state.t)]}
    more["force"] = lambda state: np.array([0.1, -state.v[1]])
    return model, State([0.3, 0.0], [2.0, -1.0]), {"dt": 2e-3, "constraints": limits, **more}


CASES = {
    "a block slides": lambda: motion("block-on-incline", mu=0.2, direction=0.7),
    "spheres fall": lambda: motion("sphere-stack", count=7, gap=0.01, anticipate=True),
    "spheres stand": lambda: motion("sphere-stack", count=30),
    "a limit": lambda: motion("pendulum-with-limit", angle=0.02),
    "a foundation": lambda: motion("cube-on-foundation", elements=100, load=50.0),
    "boxes tumble": tumbling,
    "a knee": knee,
}


@pytest.mark.parametrize("case", CASES)
def test_compiled_steps_are_those_of_the_readable_loop(case):
    model, state, options = CASES[case]()
    options["duration"] = 60 * options["dt"]
    assert suits(model, options["compliance"], options.get("constraints", ()))
    found = step_through(model, state, **options)
    wanted = step_through(model, state, rule=readable, **options)
    np.testing.assert_allclose(found.t, wanted.t, rtol=0.0, atol=0.0)
    for name in ("q", "v", "impulse"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-7, atol=1e-9)
    for group in ("forces", "deformations", "energies"):
        for name, values in getattr(wanted, group).items():
            scale = np.abs(values).max(initial=1e-9)
            np.testing.assert_allclose(getattr(found, group)[name], values, atol=1e-6 * scale)
    assert list(found.forces) == list(wanted.forces)
    assert [(e.kind, e.index, e.contacts) for e in found.events] == [
        (e.kind, e.index, e.contacts) for e in wanted.events
    ]
    assert found.ok
    assert found.residuals.max() < 1e-9


def test_thinned_out_records_gather_what_lies_between():
    model, state, options = CASES["boxes tumble"]()
    options["duration"] = 0.05
    full = step_through(model, state, **options)
    thin = step_through(model, state, record_every=7, **options)
    kept = [*range(0, 50, 7), 50]
    assert thin.q.tolist() == full.q[kept].tolist()
    assert thin.t.tolist() == full.t[kept].tolist()
    parts = np.split(full.impulse, np.array(kept) + 1)[:-1]
    np.testing.assert_allclose(thin.impulse, [part.sum(axis=0) for part in parts], atol=1e-12)


def test_steps_that_compiled_code_does_not_solve_are_solved_by_the_readable_solver(monkeypatch):
    """With a tolerance that nothing meets every step is."""
    model, state, options = CASES["boxes tumble"]()
    options["duration"] = 0.04
    wanted = step_through(model, state, **options)
    plan = March._plan
    monkeypatch.setattr(March, "_plan", lambda self: plan(self)._replace(tolerance=0.0))
    found = step_through(model, state, record_every=3, **options)
    kept = [*range(0, 40, 3), 40]
    np.testing.assert_allclose(found.q, wanted.q[kept], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        found.forces["contacts"], wanted.forces["contacts"][kept], rtol=1e-5, atol=1e-5
    )
    assert found.ok


@pytest.mark.usefixtures("ticking")
def test_a_budget_ends_a_compiled_motion_with_its_state_so_far():
    model, state, options = CASES["a block slides"]()
    run = step_through(model, state, duration=1e6 * options["dt"], budget=0.2, **options)
    assert run.status[-1] == Status.OUT_OF_TIME
    assert run.events[-1].kind == "stop"
    assert 1 < len(run) < 1e6
    short = step_through(model, state, duration=run.t[-1], **options)
    assert short.q[-1].tolist() == run.q[-1].tolist()


def some_states(model, state, count):
    rng = np.random.default_rng(0)
    return [State(state.q, state.v + 0.1 * rng.normal(size=model.nv), 0.1 * k) for k in range(count)]


@pytest.mark.parametrize("threads", [1, 3])
def test_many_motions_are_what_each_is_alone_for_every_number_of_threads(threads):
    model, state, options = CASES["boxes tumble"]()
    states = some_states(model, state, 130)
    found = step_through_many(model, states, duration=0.01, threads=threads, **options)
    assert found.ok
    for k in (0, 70, 129):
        alone = step_through(model, states[k], duration=0.01, **options)
        assert found[k].q.tolist() == alone.q[[0, -1]].tolist()
        assert found[k].t.tolist() == alone.t[[0, -1]].tolist()


@pytest.mark.parametrize("law", [1e6, lambda gaps: np.full_like(gaps, 1e6)], ids=["compiled", "one by one"])
def test_every_motion_has_its_own_inputs(law):
    model = PlanarModel([link("arm", 1.0, mass=1.0, joint=Revolute())], actuated=["arm.angle"])
    compliance = Compliance(law, 1.0)
    states = [State([0.1 * k], [0.0]) for k in range(3)]
    u = np.random.default_rng(0).normal(size=(3, 5, 1))
    found = step_through_many(model, states, dt=0.01, duration=0.05, u=u, compliance=compliance)
    for k, state in enumerate(states):
        own = iter(u[k])
        alone = step_through(model, state, dt=0.01, duration=0.05, u=lambda now, own=own: next(own))
        np.testing.assert_allclose(found[k].v[-1], alone.v[-1], rtol=1e-12)
    all_alike = step_through_many(model, states, dt=0.01, duration=0.05, u=[0.3], compliance=compliance)
    alone = step_through(model, states[2], dt=0.01, duration=0.05, u=[0.3], compliance=compliance)
    np.testing.assert_allclose(all_alike[2].v[-1], alone.v[-1], rtol=1e-12)


@pytest.mark.usefixtures("ticking")
def test_many_motions_refuse_inputs_that_do_not_fit_and_end_when_time_is_over():
    model, state, _ = CASES["a block slides"]()
    states = some_states(model, state, 2)
    with pytest.raises(ValueError, match=r"u: got shape \(3, 6\)"):
        step_through_many(model, states, duration=0.1, u=np.zeros((3, 6)), **{"dt": 0.01})
    with pytest.raises(ValueError, match=r"state.q: got shape \(3,\)"):
        step_through_many(model, [State(np.zeros(3), np.zeros(6))], duration=0.1, **{"dt": 0.01})
    short = step_through_many(model, states, dt=0.01, duration=1e4, budget=0.2)
    assert [one.status[-1] for one in short] == [Status.OUT_OF_TIME] * 2
    assert len(step_through_many(model, [], dt=0.01, duration=0.1)) == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_motion_beyond_all_numbers_ends_before_them_with_a_status():
    model, state, options = CASES["a block slides"]()
    grown = options | {"force": lambda now: np.full(6, 1e308 * (now.t > 0.015)), "duration": 0.1}
    run = step_through(model, state, **grown)
    assert run.status[-1] == Status.NUMERICAL
    assert np.all(np.isfinite(run.q))
    assert run.t[-1] == pytest.approx(0.02)
    assert run.events[-1].data["reason"] == "the motion went beyond all numbers"
