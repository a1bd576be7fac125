"""Figures and films of motions, and the exhibits of HP23 section 4.3."""

import json
from dataclasses import replace

import numpy as np
import pytest

import routh
from routh.models.mujoco import MujocoModel
from routh.sim import Trajectory
from routh.viz import films as films
from routh.viz.films import animate
from routh.viz.motions import draw_motions


@pytest.fixture(scope="module")
def block():
    return routh.systems.get("rocking-block")


@pytest.fixture(scope="module")
def bundle(block):
    return routh.simulate_many(block.model, block.state, n=2, duration=0.03)


def test_bundles_are_drawn(bundle):
    axes = bundle.plot(coordinate=2, rate=True).axes[0]
    assert np.array_equal(axes.lines[0].get_ydata(), bundle[0].v[:, 2])
    draw_motions(bundle, axes, coordinate=1)
    assert np.array_equal(axes.lines[-1].get_ydata(), bundle[1].q[:, 1])
    by_name = bundle.plot(coordinate="block.angle").axes[0]
    assert np.array_equal(by_name.lines[0].get_ydata(), bundle[0].q[:, 2])
    assert by_name.get_ylabel() == "block.angle"
    with pytest.raises(ValueError, match="coordinate: got 99"):
        bundle.plot(coordinate=99)
    with pytest.raises(ValueError, match=r"got 'trunk.angle'; wanted one of 'block.x', 'block.y'"):
        bundle.plot(coordinate="trunk.angle")
    nameless = replace(bundle[0], coordinates=())
    with pytest.raises(ValueError, match=r"coordinate: got 'block.angle'"):
        nameless.plot(coordinate="block.angle")


def test_what_does_not_move_in_a_gif_keeps_its_colours(tmp_path):
    image = pytest.importorskip("PIL.Image")
    across, down = np.meshgrid(np.arange(0, 256, 2), np.arange(0, 256, 4))
    still = np.stack([across, down, 255 - across], axis=-1).astype(np.uint8)
    frames = [still.copy() for _ in range(2)]
    for frame, colour in zip(frames, ((255, 0, 0), (0, 255, 0)), strict=True):
        frame[:20, :40] = colour
    with image.open(films.write_frames(frames, tmp_path / "film.gif", fps=10)) as film:
        shown = []
        for number in range(2):
            film.seek(number)
            shown.append(np.asarray(film.convert("RGB")).astype(int))
    np.testing.assert_array_equal(shown[0][20:], shown[1][20:])
    for pixels, colour in zip(shown, ((255, 0, 0), (0, 255, 0)), strict=True):
        assert abs(pixels[10, 20] - colour).max() < 24


def test_films_have_every_frame(block, bundle, tmp_path):
    image = pytest.importorskip("PIL.Image")
    gif = animate(block.model, bundle, tmp_path / "film.gif", fps=10, speed=0.1, width=200)
    with image.open(gif) as film:
        assert film.n_frames == 4  # 0.3 s of film, both ends
    frames = animate(block.model, bundle[0], tmp_path / "frames", fps=10, speed=0.1, width=200)
    assert sorted(p.name for p in frames.iterdir()) == [f"frame-{k:05d}.png" for k in range(4)]


def test_motions_too_small_to_be_seen_are_drawn_larger(block, bundle, tmp_path):
    assert films._magnification(2.3e-4, 2.0) == 200.0
    assert films._magnification(1e-3, 0.5) == 20.0
    assert films._magnification(0.1, 2.0) == films._magnification(0.0, 2.0) == 1.0
    shown = {}
    for magnify in (None, 1, 1000):
        folder = animate(
            block.model, bundle[0], tmp_path / f"{magnify}", fps=2, speed=0.1, width=200, magnify=magnify
        )
        shown[magnify] = (folder / "frame-00001.png").read_bytes()
    assert len(set(shown.values())) == 3
    with pytest.raises(ValueError, match="magnify"):
        animate(block.model, bundle, tmp_path / "film.gif", magnify=0.0)


def test_films_that_cannot_be_made_are_refused(block, bundle, tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"wanted .gif, .mp4"):
        animate(block.model, bundle, tmp_path / "film.avi")
    with pytest.raises(ValueError, match="wanted at most 2000"):
        animate(block.model, bundle, tmp_path / "film.gif", speed=1e-6)
    box = routh.systems.get("box-drop")
    with pytest.raises(ValueError, match="wanted a planar model, or one of bodies in space"):
        animate(object(), bundle, tmp_path / "film.gif")
    with pytest.raises(ValueError, match="magnify: got 2 for bodies in space"):
        animate(box.model, bundle, tmp_path / "film.gif", magnify=2.0)
    monkeypatch.setattr(films.shutil, "which", lambda _: None)
    monkeypatch.setattr(
        films.importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name))
    )
    with pytest.raises(films.MissingEncoderError, match="pip install imageio-ffmpeg"):
        animate(block.model, bundle, tmp_path / "film.mp4")


def test_the_command(tmp_path):
    from typer.testing import CliRunner

    from routh.cli.app import app

    out = tmp_path / "ball.gif"
    words = [
        "animate",
        "bouncing-ball",
        "--out",
        str(out),
        "--duration",
        "0.5",
        "--futures",
        "1",
        "--fps",
        "4",
    ]
    result = CliRunner().invoke(app, [*words, "--set", "mu=0", "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["impacts"] == [1]
    assert out.stat().st_size > 0


def test_coordinates_of_a_robot_from_a_file_go_by_the_names_of_its_joints():
    mujoco = pytest.importorskip("mujoco")
    body = '<body name="leg"><joint name="hip"/><geom size="0.1"/></body>'
    trunk = f'<body name="trunk"><freejoint name="root"/><geom size="0.2"/>{body}</body>'
    text = f"<mujoco><worldbody>{trunk}</worldbody></mujoco>"
    model = MujocoModel(mujoco.MjModel.from_xml_string(text))
    q = np.tile(model.mujoco.qpos0, (2, 1))
    fall = Trajectory(np.arange(2.0), q, np.zeros((2, 7)), coordinates=model.coordinates)
    assert fall.plot(coordinate="root.z").axes[0].get_ylabel() == "root.z"
    assert fall.plot(coordinate="root.wy", rate=True).axes[0].get_ylabel() == "rate of root.wy"
    assert fall.plot(coordinate="hip", rate=True).axes[0].get_ylabel() == "rate of hip"
    with pytest.raises(ValueError, match=r"got 'nose'; wanted one of 'root.x', 'root.y', .*, 'hip'"):
        fall.plot(coordinate="nose")
