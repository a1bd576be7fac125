"""MuJoCo models behind the protocol: derivatives, MuJoCo's own motion, and impacts that are verified."""

import pickle
import re
import sys

import numpy as np
import pytest
from model_checks import check_gap_jacobian, check_jacobian_bias

import routh
from robot_zoo import mjcf_path
from routh.base.status import ModelError
from routh.models.base import Model
from routh.models.mujoco import MujocoModel, touches
from routh.models.mujoco.model import NEAR
from routh.models.robot import UnrepresentedWarning
from routh.sim import flow, verify
from routh.sim.mechanism import Mechanism

mujoco = pytest.importorskip("mujoco")

from simulation_mujoco import bounce  # noqa: E402  of the benchmarks, which need MuJoCo

FLOOR = '<geom name="floor" type="plane" size="5 5 .1" friction="0.6"/>'
CRATE = f"""<mujoco><worldbody>{FLOOR}<body pos="0 0 0.3"><freejoint/>
  <geom name="crate" type="box" size=".2 .15 .1" mass="2" friction="0.6"/></body></worldbody></mujoco>"""
SHAPES = f"""<mujoco><option timestep="1e-4" integrator="RK4"/><worldbody>{FLOOR}
  <body pos="0 0 0.6"><freejoint/><geom name="trunk" type="capsule" size=".05 .1" mass="1"/>
    <body pos="0.1 0 0"><joint name="hip" axis="0 1 0" damping="0.1" stiffness="2" limited="true"
        range="-40 60"/>
      <geom name="leg" type="ellipsoid" size=".03 .04 .1" pos="0 0 -.15" mass="0.3" friction="0.8"/></body>
    <body pos="-0.1 0 0"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="ball" type="sphere" size=".05" pos="-0.1 0 -.2" mass="0.2"/></body></body>
  <body pos="0 0.5 0.6"><freejoint/><geom name="other" type="sphere" size=".1" mass="0.5"/></body>
  </worldbody><actuator><motor joint="hip" gear="2"/></actuator></mujoco>"""
