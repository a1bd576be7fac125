"""Robots on the command line."""

import json

import pytest
from typer.testing import CliRunner

from routh.cli.app import app
from routh.cli.robots import Placed, parse_values

mujoco = pytest.importorskip("mujoco")

CRATE = """<mujoco model="crate"><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="crate" pos="0 0 0.1"><freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1" condim="4"/>
  </body></worldbody><keyframe><key name="land" qpos="0 0 0.1 1 0 0 0"/></keyframe></mujoco>"""


@pytest.fixture
def crate(tmp_path):
    path = tmp_path / "crate.xml"
    path.write_text(CRATE)
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_impact_of_a_robot(crate, tmp_path):
    picture = tmp_path / "crate.png"
    result = run("impact", crate, "--keyframe", "land", "--qvel", "2:-1.0", "--samples", 6, "--out", picture)
    assert result.exit_code == 0, result.output
    assert "crate/floor" in result.output
    assert "torsional friction" in result.output
    assert "kept: 4 of 4" in result.output
    assert "contact 2: crate/floor#2" in result.output  # names too long for columns get a number and a key
    assert "one at a time: 1 2 3 4" in result.output
    assert "true friction cone" in result.output
    assert picture.stat().st_size > 1000


def test_polyhedral_friction_is_not_called_the_cone(crate):
    words = ("--qvel", "2:-1.0", "--samples", 2, "--friction", "polyhedral", "--no-picture")
    result = run("impact", crate, *words)
    assert result.exit_code == 0, result.output
    assert "polyhedral friction" in result.output
    assert "true friction cone" not in result.output


def test_impact_says_what_is_wrong(crate, tmp_path):
    result = run("impact", crate, "--keyframe", "fly")
    assert "wanted one of 'land'" in str(result.exception)
    result = run("impact", crate, "--qpos", "2:1.0")
    assert "no contact is within" in str(result.exception)
    result = run("impact", tmp_path / "problem.npz", "--gap", "0.1")
    assert "--gap" in str(result.exception)
    assert "is no robot" in str(result.exception)


def test_audit_writes_a_report(crate, tmp_path):
    report = tmp_path / "audit.html"
    words = (
        "audit",
        crate,
        "--qpos",
        "2:0.12",
        "--duration",
        0.15,
        "--samples",
        6,
        "--out",
        report,
        "--json",
    )
    result = run(*words)
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["report"] == str(report)
    assert data["impacts"][0]["contacts"][0] == "crate/floor"
    assert 0.0 <= data["impacts"][0]["distance"] < 0.1
    assert "Impacts of crate" in report.read_text()


def test_values():
    assert parse_values("--qvel", "2:-1.0, 5:0.3") == {2: -1.0, 5: 0.3}
    assert parse_values("--qpos", "0 0 1e-1") == [0.0, 0.0, 0.1]
    assert parse_values("--qpos", None) is None
    with pytest.raises(ValueError, match=r"--qvel: got '2:x'"):
        parse_values("--qvel", "2:x")
    with pytest.raises(ValueError, match="--ground"):
        Placed(ground=0.5).refuse_for("a.npz")
