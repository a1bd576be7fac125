"""MuJoCo models under the constraint solver: their rows, and their motion beside MuJoCo's own."""

import pickle
import warnings

import mujoco
import numpy as np
import pytest
from model_checks import along, gradient

import routh
from constraints_swap import arm, lift, ruler
from routh.base.status import ModelError
from routh.constraints import Compliance, forces_at, from_model, inputs_for, solve
from routh.models.mujoco import MujocoModel
from routh.models.robot import UnrepresentedWarning
from routh.sim.robot_steps import RobotMarch

NO_CONTACT = '<option><flag contact="disable"/></option>'
#: as hard as MuJoCo goes at its step of 2e-5 s
HARD = 'solref="4e-5 1" solimp="0.9999 0.9999 1e-6"'
ROD = '<geom type="capsule" size="0.02" mass="1" fromto="{}"/>'

EVERYTHING = f"""<mujoco>{NO_CONTACT}<worldbody>
  <site name="anchor" pos="1 0.3 0"/>
  <body name="arm"><joint name="hip" axis="0 1 0" stiffness="30" springref="20" damping="2"
      frictionloss="0.1"/>
    {ROD.format("0 0 0 0.5 0 0")}
    <body name="hand" pos="0.5 0 0">
      <joint name="wrist" type="ball" stiffness="4" range="0 40" limited="true"/>
      {ROD.format("0 0 0 0 0 -0.4")}<site name="tip" pos="0 0 -0.4"/></body></body>
  <body name="cart" pos="0 1 0"><joint name="rail" type="slide" axis="1 0 0"/>
    <joint name="lift" type="slide" axis="0 0 1"/>{ROD.format("0 0 0 0.1 0 0")}</body>
  <body name="free" pos="0.5 0 -0.4"><freejoint/><geom type="box" size="0.1 0.2 0.05" mass="2"/></body>
</worldbody>
<tendon>
  <spatial name="rope" range="0 1.4" limited="true" stiffness="50" damping="3" springlength="0.2 0.3">
    <site site="tip"/><site site="anchor"/></spatial>
  <fixed name="gears" frictionloss="0.3"><joint joint="rail" coef="2"/><joint joint="lift" coef="-1"/></fixed>
</tendon>
<equality>
  <weld name="grip" body1="hand" body2="free" relpose="0.02 0 -0.4 1 0.05 0 0" torquescale="0.7"/>
  <connect name="pin" body1="free" body2="cart" anchor="0 0.1 0"/>
  <joint name="cam" joint1="rail" joint2="lift" polycoef="0.1 0.5 0.3 0 0"/>
  <tendon name="pulley" tendon1="gears" polycoef="0.05 0 0 0 0"/>
</equality>
<actuator>
  <position name="servo" joint="hip" kp="70" kv="3" forcerange="-5 8"/>
  <velocity name="winch" tendon="rope" kv="9"/>
  <motor name="push" joint="rail" gear="3" ctrllimited="true" ctrlrange="-1 1"/>
  <position name="soft" joint="lift" kp="11" ctrllimited="true" ctrlrange="-0.2 0.2"/>
</actuator></mujoco>"""


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


def somewhere(model, seed):
    rng = np.random.default_rng(seed)
    q = model.integrate(model.mujoco.qpos0, 0.4 * rng.normal(size=model.nv), 1.0)
    return routh.State(q, rng.normal(size=model.nv))


def group(model, state, name, u=None):
    return next(rows for rows in model.step_terms(state, 0.01, u)[1] if rows.name == name)


