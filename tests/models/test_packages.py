"""``package://`` is looked up where people have packages, and leads nowhere else."""

import os
import struct
import warnings

import pytest

import routh
from routh.base.status import ModelError
from routh.models import UnrepresentedWarning
from routh.models.files import locate

pytest.importorskip("mujoco")

URDF = """<robot name="r"><link name="base"><inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://nowhere/x.dae"/></geometry></visual>
  <collision><geometry><mesh filename="{name}"/></geometry></collision>
  <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link></robot>"""


def tetrahedron():
    """An STL file of four triangles."""
    corners = [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in corners[k]), 0) for face in faces]
    return b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "somewhere" / "robot_description"
    (folder / "meshes").mkdir(parents=True)
    (folder / "urdf").mkdir()
    (folder / "meshes" / "base.stl").write_bytes(tetrahedron())
    return folder


def written(folder, name):
    file = folder / "robot.urdf"
    file.write_text(URDF.format(name=name))
    return file


@pytest.mark.filterwarnings("ignore::routh.models.UnrepresentedWarning")
@pytest.mark.parametrize("number", ["inf", "-inf", "nan", "1e400"])
@pytest.mark.parametrize("field", ['mass value="1"', 'ixx="0.1"', 'ixz="0"'])
def test_numbers_that_are_not_finite_are_refused_before_they_are_added_up(tmp_path, number, field):
    key = field.partition("=")[0]
    file = tmp_path / "r.urdf"
    file.write_text(URDF.format(name="x.stl").replace(field, f'{key}="{number}"'))
    with pytest.raises(ModelError, match=r"link 'base' has .* wanted finite numbers"):
        routh.models.mujoco.load(file, floating=True)


NAME = "package://robot_description/meshes/base.stl"


def test_a_file_inside_its_package_needs_nothing(package):
    file = written(package / "urdf", NAME)
    model = routh.models.mujoco.load(file, floating=True, ground=0.0)
    assert model.nmesh == 1
    pytest.importorskip("pinocchio", exc_type=ImportError)
    assert len(routh.models.pinocchio.load(file, floating=True).geometry.geometryObjects) == 2


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_the_paths_of_ros_are_searched(package, tmp_path, monkeypatch, variable):
    other = tmp_path / "other"
    other.mkdir()
    file = written(other, NAME)
    assert locate(NAME, file, []) is None
    place = package.parent
    if variable == "AMENT_PREFIX_PATH":
        (tmp_path / "prefix").mkdir()
        package.parent.rename(tmp_path / "prefix" / "share")
        place = tmp_path / "prefix"
    monkeypatch.setenv(variable, os.pathsep.join(["/nowhere", str(place)]))
    assert locate(NAME, file, []).name == "base.stl"
    assert routh.models.mujoco.load(file, floating=True).nmesh == 1


def test_roots_come_first_and_neighbours_must_be_packages(package, tmp_path):
    beside = package.parent / "robots"
    beside.mkdir()
    file = written(beside, NAME)
    assert locate(NAME, file, []) is None  # a folder of that name is not yet a package
    (package / "package.xml").write_text("<package/>")
    assert locate(NAME, file, []) == package / "meshes" / "base.stl"
    root = tmp_path / "root"
    (root / "robot_description" / "meshes").mkdir(parents=True)
    (root / "robot_description" / "meshes" / "base.stl").write_bytes(tetrahedron())
    assert locate(NAME, file, [root]).is_relative_to(root)


@pytest.mark.parametrize(
    "name",
    [
        "package://robot_description/../../secret.stl",
        "package://../secret.stl",
        "package://./secret.stl",
        "package:///secret.stl",
    ],
)
def test_names_that_climb_lead_nowhere(package, tmp_path, name):
    (tmp_path / "secret.stl").write_bytes(tetrahedron())
    (tmp_path / "somewhere" / "secret.stl").write_bytes(tetrahedron())
    assert locate(name, package / "urdf" / "robot.urdf", []) is None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        try:
            model = routh.models.mujoco.load(written(package / "urdf", name), floating=True)
        except ModelError:
            return
    assert model.nmesh == 0


def test_links_out_of_a_package_are_refused(package, tmp_path):
    secret = tmp_path / "secret.stl"
    secret.write_bytes(tetrahedron())
    (package / "meshes" / "base.stl").unlink()
    (package / "meshes" / "base.stl").symlink_to(secret)
    with pytest.raises(ModelError, match="leads out of"):
        routh.models.mujoco.load(written(package / "urdf", NAME), floating=True)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("package://robot_description/meshes/none.stl", "there is no such file"),
        ("package://robot_description/meshes/base.glb", r"\.glb is none of"),
    ],
)
def test_meshes_that_cannot_be_read_are_named_and_other_shapes_suffice(package, name, why):
    (package / "meshes" / "base.glb").write_text("x")
    with pytest.warns(UnrepresentedWarning, match=f"base: {name} .{why}"):
        model = routh.models.mujoco.load(written(package / "urdf", name), floating=True, ground=0.0)
    assert routh.models.landing(model, down=1.0).problem.nc == 4


def test_a_folder_above_is_no_package_because_of_its_name(tmp_path):
    """``package://home/...`` would open all that lies in /home."""
    home = tmp_path / "home"
    (home / "me" / "downloads").mkdir(parents=True)
    (home / "secret.stl").write_bytes(tetrahedron())
    source = home / "me" / "downloads" / "robot.urdf"
    assert locate("package://home/secret.stl", source, []) is None
    (home / "package.xml").write_text("<package/>")
    assert locate("package://home/secret.stl", source, []) == home / "secret.stl"


def test_a_link_beside_the_model_is_no_package(package, tmp_path):
    """A link that came with the model leads to whatever says that it is a package."""
    (package / "package.xml").write_text("<package/>")
    model = tmp_path / "model"
    model.mkdir()
    (model / "robot_description").symlink_to(package)
    assert locate(NAME, model / "robot.urdf", []) is None
