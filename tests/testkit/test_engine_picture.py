"""The README's picture is drawn from stored answers, without any engine; what they say is recomputed here."""

import json
import sys

import numpy as np
import pytest

import engine_picture
import routh
from routh.testkit import problem, scenes


def test_the_picture_needs_no_engine(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    for module in ("mujoco", "pydrake", "pybullet", "dartpy"):
        monkeypatch.setitem(sys.modules, module, None)
    file = tmp_path / "picture.png"
    monkeypatch.setattr("sys.argv", ["engine_picture.py", "--out", str(file), "--samples", "64"])
    engine_picture.main()
    assert file.stat().st_size > 10_000


def test_stored_answers_are_small_and_say_where_they_come_from():
    assert engine_picture.ANSWERS.stat().st_size < 100_000
    told = json.loads(engine_picture.ANSWERS.read_text())
    assert set(engine_picture.NAMES) <= told["engines"].keys()
    assert "engine_answers.py" in told["command"]
    for one in told["engines"].values():
        assert one["version"]
        assert np.shape(one["v"]) == (100, 6)
        assert len(one["fell"]) == 40
        assert not one["tips"]


def test_stiff_engines_with_uneven_feet_stop_at_the_edge_of_the_set():
    """The sentence below the README's picture, from fewer samples."""
    lander = problem(scenes()["lander"].scene)
    outcomes = routh.sample(lander, 2**13, seed=0)
    cloud = outcomes.v[outcomes.solved] @ lander.cholesky / lander.scaling.speed
    engines = json.loads(engine_picture.ANSWERS.read_text())["engines"]
    near = {}
    for name in (*engine_picture.SHOWN, "mujoco"):
        x = np.array(engines[name]["v"]) @ lander.cholesky / lander.scaling.speed
        near[name] = np.mean([np.linalg.norm(cloud - one, axis=1).min() < 0.03 for one in x])
    assert all(near[name] > 0.95 for name in engine_picture.SHOWN), near
    assert near["mujoco"] < 0.3


def test_tipping_is_told_by_the_rate_over_an_edge():
    still, falls = np.zeros(6), np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert engine_picture.shares(still)[0].tolist() == [0.0, 0.0]
    assert engine_picture.shares(falls)[0, 0] > 1.0