def test_rows_are_derivatives_of_their_deformations():
    model = MujocoModel(compiled(EVERYTHING))
    assert model.rows["equality"] == ("grip",) * 6 + ("pin",) * 3 + ("cam", "pulley")
    assert model.rows["joint friction"] == ("hip", "gears")
    assert model.rows["limits"] == (
        "wrist",
        "rope",
        "rope",
    )
    state = somewhere(model, 1)
    for name in ("equality", "limits"):
        rows = group(model, state, name)
        slope = gradient(model, state.q, lambda q, name=name: group(model, routh.State(q, state.v), name).phi)
        np.testing.assert_allclose(rows.G, slope, atol=1e-8)
        change = along(
            model, state.q, state.v, lambda q, n=name: group(model, routh.State(q, state.v), n).G @ state.v
        )
        straight = np.array(model.rows[name]) != "wrist"  # whose axis may be any near zero
        np.testing.assert_allclose(rows.bias[straight], 0.5 * change[straight], atol=1e-5)
    springs = group(model, state, "springs")
    of_hinge = np.array(model.rows["springs"]) != "wrist"  # the force of a ball's spring is along its rows
    slope = gradient(model, state.q, lambda q: group(model, routh.State(q, state.v), "springs").phi)
    np.testing.assert_allclose(springs.G[of_hinge], slope[of_hinge], atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_those_of_mujoco(seed):
    """Springs, dampers, servos within and beyond their range of force, tendons with slack, motors."""
    mj = compiled(EVERYTHING)
    model = MujocoModel(mj)
    state, u = somewhere(model, seed), np.array([(-0.5, 0.3, 2.0, 0.1)[seed], 0.4, 2.0, -0.7])
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:], data.ctrl[:] = state.q, state.v, u
    mujoco.mj_forward(mj, data)
    expected = data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator
    dt = 0.01
    force, groups = model.step_terms(state, dt, u)
    for rows in groups:
        if rows.name in ("springs", "actuators", "limited actuators"):
            pull = -rows.stiffness * rows.phi - rows.damping * (rows.G @ state.v)
            given = np.where(rows.stiffness > 0.0, 0.0, rows.bias)  # what a velocity servo is told
            bend = group(model, state, rows.name, np.zeros(4)).bias
            pull -= np.where(rows.stiffness > 0.0, 0.0, rows.damping * dt * (given - bend))
            if rows.kind == "bounded":
                pull = np.clip(pull, -rows.limit, rows.limit)
            if rows.constant is not None:
                pull = pull + rows.constant
            force = force + pull @ rows.G
    np.testing.assert_allclose(force, expected, atol=1e-9)


def swing(xml, state=None, u=None, duration=0.32):
    """Our motions at 8 and 4 ms, and how far from MuJoCo's at 0.02 ms they end."""
    mj = compiled(xml)
    model, data = MujocoModel(mj), mujoco.MjData(mj)
    if state is not None:
        data.qpos[:], data.qvel[:] = state
    start = model.state(data)
    runs = [routh.step_through(model, start, dt=dt, duration=duration, u=u) for dt in (8e-3, 4e-3)]
    assert all(run.ok for run in runs)
    mj.opt.timestep = 2e-5
    if u is not None:
        data.ctrl[:] = u
    mujoco.mj_step(mj, data, nstep=round(duration / 2e-5))
    errors = [np.abs(run.final.q - data.qpos).max() for run in runs]
    return runs, errors


def test_a_pendulum_meets_its_limit():
    xml = f"""<mujoco><worldbody><body><joint axis="0 1 0" range="-20 90" limited="true"
      {HARD.replace("solref", "solreflimit").replace("solimp", "solimplimit")}/>
      <geom size="0.05" pos="0 0 -0.5" mass="1"/></body></worldbody></mujoco>"""
    runs, errors = swing(xml, ([1.0], [0.0]))
    assert errors[0] < 3e-2
    assert errors[1] < 0.55 * errors[0]
    early = Compliance(anticipate=True)
    start = runs[0].final
    low = routh.step_through(MujocoModel(compiled(xml)), start, dt=0.02, duration=1.0, compliance=early)
    assert np.rad2deg(low.q[:, 0].min()) > -20.0001


def test_a_four_bar_linkage_closed_by_connect():
    xml = f"""<mujoco>{NO_CONTACT}<worldbody><body><joint axis="0 1 0"/>{ROD.format("0 0 0 0 0 -0.5")}
      <body pos="0 0 -0.5"><joint axis="0 1 0"/>{ROD.format("0 0 0 0.8 0 0")}
      <body pos="0.8 0 0" name="c"><joint axis="0 1 0"/>{ROD.format("0 0 0 0 0 0.4")}</body></body></body>
      </worldbody><equality><connect body1="c" body2="world" anchor="0 0 0.4" {HARD}/></equality></mujoco>"""
    turned = 1.0 * np.array([1.0, -1.0, 1.25])  # moves no pin
    runs, errors = swing(xml, (np.zeros(3), turned))
    assert errors[0] < 2e-3
    assert errors[1] < 0.55 * errors[0]
    drift = [np.abs(run.deformations["equality"]).max() for run in runs]
    assert drift[0] < 2e-5
    assert drift[1] < 0.2 * drift[0]  # of third order
    energy = [sum(run.energies.values()) for run in runs]
    changed = [np.abs(each - each[0]).max() for each in energy]
    assert changed[0] < 0.03 * np.ptp(runs[0].energies["kinetic"])
    assert changed[1] < 0.6 * changed[0]


