"""One notion of simultaneity: every door counts the same contacts, and names those that close soon."""

import falling
import numpy as np
import pytest

import routh
from routh.laws import Sequential, SetValued
from routh.models.base import State
from routh.models.planar import PlanarModel, PlaneContact, box
from routh.models.simultaneity import TOUCHING, WINDOW, Simultaneity

mujoco = pytest.importorskip("mujoco")

CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/><body name="crate" pos="0 0 0.1">
  <freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1" mass="1"/></body></worldbody></mujoco>"""
BOTH, FIRST = ("left/floor", "right/floor"), ("left/floor",)


def feet(tilt, speed=1.0):
    """Two feet 1 m apart, the left one touches: model, state in MuJoCo, and how long the right one takes."""
    model, data = falling.block(tilt=-tilt, speed=speed)
    data.qpos[1] -= data.geom("left").xpos[2] - 0.1
    mujoco.mj_forward(model, data)
    return model, data, float(data.geom("right").xpos[2] - 0.1) / max(speed, 1e-9)


def hooked(model, data):
    hook = routh.learn.hook(model, data, single=True)
    data.qpos[1] += 1e-3  # the hook sees contacts that close, not those that have
    while not hook.impacts:
        hook.step()
    return hook.impacts[0].contacts


def landed(model, data):
    return routh.models.landing(model, down=-float(data.qvel[1]), qpos=data.qpos, limits=False).problem.names


DOORS = {
    "problem": lambda m, d: routh.models.mujoco.problem(m, d).names,
    "problems": lambda m, d: routh.models.mujoco.problems(m, d.qpos[None], d.qvel[None])[0].names,
    "landing": landed,
    "model": lambda m, d: routh.models.mujoco.MujocoModel(m).problem(State(d.qpos, d.qvel)).names,
    "simulate": lambda m, d: (
        routh.simulate(
            routh.models.mujoco.MujocoModel(m), State(d.qpos, d.qvel), duration=1e-3, law=Sequential()
        )
        .events[0]
        .data["closed"]
    ),
    "hook": hooked,
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_counts_what_closes_within_one_window(door):
    pytest.importorskip("gymnasium")
    for tilt, wanted in ((4.5e-3, BOTH), (5.8e-3, FIRST)):
        model, data, late = feet(tilt)
        assert (late < WINDOW) == (wanted is BOTH)
        assert DOORS[door](model, data) == wanted


def test_what_touches_and_rests_counts_always_and_what_hovers_does_not():
    model, data, _ = feet(0.0, speed=0.0)
    data.qvel[2] = 0.1  # turns about the middle: one foot comes down, the other one leaves
    for lift, wanted in ((0.0, 2), (10.0 * TOUCHING, 1)):
        data.qpos[1] += lift
        assert routh.models.mujoco.problem(model, data).nc == wanted
    assert routh.models.mujoco.problem(model, data, gap=1e-3).nc == 2


def test_a_robot_that_lands_tilted_by_a_sixth_of_a_degree_has_different_futures():
    model = mujoco.MjModel.from_xml_string(CRATE)
    landing = routh.models.landing(model, down=1.0, pitch=np.radians(0.17))
    robot, start = routh.models.mujoco.MujocoModel(model), State(landing.qpos, landing.qvel)
    options = {"n": 4, "duration": 2e-3, "law": SetValued()}
    futures = routh.simulate_many(robot, start, **options)
    assert futures.ok
    after = np.array([one.events[0].data["v_after"] for one in futures])
    assert np.linalg.norm(after[1:] - after[0], axis=1).min() > 0.01  # m/s
    assert routh.sim.verify(robot, futures[0]).ok
    alone = routh.simulate(robot, start, duration=2e-3, law=SetValued(), window=0.0)
    assert len(alone.events[0].data["closed"]) == 2
    assert len(alone.soon) == 0  # without a window nothing is said of it


def tilted_block():
    model = PlanarModel(
        [box("box", 1.0, 1.0, mass=1.0)],
        [PlaneContact(name, "box", point=(x, -0.5), mu=0.5) for name, x in (("A", -0.5), ("B", 0.5))],
    )
    angle = 8e-3  # B closes after 8 ms
    height = 0.5 * np.cos(angle) + 0.5 * np.sin(angle)
    return model, State(np.array([0.0, height, angle]), np.array([0.0, -1.0, 0.0]))


def test_what_closes_within_three_windows_is_named():
    model, state = tilted_block()
    problem = model.problem(state)
    assert problem.names == ("A",)
    assert problem.soon == {"B": pytest.approx(8e-3, rel=1e-3)}
    sentence = "Closing soon, but not counted: B (in 8 ms); a longer window counts them."
    assert sentence in problem._repr_html_()
    outcomes = routh.sample(problem, 4)
    assert sentence in outcomes._repr_html_()
    assert model.problem(state, window=0.01).names == ("A", "B")
    assert model.problem(state, window=0.002).soon == {}  # three of them are 6 ms
    assert model.problem(state, gap=1e-6).soon == {}
    assert problem.replace(mu=0.1).soon
    assert not problem.replace(v=2.0 * state.v).soon
    motion = routh.simulate(model, state, duration=1e-3)
    assert motion.soon == problem.soon
    assert sentence in motion._repr_html_()
    assert sentence in routh.sim.Bundle((motion,))._repr_html_()


def test_an_impulse_from_beyond_the_window_is_no_solution():
    model, state = tilted_block()
    motion = routh.simulate(model, state, duration=1e-3, law=SetValued(), window=0.01, seed=1)
    assert (motion.impulse[:, 1, 0] > 0.0).any()
    assert routh.sim.verify(model, motion).ok
    for event in motion.events:
        if "window" in event.data:
            event.data["window"] = 0.004
    verdict = routh.sim.verify(model, motion)
    assert "force at a distance" in {violation.condition for violation in verdict.violations}


@pytest.mark.parametrize("given", [{"window": -1.0}, {"window": np.nan}, {"gap": -1.0}, {"gap": np.nan}])
def test_windows_and_gaps_that_are_none(given):
    (field,) = given
    with pytest.raises(ValueError, match=field):
        Simultaneity(**given)
    with pytest.raises(ValueError, match=field):
        routh.learn.settings.Settings(**given)


def test_both_at_once_are_refused():
    model, state = tilted_block()
    for door in (model.problem, lambda s, **o: routh.simulate(model, s, duration=0.1, **o)):
        with pytest.raises(
            ValueError, match=r"gap: got 0\.1 together with window=0\.1; wanted one of the two"
        ):
            door(state, window=0.1, gap=0.1)
