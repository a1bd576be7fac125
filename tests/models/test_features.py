"""What each question makes of what a MuJoCo model holds, against MuJoCo itself and against its own lists."""

import copy
import warnings

import numpy as np
import pytest

import routh
from routh.base.status import ModelError
from routh.models import UnrepresentedWarning
from routh.models.mujoco import MujocoModel, features, touches
from routh.models.mujoco.landings import landing_regime
from routh.models.mujoco.pairs import heightfields_know_distances, pairs_that_collide
from routh.robust import tipping

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco><option timestep="1e-3" cone="elliptic" {option}>{flag}</option><default>
  <geom solref="0.004 1" friction="0.5"/></default><asset><hfield name="h" nrow="10" ncol="10"
  size="2 2 .5 .1"/></asset><worldbody><geom name="floor" {floor}/>
  <body name="box" pos="0 0 {height}"><freejoint/>
  <geom name="box" {shape} mass="1" {geom}/></body>{more}</worldbody>{rest}</mujoco>"""
PLANE, BOX = 'type="plane" size="5 5 1"', 'type="box" size=".1 .1 .1"'
newer = pytest.mark.skipif(
    not hasattr(mujoco.MjModel, "geom_surfacevel"), reason="MuJoCo 4 has moving surfaces and adhesion"
)


def scene(height=0.1, **parts):
    given = {"option": "", "flag": "", "floor": PLANE, "shape": BOX, "geom": "", "more": "", "rest": ""}
    return mujoco.MjModel.from_xml_string(SCENE.format(height=height, **{**given, **parts}))


def after(model, duration, qvel=None):
    """Where MuJoCo itself brings a scene."""
    data = mujoco.MjData(model)
    data.qvel[:] = 0.0 if qvel is None else qvel
    while data.time < duration - 1e-9:
        mujoco.mj_step(model, data)
    return np.array(data.qpos), np.array(data.qvel)


def told(question, *given):
    """What a call names, in one text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        question(*given)
    return " | ".join(str(one.message) for one in caught if issubclass(one.category, UnrepresentedWarning))


def falling(model):
    data = mujoco.MjData(model)
    data.qvel[2] = -1.0
    return data


def tip(model):
    found = routh.models.landing(model, down=0.1)
    return tipping(model, found.qpos, found.qvel)


def still(model):
    return routh.State(model.qpos0, np.zeros(model.nv))


#: Every way to ask; each takes an MjModel.
ASKED = {
    "problem": lambda model: routh.models.mujoco.problem(model, falling(model)),
    "problems": lambda model: routh.models.mujoco.problems(
        model, model.qpos0[None], falling(model).qvel[None]
    ),
    "landing": lambda model: routh.models.landing(model, down=0.1),
    "tipping": tip,
    "simulate": lambda model: routh.simulate(MujocoModel(model), still(model), duration=0.01),
    "step_through": lambda model: routh.step_through(
        MujocoModel(model), still(model), dt=0.002, duration=0.01
    ),
}
IMPACTS, MOTIONS = ("problem", "problems", "landing"), ("simulate", "step_through")


# The table


def test_everything_in_mujoco_stands_once_in_the_table():
    """A new attribute, option, flag or kind of a newer MuJoCo fails here: put it where it belongs."""
    found = {name: features.places(name) for name in features.mujocos_own()}
    assert {name: places for name, places in found.items() if len(places) != 1} == {}


def test_what_a_step_refuses_a_motion_by_events_refuses_too():
    for feature in features.FEATURES:
        if feature.way(features.STEPS) == features.REFUSED:
            assert feature.way(features.SIMULATE) == features.REFUSED, feature.what
        assert set(feature.ways) <= {features.HONOURED, features.NAMED, features.REFUSED, features.NOTHING}
        refusable = features.REFUSED in feature.ways
        assert not refusable or feature.owners or feature is features.TURNING_FRICTION, feature.what


@pytest.fixture
def forget(monkeypatch):
    """Make the table one of before some attributes were known."""

    def without(*names):
        known = frozenset(features.mujocos_own()) - set(names)
        monkeypatch.setattr(features, "known_names", lambda: known)
        for cached in (features._strangers, features._strange_kinds):
            cached.cache_clear()

    yield without
    monkeypatch.undo()
    for cached in (features._strangers, features._strange_kinds):
        cached.cache_clear()


def test_of_a_newer_mujoco_what_is_unknown_and_used_is_named(forget):
    forget("geom_gap", "opt.wind", "mjDSBL_SPRING" if hasattr(mujoco.mjtDisableBit, "mjDSBL_SPRING") else "x")
    assert features.newcomers(scene()) == []
    assert features.newcomers(scene(geom='gap="0.1"')) == ["geom_gap"]
    windy = scene(option='wind="1 0 0"')
    for question in ASKED.values():
        assert "newer than this version of routh (opt.wind)" in told(question, windy)