def test_welded_bodies():
    xml = f"""<mujoco>{NO_CONTACT}<worldbody><body name="a"><joint axis="0 1 0"/>
      {ROD.format("0 0 0 0.5 0 0")}</body><body name="b" pos="0.5 0 0"><freejoint/>
      <geom type="box" size="0.1 0.2 0.1" pos="0.1 0 0" mass="1"/></body>
      </worldbody><equality><weld body1="a" body2="b" {HARD}/></equality></mujoco>"""
    runs, errors = swing(xml)
    assert errors[0] < 3e-2
    assert errors[1] < 0.55 * errors[0]
    drift = [np.abs(run.deformations["equality"]).max() for run in runs]
    assert drift[0] < 2e-5
    assert drift[1] < 0.2 * drift[0]  # of third order


def test_joints_coupled_by_a_tendon():
    xml = f"""<mujoco>{NO_CONTACT}<worldbody><body><joint name="a" axis="0 1 0"/>
      {ROD.format("0 0 0 0.5 0 0")}</body>
      <body pos="0 1 0"><joint name="b" axis="0 1 0"/>{ROD.format("0 0 0 0 0 -0.3")}</body></worldbody>
      <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
      <equality><tendon tendon1="t" {HARD}/></equality></mujoco>"""
    runs, errors = swing(xml)
    assert errors[0] < 3e-2
    assert errors[1] < 0.55 * errors[0]
    np.testing.assert_allclose(runs[1].q[:, 0], 2.0 * runs[1].q[:, 1], atol=1e-9)


SERVO = f"""<mujoco><worldbody><body><joint name="a" axis="0 1 0" damping="0.1" frictionloss="0.2"
  solreffriction="4e-5 1" solimpfriction="0.9999 0.9999 1e-6"/>
  {ROD.format("0 0 0 0.5 0 0")}</body></worldbody>
  <actuator><position joint="a" kp="KP" kv="5" forcerange="-6 4"/></actuator></mujoco>"""


def test_a_servo_that_saturates():
    runs, errors = swing(SERVO.replace("KP", "200"), u=[-0.3])
    assert errors[0] < 2e-3
    assert errors[1] < 0.75 * errors[0]
    pushed = runs[0].forces["limited actuators"][1:, 0, 1] - 1.0  # about the middle of -6 and 4
    assert pushed.min() >= -6.0 - 1e-12
    assert pushed.min() < -5.999


def test_a_servo_too_stiff_for_its_step_holds():
    """MuJoCo, with its implicit integrator, throws this arm about: stiffness times step^2 is 300 inertias."""
    xml = SERVO.replace("KP", "1e6").replace('forcerange="-6 4"', "")
    run = routh.step_through(
        MujocoModel(compiled(xml)), routh.State([0.0], [0.0]), dt=0.01, duration=0.5, u=[0.2]
    )
    assert run.ok
    assert abs(run.final.q[0] - 0.2) < 1e-5
    assert abs(run.final.v[0]) < 1e-9


def test_friction_in_joints_stops_a_slide_and_holds_it():
    """A block of 2 kg on a rail with 3 N of friction stops as it must and then bears a pull of 2.9 N."""
    rail = '<joint type="slide" axis="1 0 0" frictionloss="3"/><geom size="0.1" mass="2"/>'
    xml = f'<mujoco><option gravity="0 0 0"/><worldbody><body>{rail}</body></worldbody></mujoco>'
    model, dt = MujocoModel(compiled(xml)), 0.01
    run = routh.step_through(model, routh.State([0.0], [0.9]), dt=dt, duration=0.7)
    steps = np.arange(1, 60)  # 0.6 s to the stop: each step takes 1.5 m/s^2 times dt
    assert run.ok
    assert abs(run.final.q[0] - np.sum(0.9 - 1.5 * dt * steps) * dt) < 1e-9
    for pull, moves in ((2.9, False), (-2.9, False), (3.1, True)):
        system = from_model(model, run.final, dt=dt, force=[pull])
        for solver in ("newton", "cone-program"):
            held = solve(system, solver=solver)
            assert held.status.ok
            assert (abs(held.v[0]) > 1e-4) == moves


