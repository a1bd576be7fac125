"""Will it tip: the score against formulas and MuJoCo's own motion, proofs, and what is refused."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from landers import FEET, GYRATION, HEIGHT, MASS, RADIUS, SPAN, URDF, flat, lander

from routh.base.status import ModelError, Status
from routh.models.mujoco import problem
from routh.models.regime import contact_duration, duration_of_spring, restitution_of_spring, spring_of
from routh.models.robots.landing import touchdowns
from routh.robust import tipping, tippings
from routh.robust.support import hull_of, support_of

G = 9.81
INERTIA = GYRATION**2 + SPAN**2 + HEIGHT**2  # about an edge, per kg
CRITICAL = np.sqrt(2 * G * (np.hypot(SPAN, HEIGHT) - HEIGHT) / INERTIA)


def bounce(solref, speed=1.0):
    """The share of its speed that a ball keeps in MuJoCo, and how long it is in contact."""
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="2e-5" gravity="0 0 0"/>
      <default><geom solref="{solref}" solimp="0.99 0.99 0.001" condim="1"/></default><worldbody>
      <geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><joint type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>""")
    data = mujoco.MjData(model)
    data.qvel[0], data.qpos[0] = -speed, 1e-6
    first = last = None
    for _ in range(20000):
        mujoco.mj_step(model, data)
        if data.nefc and data.efc_force[0] > 0.0:
            last = data.time
            first = data.time if first is None else first
        elif last is not None:
            break
    return data.qvel[0] / speed, last - first


@pytest.mark.parametrize("solref", ["0.02 1", "0.02 0.5", "0.01 0.2", "0.03 2", "-2500 -100", "-40000 -40"])
def test_restitution_and_duration_are_those_of_a_bouncing_ball(solref):
    time, ratio = spring_of([float(x) for x in solref.split()])
    returned, lasted = bounce(solref)
    assert restitution_of_spring(ratio) == pytest.approx(returned, abs=0.01)
    assert duration_of_spring(time, ratio) == pytest.approx(lasted, rel=0.03)


def test_springs_in_closed_form():
    assert restitution_of_spring(1.0) == pytest.approx(np.exp(-2.0))
    assert restitution_of_spring(0.0) == 1.0
    near = restitution_of_spring([1.0 - 1e-5, 1.0 + 1e-5])  # both sides of what the formula leaves out
    assert near == pytest.approx(np.exp(-2.0), rel=1e-4)
    assert spring_of([0.001, 1.0], timestep=0.002)[0] == 0.004
    assert contact_duration(100.0, 1.0) == pytest.approx(np.pi / 10.0)


def test_edges_of_a_lander():
    q, v = flat(0.8, 1.5)
    found = support_of(next(iter(touchdowns(lander(), q[None], v[None], window=0.005))))
    assert len(found.edges) == 4
    for edge in found.edges:
        assert edge.critical == pytest.approx(CRITICAL, rel=1e-6)
        assert edge.inertia == pytest.approx(MASS * INERTIA, rel=1e-6)
        # angular momentum about the edge, by hand, of some velocity
        w = np.array([0.3, -0.2, 0.4, 1.0, 2.0, 3.0])
        arm = np.array([0.0, 0.0, HEIGHT]) - edge.point
        by_hand = edge.direction @ (MASS * GYRATION**2 * w[3:] + MASS * np.cross(arm, w[:3]))
        assert edge.rate @ w == pytest.approx(by_hand / edge.inertia, rel=1e-9)
    assert found.level
    assert found.sinking == pytest.approx(0.0, abs=1e-6)


