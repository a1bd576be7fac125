"""``routh audit --engine`` and ``--after``, and touch-downs of MuJoCo files in other engines."""

import json
from pathlib import Path

import numpy as np
import pytest

import routh
from routh.auditing.membership import IN, NOT_FOUND, OUTSIDE
from routh.laws import Simultaneous
from routh.testkit import robots
from routh.testkit.catalogue import scenes
from routh.testkit.scene import problem, quaternion, rotation

ROOT = Path(__file__).parents[2]
LANDER = str(ROOT / "examples" / "lander.xml")


def test_the_three_words():
    lander = problem(scenes()["lander"].scene)
    outcomes = routh.sample(lander, 512, seed=0)
    inside = routh.audit(lander, outcomes.v[0], outcomes=outcomes)
    lively = routh.audit(lander, 3.0 * lander.v, outcomes=outcomes)
    gone = routh.audit(lander, outcomes.v.mean(axis=0), outcomes=outcomes, refine=64)
    assert (inside.word, lively.word) == (IN, OUTSIDE) == ("in", "outside, proved")
    assert gone.word == (NOT_FOUND if gone.distance > 0.03 else IN)
    assert NOT_FOUND == "not found within 0.03"
    assert inside.inside
    assert not lively.inside


def test_velocities_of_a_file(routh_command, tmp_path):
    lander = problem(scenes()["lander"].scene)
    outcomes = routh.sample(lander, 64, seed=0)
    lander.save(tmp_path / "p.npz")
    np.savez(tmp_path / "v.npz", v=np.array([outcomes.v[0], lander.v]))
    code, out, _ = routh_command("audit", "p.npz", "--after", "v.npz", "-n", "64", "--json")
    assert code == 0
    assert [row["word"] for row in json.loads(out)["answers"]] == [IN, OUTSIDE]
    np.save(tmp_path / "v.npy", lander.v)
    code, out, _ = routh_command("audit", "p.npz", "--after", "v.npy", "-n", "64")
    assert code == 0
    assert out.startswith("The answer: outside, proved; breaks: ")
    np.savez(tmp_path / "w.npz", w=lander.v)
    np.save(tmp_path / "short.npy", lander.v[:2])
    for words, says in (
        (["--after", "w.npz"], "holds w; wanted v"),
        (["--after", "short.npy"], "--after: v"),
        (["--after", "none.npz"], "which is no file"),
        (["--after", "v.npy", "--engine", "drake"], "wanted one of them"),
        (["--engine", "drake"], "wanted a robot"),
    ):
        code, _, err = routh_command("audit", "p.npz", *words)
        assert code == 2
        assert says in err


def test_an_engine_is_asked_for_a_touch_down(routh_command, tmp_path):
    pytest.importorskip("mujoco")
    landing = ["--down", "1.5", "--sideways", "0.8", "--heading", "0.4", "--engine"]
    code, out, err = routh_command("audit", LANDER, *landing, "mujoco", "-n", "1024", "--json")
    assert code == 0, err
    (told,) = json.loads(out)["answers"]
    assert told["word"] == IN
    code, _, err = routh_command("audit", LANDER, *landing, "havok")
    assert code == 2
    assert "engine: got 'havok'" in err
    arm = tmp_path / "arm.xml"
    arm.write_text(
        '<mujoco><worldbody><geom type="plane" size="5 5 1"/><body name="arm" pos="0 0 .1">'
        '<joint type="slide" axis="0 0 1"/><geom type="sphere" size=".1"/></body></worldbody></mujoco>'
    )
    code, _, err = routh_command("audit", str(arm), "--down", "1", "--engine", "mujoco")
    assert code == 2
    assert "arm: got a body with joints of its own kind" in err


def test_a_file_and_the_scene_have_one_impact(monkeypatch):
    """Turned bodies with their centre of mass elsewhere: velocities go to the engine and come back."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="5 5 1" friction=".5"/><body pos="0 0 .3"><freejoint/>'
        '<inertial pos=".02 .01 .03" mass="2" diaginertia=".01 .02 .015" euler="20 0 10"/>'
        '<geom type="sphere" size=".1" pos=".1 0 0" friction=".6"/></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qpos[3:7] = [0.8, 0.3, -0.2, 0.1]
    data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
    mujoco.mj_kinematics(model, data)
    data.qpos[2] -= data.geom_xpos[1, 2] - 0.1
    data.qvel[:] = [0.5, 0.1, -1.0, 0.4, -0.3, 0.2]
    ours, theirs = problem(robots.scene_of(model, data)), routh.models.mujoco.problem(model, data)
    assert ours.kinetic_energy() == pytest.approx(theirs.kinetic_energy(), rel=1e-9)
    assert ours.mu == pytest.approx(theirs.mu)
    assert ours.Jn @ ours.v == pytest.approx(theirs.Jn @ theirs.v, abs=1e-9)
    assert ours.delassus[0, 0] == pytest.approx(theirs.delassus[0, 0], rel=1e-9)
    law = Simultaneous()
    monkeypatch.setattr(robots, "named", lambda name: lambda scene: law(problem(scene)).v.reshape(-1, 6))
    after = robots.touched_down("a law", model, data)
    assert after == pytest.approx(law(theirs).v, abs=1e-7)


def test_rotations_and_quaternions_are_inverse():
    rng = np.random.default_rng(0)
    for q in (*rng.normal(size=(40, 4)), *np.eye(4), *(np.eye(4) + 1e-9)):
        R = rotation(q)
        assert pytest.approx(np.eye(3), abs=1e-12) == R @ R.T
        assert rotation(quaternion(R)) == pytest.approx(R, abs=1e-9)
