"""Model files from strangers: what is refused before a parser sees it, and how bad models are called bad."""

import os

import pytest

from routh.base.status import ModelError
from routh.models import UnrepresentedWarning
from routh.models import mujoco as adapter
from routh.models.files import check_model_file

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
        ("<mujoco/>" + "\x00", "null byte"),
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
    written(folder, "<mujocoinclude/>", "part/more.xml")
    assert check_model_file(path).references == [("include", "part/more.xml")]
    written(folder, BOMB, "part/more.xml")
    with pytest.raises(ModelError, match="document type"):
        check_model_file(path)


MESH = '<mujoco><asset><mesh name="a" file="secret.stl"/></asset></mujoco>'
INCLUDE = '<mujoco><include file="{}.xml"/></mujoco>'
UP = '<mujoco><compiler meshdir="../"/></mujoco>'
ATTACH = '<mujoco><asset><model name="c" file="sub/c.xml"/></asset></mujoco>'
URDF_MESH = """<robot name="r"><link name="l"><collision><geometry><mesh filename="{}"/></geometry>
  </collision></link></robot>"""


@pytest.mark.parametrize(
    "files",
    [
        {"top.xml": INCLUDE.format("a"), "a.xml": UP.replace("/></", "/>" + MESH[8:-9] + "</")},
        {"top.xml": INCLUDE.format('a.xml"/><include file="b'), "a.xml": MESH, "b.xml": UP},
        {"top.xml": INCLUDE.format('b.xml"/><include file="a'), "a.xml": MESH, "b.xml": UP},
        {"top.xml": INCLUDE.replace("inc", "Inc").format("a"), "a.xml": MESH.replace("sec", "../sec")},
        {"top.xml": ATTACH, "sub/c.xml": MESH.replace("<asset>", '<compiler meshdir="../../"/><asset>')},
        {"top.xml": ATTACH, "sub/c.xml": '<mujoco><include file="d.xml"/></mujoco>',
         "sub/d.xml": MESH.replace("secret", "../../secret")},
        {"top.xml": ATTACH.replace("sub/c.xml", "../secret.stl")},
        {"top.xml": '<mujoco><compiler meshdir="in\\..\\.."/></mujoco>'.replace("</", MESH[8:-9] + "</")},
        {"top.xml": URDF_MESH.format("model://../secret.stl")},
        {"top.xml": URDF_MESH.format("file:///secret.stl")},
    ],
)  # fmt: skip
def test_folders_set_anywhere_hold_for_all(tmp_path, files):
    """Every way in which MuJoCo reads a file beside the model's folder, as tried with MuJoCo 4.0."""
    written(tmp_path, "solid x", "secret.stl")
    for name, text in files.items():
        written(tmp_path / "model", text, name)
    with pytest.raises(ModelError, match=r"outside|refers to"):
        check_model_file(tmp_path / "model" / "top.xml")


@pytest.mark.parametrize(
    ("link", "to", "name"),
    [
        ("pkg", "..", "package://pkg/secret.stl"),
        ("package:", "..", "package://secret.stl"),
        ("a.stl", "../secret.stl", "package://a.stl"),
        ("deep", "sub/sub", "deep/../../../secret.stl"),
        ("x\\y.stl", "../secret.stl", "x\\y.stl"),
    ],
)
def test_links_out_of_the_folder_are_refused_under_every_spelling(tmp_path, link, to, name):
    written(tmp_path, "solid x", "secret.stl")
    path = written(tmp_path / "model", URDF_MESH.format(name), "r.urdf")
    (path.parent / "sub" / "sub").mkdir(parents=True)
    (path.parent / link).symlink_to(to)
    with pytest.raises(ModelError, match="outside"):
        check_model_file(path)


def test_a_pipe_in_the_folder_is_not_waited_for(tmp_path):
    path = written(tmp_path, '<mujoco><asset><mesh file="pipe.stl"/></asset></mujoco>')
    os.mkfifo(tmp_path / "pipe.stl")
    with pytest.raises(ModelError, match="not a regular file"):
        check_model_file(path)


@pytest.mark.parametrize("element", ["include", "model"])
@pytest.mark.parametrize("name", ["robot.xml", "./robot.xml", "other.xml"])
def test_files_that_lead_back_to_themselves_are_refused(tmp_path, element, name):
    """MuJoCo recurses until its stack is full."""
    path = written(tmp_path, f'<mujoco><asset><{element} file="{name}"/></asset></mujoco>')
    written(tmp_path, f'<mujoco><asset><{element} file=".//robot.xml"/></asset></mujoco>', "other.xml")
    with pytest.raises(ModelError, match="leads back to it"):
        check_model_file(path)


