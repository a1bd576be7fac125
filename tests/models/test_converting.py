"""Meshes that MuJoCo does not read, and links that it refuses although the robot is sound."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import routh
from routh.base.status import ModelError
from routh.models import UnrepresentedWarning

pytest.importorskip("mujoco")

LINK = """<link name="{name}"><inertial><mass value="{mass}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>{shape}</link>"""
JOINT = """<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
  <axis xyz="{axis}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>"""
BOX = '<collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>'
MESH = '<collision><geometry><mesh filename="{}"/></geometry></collision>'
CORNERS = np.array([[0.0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]])
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


def loaded(tmp_path, *parts, **options):
    file = tmp_path / "r.urdf"
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = routh.models.mujoco.load(file, floating=True, ground=0.0, **options)
    return model, " ".join(str(item.message) for item in caught)


def one_link(tmp_path, name):
    return loaded(tmp_path, LINK.format(name="base", mass=1, i=0.01, shape=MESH.format(name) + BOX))


@pytest.mark.parametrize("kind", ["dae", "ply", "stl_ascii"])
def test_meshes_of_other_kinds_become_the_same_shape(tmp_path, kind):
    trimesh = pytest.importorskip("trimesh")
    if kind == "dae":
        pytest.importorskip("collada")
    name = "part." + kind.partition("_")[0]
    content = trimesh.Trimesh(CORNERS, FACES).export(file_type=kind)
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    model, said = one_link(tmp_path, name)
    assert said == ""
    assert model.nmesh == 1
    vertices = np.unique(np.round(model.mesh_vert.astype(float), 5), axis=0)
    assert len(vertices) == 4
    np.testing.assert_allclose(np.ptp(vertices @ _turn(model.mesh_quat[0]).T, axis=0), 0.3, atol=1e-5)


def _turn(quat):
    import mujoco

    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.array(quat, dtype=float))
    return matrix.reshape(3, 3)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\x00" * 100,
        b"<COLLADA/>",
        b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><COLLADA>&b;</COLLADA>',
        b"solid x\nfacet",
    ],
)
def test_meshes_that_are_none_are_left_out_and_named(tmp_path, text):
    for name in ("bad.dae", "bad.ply", "bad.stl"):
        (tmp_path / name).write_bytes(text)
        if name == "bad.stl" and not text.startswith(b"solid"):
            continue  # MuJoCo's own reader refuses these
        model, said = one_link(tmp_path, name)
        assert f"base: {name}" in said
        assert model.nmesh == 0


PLY = """ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z
element face 4\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1
{first} 0 2 1\n3 0 3 {index}\n3 0 1 3\n3 1 2 3\n"""


@pytest.mark.parametrize(("first", "index"), [("3", "-1"), ("inf", "2"), ("3", "99"), ("3", "2")])
def test_a_damaged_ply_does_not_end_the_process_in_pinocchio(tmp_path, first, index):
    """In a process of its own: its reader of .ply ended with a segmentation fault."""
    pytest.importorskip("pinocchio", exc_type=ImportError)
    pytest.importorskip("trimesh")
    (tmp_path / "a.ply").write_text(PLY.format(first=first, index=index))
    file = tmp_path / "r.urdf"
    link = LINK.format(name="base", mass=1, i=0.01, shape=MESH.format("a.ply"))
    file.write_text(f'<robot name="r">{link}</robot>')
    code = "import sys, routh; routh.models.pinocchio.load(sys.argv[1], floating=True)"
    ended = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True)
    assert ended.returncode == 0 or "ModelError" in ended.stderr, ended.stderr
    assert (index == "2" and first == "3") == (ended.stderr == "")


@pytest.mark.parametrize("engine", ["mujoco", "pinocchio"])
def test_a_prefix_without_a_namespace_is_a_clear_error(tmp_path, engine):
    pytest.importorskip(engine, exc_type=ImportError)
    file = tmp_path / "r.urdf"
    link = LINK.format(name="base", mass=1, i=0.01, shape=BOX)
    file.write_text(f'<robot name="r">{link}<x:gazebo/></robot>')
    with pytest.raises(ModelError, match=r"r\.urdf: is not well-formed XML: unbound prefix"):
        getattr(routh.models, engine).load(file, floating=True)