def test_uneven_feet_lean_the_body():
    """A lander whose two feet on one side are longer by a height turns over the other side sooner."""
    q, v = flat(0.8, 1.5)
    down = next(iter(touchdowns(lander(), q[None], v[None], window=0.005)))
    height = 0.01
    found = support_of(down, unevenness=0.5 * height)
    left = np.arctan2(SPAN, HEIGHT) - height / (2 * SPAN)  # from there to the point above the edge, rad
    rise = np.hypot(SPAN, HEIGHT) * (1.0 - np.cos(left))
    assert [e.barrier for e in found.edges] == pytest.approx([MASS * G * rise] * 4)
    flat_one, leaning = tipping(lander(), q, v), tipping(lander(), q, v, unevenness=0.005)
    assert leaning.ratio / flat_one.ratio == pytest.approx(
        flat_one.support.edges[0].critical / leaning.support.edges[0].critical
    )
    assert leaning.ratio > 1.03 * flat_one.ratio
    assert tipping(lander(), q, v, unevenness=0.2).ratio == np.inf  # it would fall where it stands


def test_an_uneven_foot_may_close_within_the_window():
    q, v = flat(0.3, 0.6)
    tilt = 0.01  # rad: the far feet are 4 mm up and close after 6.7 ms
    q[3:5] = np.cos(0.5 * tilt), np.sin(0.5 * tilt)
    q[2] += SPAN * np.sin(tilt) + (HEIGHT - RADIUS) * (np.cos(tilt) - 1.0)
    assert len(tipping(lander(), q, v).counting) == 2
    assert len(tipping(lander(), q, v, unevenness=0.0004).counting) == 2  # twice that is less than 1 mm
    assert len(tipping(lander(), q, v, unevenness=0.0008).counting) == 4


def test_the_worst_outcome_tips_in_mujoco_and_a_slower_one_does_not():
    model = lander()
    q, v = flat(0.9, 1.8)
    worst = tipping(model, q, v)
    assert worst.can_tip
    assert worst.evidence == "outcome"
    for share, turned_over in ((1.1, True), (0.9, False)):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = q, worst.v * share / worst.ratio
        data.qvel[2] = max(data.qvel[2], 0.0)
        # the outcome itself, without another impact on its way: turning about its edge and nothing else
        edge = next(e for e in worst.support.edges if e.contacts == worst.edge)
        rate = share * edge.critical * edge.direction
        data.qvel[3:] = rate
        data.qvel[:3] = np.cross(rate, np.array([0.0, 0.0, HEIGHT]) - edge.point)
        for _ in range(6000):
            mujoco.mj_step(model, data)
        assert (1 - 2 * (data.qpos[4] ** 2 + data.qpos[5] ** 2) < 0.35) == turned_over


def test_path_leads_to_the_outcome():
    found = tipping(lander(), *flat(0.8, 1.5))
    assert found.touchdown.problem.lift(found.path.v[-1]) == pytest.approx(found.v, rel=1e-6, abs=1e-9)
    assert found.support.ratios(found.path.v[-1]).max() == pytest.approx(found.ratio, rel=1e-6)
    assert found.landed[found.edge] == pytest.approx(1.0 - found.ratio)


def test_direction_of_gravity_does_not_matter():
    q, v = flat(0.7, 1.2)
    upright = tipping(lander(), q, v, seed=3)
    # everything turned by 90 degrees about y: x is up
    quat = "0.70710678118 0 0.70710678118 0"
    turned = lander(
        floor=f'<geom name="floor" type="plane" size="5 5 1" quat="{quat}"/>', gravity=f"{-G} 0 0"
    )
    q2 = np.array([HEIGHT, 0, 0, *map(float, quat.split())])
    v2 = np.array([-1.2, 0, -0.7, 0, 0, 0])
    other = tipping(turned, q2, v2, seed=3)
    assert other.ratio == pytest.approx(upright.ratio, rel=0.02)
    assert [e.critical for e in other.support.edges] == pytest.approx([CRITICAL] * 4, rel=1e-5)