def test_files_that_multiply_are_refused(tmp_path):
    for k in range(20):
        twice = f'<model name="a" file="{k + 1}.xml"/><model name="b" file="{k + 1}.xml"/>'
        written(tmp_path, f"<mujoco><asset>{twice}</asset></mujoco>", f"{k}.xml")
    written(tmp_path, "<mujoco/>", "20.xml")
    with pytest.raises(ModelError, match="more than 1000 files"):
        check_model_file(tmp_path / "0.xml")


@pytest.mark.parametrize("name", ["a&#10;b.stl", "a\nb.stl", "a&#9;b.stl"])
def test_names_over_several_lines_are_refused(tmp_path, name):
    """XML readers do not agree about them: one would check another file than the other opens."""
    path = written(tmp_path, f'<mujoco><asset><mesh file="{name}"/></asset></mujoco>')
    with pytest.raises(ModelError, match=r"several lines|control characters"):
        check_model_file(path)


OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\nf 1 2 4\nf 2 3 4\n"


@pytest.mark.parametrize("name", ["a.obj", "package://a.obj", "package://more/a.obj"])
def test_pinocchio_opens_what_was_checked(tmp_path, monkeypatch, name):
    pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio

    written(tmp_path / "model", OBJ, "a.obj")
    written(tmp_path / "model", OBJ, "more/a.obj")
    urdf = URDF_MESH.format(name).replace("<collision>", INERTIAL + "<collision>")
    path = written(tmp_path / "model", urdf, "r.urdf")
    written(tmp_path / "elsewhere", "not a mesh", "a.obj")
    monkeypatch.chdir(tmp_path / "elsewhere")
    shape = pinocchio.load(path, floating=True).geometry.geometryObjects[0]
    assert shape.meshPath == str(tmp_path / "model" / name.removeprefix("package://"))


INERTIAL = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
  </inertial>"""


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.obj", "mtllib ../secret.mtl\n" + OBJ, "outside"),
        ("a.obj", "v 0 0 0\rmtllib \\\n../secret.mtl\n" + OBJ, "outside"),
        ("a.obj", "mtllib ../secret\x00.mtl\n" + OBJ, "null byte"),
    ],
)
def test_meshes_that_open_further_files_are_refused(tmp_path, name, text, words):
    pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio

    written(tmp_path, "newmtl x", "secret.mtl")
    written(tmp_path / "model", text, name)
    urdf = URDF_MESH.format(name).replace("<collision>", INERTIAL + "<collision>")
    with pytest.raises(ModelError, match=words):
        pinocchio.load(written(tmp_path / "model", urdf, "r.urdf"), floating=True)


def test_a_format_that_opens_further_files_is_left_out_and_named(tmp_path):
    pytest.importorskip("pinocchio", exc_type=ImportError)
    from routh.models import pinocchio

    written(tmp_path / "model", "{}", "a.gltf")
    urdf = URDF_MESH.format("a.gltf").replace("<collision>", INERTIAL + "<collision>")
    with pytest.warns(UnrepresentedWarning, match=r"a\.gltf \(\.gltf is none of \.stl"):
        robot = pinocchio.load(written(tmp_path / "model", urdf, "r.urdf"), floating=True)
    assert len(robot.geometry.geometryObjects) == 0


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


@pytest.mark.parametrize(("mass", "words"), [("-1", "mass"), ("nan", "mass|nan")])
def test_bad_masses_in_a_urdf(tmp_path, mass, words):
    pytest.importorskip("mujoco", minversion="3.3")
    with pytest.raises(ModelError, match=words):
        adapter.load(written(tmp_path, leg_with_shank_of(mass), "r.urdf"), floating=True)


def test_a_link_without_mass_is_fixed_and_said(tmp_path):
    pytest.importorskip("mujoco", minversion="3.3")
    with pytest.warns(UnrepresentedWarning, match="joint 'knee' moves nothing that has mass: fixed"):
        model = adapter.load(written(tmp_path, leg_with_shank_of("0"), "r.urdf"), floating=True)
    assert model.nv == 6


def leg_with_shank_of(mass):
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = '<link name="{}"><inertial><mass value="{}"/>' + inertia + "</inertial></link>"
    joint = """<joint name="knee" type="continuous"><parent link="trunk"/><child link="shank"/>
      <axis xyz="0 1 0"/></joint>"""
    return f'<robot name="r">{link.format("trunk", 1)}{link.format("shank", mass)}{joint}</robot>'


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
    with pytest.raises(ValueError, match="model: got str; wanted an MjModel, which"):
        adapter.state("robot.xml")
    with pytest.raises(ValueError, match="keyframe: got 'fly'; wanted one of 'land'"):
        adapter.state(model, keyframe="fly")
    with pytest.raises(ValueError, match=r"qvel: got the index 9; wanted one from 0 to 5"):
        adapter.state(model, qvel={9: 1.0})
    with pytest.raises(ValueError, match=r"qpos: got shape \(3,\)"):
        adapter.state(model, qpos=[0.0, 0.0, 0.0])