def test_softness_of_solref_is_mujocos_under_a_steady_load():
    """A weight that hangs by connect: MuJoCo's own rest, with the time constant at its default."""
    xml = """<mujoco><worldbody><body name="w"><freejoint/><geom size="0.1" mass="30"/></body></worldbody>
      <equality><connect body1="w" anchor="0 0 0"/></equality></mujoco>"""
    mj = compiled(xml)
    data = mujoco.MjData(mj)
    mujoco.mj_step(mj, data, nstep=2000)
    rest = -data.qpos[2]
    for stiffness, depth in (("solref", rest), (1e8, 30 * 9.81 / 1e8)):
        model = MujocoModel(mj, stiffness=stiffness)
        run = routh.step_through(model, routh.State(mj.qpos0, np.zeros(6)), dt=0.02, duration=2.0)
        assert run.ok
        assert abs(-run.final.q[2] / depth - 1.0) < 1e-3


def test_limits_of_tendons_and_ball_joints_hold():
    """A rod on a ball joint is thrown against the limit of the ball, and then held by a rope."""
    ball, rod = '<joint type="ball" range="0 40" limited="true"/>', ROD.format("0 0 0 0 0 -0.5")
    xml = f"""<mujoco><worldbody><site name="above" pos="0 0 0.1"/><body>{ball}{rod}
      <site name="tip" pos="0 0 -0.5"/></body></worldbody>
      <tendon><spatial name="rope" range="0 1" limited="true"><site site="above"/>
      <site site="tip"/></spatial></tendon></mujoco>"""
    thrown = routh.State([1.0, 0, 0, 0], [4.0, 1.0, 0.0])
    run = routh.step_through(MujocoModel(compiled(xml)), thrown, dt=0.01, duration=0.4)
    angle = 2.0 * np.rad2deg(np.arccos(run.q[:, 0]))
    assert run.ok
    assert 39.9 < angle.max() < 40.01
    short = MujocoModel(compiled(xml.replace('0 1"', '0 0.59"')))  # taut at 28 degrees
    hanging = routh.State([np.cos(0.3), np.sin(0.3), 0.0, 0.0], [1.0, 0.5, 0.0])
    run = routh.step_through(short, hanging, dt=0.01, duration=0.4)
    assert run.ok
    assert run.forces["limits"][:, 2].max() > 1.0
    assert run.deformations["limits"][1:, 2].min() > -1e-4


def test_a_motion_that_is_no_motion_ends_with_a_status():
    """A rope far too short for its joint: the springs tear at each other (at 0.58 m, rounding decides)."""
    ball, rod = '<joint type="ball" range="0 40" limited="true"/>', ROD.format("0 0 0 0 0 -0.5")
    xml = f"""<mujoco><worldbody><site name="above" pos="0 0 0.1"/><body>{ball}{rod}
      <site name="tip" pos="0 0 -0.5"/></body></worldbody>
      <tendon><spatial range="0 0.56" limited="true"><site site="above"/><site site="tip"/></spatial></tendon>
      </mujoco>"""
    hanging = routh.State([np.cos(0.3), np.sin(0.3), 0.0, 0.0], [1.0, 0.5, 0.0])
    with np.errstate(over="ignore", invalid="ignore"):
        run = routh.step_through(MujocoModel(compiled(xml)), hanging, dt=0.005, duration=0.4)
    assert not run.ok
    assert run.events[-1].kind == "stop"
    assert np.all(np.isfinite(run.q))


def test_models_travel_and_systems_name_their_groups():
    model = pickle.loads(pickle.dumps(MujocoModel(compiled(EVERYTHING))))
    state = somewhere(model, 2)
    system = from_model(model, state, dt=0.01, u=np.zeros(4))
    assert [item.name for item in system.constraints] == list(model.rows)
    assert solve(system).status.ok


def test_friction_that_no_cone_has_is_named():
    ball = '<body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" size="0.1" condim="{}"/></body>'
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    for condim in (1, 3, 4, 6):
        mj = compiled(f"<mujoco><worldbody>{floor}{ball.format(condim)}</worldbody></mujoco>")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            MujocoModel(mj)
        told = [str(one.message) for one in caught if issubclass(one.category, UnrepresentedWarning)]
        assert len(told) == (condim > 3)
        assert all("torsional friction (ball/floor)" in each for each in told)
        assert all(("rolling friction (ball/floor)" in each) == (condim == 6) for each in told)