def test_slope_makes_the_lower_edge_easier():
    tilt = 0.15
    gravity = f"{G * np.sin(tilt)} 0 {-G * np.cos(tilt)}"  # downhill is +x
    q, v = flat(0.0, 0.5)
    found = support_of(next(iter(touchdowns(lander(gravity=gravity), q[None], v[None], window=0.005))))
    downhill = next(e for e in found.edges if e.outward[0] > 0.9)
    height = SPAN * -np.sin(tilt) + HEIGHT * np.cos(tilt)  # of the centre of mass above that edge
    height += 2 * SPAN * np.sin(tilt)
    arm = np.hypot(SPAN, HEIGHT)
    expected = np.sqrt(2 * G * (arm - (HEIGHT * np.cos(tilt) + SPAN * np.sin(tilt))) / INERTIA)
    assert height == pytest.approx(HEIGHT * np.cos(tilt) + SPAN * np.sin(tilt))
    assert downhill.critical == pytest.approx(expected, rel=1e-4)
    assert not found.level
    steep = f"{G * np.sin(0.5)} 0 {-G * np.cos(0.5)}"
    over = tipping(lander(gravity=steep), q, v)  # tan 0.5 is more than span over height
    assert over.ratio == np.inf
    assert over.can_tip


def test_proofs():
    slow = tipping(lander(), *flat(0.1, 0.3))
    assert slow.evidence == "energy"
    assert slow.cannot_tip
    assert slow.energy < 1.0
    middle = tipping(lander(), *flat(0.0, 0.85), prove=True)
    loose = tipping(lander(), *flat(0.0, 0.85))
    assert np.all(middle.bound >= middle.worst - 1e-9)
    assert np.all(loose.bound >= middle.bound - 1e-9)
    assert tipping(lander(), *flat(0.4, 1.0)).evidence == "sampled"


def test_restitution_is_said():
    assert tipping(lander(), *flat()).restitution == pytest.approx(np.exp(-2.0))
    assert tipping(lander(), *flat()).restitution_from == "contact"
    given = tipping(lander(), *flat(), restitution=0.0)
    assert given.restitution_from == "given"
    assert not given.restitution.any()
    bouncy = tipping(lander(solref="0.02 0.4"), *flat())
    assert bouncy.restitution == pytest.approx(float(restitution_of_spring(0.4)))


def test_regimes():
    q, v = flat(0.3, 1.0)
    assert tipping(lander(solref="0.002 1"), q, v).regime.kind == "stiff"
    assert tipping(lander(solref="0.08 1"), q, v).regime.kind == "soft"
    q[3:7] = [np.cos(0.025), np.sin(0.025), 0, 0]  # 0.05 rad
    q[2] += 0.0102
    late = tipping(lander(), q, 0.4 * v)
    assert late.regime.kind != "tilted"  # far from turning over: later impacts do not decide
    assert late.ratio < 0.5
    fast = tipping(lander(), q, 2.0 * v)
    assert fast.ratio > 0.5
    assert fast.regime.kind == "tilted"
    assert fast.evidence in ("sampled", "outcome")
    assert late.regime.closing > fast.regime.closing > fast.regime.window
    q[3:5] = np.cos(0.015), np.sin(0.015)  # 0.03 rad: within four windows
    q[2] -= 0.0041
    soon = tipping(lander(), q, 1.5 * v)
    assert soon.regime.window < soon.regime.closing < 4.0 * soon.regime.window
    assert soon.ratio > 0.5
    assert soon.verdict == "go"
    assert tipping(lander(), *flat(), stiffness=1e5).regime.duration == pytest.approx(
        np.pi * np.sqrt(MASS / 4 / 1e5)
    )


def test_many_states_are_the_single_ones_and_none_is_lost():
    q, v = flat(0.8, 1.5)
    Q, V = np.tile(q, (4, 1)), np.tile(v, (4, 1))
    Q[1, 2] += 1.0  # nothing near
    Q[2, 0] = np.nan
    V[3] *= 0.5
    many = tippings(lander(), Q, V)
    assert many.status.tolist() == [Status.SOLVED, Status.NO_CONTACT, Status.REFUSED, Status.SOLVED]
    assert many.ratio[0] == tipping(lander(), q, v).ratio
    assert np.isnan(many.ratio[1:3]).all()
    assert many.can_tip[1:3].all()
    assert "finite" in many.reason(2)
    assert many[3].ratio == pytest.approx(0.5 * many[0].ratio, rel=0.05)  # other samples, the same set
    with pytest.raises(ValueError, match="row 1 has no answer"):
        many[1]


