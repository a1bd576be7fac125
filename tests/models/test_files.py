"""Model files from strangers: what is refused before a parser sees it, and how bad models are called bad."""

import os

import pytest

from routh.models import mujoco as adapter
from routh.models.files import check_model_file
from routh.status import ModelError

GOOD = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body><freejoint/><geom size="0.1"/></body>
</worldbody></mujoco>"""


def written(folder, text, name="robot.xml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


BOMB = '<!DOCTYPE m [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><mujoco model="&b;"/>'
OUTSIDE = '<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco model="&x;"/>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "document type"),
        (OUTSIDE, "document type"),
        ("<mujoco>", "not well-formed"),
        ("", "not well-formed"),
        ("<mujoco/>" + "\x00", "zero byte"),
        ('<?xml version="1.0" encoding="utf-7"?><mujoco/>', "encoding"),
        ("<a>" * 2000 + "</a>" * 2000, "nested"),
        ('<mujoco><asset><mesh file="/etc/passwd"/></asset></mujoco>', "outside"),
        ('<mujoco><asset><mesh file="../secret.stl"/></asset></mujoco>', "outside"),
        ('<mujoco><asset><mesh file="..\\secret.stl"/></asset></mujoco>', "outside"),
        ('<mujoco><asset><mesh file="&#46;./secret.stl"/></asset></mujoco>', "outside"),
        ('<mujoco><compiler meshdir="../"/><asset><mesh file="secret.stl"/></asset></mujoco>', "outside"),
        ('<mujoco><include file="../secret.stl"/></mujoco>', "outside"),
        ('<mujoco><asset><texture fileup="../secret.stl"/></asset></mujoco>', "outside"),
        ('<mujoco><asset><hfield file="http://example.org/a.png"/></asset></mujoco>', "refers to"),
        ('<robot name="r"><link name="l"><collision><geometry><mesh filename="package://../x.stl"/></geometry>'
         "</collision></link></robot>", "outside"),
    ],
)  # fmt: skip
def test_refused(tmp_path, text, words):
    written(tmp_path, "solid x", "secret.stl")
    path = written(tmp_path / "model", text)
    with pytest.raises(ModelError, match=words):
        check_model_file(path)


def test_links_and_includes_are_followed(tmp_path):
    written(tmp_path, "solid x", "secret.stl")
    folder = tmp_path / "model"
    path = written(folder, '<mujoco><asset><mesh file="inside.stl"/></asset></mujoco>')
    os.symlink(tmp_path / "secret.stl", folder / "inside.stl")
    with pytest.raises(ModelError, match="outside"):
        check_model_file(path)
    assert check_model_file(path, roots=[tmp_path]).root == "mujoco"
    path = written(folder, '<mujoco><include file="part/more.xml"/></mujoco>', "top.xml")
    written(folder, '<mujocoinclude><include file="../top.xml"/></mujocoinclude>', "part/more.xml")
    assert check_model_file(path).references == [("include", "part/more.xml")]  # a cycle ends
    written(folder, BOMB, "part/more.xml")
    with pytest.raises(ModelError, match="document type"):
        check_model_file(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ModelError, match="there is no file"):
        check_model_file(tmp_path / "nothing.xml")


def test_good_models_load(tmp_path):
    pytest.importorskip("mujoco")
    assert adapter.load(written(tmp_path, GOOD)).nv == 6


def test_the_root_of_a_urdf_can_float_over_ground(tmp_path):
    pytest.importorskip("mujoco", minversion="3.3")
    urdf = """<robot name="r"><link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"
      ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision>
      </link></robot>"""
    model = adapter.load(written(tmp_path, urdf, "r.urdf"), floating=True, ground=-0.1)
    assert model.nv == 6
    data = adapter.state(model, qvel={2: -1.0})
    assert adapter.problem(model, data).names == ("trunk/ground",)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<inertial pos="0 0 0" mass="0" diaginertia="1 1 1"/>', "mass"),
        ('<inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/>', "A \\+ B >= C"),
        ('<inertial pos="0 0 0" mass="1" diaginertia="-1 1 1"/>', "inertia"),
        ('<inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>', "mass"),
        ('<geom type="mesh" mesh="lost"/>', "lost.stl"),
        ('<geom type="sphere"/>', "size"),
        ('<geom size="nan"/>', "size|nan"),
    ],
)
def test_bad_models_are_called_bad(tmp_path, body, words):
    pytest.importorskip("mujoco")
    asset = '<asset><mesh name="lost" file="lost.stl"/></asset>' if "lost" in body else ""
    text = f"<mujoco>{asset}<worldbody><body><freejoint/>{body}</body></worldbody></mujoco>"
    path = written(tmp_path, text)
    with pytest.raises(ModelError, match=words) as caught:
        adapter.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(("mass", "words"), [("-1", "mass"), ("0", "mass"), ("nan", "mass|nan")])
def test_bad_masses_in_a_urdf(tmp_path, mass, words):
    pytest.importorskip("mujoco", minversion="3.3")
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = '<link name="{}"><inertial><mass value="{}"/>' + inertia + "</inertial></link>"
    joint = """<joint name="knee" type="continuous"><parent link="trunk"/><child link="shank"/>
      <axis xyz="0 1 0"/></joint>"""
    text = f'<robot name="r">{link.format("trunk", 1)}{link.format("shank", mass)}{joint}</robot>'
    with pytest.raises(ModelError, match=words):
        adapter.load(written(tmp_path, text, "r.urdf"), floating=True)


def test_states_are_checked(tmp_path):
    pytest.importorskip("mujoco")
    model = adapter.load(
        written(
            tmp_path,
            GOOD.replace(
                "</mujoco>", '<keyframe><key name="land" qpos="0 0 0.1 1 0 0 0"/></keyframe></mujoco>'
            ),
        )
    )
    assert adapter.state(model, keyframe="land").qpos[2] == 0.1
    assert adapter.state(model, keyframe=0).qpos[2] == 0.1
    with pytest.raises(ValueError, match="keyframe: got 'fly'; wanted one of 'land'"):
        adapter.state(model, keyframe="fly")
    with pytest.raises(ValueError, match=r"qvel: got the index 9; wanted one from 0 to 5"):
        adapter.state(model, qvel={9: 1.0})
    with pytest.raises(ValueError, match=r"qpos: got shape \(3,\)"):
        adapter.state(model, qpos=[0.0, 0.0, 0.0])
