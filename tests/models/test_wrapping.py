"""Robots of MuJoCo and Pinocchio where a model that moves is meant."""

import numpy as np
import pytest

import routh
from routh.constraints.inverse import forces_at
from routh.models.mujoco import MujocoModel
from routh.models.robots.wrapping import as_model
from routh.sim.step_gradient import trace_steps

mujoco = pytest.importorskip("mujoco")
XML = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 .2"><freejoint/>
  <geom name="ball" size=".1" mass="1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    "call",
    [
        lambda model, state: routh.simulate(model, state, duration=0.2).q,
        lambda model, state: routh.simulate_many(model, state, n=2, duration=0.2)[1].q,
        lambda model, state: routh.step_through(model, state, dt=0.01, duration=0.2).q,
        lambda model, state: routh.step_through_many(model, [state], dt=0.01, duration=0.2)[0].q,
        lambda model, state: trace_steps(model, state, dt=0.01, duration=0.05).trajectory.q,
        lambda model, state: forces_at(model, state, dt=0.01).v,
    ],
)
def test_a_mujoco_model_and_its_data_move_as_their_wrapped_ones_do(call):
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    robot = MujocoModel(model)
    wanted = call(robot, robot.state(data))
    for one, start in ((model, data), (model, robot.state(data)), (robot, data)):
        assert np.array_equal(call(one, start), wanted)


def test_a_motion_is_verified_with_the_mujoco_model():
    model = mujoco.MjModel.from_xml_string(XML)
    motion = routh.simulate(model, mujoco.MjData(model), duration=0.2)
    assert routh.sim.verify(model, motion).ok


def test_what_is_no_model_or_state_is_named():
    model = mujoco.MjModel.from_xml_string(XML)
    with pytest.raises(ValueError, match=r"model: got str; wanted a mujoco.MjModel, a pinocchio.Model"):
        routh.simulate("robot.xml", routh.State([0.0], [0.0]), duration=0.1)
    with pytest.raises(ValueError, match=r"model: got MjData"):
        routh.step_through(mujoco.MjData(model), routh.State([0.0], [0.0]), dt=0.1, duration=0.1)
    with pytest.raises(ValueError, match=r"state: got list; wanted a routh.State\(q, v\) or an MjData"):
        routh.simulate(model, [0.0], duration=0.1)


def test_a_pinocchio_model_stands_on_level_ground():
    pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
    model = pinocchio.buildSampleModelManipulator()
    robot = as_model(model)
    assert type(robot).__name__ == "GroundedRobot"
    start = routh.State(pinocchio.neutral(model) + 0.1, np.zeros(model.nv))
    wanted = routh.step_through(robot, start, dt=0.01, duration=0.05)
    assert np.array_equal(routh.step_through(model, start, dt=0.01, duration=0.05).q, wanted.q)
