"""A proof that a body cannot tip: what it takes for granted, and where it is not given."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from landers import FEET, HEIGHT, MASS, SPAN, flat, lander

from routh.base.status import ModelError
from routh.models import landing
from routh.robust import tipping

G = 9.81
RISE = np.hypot(SPAN, HEIGHT) - HEIGHT
FLOOR = '<geom name="floor" type="plane" size="5 5 1"/>'


def scene(*, ground=FLOOR, option="", body="", joint="<freejoint/>", more="", extra=""):
    """The lander with its surroundings."""
    feet = "".join(
        f'<geom name="f{i}" type="sphere" size="0.02" pos="{x} {y} {0.02 - HEIGHT}"/>'
        for i, (x, y) in enumerate(FEET)
    )
    return mujoco.MjModel.from_xml_string(f"""<mujoco><option {option}/><worldbody>{ground}
      <body name="b" pos="0 0 {HEIGHT}" {body}>{joint}<inertial pos="0 0 0" mass="{MASS}"
      diaginertia="0.31 0.31 0.31"/>{feet}<site name="s"/>{more}</body></worldbody>{extra}</mujoco>""")


def slow(model, **options):
    """The answer for a touch-down with a third of the energy that it takes."""
    v = flat(0.6 * np.sqrt(2.0 * G * RISE), 0.01)[1]
    joint = model.body("b").jntadr[0]
    at, dof = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
    q, rates = np.array(model.qpos0), np.zeros(model.nv)
    q[at : at + 7], rates[dof : dof + 6] = flat()[0], v
    return tipping(model, q, rates, **options)


def test_a_proof_says_what_it_takes_for_granted():
    arm = """<body><joint name="shoulder" axis="0 1 0"/><geom type="sphere" size="0.05" mass="1"
      contype="0" conaffinity="0"/></body>"""
    model = scene(more=arm)
    v = np.append(flat(0.3, 0.05)[1], 0.0)
    found = tipping(model, np.append(flat()[0], 0.0), v)
    assert found.evidence == "energy"
    assert found.cannot_tip
    assert found.assumptions == (
        "on floor as an endless rigid plane",
        f"with a weight of {(MASS + 1.0) * G:.3g} N",
        "shoulder held",
    )
    assert all(part in found.lines()[0] for part in found.assumptions)
    assert found.as_data()["assumptions"] == list(found.assumptions)


@pytest.mark.parametrize(
    ("options", "doubt"),
    [
        ({"ground": '<geom name="table" type="box" size="1 1 0.1" pos="0 0 -0.1"/>'}, "than a plane (table)"),
        ({"ground": FLOOR + '<geom name="curb" type="box" size="0.1 1 0.1" pos="3 0 0"/>'}, "(curb)"),
        ({"ground": FLOOR + '<geom name="low" type="plane" size="1 1 1" pos="0 0 -1"/>'}, "than one plane"),
        ({"ground": FLOOR + '<body pos="2 0 1"><freejoint/><geom name="ball" size="0.1"/></body>'}, "(ball)"),
        ({"option": 'density="1.2" wind="9 0 0"'}, "wind"),
        ({"extra": '<actuator><motor name="jet" site="s" gear="1 0 0 0 0 0"/></actuator>'}, "push it (jet)"),
        ({"extra": '<actuator><adhesion name="grip" body="b" ctrlrange="0 1"/></actuator>'}, "(grip)"),
        ({"joint": '<joint name="root" type="free" stiffness="5"/>'}, "spring (root)"),
        ({"ground": FLOOR.replace("/>", ' margin="0.01"/>')}, "from afar (floor)"),
        (
            {
                "ground": FLOOR + '<site name="wall" pos="2 0 1"/>',
                "extra": '<tendon><spatial name="rope"><site site="s"/><site site="wall"/></spatial>'
                "</tendon>",
            },
            "outside (rope)",
        ),
    ],
)  # fmt: skip
def test_what_ends_the_ground_or_adds_energy_leaves_no_proof(options, doubt):
    ours = {"body": "b"} if "freejoint" in str(options) else {}
    found = slow(scene(**options), **ours)
    assert found.energy < 1.0
    assert found.evidence in ("bound", "sampled")
    assert not found.cannot_tip
    assert any(doubt in one for one in found.doubts)
    assert "; proved: there" not in found.lines()[0]
    assert any(doubt in line for line in found.lines()[1:])
    assert slow(scene()).evidence == "energy"  # the same without it


def test_forces_on_the_data_leave_no_proof():
    model = scene()
    data = mujoco.MjData(model)
    assert slow(model, data=data).evidence == "energy"
    data.xfrc_applied[1, 0] = 5.0
    assert "forces are applied to it" in slow(model, data=data).doubts


def test_a_slope_leaves_no_proof():
    tilt = 0.2
    gravity = f"{G * np.sin(tilt)} 0 {-G * np.cos(tilt)}"
    q, v = flat(0.0, 0.2)
    found = tipping(lander(gravity=gravity), q, v)
    assert found.energy < 1.0
    assert not found.can_tip
    assert not found.cannot_tip
    assert "the ground slopes" in found.doubts


def test_a_moving_surface_is_refused():
    belt = FLOOR.replace("/>", ' surfacevel="1 0 0"/>')
    if not hasattr(scene(), "geom_surfacevel"):
        pytest.skip("before MuJoCo 4 no surface moves")
    with pytest.raises(ModelError, match=r"moving surfaces \(floor\)"):
        slow(scene(ground=belt))


def test_compensated_gravity_is_no_weight():
    whole, part = slow(scene()), slow(scene(body='gravcomp="0.8"'))
    assert part.energy == pytest.approx(5.0 * whole.energy, rel=1e-3)
    assert part.support.barriers == pytest.approx(0.2 * whole.support.barriers)
    assert part.can_tip
    for more, wanted in (({"body": 'gravcomp="1"'}, "gravcomp"), ({"body": 'gravcomp="1.5"'}, "gravcomp")):
        with pytest.raises(ModelError, match=wanted):
            slow(scene(**more))
    off = scene()
    off.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    with pytest.raises(ModelError, match="switches it off"):
        slow(off)


def test_compensation_of_one_link_moves_the_weight():
    load = '<body pos="0.3 0 0" gravcomp="{}"><geom size="0.05" mass="5" contype="0" conaffinity="0"/></body>'
    whole, part = (slow(scene(more=load.format(share))) for share in (0.0, 1.0))
    assert whole.touchdown.load.centre[0] == pytest.approx(0.15)
    assert part.touchdown.load.centre[0] == pytest.approx(0.0)
    assert np.linalg.norm(part.touchdown.load.weight) == pytest.approx(MASS * G)
    assert part.touchdown.load.mass == pytest.approx(2 * MASS)


def test_armature_has_no_weight_and_mujoco_turns_at_the_same_rate():
    """Armature of a free joint is inertia: set to turn about an edge, the body goes over above the critical
    rate only."""
    model = scene(joint='<joint type="free" armature="20"/>', option='timestep="5e-4"')
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    model.geom_friction[:, 0] = 3.0
    model.geom_solref[:, 0] = 0.004
    found = tipping(model, *flat(0.2, 0.05))
    assert found.touchdown.load.mass == pytest.approx(MASS)
    assert found.support.barriers == pytest.approx([MASS * G * RISE] * 4)
    edge = found.support.edges[0]
    for share, over in ((1.1, True), (0.9, False)):
        data = mujoco.MjData(model)
        rate = share * edge.critical * edge.direction
        data.qpos[:] = flat()[0]
        data.qvel[:3], data.qvel[3:] = np.cross(rate, [0.0, 0.0, HEIGHT] - edge.point), rate
        lowest = 1.0
        for _ in range(160):
            mujoco.mj_step(model, data, 100)
            lowest = min(lowest, float(data.xmat[1, 8]))
        assert (lowest < 0.3) == over


def test_what_cannot_stand_says_so():
    q, v = flat(0.0, 0.2)
    steep = f"{G * np.sin(0.5)} 0 {-G * np.cos(0.5)}"  # tan 0.5 is more than span over height
    found = tipping(lander(gravity=steep), q, v)
    assert found.can_tip
    assert found.lines()[0].startswith("NO-GO: it cannot stand there: its weight acts outside")
    assert "inf" not in " ".join(found.lines())


@pytest.mark.parametrize("yaw", [0.0, 0.3, np.pi / 4])
@pytest.mark.parametrize("tilt", [0.08, 0.1, 0.14, 0.25])
def test_tilted_bodies_and_slopes_keep_all_of_their_feet(tilt, yaw):
    model = lander(floor=f'<geom name="floor" type="plane" size="5 5 1" euler="0 {np.degrees(tilt)} 0"/>')
    on_slope = landing(model, down=0.1, yaw=yaw)
    down = tipping(model, on_slope.qpos, on_slope.qvel)
    assert len(down.support.edges) == 4
    lower = np.hypot(SPAN, HEIGHT) - HEIGHT * np.cos(tilt) - SPAN * np.sin(tilt)
    if yaw == 0.0:
        rolled = 0.02 * tilt  # m: by which the feet, which are spheres, touch elsewhere
        assert down.support.barrier == pytest.approx(MASS * G * lower, abs=MASS * G * 0.5 * rolled)
    tilted = landing(lander(), down=0.1, roll=tilt * np.sin(yaw), pitch=tilt * np.cos(yaw))
    found = tipping(lander(), tilted.qpos, tilted.qvel)
    assert found.support.barriers == pytest.approx([MASS * G * RISE] * 4, rel=0.05)  # spheres roll
    assert not found.can_tip


def test_a_wall_beside_the_feet_is_no_flat_ground():
    wall = '<geom name="wall" type="box" size="0.1 2 2" pos="0.32 0 0"/>'  # touches two feet
    with pytest.raises(ValueError, match="wanted flat ground"):
        slow(scene(ground=FLOOR + wall))