def test_what_cannot_be_represented_is_refused_by_name():
    muscle = EVERYTHING.replace(
        "</actuator>", '<intvelocity name="crank" joint="rail" kp="1" actrange="-1 1"/></actuator>'
    )
    with pytest.raises(ModelError, match=r"actuators with a state.*\(crank\).*wanted ones without dyntype"):
        MujocoModel(compiled(muscle))
    model = MujocoModel(compiled(EVERYTHING))
    with pytest.raises(ModelError, match=r"equality constraints \(grip, pin, cam, pulley\).*step_through"):
        routh.simulate(model, somewhere(model, 0), duration=0.1)
    with pytest.raises(ValueError, match=r"u: .*shape \(4,\)"):
        routh.step_through(model, somewhere(model, 0), dt=0.01, duration=0.1, u=[1.0])
    for bad in (0.0, np.nan, "hard"):
        with pytest.raises((ValueError, TypeError), match="stiffness: got"):
            MujocoModel(compiled(EVERYTHING), stiffness=bad)
    plain = MujocoModel(compiled(SERVO.replace("KP", "9")))
    with pytest.warns(UnrepresentedWarning, match=r"frictionloss \(a\)"):
        routh.simulate(plain, routh.State([0.0], [0.0]), duration=0.01)


TILTED = """<mujoco><worldbody><geom type="box" size="5 5 0.1" euler="0 30 0" friction="0.3"/>
  <body pos="0.1 0 0.17320508075688773" euler="0 30 0">JOINT<geom type="box" size="0.2 0.1 0.1" mass="1"
  friction="0.3"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("planar", [False, True])
def test_a_box_slides_down_another_as_a_block_must(planar):
    """On all its corners: a t (t + h) / 2 with the acceleration of Coulomb's law."""
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'
    model = MujocoModel(compiled(TILTED.replace("JOINT", slides if planar else "<freejoint/>")))
    assert model.nt == 2 - planar
    start = routh.State(model.mujoco.qpos0, np.zeros(model.nv))
    run = routh.step_through(model, start, dt=0.01, duration=0.2, compliance=Compliance(anticipate=True))
    assert run.ok
    size = 2 if planar else 3
    slid = np.linalg.norm(run.final.q[:size] - run.q[0, :size])
    pull = 9.81 * (np.sin(np.pi / 6) - 0.3 * np.cos(np.pi / 6))
    assert abs(slid - pull * 0.2 * 0.21 / 2) < 1e-7  # the springs of the contacts are pressed at first


def test_boxes_stand_on_each_other():
    """A hundred kilograms on light boxes; each yields by its load over four corners of 1e10 N/m."""
    crate = '<body pos="0 0 {}"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="{}"/></body>'
    boxes = "".join(crate.format(0.1 + 0.2 * k, m) for k, m in enumerate((1.0, 1.0, 100.0)))
    model = MujocoModel(
        compiled(
            f'<mujoco><worldbody><geom type="box" size="1 1 0.1" pos="0 0 -0.1"/>{boxes}</worldbody></mujoco>'
        )
    )
    start = routh.State(model.mujoco.qpos0, np.zeros(18))
    firm = Compliance(anticipate=True)
    run = routh.step_through(model, start, dt=0.02, duration=0.4, compliance=firm)
    assert run.ok
    sunk = (run.q[0] - run.final.q).reshape(3, 7)[:, 2]
    np.testing.assert_allclose(sunk, np.cumsum([102.0, 101.0, 100.0]) * 9.81 / 4e10, rtol=1e-5)
    np.testing.assert_allclose(run.forces["faces"][-1, :, 0].sum(), (102 + 101 + 100) * 9.81, rtol=1e-9)
    with pytest.warns(UnrepresentedWarning, match="touches with corners only"):
        routh.simulate(model, routh.State(start.q + 10.0 * np.eye(21)[2], start.v), duration=0.001)
    assert run.forces["faces"].shape[1] == 3 * 16  # so many for each body, though six pairs may touch
    many = Compliance(damping=np.ones(len(model.contacts)))
    with pytest.raises(ValueError, match=r"compliance.damping: got one number per contact.*'faces'"):
        routh.step_through(model, start, dt=0.02, duration=0.02, compliance=many)