# only points over a plane that stands still, round ones among them: derivatives without differences
LEGS = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1" euler="10 5 0"/>
  <body pos="0 0 0.6"><freejoint/><geom name="trunk" type="box" size=".1 .08 .05" mass="1" contype="2"/>
    <body pos="0.1 0 0"><joint name="hip" axis="0 1 1"/>
      <geom name="leg" type="capsule" size=".03" fromto="0 0 0 .1 0 -.3" mass="0.3" contype="2"/>
      <body pos="0.1 0 -.3"><joint axis="1 0 0"/><geom name="foot" type="sphere" size=".04" pos="0 .05 0"
        mass="0.1" contype="2"/></body></body></body></worldbody></mujoco>"""


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


def random_state(model, seed):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.mujoco.qpos0, rng.normal(size=model.nv), 0.1)
    return q, rng.normal(size=model.nv)


@pytest.mark.parametrize("xml", [CRATE, SHAPES, LEGS])
@pytest.mark.parametrize("seed", [0, 1])
def test_derivatives_by_differences(xml, seed):
    model = MujocoModel(compiled(xml))
    assert isinstance(model, Model)
    q, v = random_state(model, seed)
    check_gap_jacobian(model, q)
    check_jacobian_bias(model, q, v)


@pytest.mark.parametrize("shapes", [("sphere", "capsule"), ("capsule", "capsule"), ("capsule", "box")])
def test_shapes_that_touch_have_a_normal(shapes):
    """Their nearest points are one point: those of what is inside of round shapes tell the normal."""
    bodies = [f'<body><freejoint/><geom type="{shape}" size=".1 .3 .2" mass="1"/></body>' for shape in shapes]
    model = MujocoModel(compiled(f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"))
    q = model.integrate(np.r_[0.0, 0.0, 0.9, np.eye(4)[0], np.zeros(3), np.eye(4)[0]], np.ones(12), 0.3)
    for _ in range(9):
        q = Mechanism(model).close(q, [0])
    assert abs(model.gaps(q)[0]) < 1e-14
    v = np.random.default_rng(0).normal(size=12)
    check_gap_jacobian(model, q)
    check_jacobian_bias(model, q, v)
    near = model.gaps(q) <= NEAR
    np.testing.assert_allclose(model.motion_terms(q, v)[3][near], model.jacobian_bias(q, v)[near], atol=1e-12)


@pytest.mark.parametrize("xml", [SHAPES, LEGS])
def test_one_evaluation_tells_what_several_do(xml):
    model = MujocoModel(compiled(xml))
    u = np.full(model.nu, 0.7)
    (q, v), (other, w) = random_state(model, 1), random_state(model, 2)
    found = model.motion_terms(q, v, u)
    model.motion_terms(other, w, u)  # what was told before stays
    Jn, Jt = model.jacobians(q)
    bias = model.jacobian_bias(q, v)
    bias[model.loose] = 0.0  # of shapes that are near to no other
    wanted = model.inverse_mass(q), model.bias(q, v, u), np.concatenate([Jn[:, None], Jt], axis=1), bias
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[2][model.loose], model._rows(model._places), rtol=0, atol=1e-12)


def test_contacts_are_listed_in_advance():
    model = MujocoModel(compiled(SHAPES), restitution={"ball/floor": 0.5})
    names = {info.name: info for info in model.contacts}
    assert set(names) == {
        "trunk/floor#1", "trunk/floor#2", "leg/floor", "ball/floor", "other/floor",
        "other/trunk", "other/leg", "other/ball", "ball/leg", "hip:lower", "hip:upper",
    }  # fmt: skip
    assert names["leg/floor"].mu == 0.8  # the larger coefficient
    assert names["ball/floor"].mu == 1.0
    assert names["ball/floor"].restitution == 0.5
    assert names["hip:lower"].mu == 0.0


def test_accelerations_are_those_of_mujoco():
    """``M dv/dt + bias = 0`` in the air, with springs, damping and an actuator."""
    own = compiled(SHAPES)
    model, data = MujocoModel(own), mujoco.MjData(own)
    q, v = random_state(model, 3)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, 0.7
    mujoco.mj_forward(own, data)
    assert data.ncon == 0
    found = np.linalg.solve(model.mass(q), -model.bias(q, v, [0.7]))
    np.testing.assert_allclose(found, data.qacc, rtol=1e-9, atol=1e-9)


def test_free_flight_is_that_of_mujoco():
    own = compiled(SHAPES)
    model, data = MujocoModel(own), mujoco.MjData(own)
    start = routh.State(own.qpos0, np.r_[0.2, 0.0, 1.0, 1.0, 2.0, -1.0, 0.5, 0.3, np.zeros(6)])
    data.qpos[:], data.qvel[:] = start.q, start.v
    motion = routh.simulate(model, start, duration=0.1)
    while data.time < 0.1 - 1e-9:
        mujoco.mj_step(own, data)
    assert not motion.events
    np.testing.assert_allclose(motion.final.q, data.qpos, atol=1e-9)  # RK4 with steps of 0.1 ms
    np.testing.assert_allclose(motion.final.v, data.qvel, atol=1e-8)


def test_one_bounce_is_that_of_mujocos_stiff_contact():
    """A rod hits the floor with one end: the limit of ever stiffer inelastic contacts."""
    xml = f"""<mujoco><option timestep="2e-6" cone="elliptic" impratio="100"/><worldbody>{FLOOR}
      <body pos="0 0 0.2"><freejoint/><geom name="rod" type="capsule" size=".02 .1" mass="1" friction="0.6"
      priority="1" solref="2e-5 50" solimp="0.999 0.9999 1e-6"/></body></worldbody></mujoco>"""
    own = compiled(xml)
    model, data = MujocoModel(own), mujoco.MjData(own)
    angle = 0.7
    q = np.r_[0.0, 0.0, 0.2, np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]
    q[2] -= model.gaps(q).min() - 1e-4
    start = routh.State(q, np.r_[0.0, 0.0, -1.0, 0.0, 0.0, 0.0])
    motion = routh.simulate(model, start, duration=1e-3)
    data.qpos[:], data.qvel[:] = start.q, start.v
    while data.time < 1e-3 - 1e-9:
        mujoco.mj_step(own, data)
    assert [event.kind for event in motion.events][:1] == ["impact"]
    np.testing.assert_allclose(motion.final.v, data.qvel, atol=0.02)
    assert np.linalg.norm(motion.final.v - start.v) > 1.0


def test_bounces_converge_to_those_of_mujocos_springs():
    """With restitution but without friction, and with friction that sticks: ten times stiffer, nearer."""
    soft, stiff = (bounce(k, restitution=0.5, mu=0.0) for k in (1e6, 1e8))
    assert soft.events[0] == stiff.events[0] == "impact"
    assert stiff.v < 0.02 < soft.v  # of 11 rad/s, as the time of contact goes from 3 to 0.3 ms
    assert bounce(1e8, restitution=0.0, mu=1.0).v < 1e-3


def test_a_crate_lands():
    model = MujocoModel(compiled(CRATE))
    turn = np.array([1.0, 0.02, 0.03, 0.0])
    q = np.r_[0.0, 0.0, 0.3, turn / np.linalg.norm(turn)]
    q[2] -= model.gaps(q).min() - 0.002
    futures = routh.simulate_many(model, routh.State(q, [0.3, 0.0, -0.5, 0.0, 0.0, 0.0]), n=2, duration=0.012)
    for motion in futures:
        verdict = verify(model, motion)
        assert verdict.ok, str(verdict)
        assert sum(event.kind == "impact" for event in motion.events) >= 1


def test_a_corner_that_begins_to_slip():
    """Slip that begins in space is stiff at first: steps begin with nanoseconds and grow with it."""
    model = MujocoModel(compiled(CRATE))
    q = [-0.04509475227080498, 0.025674123103378573, 0.10015210998407527]
    q += [0.9999686676869082, 0.0005071890232190236, 4.006802779300648e-06, 0.00789977137074647]
    v = [-0.10619742657190655, -0.050824570741799455, -0.14010047040087975]
    v += [-1.34159440576689, 0.3059430552421205, 0.9172097154766817]
    motion = routh.simulate(model, routh.State(q, v), duration=1e-5)
    assert [event.kind for event in motion.events] == ["close"]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_a_walker_lands_in_its_plane():
    model = MujocoModel(mujoco.MjModel.from_xml_path(str(mjcf_path("gymnasium/walker2d"))))
    assert model.nt == 1
    q = np.r_[0.0, 1.25, 0.0, -0.1, -0.2, 0.1, -0.1, -0.3, 0.05]
    feet = [i for i, info in enumerate(model.contacts) if "floor" in info.name]
    q[1] -= model.gaps(q)[feet].min() - 0.001
    motion = routh.simulate(model, routh.State(q, np.r_[0.0, -0.5, np.zeros(7)]), duration=0.015)
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)
    assert any(event.kind == "impact" for event in motion.events)


def test_an_ant_whose_feet_stop_slipping_together():
    """Two feet slip, turn and stop at one instant: both are held there, and few steps lead to it."""
    model = MujocoModel(mujoco.MjModel.from_xml_path(str(mjcf_path("gymnasium/ant"))))
    q = np.r_[0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]
    feet = [i for i, info in enumerate(model.contacts) if "floor" in info.name]
    q[2] -= model.gaps(q)[feet].min() - 1e-4
    state = routh.State(q, np.r_[0.0, 0.0, -0.8, np.zeros(11)])
    law = routh.laws.SetValued(method="algorithm1")  # of which the first draw leaves two feet slipping
    motion = routh.simulate(model, state, duration=0.005, law=law)
    assert [event.kind for event in motion.events] == ["impact", "close", "stick"]
    assert len(motion.events[-1].contacts) == 2
    assert len(motion) < 1000
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_slip_that_begins_does_not_turn_back_by_rounding():
    """A humanoid stands until one foot slips, which takes 1e-7 s to be more than rounding: no paradox."""
    own = mujoco.MjModel.from_xml_path(str(mjcf_path("gymnasium/humanoid")))
    model, found = MujocoModel(own, self_contacts=False), routh.models.landing(own, down=1.0)
    motion = routh.simulate(model, routh.State(found.qpos, found.qvel), duration=0.314)
    assert [event.kind for event in motion.events] == ["impact", "close", "slip"]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_slip_that_comes_to_an_end_by_less_than_rounding_ends():
    """A foot creeps ever slower, and is below what counts as slip at one look: at the next it has stopped."""
    model = MujocoModel(mujoco.MjModel.from_xml_path(str(mjcf_path("gymnasium/ant"))))
    q = [-0.0008122194643884489, 0.0006277188301846803, 0.5563377125518975, 0.9999999991763971]
    q += [2.602398192373206e-05, -2.4080717576528237e-05, 1.975040902193238e-05, 0.0001993858409547543]
    q += [1.0012823267334225, -0.00029755192923301585, -1.0010879694991521, -1.4227741758256711e-05]
    q += [-1.0008778728802268, 0.0001133855489098927, 1.0010722660229807]
    v = [-9.392765975886655e-06, 1.1902873796703475e-05, 1.503114433402687e-10, 1.154127338600514e-05]
    v += [9.10591114169558e-06, -1.5672036470447822e-06, -3.7111074041659405e-05, 4.9212634162200524e-06]
    v += [6.958565729751063e-06, -4.1668035108239715e-05, 4.173753922389595e-05, 4.913250066667192e-06]
    v += [-2.332476830512038e-06, -4.1666144360236476e-05]
    motion = routh.simulate(model, routh.State(q, v), duration=0.02)
    assert [event.kind for event in motion.events] == ["close", "stick"]
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_a_foot_that_opens_does_not_stay_for_an_instant(monkeypatch):
    """Where its force vanishes, the mode that has just ended and the one without the foot are as possible."""
    flows, follow = [], flow.run_mode

    def kept(*asked):
        flows.append(follow(*asked))
        return flows[-1]

    monkeypatch.setattr(sys.modules["routh.sim.event_driven"], "run_mode", kept)
    model = MujocoModel(mujoco.MjModel.from_xml_path(str(mjcf_path("gymnasium/ant"))))
    q = np.r_[0.0, 0.0, 0.75, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0]
    feet = [i for i, info in enumerate(model.contacts) if "floor" in info.name]
    q[2] -= model.gaps(q)[feet].min() - 0.02
    v = np.r_[0.0, 0.0, -0.5, np.zeros(11)]
    motion = routh.simulate(model, routh.State(q, v), duration=0.14, seed=4)
    lasted = [one.samples[-1].t - one.samples[0].t for one in flows if one.reason == "open"]
    assert lasted
    assert min(lasted) > 0.0
    verdict = verify(model, motion)
    assert verdict.ok, str(verdict)


def test_it_travels_to_other_processes():
    model = pickle.loads(pickle.dumps(MujocoModel(compiled(SHAPES))))
    q, v = random_state(model, 5)
    assert np.array_equal(model.gaps(q), MujocoModel(compiled(SHAPES)).gaps(q))
    assert np.all(np.isfinite(model.bias(q, v)))


def test_what_cannot_be_followed_is_refused_or_named():
    tied = CRATE.replace(
        "</mujoco>", '<equality><connect body1="crate" anchor="0 0 0"/></equality></mujoco>'
    ).replace('<body pos="0 0 0.3">', '<body name="crate" pos="0 0 0.3">')
    held = MujocoModel(compiled(tied))
    with pytest.raises(ModelError, match=r"equality constraints \(equality0\).*routh.models.mujoco.problem"):
        held.problem(held.state(mujoco.MjData(compiled(tied))))
    with pytest.raises(ValueError, match="restitution: got 'x'"):
        MujocoModel(compiled(CRATE), restitution={"x": 0.5})
    rough = SHAPES.replace('name="hip"', 'name="hip" frictionloss="0.1"')
    model = MujocoModel(compiled(rough))
    q, v = random_state(model, 1)
    q[2] += 5.0
    with pytest.warns(UnrepresentedWarning, match="frictionloss"):
        routh.simulate(model, routh.State(q, v), duration=0.001)


def test_compiled_contacts_with_the_ground_are_the_readable_ones(monkeypatch):
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1" quat="0.99 0.1 0 0"/>
      <body pos="0 0 1"><freejoint/><geom type="box" size=".2 .15 .1"/>
        <body pos=".3 0 0"><joint name="a" axis="0 1 0" range="-1 1" limited="true"/>
          <geom type="capsule" size=".05 .1"/>
          <body pos=".2 0 0"><joint type="ball"/><geom size=".07"/></body></body></body>
      </worldbody></mujoco>"""
    quick = MujocoModel(mujoco.MjModel.from_xml_string(text), self_contacts=False)
    assert not len(quick.loose)
    of_all = touches.Places.__init__

    def nowhere(self, *given):
        of_all(self, *given)
        self.grounded = np.zeros_like(self.grounded)

    monkeypatch.setattr(touches.Places, "__init__", nowhere)
    slow = MujocoModel(mujoco.MjModel.from_xml_string(text), self_contacts=False)
    assert len(slow.loose) == len(slow.contacts) - 2  # the way of all other contacts
    rng = np.random.default_rng(1)
    for _ in range(3):
        v = rng.normal(size=quick.nv)
        q = quick.integrate(quick.mujoco.qpos0, rng.normal(size=quick.nv), 0.5)
        np.testing.assert_allclose(quick.gaps(q), slow.gaps(q), atol=1e-13)
        for one, other in zip(quick.jacobians(q), slow.jacobians(q), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
        scale = np.abs(slow.jacobian_bias(q, v)).max()
        np.testing.assert_allclose(quick.jacobian_bias(q, v), slow.jacobian_bias(q, v), atol=1e-7 * scale)
        np.testing.assert_allclose(quick.inverse_mass(q) @ quick.mass(q), np.eye(quick.nv), atol=1e-9)
        h = 1e-5
        moved = (quick.integrate(q, v, h) - quick.integrate(q, v, -h)) / (2.0 * h)
        np.testing.assert_allclose(quick.rate(q, v), moved, atol=1e-8)


def test_a_crate_that_lands_nearly_flat_draws_from_the_set_of_its_landing():
    """The first impact of a future is that of `routh.models.landing`: the same contacts and window."""
    crate = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="5 5 .1" friction="0.6"/>
        <body pos="0 0 .25"><freejoint/><geom type="box" size=".2 .15 .1" mass="2" friction="0.6"/>
        </body></worldbody></mujoco>"""
    )
    found = routh.models.landing(crate, down=1.0, roll=0.005)
    model = MujocoModel(crate)
    assert found.problem.nc == 4
    widest = np.ptp(routh.sample(found.problem, 256, seed=0).v[:, 3])
    turning = []
    for number in range(3):
        motion = routh.simulate(model, routh.State(found.qpos, found.qvel), duration=1e-4, stream=number)
        first = motion.events[0]
        assert first.data["law"] == "SetValued"
        assert len(first.data["closed"]) == 4
        np.testing.assert_allclose(first.data["v_before"], found.qvel, atol=1e-12)
        assert routh.sim.verify(model, motion).ok
        turning.append(first.data["v_after"][3])
    assert np.ptp(turning) > 0.3 * widest


def test_a_mesh_with_many_corners_touches_with_some_and_says_how_far_the_others_reach():
    """300 points of a sphere of 0.1 m: a plane from any side finds a chosen one within what is told."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True)
    numbers = " ".join(f"{x:.6f}" for x in points.ravel())
    text = f"""<mujoco><asset><mesh name="ball" vertex="{numbers}"/></asset><worldbody>
      <geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 0.3"><freejoint/>
      <geom name="ball" type="mesh" mesh="ball"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    with pytest.warns(UnrepresentedWarning, match=r"ball: touches with 64 of \d+ corners") as told:
        robot = MujocoModel(model)
    farther = 1e-3 * float(re.search(r"up to (\S+) mm", str(told[0].message)).group(1))
    assert 1e-4 < farther < 0.02
    assert len(robot.contacts) == 64
    corners = np.array([touch.offset for touch in robot._touches])
    given = np.array(model.mesh_vert, dtype=np.float64)
    ways = rng.normal(size=(500, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    lost = (given @ ways.T).max(axis=0) - (corners @ ways.T).max(axis=0)
    assert lost.min() >= 0.0
    assert lost.max() <= 1.2 * farther  # directions between those that were compared
