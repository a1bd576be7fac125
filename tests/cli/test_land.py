"""``routh land``: the answer, the exit code, what is refused."""

import json
from pathlib import Path

import pytest

from routh.cli.land import LandRequest, judge, uncertainty_of
from routh.to_rest.uncertainty import Spread

pytest.importorskip("mujoco")
LANDER = str(Path(__file__).parents[2] / "examples" / "lander.xml")


@pytest.fixture
def run(monkeypatch, capfd):
    """Exit code, and what was printed."""
    from routh.cli import main

    def call(*words):
        monkeypatch.setattr("sys.argv", ["routh", "land", LANDER, "--no-picture", *words])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capfd.readouterr().out

    return call


def test_a_slow_landing_is_safe_and_a_fast_one_is_not(run):
    code, out = run("--down", "0.3", "--heights", "2mm", "-n", "60", "--allow", "10%")
    assert code == 0
    assert out.startswith("SAFE: tips in 0 % of 60 landings")
    code, out = run("--down", "1", "--sideways", "3", "-n", "20", "--allow", "1%")
    assert code == 4
    assert out.startswith("NOT SAFE: tips in 100 % of 20 landings")


def test_few_landings_decide_nothing(run):
    code, out = run("--down", "0.3", "-n", "10", "--allow", "1%", "--json")
    told = json.loads(out)
    assert code == 6
    assert told["verdict"] == "undecided"
    assert told["statuses"]["at rest"] == 10
    assert told["rest"][0]["contacts"] == ["front-left", "front-right", "rear-left", "rear-right"]


def test_mujoco_stands_beside(run):
    code, out = run("--down", "1", "--sideways", "3", "-n", "5", "--check", "2", "--json")
    assert code == 0
    assert json.loads(out)["check"] == {"routh": 1.0, "mujoco": 1.0, "runs": 2}


def test_what_is_not_known_comes_from_a_file_too(tmp_path):
    file = tmp_path / "unknown.toml"
    file.write_text('heights = "2mm"\nfriction = [0.5, 0.8]\n')
    found = uncertainty_of(LandRequest(unknown=file, heights="1mm"))
    assert found.heights == Spread(-0.001, 0.001)
    assert found.friction == Spread(0.5, 0.8)
    file.write_text("hights = 1\n")
    with pytest.raises(ValueError, match="hights"):
        uncertainty_of(LandRequest(unknown=file))


@pytest.mark.parametrize(
    "words",
    [
        ("--down", "1", "--heights", "2deg"),
        ("--down", "1", "--height", "1"),
        ("--down", "1", "--slope", "steep"),
        ("--down", "1", "--allow", "maybe"),
        ("--heights", "2mm"),  # how fast?
    ],
)
def test_bad_input_is_told(run, words):
    assert run(*words)[0] == 2


def test_what_has_no_answer_is_not_safe():
    import numpy as np

    class Runs:
        status = np.zeros((1, 1000))
        solved = np.ones((1, 1000), dtype=bool)
        tipped = np.zeros((1, 1000), dtype=bool)

    assert judge(Runs, 0.01)[0] == "SAFE: "
    Runs.solved[0, :9] = False
    assert judge(Runs, 0.01)[0] == "UNDECIDED: "
    Runs.solved[0, :50] = False
    assert judge(Runs, 0.01)[0] == "PARTIAL: "
    Runs.tipped[0, 500:] = True
    assert judge(Runs, 0.01)[0] == "NOT SAFE: "