def test_gradients_and_inverse_through_servos_and_loops():
    joint = '<joint name="a" axis="0 1 0" damping="0.3" frictionloss="0.5"/>'
    xml = f"""<mujoco>{NO_CONTACT}<worldbody><body>{joint}
      {ROD.format("0 0 0 0 0 -0.5")}<body pos="0 0 -0.5"><joint name="b" axis="0 1 0" stiffness="5"/>
      {ROD.format("0 0 0 0.8 0 0")}<body pos="0.8 0 0" name="c"><joint name="c" axis="0 1 0"/>
      {ROD.format("0 0 0 0 0 0.4")}</body></body></body></worldbody>
      <equality><connect body1="c" body2="world" anchor="0 0 0.4"/></equality>
      <actuator><position joint="a" kp="300" kv="4" forcerange="-2 2"/><velocity joint="b" kv="8"/></actuator>
      </mujoco>"""
    model = MujocoModel(compiled(xml), stiffness=1e5)
    q, v, u = np.zeros(3), np.array([1.0, -1.0, 1.25]), np.array([0.002, 0.3])
    options = {"dt": 0.01, "duration": 0.04}
    tape = routh.sim.trace_steps(model, routh.State(q, v), u=u, **options)
    worth = np.array([0.3, -1.0, 0.5])
    found = tape.gradient(q=worth, v=0.1 * worth)

    def value(q, v, u):
        end = routh.step_through(model, routh.State(q, v), u=u, **options).final
        return worth @ end.q + 0.1 * worth @ end.v

    for name, at in (("q", q), ("v", v), ("u", u)):
        slope = []
        for unit in 1e-5 * np.eye(len(at)):
            ends = [value(**{"q": q, "v": v, "u": u, name: at + side * unit}) for side in (1.0, -1.0)]
            slope.append((ends[0] - ends[1]) / 2e-5)
        given = getattr(found, name)
        np.testing.assert_allclose(given.sum(axis=0) if name == "u" else given, slope, rtol=1e-4, atol=1e-6)
    forces = forces_at(model, routh.State(q, v), dt=0.01, u=u)
    back = inputs_for(model, routh.State(q, v), forces.acceleration, dt=0.01)
    assert back.status.ok
    np.testing.assert_allclose(back.forces.v, forces.v, atol=1e-9)


@pytest.mark.parametrize(
    "make", [lambda: lift(3, 500.0), arm, lambda: ruler(6)], ids=["lift", "arm", "ruler"]
)
def test_mechanisms_that_mujoco_does_not_hold_stand(make):
    """The three of ``benchmarks/constraints_swap.py``, with fewer stages and links, for half a second."""
    what = make()
    mj = compiled(what.xml)
    model, data = MujocoModel(mj), mujoco.MjData(mj)
    options = {"compliance": Compliance(anticipate=True), "u": what.ctrl or None}
    run = routh.step_through(model, model.state(data), dt=what.dt, duration=0.5, record_every=10, **options)
    assert run.ok
    assert np.abs(run.deformations.get("equality", np.zeros(1))).max() < 1e-5
    assert np.abs(run.v[-1]).max() < 0.2  # of the ruler, which swings
    if not mj.neq:  # MuJoCo sinks with the lift, the others it throws
        mj.opt.timestep, mj.opt.integrator = what.dt, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        mj.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        data.ctrl[:] = what.ctrl
        mujoco.mj_step(mj, data, nstep=round(0.5 / what.dt))
        assert not np.abs(data.qvel).max() < 1e3


BOX_ON_BOX = TILTED.replace("JOINT", "<freejoint/>")
#: a leg over the floor: limits and points over a plane, a round foot, springs with memory, motors
HOPPER = """<mujoco><default><geom conaffinity="0"/></default><worldbody>
  <geom type="plane" size="5 5 1" friction="0.7" conaffinity="1"/>
  <body pos="0 0 0.35"><freejoint/><geom type="box" size="0.1 0.08 0.05" mass="3"/>
  <body pos="0.05 0 0"><joint name="hip" axis="0 1 0" range="-30 20" limited="true" damping="0.5"/>
  <geom type="capsule" size="0.03" mass="1" fromto="0 0 0 0.1 0 -0.2"/>
  <body pos="0.1 0 -0.2"><joint name="knee" axis="0 1 0" range="-60 60" limited="true" armature="0.01"/>
  <geom type="capsule" size="0.03" mass="0.5" fromto="0 0 0 -0.1 0 -0.2"/></body></body></body></worldbody>
  <actuator><motor joint="hip" gear="5"/><motor joint="knee" gear="3"/></actuator></mujoco>"""