def test_of_a_newer_mujoco_shapes_of_an_unknown_kind_are_refused(forget):
    forget("mjGEOM_BOX")
    for question in ASKED.values():
        with pytest.raises(ModelError, match=r"of a kind that is newer than this version of routh \(box\)"):
            question(scene())


# Pairs of geoms, by MuJoCo's rules


def test_contacts_are_foretold_as_mujoco_makes_them():
    rng = np.random.default_rng(0)

    def drawn():
        slide, twist, roll = rng.uniform(0.1, 1.0, 3)
        solref = rng.choice(["0.02 0.7", "0.01 1.2", "-50 -3"])
        margin, solmix = rng.choice([0.0, 0.01, 0.03]), rng.choice([0, 1, 3])
        return (
            f'friction="{slide:.2f} {twist:.3f} {roll:.4f}" condim="{rng.choice([1, 3, 4, 6])}" '
            f'priority="{rng.integers(2)}" solmix="{solmix}" solref="{solref}" margin="{margin}"'
        )

    for _ in range(40):
        one, two = drawn(), drawn()
        override = bool(rng.integers(2))
        flag = '<flag override="enable"/>' if override else ""
        option = 'o_friction="0.3 0.7 0.1 0.2 0.3" o_solref="0.03 0.9" o_margin="0.02"' if override else ""
        pair = (
            '<contact><pair geom1="floor" geom2="box" friction="0.1 0.8" condim="4" margin="0.01"/></contact>'
        )
        model = scene(
            height=0.0999,
            floor=f"{PLANE} {one}",
            geom=two,
            option=option,
            flag=flag,
            rest=pair if rng.integers(3) == 0 else "",
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        (foretold,) = pairs_that_collide(model)
        contact = data.contact[0]
        assert foretold.dim == contact.dim
        np.testing.assert_allclose(foretold.solref, contact.solref, rtol=1e-12)
        np.testing.assert_allclose(foretold.includemargin, contact.includemargin, atol=1e-15)
        used = {1: 0, 3: 2, 4: 3, 6: 5}[contact.dim]
        np.testing.assert_allclose(foretold.friction[:used], contact.friction[:used], rtol=1e-12)


# Feature by feature


HILLS = {"floor": 'type="hfield" hfield="h"'}


known = pytest.mark.skipif(not heightfields_know_distances(), reason="MuJoCo before 4 mistakes distances")


@known
@pytest.mark.parametrize("shape", ['type="sphere" size=".1"', BOX, 'type="capsule" size=".1 .1"'])
def test_shapes_rest_on_heightfields_as_in_mujoco(shape):
    model = scene(0.13 if "capsule" not in shape else 0.23, shape=shape, **HILLS)
    robot = MujocoModel(model)
    motion = routh.step_through(robot, still(model), dt=0.002, duration=0.4)
    assert motion.ok
    own = after(model, 0.4)[0]
    assert abs(motion.final.q[2] - own[2]) < 2e-3
    np.testing.assert_allclose(np.abs(motion.final.q[3:]), np.abs(own[3:]), atol=2e-2)
    assert ASKED["problem"](scene(0.1, shape=BOX, **HILLS)).nc >= 1
    for refused in (
        lambda: routh.simulate(robot, still(model), duration=0.01),
        lambda: robot.problem(still(model)),
        lambda: routh.step_through(robot, still(model), dt=0.002, duration=0.01, law=routh.laws.SetValued()),
    ):
        with pytest.raises(ModelError, match=r"heightfields or distance functions \(floor\).*step_through"):
            refused()


PAIR = '<contact><pair geom1="floor" geom2="box" friction="0.1 0.8" condim="3" solref="0.004 1"/></contact>'


def test_heightfields_whose_distances_mujoco_mistakes_are_refused(monkeypatch):
    monkeypatch.setattr(features, "heightfields_know_distances", lambda: False)
    for question in ASKED.values():
        with pytest.raises(ModelError, match=r"heightfields, whose distances.*\(floor\).*wanted MuJoCo 4"):
            question(scene(**HILLS))


def override(friction, more=""):
    option = f'o_friction="{friction}" o_solref="0.004 1" {more}'
    return {"option": option, "flag": '<flag override="enable"/>'}


@pytest.mark.parametrize(
    ("parts", "mu"),
    [
        ({"rest": PAIR}, (0.8, 0.1)),
        ({"rest": PAIR, "floor": PLANE + ' euler="0 0 30"'}, (0.8, 0.1)),
        (override("0.1 0.8 0 0 0"), (0.8, 0.1)),
        (override("0.05 0.05 0 0 0"), (0.05, 0.05)),
    ],
)
@pytest.mark.parametrize("direction", [0.0, 0.5 * np.pi, 0.7])
def test_friction_by_direction_and_override_act_as_in_mujoco(parts, mu, direction):
    model = scene(height=0.02, shape='type="box" size=".1 .1 .02"', **parts)
    robot = MujocoModel(model)
    start = still(model)
    start.v[:2] = np.cos(direction), np.sin(direction)
    whole = routh.simulate(robot, start, duration=0.1)
    stepped = routh.step_through(robot, start, dt=0.001, duration=0.1)
    assert whole.ok
    assert stepped.ok
    assert routh.sim.verify(robot, whole).ok
    own = after(model, 0.1, start.v)[1]
    # MuJoCo's friction is soft: what it lacks is a share of what friction does
    np.testing.assert_allclose(whole.v[-1, :2], own[:2], atol=0.03)
    np.testing.assert_allclose(stepped.v[-1, :2], whole.v[-1, :2], atol=2e-3)
    if direction in (0.0, 0.5 * np.pi):
        axis = int(direction > 0.0)
        assert abs(whole.v[-1, axis] - (1.0 - mu[axis] * 9.81 * 0.1)) < 1e-6


def test_friction_by_direction_of_a_robot_in_its_plane():
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'
    text = SCENE.format(
        option="", flag="", floor=PLANE, height=0.1, shape=BOX, geom="", more="", rest=PAIR
    ).replace("<freejoint/>", slides)
    model = mujoco.MjModel.from_xml_string(text)
    robot = MujocoModel(model)
    assert robot.nt == 1
    motion = routh.simulate(robot, routh.State(np.zeros(3), [1.0, 0.0, 0.0]), duration=0.05)
    assert abs(motion.v[-1, 0] - (1.0 - 0.8 * 9.81 * 0.05)) < 1e-6


@pytest.mark.parametrize(
    "parts",
    [
        {"shape": 'type="capsule" size=".1 .1"', "height": 0.2, "rest": PAIR},
        {"floor": 'type="box" size="1 1 .1" pos="0 0 -.1"', "rest": PAIR},
    ],
)
def test_friction_by_direction_is_refused_where_tangents_turn(parts):
    with pytest.raises(ModelError, match=r"differs by direction.*\(box/floor\).*wanted one coefficient"):
        MujocoModel(scene(**parts))


@newer
def test_moving_surfaces_are_named_in_impacts_and_refused_elsewhere():
    belt = scene(floor=f'{PLANE} surfacevel="1 0 0"')
    for name in IMPACTS:
        assert "moving surfaces (box/floor)" in told(ASKED[name], belt), name
    for name in (*MOTIONS, "tipping"):
        with pytest.raises(ModelError, match=r"moving surfaces \(floor\)"):
            ASKED[name](belt)
    beside = scene(
        more='<geom type="box" size="1 1 1" pos="9 9 9" surfacevel="1 0 0" contype="0" conaffinity="0"/>'
    )
    assert ASKED["simulate"](beside).ok  # nothing touches it


@newer
@pytest.mark.parametrize(
    "parts", [{"geom": 'adhesion="5"'}, {"rest": PAIR.replace("condim", 'adhesion="5" condim')}]
)
def test_contacts_that_pull_are_named_in_impacts_and_refused_elsewhere(parts):
    sticky = scene(**parts)
    for name in IMPACTS:
        assert "adhesion of contacts (box/floor)" in told(ASKED[name], sticky)
    for name in (*MOTIONS, "tipping"):
        with pytest.raises(ModelError, match="adhesion of contacts"):
            ASKED[name](sticky)


def test_actuators_that_pull_take_no_input():
    glue = '<actuator><adhesion name="glue" body="box" ctrlrange="0 1" gain="5"/></actuator>'
    robot = MujocoModel(scene(rest=glue))
    for pull in (
        lambda u: routh.simulate(robot, still(robot.mujoco), duration=0.01, control=lambda t, q, v: [u]),
        lambda u: routh.step_through(robot, still(robot.mujoco), dt=0.002, duration=0.01, u=[u]),
        lambda u: routh.step_through_many(
            robot, [still(robot.mujoco)], dt=0.002, duration=0.01, u=u * np.eye(5)[None, :, 3:4]
        ),
    ):
        pull(0.0)
        with pytest.raises(ModelError, match=r"u: got an input of adhesion \(glue\)"):
            pull(1.0)


@pytest.mark.parametrize(
    "parts",
    [
        {"geom": 'margin="0.03"'},
        {"rest": PAIR.replace("0.1 0.8", "0.5 0.5").replace("condim", 'margin="0.03" condim')},
        {"option": 'o_margin="0.03" o_friction="0.5 0.5 0 0 0"', "flag": '<flag override="enable"/>'},
    ],
)
def test_margins_are_named_by_every_question(parts):
    model = scene(**parts)
    for name, question in ASKED.items():
        assert "margin, from which contacts push" in told(question, model), name
    for question in ASKED.values():
        assert "margin" not in told(question, scene())


@pytest.mark.parametrize(
    ("geom", "words"),
    [('condim="4"', "torsional friction"), ('condim="6"', "rolling friction")],
)
def test_friction_that_no_cone_has_is_named_by_every_question(geom, words):
    for name, question in ASKED.items():
        assert f"{words} (box/floor)" in told(question, scene(geom=geom)), name


def test_contacts_that_bounce_are_named_where_no_restitution_is_given():
    bouncy = scene(geom='solref="0.02 0.1" priority="1"')
    for name in ("problem", "problems", *MOTIONS):
        assert "underdamped solref" in told(ASKED[name], bouncy), name
    assert told(ASKED["landing"], bouncy) == ""
    assert told(lambda: MujocoModel(bouncy, restitution=0.7)) == ""
    assert told(ASKED["tipping"], scene()) == ""


def test_the_regime_of_a_landing_names_nothing_again():
    landed = routh.models.landing(scene(geom='condim="4"'), down=0.1)
    assert told(landing_regime, landed) == ""


def test_a_state_has_the_models_own_surroundings():
    model = scene(more='<body name="hand" mocap="true" pos="1 0 1"><geom size=".1"/></body>')
    data = mujoco.MjData(model)
    robot = MujocoModel(model)
    data.qfrc_applied[0] = 1.0
    assert "qfrc_applied" in told(robot.state, data)
    data.mocap_pos[0, 0] = 0.5
    with pytest.raises(ModelError, match="mocap_pos: differs from the model's own"):
        robot.state(data)


# `verify` looks a second time


def sliding(robot):
    start = routh.State(robot.mujoco.qpos0 + 0.05 * np.eye(7)[2], np.eye(6)[0])
    return routh.simulate(robot, start, duration=0.2)


def test_verify_sees_a_contact_that_the_model_forgot(monkeypatch):
    robot = MujocoModel(scene())
    assert routh.sim.verify(robot, sliding(robot)).ok
    monkeypatch.setattr("routh.models.mujoco.model.touches", lambda model, own: ([], [], {}))
    blind = MujocoModel(scene())
    verdict = routh.sim.verify(blind, sliding(blind))
    assert {one.condition for one in verdict.violations} == {"overlap that no contact knows"}


def test_verify_sees_friction_that_the_model_mistook(monkeypatch):
    real = touches.touches

    def mistaken(model, own):
        found, notes, named = real(model, own)
        return [type(one)(**{**vars(one), "scale": np.ones(2)}) for one in found], notes, named

    monkeypatch.setattr("routh.models.mujoco.model.touches", mistaken)
    robot = MujocoModel(scene(rest=PAIR))
    verdict = routh.sim.verify(robot, sliding(robot))
    assert any(one.condition.startswith("friction of the contacts") for one in verdict.violations)


def test_a_second_look_knows_how_far_shapes_reach_out_of_their_points():
    """A lying cylinder between two of its points is deeper by a share of its radius than they are."""
    model = scene(0.0939, shape='type="cylinder" size=".1 .1"')
    model.qpos0[3:] = np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0)
    turn = np.array([np.cos(np.pi / 16), 0.0, 0.0, np.sin(np.pi / 16)])
    mujoco.mju_mulQuat(model.qpos0[3:7], np.array(model.qpos0[3:7]), turn)
    robot = MujocoModel(model)
    gaps = robot.gaps(model.qpos0)
    assert gaps.min() > 1e-4
    unseen, odd = robot.second_look().at(model.qpos0, gaps)
    assert unseen == 0.0
    assert odd == 0.0
    copied = copy.deepcopy(robot)  # as for another process
    assert copied.second_look().at(model.qpos0, gaps) == (0.0, 0.0)


def test_links_that_must_not_touch_each_other_are_not_looked_at_again():
    arm = """<body pos="0 0 .05"><joint/><geom size=".01" mass="1" contype="0" conaffinity="0"/>
      <body><joint axis="1 0 0"/><geom size=".1" mass="1" pos=".05 .02 .03"/></body></body>"""
    text = SCENE.format(option="", flag="", floor=PLANE, height=1, shape=BOX, geom="", more="", rest="")
    model = mujoco.MjModel.from_xml_string(text.replace("</body></worldbody>", f"{arm}</body></worldbody>"))
    quiet, loud = (MujocoModel(model, self_contacts=wanted) for wanted in (False, True))
    assert quiet.second_look().at(model.qpos0, np.full(len(quiet.contacts), 1.0))[0] == 0.0
    assert loud.second_look().at(model.qpos0, np.full(len(loud.contacts), 1.0))[0] > 0.05
