"""Robots by name, from packages that are made up here: nothing is fetched."""

import sys

import pytest

from routh.base.status import ModelError
from routh.models import robot_file, zoo

BALL = """<mujoco><worldbody>{}<body name="ball" pos="0 0 1"><freejoint/><geom name="ball" size=".1"/>
</body></worldbody><keyframe><key name="home" qpos="0 0 1 1 0 0 0"/></keyframe></mujoco>"""
GROUND = '<geom name="floor" type="plane" size="1 1 1"/>'


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """robot_descriptions, gymnasium, dm_control and example-robot-data, each with a robot or two."""
    descriptions = tmp_path / "robot_descriptions"
    robots = tmp_path / "cmeel.prefix/share/example-robot-data/robots/cup_description/urdf"
    suite, assets = tmp_path / "dm_control/suite", tmp_path / "gymnasium/envs/mujoco/assets"
    for folder in (descriptions / "clone", robots, suite, assets):
        folder.mkdir(parents=True)
    for package in ("robot_descriptions", "dm_control", "gymnasium"):
        (tmp_path / package / "__init__.py").write_text("raise ImportError('only looked at, never imported')")
    known = "ball_mj_description", "ball_description", "arm_description", "far_mj_description"
    (descriptions / "__init__.py").write_text(f"DESCRIPTIONS = dict.fromkeys({known})")
    clone = descriptions / "clone"
    (descriptions / "ball_mj_description.py").write_text(
        f"print('Cloning...'); MJCF_PATH = {str(clone / 'ball.xml')!r}"
    )
    (descriptions / "arm_description.py").write_text(f"URDF_PATH = {str(clone / 'arm.urdf')!r}")
    (descriptions / "far_mj_description.py").write_text("raise OSError('could not resolve host')")
    (clone / "ball.xml").write_text(BALL.format(""))
    (clone / "scene.xml").write_text(BALL.format(GROUND))
    for file in (clone / "arm.urdf", robots / "cup.urdf"):
        file.write_text('<robot name="cup"/>')
    for file in (suite / "dog.xml", suite / "ant.xml", assets / "ant.xml"):
        file.write_text(BALL.format(GROUND))
    monkeypatch.syspath_prepend(tmp_path)
    before = {name for name in sys.modules if name.partition(".")[0] in ("robot_descriptions", "gymnasium")}
    for name in before:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.chdir(clone.parent)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("ball", "robot_descriptions/clone/scene.xml"),  # which has the ground
        ("arm", "robot_descriptions/clone/arm.urdf"),
        ("ant", "gymnasium/envs/mujoco/assets/ant.xml"),
        ("dm_control/ant", "dm_control/suite/ant.xml"),
        ("dog", "dm_control/suite/dog.xml"),
        ("cup", "cmeel.prefix/share/example-robot-data/robots/cup_description/urdf/cup.urdf"),
    ],
)
def test_a_name_stands_for_a_file(packages, name, file, capsys):
    assert zoo.is_robot_name(name)
    assert robot_file(name) == packages / file
    assert capsys.readouterr().out == ""  # where results are told


def test_a_file_of_that_name_comes_first(packages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball").write_text("something else")
    assert not zoo.is_robot_name("ball")
    assert str(robot_file("ball")) == "ball"
    assert str(robot_file("there/is/none.xml")) == "there/is/none.xml"


def test_without_a_network_the_error_says_what_is_wanted(packages):
    assert zoo.is_robot_name("far")  # is known, though it cannot be had
    with pytest.raises(
        ModelError, match=r"far: robot_descriptions.*network.*OSError: could not resolve host"
    ):
        robot_file("far")


def test_without_a_network_an_installed_package_has_it_still(packages):
    other = packages / "dm_control" / "suite" / "far.xml"
    other.write_text(BALL.format(GROUND))
    assert robot_file("far") == other


def test_a_name_that_nobody_has_names_what_is_like_it(packages, monkeypatch):
    with pytest.raises(ModelError, match=r"there is no file 'bal'.*dm_control.*\(like it: ball\)"):
        robot_file("bal")
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(ModelError, match=r"more robots come with: .*\[zoo\]"):
        robot_file("no-such-robot")


def test_the_example_is_a_robot_by_name():
    assert robot_file("lander") == zoo.examples()["lander"]


def test_commands_take_names(routh_command):
    pytest.importorskip("mujoco")
    code, out, _ = routh_command("impact", "lander", "--down", "1", "-n", "64", "--no-picture")
    assert (code, "Ambiguity" in out) == (0, True)
    code, _, err = routh_command("impact", "no-such-robot", "--down", "1")
    assert code == 2
    assert "no robot of that name" in err