def test_a_crate_stands_on_the_corners_of_its_one_geom():
    """A box has one name for its four contacts; feet at its corners, with its inertia, say the same."""
    half, height, moments = 0.15, 0.4, 10.0 / 3.0 * np.array([0.15**2 + 0.4**2] * 2 + [2 * 0.15**2])
    corners = "".join(
        f'<geom name="f{i}" type="sphere" size="1e-4" pos="{x} {y} {1e-4 - height}" mass="0"/>'
        for i, (x, y) in enumerate((x, y) for x in (half, -half) for y in (half, -half))
    )
    bodies = (
        f'<geom name="crate" type="box" size="{half} {half} {height}" mass="10"/>',
        f'<inertial pos="0 0 0" mass="10" diaginertia="{" ".join(map(str, moments))}"/>{corners}',
    )
    q, v = np.array([0, 0, height, 1, 0, 0, 0]), np.array([0.8, 0, -1, 0, 0, 0])
    found = [
        tipping(
            mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><geom name="floor" type="plane"
              size="5 5 1"/><body><freejoint/>{body}</body></worldbody></mujoco>"""),
            q,
            v,
            n=256,
        )
        for body in bodies
    ]
    assert set(found[0].problem.names) == {"crate/floor", *(f"crate/floor#{k}" for k in (2, 3, 4))}
    assert [e.critical for e in found[0].support.edges] == pytest.approx(
        [e.critical for e in found[1].support.edges]
    )
    assert found[0].ratio == pytest.approx(found[1].ratio, rel=0.03)
    assert found[0].can_tip


def test_touchdowns_have_the_rows_of_the_general_adapter():
    """Contacts of a touch-down are written as arrays; `routh.models.mujoco.problem` goes the general way."""
    model = lander(
        more="""<body name="arm" pos="0 0 0.2"><joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom type="sphere" size="0.05" mass="1" contype="0" conaffinity="0"/></body>"""
    )
    model.geom_friction[1, 0] = 0.3  # of one foot, which has priority
    model.geom_priority[1] = 1
    q, v = flat(0.8, 1.5)
    turn = np.array([0.9, 0.01, -0.008, 0.4])
    q[3:7] = turn / np.linalg.norm(turn)
    q[2] += 0.006
    q, v = np.append(q, 0.3), np.append(v, 0.0)
    down = next(iter(touchdowns(model, q[None], v[None], window=0.005)))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    general = problem(model, data, gap=0.1, limits=False)
    order = [general.names.index(name) for name in down.problem.names]
    assert len(order) == 4
    assert down.problem.Jn == pytest.approx(general.Jn[order][:, :6])
    assert down.problem.Jt == pytest.approx(general.Jt[order][:, :, :6])
    assert down.problem.mu == pytest.approx(general.mu[order])
    assert down.problem.dist == pytest.approx(general.dist[order])
    np.testing.assert_allclose(down.problem.M, general.M[:6, :6], atol=1e-12)


def test_joints_are_held_with_their_momentum():
    arm = """<body name="arm" pos="0 0 0.2"><joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom type="sphere" size="0.05" mass="1" pos="0 0 0.1" contype="0" conaffinity="0"/></body>"""
    model = lander(more=arm)
    q, v = flat(0.3, 1.0)
    q, v = np.append(q, 0.2), np.append(v, 3.0)
    down = next(iter(touchdowns(model, q[None], v[None], window=0.005)))
    assert down.held == ("shoulder",)
    assert down.load.mass == pytest.approx(MASS + 1.0)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    assert down.load.com == pytest.approx(data.subtree_com[1], abs=1e-12)
    # momentum along an axis, of which turning about it is the velocity that takes it up
    spin = down.turning(np.tile(data.subtree_com[1], (3, 1)), np.eye(3)) @ down.M @ down.v
    assert spin == pytest.approx(data.subtree_angmom[1])
    assert "Held joints: shoulder." in tipping(model, q, v).lines()


def test_pinocchio_says_the_same():
    pytest.importorskip("pinocchio", exc_type=ImportError)
    import pinocchio

    from routh.models.pinocchio.points import ContactPoint

    model = pinocchio.buildModelFromXML(URDF, pinocchio.JointModelFreeFlyer())
    points = [ContactPoint("body", (x, y, -HEIGHT), 0.0, f"f{i}") for i, (x, y) in enumerate(FEET)]
    half = 0.4
    q = np.array([0, 0, HEIGHT, 0, 0, np.sin(half), np.cos(half)])  # turned about z, so that frames matter
    v = np.array([0.9 * np.cos(2 * half), -0.9 * np.sin(2 * half), -1.6, 0, 0, 0])
    found = tipping(model, q, v, points=points, mu=0.8)
    q2, v2 = flat(0.9, 1.6)
    q2[3:7] = [np.cos(half), 0, 0, np.sin(half)]
    other = tipping(lander(), q2, v2)
    assert found.ratio == pytest.approx(other.ratio, rel=0.03)
    assert found.restitution_from == "assumed"
    assert found.regime.kind == "unknown"
    assert [e.critical for e in found.support.edges] == pytest.approx([CRITICAL] * 4)


def test_a_joint_is_held_as_if_it_were_welded():
    pytest.importorskip("pinocchio", exc_type=ImportError)
    import pinocchio

    from routh.models.pinocchio.points import ContactPoint

    arm = """<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="shoulder" type="{}"><parent link="body"/><child link="arm"/><origin xyz="0 0 0.1"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    points = [ContactPoint("body", (x, y, -HEIGHT), 0.0, f"f{i}") for i, (x, y) in enumerate(FEET)]
    answers = []
    for kind, more in (("revolute", [0.0]), ("fixed", [])):
        text = URDF.replace("</robot>", arm.format(kind))
        model = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
        q, v = np.array([0, 0, HEIGHT, 0, 0, 0, 1.0, *more]), np.array([0.9, 0, -1.6, 0, 0, 0, *more])
        answers.append(tipping(model, q, v, points=points, mu=0.8))
    held, welded = answers
    assert held.ratio == pytest.approx(welded.ratio, rel=1e-6)
    assert held.energy == pytest.approx(welded.energy, rel=1e-9)


@pytest.mark.parametrize(
    ("model", "state", "wanted"),
    [
        (lambda: lander(), flat(lifted=1.0), "no contact is within"),
        (lambda: lander(FEET[:1]), flat(), "only f0/floor would carry it"),
        (lambda: lander(((0.2, 0), (-0.2, 0), (0, 0))), flat(), "on one line"),
        (lambda: lander(joint='<joint type="slide" axis="0 0 1"/>'), None, "wanted a free joint"),
        (lambda: lander(joint=""), None, "base is fixed"),
        (lambda: lander(gravity="0 0 0"), flat(), "gravity: got"),
        (
            lambda: lander(floor='<geom name="floor" type="sphere" size="3" pos="0 0 -2.98672"/>'),
            flat(),
            "flat ground",
        ),
    ],
)
def test_what_is_refused(model, state, wanted):
    made = model()
    q, v = state if state is not None else (np.zeros(made.nq), np.zeros(made.nv))
    with pytest.raises((ValueError, ModelError), match=wanted):
        tipping(made, q, v)


def test_bad_numbers_are_refused():
    q, v = flat()
    for options, wanted in (
        ({"window": -1.0}, "window"),
        ({"restitution": 1.5}, "restitution"),
        ({"restitution": "rubber"}, "restitution"),
        ({"n": 0}, "n: got"),
        ({"stiffness": 0.0}, "stiffness"),
        ({"unevenness": np.nan}, "unevenness"),
    ):
        with pytest.raises(ValueError, match=wanted):
            tipping(lander(), q, v, **options)
    with pytest.raises(ValueError, match="finite"):
        tipping(lander(), q, v * np.nan)
    with pytest.raises(ValueError, match=r"qpos: got shape \(1, 7\); wanted shape \(7,\)"):
        tipping(lander(), q[None], v)
    with pytest.raises(ValueError, match="the same number of states"):
        tippings(lander(), q[None], np.array([v, v]))


def test_numbers_of_many_states_are_those_of_each():
    q, v = flat(0.8, 1.5)
    many = tippings(lander(), np.array([q, q]), np.array([v, 0.5 * v]))
    for name in ("ratio", "energy", "energy_after"):
        numbers = [getattr(one, name) for one in many.found]
        assert getattr(many, name).tolist() == numbers
        assert numbers[0] > numbers[1] > 0.0


def test_what_it_says_and_what_it_answers_agree():
    """Near 1 more is drawn; a word in the picture of an answer is that of its attributes."""
    q, v = flat(0.8, 1.5)
    limit = 1.0 / tipping(lander(), q, v, n=4096).ratio  # outcomes scale with the velocity
    told = []
    for share in (0.7, 0.85, 0.93, 0.99, 1.02):
        found = tipping(lander(), q, share * limit * v)
        told.append(found.verdict)
        assert repr(found).startswith(f"Tipping({found.verdict.upper()}, {found.evidence}, ")
        assert found.lines()[0].startswith(f"{found.verdict.upper()}: ")
        assert found.go == (found.verdict == "go") == found.as_data()["go"]
        assert found.n in (256, 512, 1024, 2048, 4096)
        assert (found.n > 256) == (0.9 < share < 1.0)
    assert told == ["go", "go", "go", "undecided", "no-go"]
    early = tipping(lander(), q, 0.93 * limit * v, most=1)
    assert (early.verdict, early.n, early.can_tip) == ("undecided", 256, False)
    many = tippings(lander(), np.array([q, q]), limit * np.array([0.7 * v, 1.1 * v]))
    assert many.verdicts == ["go", "no-go"]
    assert many.go.tolist() == [True, False]


LOOP = """<body name="thigh" pos="0.05 0 -0.1"><joint name="hip" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="0.2" contype="0" conaffinity="0"/>
  <body name="rod" pos="0 0 -0.1"><joint name="rod" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.1" contype="0" conaffinity="0"/></body>
  </body>"""


@pytest.mark.parametrize(
    ("equality", "held"),
    [
        ('<connect body1="rod" body2="body" anchor="0.1 0 0"/>', False),
        ('<connect body1="body" body2="world" anchor="0 0 0"/>', True),
        ('<weld body1="rod" body2="world"/>', True),
        ('<weld body1="rod" body2="body"/>', False),
    ],
)
def test_a_loop_in_a_leg_does_not_hold_the_robot(equality, held):
    """Closed to 1.5 mm, as keyframes with rounded angles are: what matters is whether the root moves."""
    text = mujoco.MjSpec.from_string(
        f"""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
        <body name="body" pos="0 0 {HEIGHT}"><freejoint/><inertial pos="0 0 0" mass="5"
        diaginertia="0.3 0.3 0.3"/>{
            "".join(f'<geom type="sphere" size="{RADIUS}" pos="{x} {y} {RADIUS - HEIGHT}"/>' for x, y in FEET)
        }{LOOP}</body></worldbody><equality>{equality}</equality></mujoco>"""
    )
    model = text.compile()
    q = np.array([0, 0, HEIGHT, 1, 0, 0, 0, 0.015, 0.0])  # rad: opens the loop
    v = np.array([0, 0, -0.3, 0, 0, 0, 0, 0.0])
    if held:
        with pytest.raises(ModelError, match="equality constraints hold its root"):
            tipping(model, q, v)
        return
    assert tipping(model, q, v).go
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    rows = data.efc_J.reshape(-1, model.nv)[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]
    assert np.abs(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]).max() > 1.4e-3
    assert np.any(rows[:, :6])  # which once was taken for a constraint that holds the root


def test_the_hull_of_points_in_the_plane():
    """Against Qhull; no point on an edge is a corner."""
    from scipy.spatial import ConvexHull

    grid = np.array([(x, y) for x in range(4) for y in range(3)], dtype=float)
    assert sorted(hull_of(grid)) == [0, 2, 9, 11]
    for points in np.random.default_rng(2).normal(size=(20, 12, 2)):
        corners = hull_of(points)
        assert sorted(corners) == sorted(ConvexHull(points).vertices)
        x, y = points[corners].T
        area = 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
        assert area == pytest.approx(ConvexHull(points).volume)  # positive: counter-clockwise