WITH_SPRINGS = Compliance(1e7, 50.0, tangential_stiffness=1e5, tangential_damping=30.0, anticipate=True)
COMPILED = {
    "everything": (EVERYTHING, {"stiffness": 1e4}, {"u": [0.4, 0.3, 2.0, -0.7]}),
    "as soft as solref says": (EVERYTHING, {"stiffness": "solref"}, {"u": None}),
    "points over a plane": (HOPPER, {}, {"u": lambda state: np.sin(30.0 * state.t + np.arange(2.0))}),
    "friction with springs": (HOPPER, {}, {"u": [0.3, -0.2], "compliance": WITH_SPRINGS}),
    "faces": (BOX_ON_BOX, {}, {"force": lambda state: 0.1 * np.cos(np.arange(6.0) + 9.0 * state.t)}),
    "pairs of shapes": (lift(2, 300.0).xml, {"stiffness": 1e8}, {"compliance": Compliance(1e8, 10.0)}),
}


def readable(system, warm):
    return solve(system, warm=warm)


@pytest.mark.parametrize("case", COMPILED)
@pytest.mark.filterwarnings("ignore::routh.models.robot.UnrepresentedWarning")
def test_compiled_steps_are_those_of_the_readable_loop(case):
    xml, setting, options = COMPILED[case]
    model = MujocoModel(compiled(xml), **setting)
    start = routh.State(model.mujoco.qpos0, 0.3 * np.cos(np.arange(model.nv)), 0.2)
    options = {"dt": 4e-3, "duration": 0.2, **options}
    found = routh.step_through(model, start, **options)
    wanted = routh.step_through(model, start, rule=readable, **options)
    assert found.ok
    assert wanted.ok
    for name in ("t", "q", "v", "impulse"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-6, atol=1e-8)
    for told in ("forces", "deformations", "energies"):
        assert list(getattr(found, told)) == list(getattr(wanted, told))
        for name, values in getattr(wanted, told).items():
            size = np.abs(values).max(initial=1e-9)
            np.testing.assert_allclose(getattr(found, told)[name], values, atol=1e-6 * size)
    assert [(e.kind, e.index, e.contacts) for e in found.events] == [
        (e.kind, e.index, e.contacts) for e in wanted.events
    ]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.filterwarnings("ignore::routh.models.robot.UnrepresentedWarning")
def test_many_robots_move_as_each_does_alone(threads):
    model = MujocoModel(compiled(HOPPER))
    rng = np.random.default_rng(0)
    states = [routh.State(model.mujoco.qpos0, rng.normal(size=model.nv)) for _ in range(130)]
    u, options = rng.normal(size=(130, 10, 2)), {"dt": 0.01, "duration": 0.1}
    found = routh.step_through_many(model, states, u=u, threads=threads, **options)
    assert found.ok
    for k in (0, 65, 129):
        own = lambda state, k=k: u[k, round(state.t / 0.01)]  # noqa: E731
        alone = routh.step_through(model, states[k], u=own, **options)
        assert found[k].q.tolist() == alone.q[[0, -1]].tolist()
        assert found[k].forces["contacts"][-1].tolist() == alone.forces["contacts"][-1].tolist()


def test_steps_of_robots_that_compiled_code_does_not_solve_are_solved_by_the_readable_solver(monkeypatch):
    xml, _, options = COMPILED["points over a plane"]
    model = MujocoModel(compiled(xml))
    start = routh.State(model.mujoco.qpos0, 0.3 * np.cos(np.arange(model.nv)))
    options = {"dt": 4e-3, "duration": 0.1, **options}
    wanted = routh.step_through(model, start, **options)
    plan = RobotMarch._plan
    monkeypatch.setattr(RobotMarch, "_plan", lambda self: plan(self)._replace(tolerance=0.0))
    found = routh.step_through(model, start, **options)
    assert found.ok
    np.testing.assert_allclose(found.q, wanted.q, rtol=1e-6, atol=1e-8)
    size = np.abs(wanted.forces["contacts"]).max()
    np.testing.assert_allclose(found.forces["contacts"], wanted.forces["contacts"], atol=1e-6 * size)
