"""The command line that the viewer offers shows the same state again."""

import shlex
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("viser")
pytest.importorskip("mujoco")

from routh.base.status import MissingExtraError
from routh.cli.app import app
from routh.view import serving as command_line

ROBOT = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
  <body pos="0 0 1"><freejoint/><geom type="box" size="0.2 0.3 0.1"/>
    <body pos="0 0 0.1"><joint name="an arm" type="hinge" axis="0 1 0" range="-90 90" limited="true"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0 0 0.3"/></body></body></worldbody>
  <keyframe><key name="high" qpos="0 0 2 1 0 0 0 0.2"/></keyframe></mujoco>"""


def shown_by(words, monkeypatch):
    """The mechanism that a command line starts with."""
    made = []

    def caught(source, start, robot, serving, output, body):
        made.append(command_line.mechanism_of(source, start, robot, body))
        return 0

    monkeypatch.setattr(command_line, "run_view", caught)
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return made[0]


def start_values(mechanism):
    return {control.name: control.value for control in mechanism.controls}


def test_a_joint_that_is_not_there_is_named(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT)
    with pytest.raises(ValueError, match="got 'leg velocity'; wanted one of 'an arm'"):
        CliRunner().invoke(app, ["view", str(file), "--joint-velocity", "leg=1"], catch_exceptions=False)


def test_a_robot_without_ground_is_told_what_to_try(tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT.replace('<geom type="plane" size="5 5 1"/>', ""))
    with pytest.raises(ValueError, match="Try ground=0"):
        CliRunner().invoke(app, ["view", str(file)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("given", "dragged"),
    [
        ([], {}),
        (["--roll", "0.1", "--down", "0.7", "--ground", "-0.5"], {}),
        (["--keyframe", "high", "--pitch", "-0.2"], {"pitch": 0.0, "yaw": 1.0 / 3.0, "an arm": -0.4}),
        (["--joint-velocity", "an arm=3", "--sideways", "0.5"], {"an arm": 0.2, "an arm velocity": -2.5}),
        (["--joint", "an arm=0.5"], {"window": 20.0, "friction": 0.25, "restitution": 0.5}),
    ],
)
def test_a_robots_state_comes_back(tmp_path, monkeypatch, given, dragged):
    file = tmp_path / "a robot.xml"
    file.write_text(ROBOT)
    first = shown_by(["view", str(file), *given], monkeypatch)
    values = {**start_values(first), **dragged}
    words = shlex.split(first.command(values))
    assert words[:2] == ["routh", "view"]
    again = shown_by(words[1:], monkeypatch)
    assert start_values(again) == pytest.approx(values, abs=1e-11)
    here, there = first.place(values), again.place(start_values(again))
    np.testing.assert_allclose(there.q, here.q, atol=1e-10)
    assert there.problem.names == here.problem.names
    np.testing.assert_allclose(there.problem.qvel, here.problem.qvel, atol=1e-10)
    assert here.problem.qvel[6] == values.get("an arm velocity", 0.0)
    for name in ("mu", "restitution", "v"):
        np.testing.assert_allclose(getattr(there.problem, name), getattr(here.problem, name), atol=1e-10)
    assert again.command(start_values(again)) == first.command(values)


def test_the_body_that_comes_down_comes_back(tmp_path, monkeypatch):
    file = tmp_path / "two.xml"
    ball = '<body name="{0}" pos="{1} 0 1"><freejoint/><geom name="{0}" type="sphere" size="0.1"/></body>'
    bodies = ball.format("one ball", 0) + ball.format("another", 1)
    file.write_text(f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>')
    first = shown_by(["view", str(file), "--body", "one ball"], monkeypatch)
    values = start_values(first)
    again = shown_by(shlex.split(first.command(values))[1:], monkeypatch)
    assert again.place(values).problem.names == first.place(values).problem.names == ("one ball/world",)


def test_a_missing_extra_is_one_sentence(tmp_path, monkeypatch):
    file = tmp_path / "robot.xml"
    file.write_text(ROBOT)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"trimesh is not installed; .*pip install .*\[view\]'?"):
        CliRunner().invoke(app, ["view", str(file)], catch_exceptions=False)


def test_a_systems_parameters_come_back(monkeypatch):
    first = shown_by(["view", "rocking-block", "--set", "mu=0.3"], monkeypatch)
    for changes in ({}, {"mu": 0.45}):
        values = {**start_values(first), **changes}
        again = shown_by(shlex.split(first.command(values))[1:], monkeypatch)
        assert start_values(again) == pytest.approx(values, abs=1e-11)
        assert again.command(start_values(again)) == first.command(values)