def test_a_mesh_is_converted_without_opening_what_it_names(tmp_path, monkeypatch):
    pytest.importorskip("collada")
    trimesh = pytest.importorskip("trimesh")
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"x")
    content = trimesh.Trimesh(CORNERS, FACES).export(file_type="dae").decode()
    images = '<library_images><image id="i"><init_from>secret.png</init_from></image></library_images>'
    (tmp_path / "part.dae").write_text(content.replace("<library_effects", images + "<library_effects", 1))
    opened = []
    import builtins

    real = builtins.open
    monkeypatch.setattr(
        builtins, "open", lambda file, *a, **k: (opened.append(str(file)), real(file, *a, **k))[1]
    )
    model, _ = one_link(tmp_path, "part.dae")
    assert model.nmesh == 1
    assert not any("secret" in name for name in opened)


def test_links_without_mass_between_joints_get_a_millionth_and_are_named(tmp_path):
    chain = (
        LINK.format(name="base", mass=1, i=0.01, shape=BOX),
        '<link name="between"/>',
        LINK.format(name="leg", mass=2, i=0.02, shape=BOX),
        JOINT.format(name="a", parent="base", child="between", axis="1 0 0"),
        JOINT.format(name="b", parent="between", child="leg", axis="0 1 0"),
    )
    model, said = loaded(tmp_path, *chain)
    assert "link 'between' has no mass: given 1e-06 of what it carries" in said
    assert float(model.body("between").mass[0]) == pytest.approx(2e-6)
    assert float(model.body_subtreemass[0]) == pytest.approx(3.0, rel=1e-6)
    assert model.nv == 8


def test_point_masses_and_joints_that_move_nothing(tmp_path):
    chain = (
        LINK.format(name="base", mass=1, i=0.01, shape=BOX),
        LINK.format(name="point", mass=1, i=0, shape=""),
        LINK.format(name="leg", mass=2, i=0.02, shape=BOX),
        LINK.format(name="tip", mass=0, i=0, shape=""),
        JOINT.format(name="a", parent="base", child="point", axis="1 0 0"),
        JOINT.format(name="b", parent="point", child="leg", axis="0 1 0"),
        JOINT.format(name="c", parent="leg", child="tip", axis="0 1 0"),
    )
    model, said = loaded(tmp_path, *chain)
    assert "joint 'c' moves nothing that has mass: fixed" in said
    assert "link 'point' has a principal inertia of 0 kg m^2: made positive" in said
    assert model.nv == 8
    np.testing.assert_allclose(model.body("point").inertia, 3e-10, rtol=1e-6)


def test_an_inertia_that_is_positive_by_rounding_only_is_made_so(tmp_path):
    """As iCub's thigh has it, of 2 kg."""
    chain = (
        LINK.format(name="base", mass=1, i=0.01, shape=BOX),
        LINK.format(name="thigh", mass=2.175, i=4e-18, shape=BOX),
        JOINT.format(name="a", parent="base", child="thigh", axis="1 0 0"),
    )
    model, said = loaded(tmp_path, *chain)
    assert "link 'thigh' has a principal inertia of 4e-18 kg m^2: made positive" in said
    assert np.all(model.body("thigh").inertia > 1e-11)


def test_a_robot_without_collision_shapes_is_told_so(tmp_path):
    model, _ = loaded(tmp_path, LINK.format(name="base", mass=1, i=0.01, shape=""))
    with pytest.raises(routh.base.status.ModelError, match="wanted collision shapes"):
        routh.models.landing(model, down=1.0)


def test_all_that_is_changed_is_one_warning_of_the_kind_that_can_be_silenced(tmp_path):
    file = tmp_path / "r.urdf"
    file.write_text(
        f'<robot name="r">{LINK.format(name="a", mass=1, i=0.01, shape=MESH.format("x.stl"))}</robot>'
    )
    with pytest.warns(UnrepresentedWarning, match=r"a: x\.stl \(there is no such file\)"):
        routh.models.mujoco.load(file, floating=True)
