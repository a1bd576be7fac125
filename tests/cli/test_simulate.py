"""``routh simulate``: systems and robots, their events, ends, pictures and films."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from feature_marks import needs
from routh.cli.app import app
from routh.sim import verify
from routh.systems.catalogue import CATALOGUE

CRATE = """<mujoco model="crate"><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="crate" pos="0 0 0.1"><freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1"/>
  </body></worldbody><keyframe><key name="fly" qpos="0 0 0.12 1 0 0 0"/></keyframe></mujoco>"""


def run(*words):
    return CliRunner().invoke(app, ["simulate", *(str(word) for word in words)])


@pytest.fixture
def crate(tmp_path):
    path = tmp_path / "crate.xml"
    path.write_text(CRATE)
    return path


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.kind == "motion"])
def test_every_motion_is_simulated(name, tmp_path):
    result = run(name, "--duration", 0.1, "--json", "--no-picture")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    (future,) = data["futures"]
    assert future["ok"]
    assert future["t"] == pytest.approx(0.1, abs=0.005)
    assert np.all(np.isfinite(future["q"]))


def test_events_are_told_with_the_energy_that_impacts_take(tmp_path):
    picture = tmp_path / "block.png"
    result = run("zeno-block", "--duration", 1.2, "--law", "simultaneous", "--verify", "--out", picture)
    assert result.exit_code == 0, result.output
    assert "zeno-block: 1 future, 1 impact, to the end at 1.2 s." in result.output
    assert "Solutions of HP23 (53): 1 of 1." in result.output
    assert "0.8333 to 0.4083" in result.output  # (1 - 0.49) of it is lost
    assert picture.stat().st_size > 5000


def test_energy_that_is_rounding_is_told_as_none():
    result = run("painleve-rod", "--no-picture")
    assert re.search(r"1\.01958 +impact +8\.923 to 0 +A, B", result.stdout), result.stdout


def test_futures_have_a_row_each_and_a_film(tmp_path):
    film = tmp_path / "block.gif"
    words = ("--futures", 3, "--duration", 0.05, "--pace", 0.05, "--fps", 4, "--out", film)
    result = run("rocking-block", *words)
    assert result.exit_code == 0, result.output
    assert "rocking-block: 3 futures" in result.output
    with Image.open(film) as pictures:
        assert pictures.n_frames == 5
    spatial = tmp_path / "frames"
    result = run("box-drop", "--duration", 0.1, "--pace", 0.1, "--fps", 2, "--out", spatial)
    assert result.exit_code == 0, result.output
    assert len(list(spatial.glob("*.png"))) == 3


def test_time_steps_take_impacts_by_a_law():
    result = run("rocking-block", "--dt", 0.005, "--duration", 0.1, "--futures", 2, "--json", "--no-picture")
    assert result.exit_code == 0, result.output
    futures = json.loads(result.stdout)["futures"]
    assert all(one["events"][0]["data"]["law"] == "SetValued" for one in futures)


def test_what_a_motion_breaks_is_named(monkeypatch):
    def too_strong(model, motion):
        forces = {name: array.copy() for name, array in motion.forces.items()}
        forces["contacts"][20, 0] = [1.0, 2.0]
        return verify(model, replace(motion, forces=forces))

    monkeypatch.setattr("routh.sim.verification.verify", too_strong)
    words = "zeno-block", "--duration", 1.2, "--law", "simultaneous", "--verify", "--no-picture"
    result = run(*words)
    assert result.exit_code == 1
    assert "Solutions of HP23 (53): 0 of 1." in result.output
    assert re.search(r"Future 0 is none at \d+ of \d+ samples: friction cone of A at \S+ s", result.output)
    data = json.loads(run(*words, "--json").stdout)
    assert data["verified"] == [False]
    assert data["broken"][0][0].startswith("friction cone of A at")


@pytest.mark.usefixtures("ticking")
def test_a_motion_that_ends_early_says_why_and_is_exit_code_1():
    result = run("zeno-block", "--budget", 0.001, "--no-picture")
    assert result.exit_code == 1
    assert "1 of 1 ended early" in result.output
    assert "the time allowed by budget= ran out" in result.output


def test_many_contacts_of_an_event_are_told_by_body(crate):
    pytest.importorskip("mujoco")
    two = '<geom name="{}" type="box" pos="{} 0 0" size="0.05 0.05 0.1"/>'
    crate.write_text(
        re.sub("<geom name=.crate.*?/>", two.format("left", -0.2) + two.format("right", 0.2), CRATE)
    )
    result = run(crate, "--down", 1, "--duration", 0.001, "--no-picture")
    assert "left (4 contacts), right (4 contacts)" in " ".join(result.output.split())


def test_a_robot_lands_and_a_robot_falls_from_its_keyframe(crate, tmp_path):
    pytest.importorskip("mujoco")
    result = run(crate, "--down", 1.0, "--duration", 0.004, "--json", "--no-picture")
    assert result.exit_code == 0, result.output
    first = json.loads(result.stdout)["futures"][0]["events"][0]
    assert (first["kind"], first["t"]) == ("impact", 0.0)
    assert len(first["data"]["closed"]) == 4
    result = run(crate, "--keyframe", "fly", "--duration", 0.05, "--json", "--no-picture")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["futures"][0]["events"] == []  # it falls 12 mm of 20


def test_the_answer_and_the_events_stand_above_how_the_robot_was_placed(crate):
    pytest.importorskip("mujoco")
    said = run(crate, "--down", 1.0, "--duration", 0.004, "--no-picture").stdout
    assert said.startswith("crate: 1 future")
    assert 0 < said.index("energy (J)") < said.index("1 m/s down")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(("bowling",), "a single impact without a mechanism", marks=needs("two_body")),
        (("zeno-blok",), "Did you mean 'zeno-block'"),
        (("zeno-block", "--duration", "nan"), "--duration: got nan"),
        (("zeno-block", "--duration", 0), "--duration: got 0"),
        (("zeno-block", "--law", "magic"), "--law: got 'magic'"),
        (("zeno-block", "--out", "film.avi"), "wanted one of"),
        (("zeno-block", "--out", "a.png", "--no-picture"), "wanted only one of them"),
        (("zeno-block", "--down", 1.0), "--down: zeno-block is not a robot file"),
        (("zeno-block", "--self-contacts"), "--self-contacts: zeno-block is not a robot"),
        (
            ("zeno-block", "--dt", 0.01, "--duration", 0.1, "--verify"),
            "--verify: only checks motions that go from event to event",
        ),
        (("bouncing-ball", "--law", "simultaneous"), "restitution: got 0.8"),
        (("pendulum-by-constraint", "--futures", 2), "has one future"),
        (("pendulum-by-constraint", "--law", "set-valued"), "law: got one with constraints"),
    ],
)
def test_bad_input_is_named(words, message):
    result = run(*words)
    assert isinstance(result.exception, ValueError)
    assert message in str(result.exception)


def test_bad_input_of_robots_is_named(crate):
    pytest.importorskip("mujoco")
    for words, message in (
        (("--set", "mu=1"), "--set"),
        (("--roll", 0.1), "--roll: only applies to landings"),
        (("--down", 1.0, "--qvel", "2:-1"), "--qvel: given together with --down"),
        (("--gap", 0.1), "--gap: does not apply to motions"),
        (("--keyframe", "walk"), "wanted one of 'fly'"),
    ):
        result = run(crate, *words, "--no-picture")
        assert isinstance(result.exception, ValueError)
        assert message in str(result.exception)
