"""Films of robots: MuJoCo's renderer, where it has something to draw with."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("PIL")

import routh  # noqa: E402
from routh.cli.app import app  # noqa: E402
from routh.models import landing  # noqa: E402
from routh.sim.futures import fall, follow  # noqa: E402
from routh.viz import robot_film  # noqa: E402
from routh.viz.robot_film import Film, Ghosts, frames  # noqa: E402

CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/>
  <body pos="0 0 1"><freejoint/><geom name="box" type="box" size="0.2 0.3 0.1"/></body>
</worldbody></mujoco>"""


def can_draw():
    try:
        robot_film._context(8, 8).free()
    except robot_film.NoRendererError:
        return False
    return True


drawing = pytest.mark.skipif(
    not can_draw(), reason="MuJoCo has nothing to draw with: apt-get install libegl1"
)


def crate():
    return mujoco.MjModel.from_xml_string(CRATE)


def test_a_robot_falls_from_rest_to_the_touch():
    model = crate()
    found = landing(model, down=0.981)
    heights = fall(model, found, np.array([-1.0, -0.1, -0.05, 0.0]))[:, 2] - found.qpos[2]
    np.testing.assert_allclose(heights, [0.04905, 0.04905, 0.0367875, 0.0], atol=1e-12)


def test_each_outcome_is_followed_by_mujocos_own_motion():
    model = crate()
    found = landing(model, down=1.0)
    up = np.zeros((2, 6))
    up[1, 2] = 1.0
    after = follow(model, found.qpos, up, duration=0.02, frames=5)
    assert len(after) == 2
    flight = after.q[1, :, 2] - found.qpos[2]
    np.testing.assert_allclose(flight, after.t - 0.5 * 9.81 * after.t**2, atol=2.5e-4)
    q, t = after.at(0.011)
    np.testing.assert_array_equal(q, after.q[:, 3])
    np.testing.assert_allclose(t, [0.012, 0.012])


@drawing
def test_ghosts_are_drawn_where_they_are():
    model = crate()
    found = landing(model, down=1.0)
    beside = found.qpos.copy()
    beside[1] += 0.8
    times = np.array([-0.01, 0.0])
    solid = np.stack([found.qpos, found.qpos])
    ghosts = Ghosts(np.stack([beside[None], beside[None]]), np.array([0]), ["aside"])
    before, after = frames(Film(model, times, solid, ghosts, size=(320, 240)))
    assert before.shape == (240, 320, 3)
    changed = np.abs(before.astype(int) - after.astype(int)).max(axis=2) > 20
    changed[:80] = False  # the caption
    rows, columns = np.nonzero(changed)
    assert len(rows) > 50
    blue = after[rows, columns].astype(int)
    assert np.median(blue[:, 2] - blue[:, 0]) > 10
    aside = min(columns.min(), 319 - columns.max())
    assert 0 < aside < 50  # in the picture, and the picture is no larger than it must be


@drawing
def test_a_robot_without_ghosts_has_no_words_for_what_is_solid():
    model = crate()
    q = landing(model, down=1.0).qpos
    for ghosts, same in ((Ghosts(np.empty((1, 0, len(q))), np.empty(0, int), ()), True), (None, False)):
        beside = ghosts or Ghosts(q[None, None], np.array([0]), ["another"])
        one, other = (
            next(iter(frames(Film(model, np.zeros(1), q[None], beside, size=(320, 240), solid=name))))
            for name in ("this", "something else")
        )
        assert np.array_equal(one, other) == same


@drawing
def test_the_command_writes_frames_and_films(tmp_path):
    file = tmp_path / "crate.xml"
    file.write_text(CRATE)
    words = [
        "animate",
        str(file),
        "--down",
        "1",
        "--futures",
        "2",
        "--duration",
        "0.04",
        "--fps",
        "5",
        "--json",
    ]
    for target in (tmp_path / "frames", tmp_path / "film.gif"):
        result = CliRunner().invoke(app, [*words, "--out", str(target)])
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert told["ghosts"] == 3  # the two, and the outcome that routh tip calls the worst
        assert told["modes"][-1].startswith("worst: turns about box/floor")
    assert len(list((tmp_path / "frames").glob("*.png"))) == 5  # 0.1 s of the fall and 0.04 s after it
    assert (tmp_path / "film.gif").read_bytes()[:4] == b"GIF8"


def test_what_makes_no_sense_is_refused_before_the_work(tmp_path):
    run = CliRunner().invoke
    result = run(app, ["animate", "rocking-block", "--down", "1", "--out", str(tmp_path / "a.gif")])
    assert "is not a robot file" in str(result.exception)
    result = run(app, ["animate", "crate.xml", "--set", "mu=1", "--out", str(tmp_path / "a.gif")])
    assert "--set: crate.xml is a robot" in str(result.exception)


def test_without_a_renderer_the_message_says_what_to_install(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(robot_film.sys, "platform", "linux")
    monkeypatch.setattr(robot_film.ctypes.util, "find_library", lambda name: None)
    robot_film.backend.cache_clear()
    with pytest.raises(routh.base.status.RouthError, match="apt-get install"):
        robot_film.backend()
    robot_film.backend.cache_clear()
