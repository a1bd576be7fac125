"""Robots on the command line."""

import json

import pytest
from typer.testing import CliRunner

from routh.base import features
from routh.cli.app import app
from routh.cli.robots import Placement, parse_values, refuse_without_robot
from routh.models import UnrepresentedWarning, landing

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
    words = ("--keyframe", "land", "--qvel", "2:-1.0", "--samples", 6, "--restitution", 0, "--out", picture)
    result = run("impact", crate, *words)
    assert result.exit_code == 0, result.output
    assert "restitution 0 (as given)" in " ".join(result.output.split())
    assert "crate/floor" in result.output
    assert "torsional friction" in result.output
    assert "(kept): 4 of 4" in " ".join(result.output.split())
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
    assert "no contact touches or closes within 5 ms" in str(result.exception)
    result = run("impact", tmp_path / "problem.npz", "--gap", "0.1")
    assert "--gap" in str(result.exception)
    assert "is not a robot" in str(result.exception)


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
    data = json.loads(result.stdout)
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
        refuse_without_robot("a.npz", Placement(ground=0.5))


def test_a_state_from_a_file(crate, tmp_path):
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"qpos": [0, 0, 0.1, 1, 0, 0, 0], "qvel": [0, 0, -1, 0, 0, 0]}))
    given = run("impact", crate, "--state", state, "--samples", 4, "--json", "--no-picture")
    typed = run("impact", crate, "--qvel", "2:-1", "--samples", 4, "--json", "--no-picture")
    assert given.exit_code == 0, given.output
    assert json.loads(given.stdout)["modes"] == json.loads(typed.stdout)["modes"]
    both = run("impact", crate, "--state", state, "--keyframe", "land")
    assert "--state: given together with --keyframe" in str(both.exception)


def test_the_posture_of_a_scan_is_that_of_the_state(crate, tmp_path):
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"qpos": [0, 0, 1, 0.7071067811865476, 0.7071067811865476, 0, 0]}))
    words = ("scan", crate, "--down", 1, "--over", "pitch=0,0.3", "--samples", 16, "--json", "--no-picture")
    flat, turned = (json.loads(run(*words, *more).stdout) for more in ((), ("--state", state)))
    assert flat["contacts"][0] == turned["contacts"][0] == 4
    assert flat["ambiguity"] != turned["ambiguity"]


def test_folders_of_packages_are_named_with_root(tmp_path):
    import struct

    corners = [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in corners[k]), 0) for face in faces]
    (tmp_path / "packages" / "robot").mkdir(parents=True)
    (tmp_path / "packages" / "robot" / "base.stl").write_bytes(
        b"\0" * 80 + struct.pack("<I", 4) + b"".join(rows)
    )
    file = tmp_path / "here" / "robot.urdf"
    file.parent.mkdir()
    file.write_text(
        '<robot name="r"><link name="base"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="package://robot/base.stl"/>'
        "</geometry></collision></link></robot>"
    )
    words = ("impact", file, "--down", 1, "--samples", 4, "--no-picture")
    with pytest.warns(UnrepresentedWarning, match="there is no such file"):
        without = run(*words)
    assert "wanted collision shapes" in str(without.exception)
    found = run(*words, "--root", tmp_path / "packages")
    assert found.exit_code == 0, found.output
    assert "base/ground" in found.output


SUNK = """<mujoco><worldbody>{}<body pos="0 0 0.1"><freejoint/><geom name="box" type="box" size=".2 .2 .2"
mass="1"/></body></worldbody><keyframe><key name="sunk" qpos="0 0 0.1 1 0 0 0"/><key name="home"
qpos="0 0 0.2 1 0 0 0"/></keyframe></mujoco>"""
FLOOR = '<geom name="floor" type="plane" size="5 5 1"/>'


def test_impossible_states_and_missing_ground_come_with_what_to_try(routh_command, tmp_path, monkeypatch):
    def nothing_draws():
        raise ValueError("no OpenGL here")

    monkeypatch.setattr("routh.viz.robot_film.backend", nothing_draws)
    (tmp_path / "sunk.xml").write_text(SUNK.format(FLOOR))
    (tmp_path / "nowhere.xml").write_text(SUNK.format(""))
    for command in ("audit", "impact"):
        code, _, err = routh_command(command, "sunk.xml")
        assert code == 2
        assert (
            "box/floor is 0.1 m deep; wanted at most 0.02 m (--deepest). Try --keyframe home or --down" in err
        )
    advice = "Try --ground 0, which adds level ground."
    assert advice in routh_command("impact", "nowhere.xml")[2]
    over = ("--over", "roll=0:0.1:2")
    for command, *further in (
        ("impact",),
        ("tip",),
        ("simulate",),
        ("animate", "--out", "film"),
        ("scan", *over),
        *[("sweep", *over, "--out", "study") for name in features.installed() if name == "sweep"],
    ):
        code, _, err = routh_command(command, "nowhere.xml", "--down", "1", *further)
        assert (code, advice in err) == (2, True), command
    code, _, err = routh_command("simulate", "sunk.xml", "--duration", "0.01")
    assert code == 2
    assert "penetrates by 0.1 m; wanted gaps of at least -1e-09 m. Try --keyframe home or --down 1.0" in err
    code, out, _ = routh_command("tip", "nowhere.xml", "--ground", "0", "--down", "0.1", "--no-picture")
    assert code == 0
    assert "keyframes (--keyframe): sunk, home" in " ".join(out.split())
    code, out, _ = routh_command("audit", "sunk.xml", "--down", "1", "--duration", "0.01", "-n", "8")
    assert code == 0
    assert out.startswith("1 impact in 0.01 s. MuJoCo's outcome: 1 ")
    assert "keyframes (--keyframe): sunk, home" in " ".join(out.split())
    assert "--down 1" in routh_command("audit", "sunk.xml", "--roll", "0.1")[2]


def test_a_path_is_a_robot_that_lands(tmp_path):
    (tmp_path / "sunk.xml").write_text(SUNK.format(FLOOR))
    assert landing(tmp_path / "sunk.xml", down=1.0, keyframe="home").problem.nc == 4
