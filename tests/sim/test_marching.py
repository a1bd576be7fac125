"""Compiled time stepping against the readable loop, which it takes the place of."""

import numpy as np
import pytest

from routh import systems
from routh.constraints import Compliance, coordinate_limit, solve
from routh.models import spatial
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, Revolute, link
from routh.sim import step_through
from routh.sim.marching import March, suits
from routh.status import Status


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
    for name in ("q", "v", "impulses"):
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
    parts = np.split(full.impulses, np.array(kept) + 1)[:-1]
    np.testing.assert_allclose(thin.impulses, [part.sum(axis=0) for part in parts], atol=1e-12)


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


def test_a_budget_ends_a_compiled_motion_with_its_state_so_far():
    model, state, options = CASES["a block slides"]()
    run = step_through(model, state, duration=1e6 * options["dt"], budget=0.02, **options)
    assert run.status[-1] == Status.OUT_OF_TIME
    assert run.events[-1].kind == "stop"
    assert 1 < len(run) < 1e6
    short = step_through(model, state, duration=run.t[-1], **options)
    assert short.q[-1].tolist() == run.q[-1].tolist()
