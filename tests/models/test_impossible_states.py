"""States that cannot be are refused, with how deep and where; each limit is an option."""

import numpy as np
import pytest

from routh.auditing import rollout
from routh.base.status import ModelError, StateError
from routh.models import mujoco as adapter

mujoco = pytest.importorskip("mujoco")

CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body pos="0 0 0.1"><freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1"/></body>
  </worldbody></mujoco>"""
ARM = """<mujoco><compiler angle="radian"/><worldbody><body>
  <joint name="elbow" axis="0 1 0" range="-1 1" limited="true"/><geom size="0.1" mass="1" pos="0.3 0 0"/>
  <body pos="0.5 0 0"><joint name="slide" type="slide" axis="1 0 0" range="-0.1 0.1" limited="true"/>
  <geom size="0.1" mass="1"/></body></body></worldbody></mujoco>"""


def at(xml, qpos, qvel):
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    for index, value in qpos.items():
        data.qpos[index] = value
    for index, value in qvel.items():
        data.qvel[index] = value
    return model, data


def test_a_crate_far_under_the_floor_is_refused_with_depth_and_pair():
    with pytest.raises(StateError, match=r"crate/floor.* is 0\.6 m deep; wanted at most 0\.02 m"):
        adapter.problem(*at(CRATE, {2: -0.5}, {2: -1.0}))
    assert adapter.problem(*at(CRATE, {2: -0.5}, {2: -1.0}), deepest=None).nc == 4
    assert adapter.problem(*at(CRATE, {2: 0.081}, {2: -1.0})).nc == 4
    with pytest.raises(StateError, match=r"0\.019 m deep"):
        adapter.problem(*at(CRATE, {2: 0.081}, {2: -1.0}), deepest=0.005)


def test_joints_past_their_limits_are_refused():
    with pytest.raises(StateError, match=r"elbow:upper is 0\.5 rad past its limit; wanted at most 0\.1 rad"):
        adapter.problem(*at(ARM, {0: 1.5}, {0: 1.0}))
    assert adapter.problem(*at(ARM, {0: 1.5}, {0: 1.0}), past_limit=0.6).names == ("elbow:upper",)
    # the limit of a slide is a length
    with pytest.raises(StateError, match=r"slide:lower is 0\.05 m past its limit"):
        adapter.problem(*at(ARM, {1: -0.15}, {1: -1.0}))
    assert adapter.problem(*at(ARM, {1: -0.15}, {1: -1.0}), deepest=0.06).names == ("slide:lower",)


@pytest.mark.parametrize(("field", "index"), [("qpos", 2), ("qpos", 4), ("qvel", 1)])
def test_numbers_that_are_not_finite_are_refused(field, index):
    model, data = at(CRATE, {}, {2: -1.0})
    getattr(data, field)[index] = np.nan
    with pytest.raises(ValueError, match=f"{field}: got nan"):
        adapter.problem(model, data)


@pytest.mark.parametrize("options", [{"deepest": -0.1}, {"deepest": np.nan}, {"past_limit": -1.0}])
def test_limits_of_what_is_possible_are_checked(options):
    xml = CRATE if "deepest" in options else ARM
    with pytest.raises(ValueError, match=next(iter(options))):
        adapter.problem(*at(xml, {}, {2: -1.0} if xml is CRATE else {0: 1.0}), gap=2.0, **options)


def test_a_rollout_names_impacts_that_begin_in_impossible_states():
    model, data = at(CRATE, {2: -0.3}, {2: -1.0})
    found = rollout.audit(model, data, duration=0.01, n=4)
    assert not found.impacts
    assert len(found.refused) >= 1
    assert "0.4 m deep" in found.refused[0]
    model, data = at(CRATE, {2: -0.3}, {2: -1.0})
    assert not rollout.audit(model, data, duration=0.01, n=4, deepest=None).refused


def test_pinocchio_refuses_the_same():
    pinocchio = pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio as other

    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelPZ(), pinocchio.SE3.Identity(), "drop")
    model.appendBodyToJoint(joint, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    model.addBodyFrame("foot", joint, pinocchio.SE3.Identity(), 0)
    turn = model.addJoint(joint, pinocchio.JointModelRX(), pinocchio.SE3.Identity(), "turn")
    model.appendBodyToJoint(turn, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
    model.lowerPositionLimit[:] = [-10.0, -0.5]
    model.upperPositionLimit[:] = [10.0, 0.5]
    options = {"points": ["foot"]}
    with pytest.raises(ModelError, match=r"foot/ground is 0\.6 m deep"):
        other.problem(model, [-0.6, 0.0], [-1.0, 0.0], **options)
    assert other.problem(model, [-0.6, 0.0], [-1.0, 0.0], deepest=1.0, **options).nc == 1
    with pytest.raises(StateError, match=r"turn:upper is 0\.3 rad past its limit"):
        other.problem(model, [0.5, 0.8], [-1.0, 1.0], **options)
    assert other.problem(model, [0.5, 0.8], [-1.0, 1.0], past_limit=0.4, **options).nc == 1
