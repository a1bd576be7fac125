"""The command line as a user meets it: output, files, exit codes and error messages."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import routh
from feature_marks import needs
from routh import systems
from routh.cli.app import app
from routh.cli.changes import parse_changes
from routh.cli.exits import explain
from routh.cli.output import Output, plain, plain_table
from routh.cli.run import default_samples
from routh.compiling.clock import compiling

RUNNER = CliRunner()
FEW = ["--samples", "40"]


@pytest.fixture
def problem_file(tmp_path):
    path = tmp_path / "problem.npz"
    systems.get("rocking-block").problem.save(path)
    return path


def test_list_names_every_system(routh_command):
    code, out, _ = routh_command("list")
    assert code == 0
    assert all(name in out for name in systems.names())
    code, out, _ = routh_command("list", "--json")
    assert [row["name"] for row in json.loads(out)] == systems.names()


def test_run_prints_a_table_and_writes_a_picture(routh_command, tmp_path):
    code, out, _ = routh_command("run", "rocking-block", *FEW)
    assert code == 0
    assert "sticks" in out
    assert "separates" in out
    assert "one at a time: A, B" in out
    assert "B normal velocity" in out  # the picture in the terminal
    assert (tmp_path / "rocking-block.png").read_bytes()[:4] == b"\x89PNG"


def test_json_is_only_json_and_agrees_with_the_library(routh_command):
    code, out, err = routh_command("run", "rocking-block", *FEW, "--seed", "5", "--no-picture", "--json")
    data = json.loads(out)
    outcomes = routh.sample(systems.get("rocking-block").problem, 40, seed=5)
    assert (code, err) == (0, "")
    assert data["picture"] is None
    assert data["n"] == data["n_solved"] == 40
    assert {tuple(row["modes"].values()): row["count"] for row in data["modes"]} == {
        row.modes: row.count for row in outcomes.summary(1e-3)
    }
    assert data["steps_per_sample"] == pytest.approx(outcomes.steps.mean())
    assert next(law["law"] for law in data["laws"]) == "all at once"


def test_seed_and_parameters_reach_the_sampler(routh_command):
    outputs = [
        routh_command("run", "rocking-block", *FEW, "--no-picture", "--json", *more)[1]
        for more in (["--seed", "1"], ["--seed", "1"], ["--seed", "2"], ["--seed", "1", "--set", "mu=0.1"])
    ]
    modes = [json.dumps(json.loads(out)["modes"]) for out in outputs]
    assert modes[0] == modes[1]
    assert modes[0] != modes[2]
    assert modes[0] != modes[3]


def test_quiet_leaves_only_the_table(routh_command):
    _, out, err = routh_command("run", "rocking-block", *FEW, "--quiet", "--no-picture")
    assert "sticks" in out
    assert "samples in" not in out
    assert "normal velocity" not in out
    assert err == ""


def test_impact_reads_a_file(routh_command, problem_file, tmp_path):
    code, out, _ = routh_command("impact", problem_file, *FEW, "--out", tmp_path / "own.png")
    assert code == 0
    assert "contact A" in out
    assert (tmp_path / "own.png").exists()


def test_an_impact_with_restitution_is_sampled_without_inelastic_laws(routh_command, tmp_path):
    bouncy = systems.get("rocking-block").problem.replace(restitution=0.3)
    bouncy.save(tmp_path / "bouncy.npz")
    code, out, _ = routh_command("impact", "bouncy.npz", "--samples", "4", "--out", "bouncy.png")
    assert code == 0
    assert "laws with one answer and restitution say" in out
    assert "all at once" not in out
    assert (tmp_path / "bouncy.png").exists()
    data = json.loads(routh_command("impact", "bouncy.npz", "--samples", "4", "--no-picture", "--json")[1])
    assert (data["n_solved"], data["laws"]) == (4, [])


def test_a_motion_shows_its_first_state_and_how_to_go_on(routh_command, tmp_path):
    code, out, _ = routh_command("run", "zeno-block")
    assert code == 0
    assert "restitution" in out
    assert "simulate" in out
    assert (tmp_path / "zeno-block.png").exists()


@pytest.mark.parametrize("name", ["block-on-incline", "spring-mass-damper"])
def test_a_motion_with_constraints_is_run_by_its_own_method(routh_command, name):
    code, out, _ = routh_command("run", name, "--no-picture")
    assert code == 0
    assert "system.run()" in out
    assert systems.get(name).run(duration=0.02).ok


@needs("two_body")
def test_a_single_elastic_contact_has_one_answer_per_hypothesis(routh_command):
    code, out, _ = routh_command("run", "bowling", "--json", "--no-picture")
    data = json.loads(out)
    assert code == 0
    assert [row["hypothesis"] for row in data["hypotheses"]] == ["energetic", "poisson", "newton"]
    assert all(row["contact_velocity"][0] > 0.0 for row in data["hypotheses"])
    assert data["picture"] is None


@needs("two_body")
@pytest.mark.parametrize("contacts", ["space", "plane"])
def test_a_single_elastic_contact_is_drawn(routh_command, tmp_path, contacts):
    if contacts == "space":
        problem = systems.get("bowling").problem
    else:
        problem = routh.ImpactProblem(
            np.eye(3), [[0.0, 1.0, 0.3]], [[[1.0, 0.0, 0.5]]], 0.2, [0.5, -1.0, 0.0], restitution=0.5
        )
    problem.save(tmp_path / "one.npz")
    code, out, _ = routh_command("impact", "one.npz", "--out", "one.png")
    assert code == 0
    assert "energy (Stronge)" in out
    assert (tmp_path / "one.png").exists()


def test_many_contacts_get_fewer_samples():
    assert default_samples(systems.get("rocking-block").problem) == 2**14
    assert default_samples(systems.get("disk-stack").problem) == 2**14
    assert default_samples(systems.get("box-drop").problem) == 2**12  # in space a sample costs more
    assert 200 < default_samples(systems.get("billiards-break").problem) < 1000


def test_no_sample_that_terminates_is_exit_code_1(routh_command):
    code, out, _ = routh_command("run", "rocking-block", *FEW, "--step", "1e-4", "--max-steps", "1")
    assert code == 1
    assert "not solved" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "rocking-blok"], "Did you mean 'rocking-block'?"),
        (["run", "rocking-block", "--set", "mu"], "wanted KEY=VALUE"),
        (["run", "rocking-block", "--set", "mu=abc"], "wanted a number"),
        (["run", "rocking-block", "--set", "weight=3"], "weight"),
        (["run", "rocking-block", "--step", "-1"], "step: got -1"),
        (["run", "rocking-block", "--device", "abacus"], "device: got 'abacus'"),
        (["run", "rocking-block", "--out", "a.png", "--no-picture"], "wanted only one of them"),
        (["run", "rocking-block", "--exact", "--samples", "9"], "--samples: given together with --exact"),
        (["run", "zeno-block", "--max-steps", "9"], "--max-steps: zeno-block is a motion"),
        pytest.param(
            ["run", "bowling", "--seed", "1"], "--seed: one contact with restitution", marks=needs("two_body")
        ),
        pytest.param(
            ["animate", "bowling", "--out", "frames"],
            "a single impact without a mechanism",
            marks=needs("two_body"),
        ),
        (["impact", "missing.npz"], "there is no file missing.npz"),
        pytest.param(
            ["reproduce", "--only", "hp23-fig-99"],
            "--only: got 'hp23-fig-99'. Did you mean",
            marks=needs("reproduce"),
        ),
    ],
)
def test_bad_input_is_one_line_without_a_traceback(routh_command, arguments, message):
    code, out, err = routh_command(*arguments)
    assert code == 2
    assert err.startswith("routh: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err


def test_run_sends_a_file_to_impact(routh_command, tmp_path):
    (tmp_path / "robot.xml").write_text("<mujoco/>")
    code, _, err = routh_command("run", "robot.xml")
    assert code == 2
    assert "for a file: routh impact 'robot.xml'" in err


def test_files_that_are_no_problem_are_named(routh_command, tmp_path):
    block = systems.get("rocking-block").problem
    fields = {name: getattr(block, name) for name in ("M", "Jn", "Jt", "mu", "v")}
    np.savez(tmp_path / "short.npz", **{**fields, "v": block.v[:2]})
    np.savez(tmp_path / "lacking.npz", **{name: fields[name] for name in ("M", "Jn")})
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    for name, message in (
        ("short", "v: got shape (2,); wanted shape (3,)"),
        ("lacking", "has no array 'Jt'"),
        ("text", "is not an .npz file"),
        ("empty", "is not an .npz file"),
    ):
        code, _, err = routh_command("impact", f"{name}.npz")
        assert code == 2
        assert f"{name}.npz: " in err
        assert message in err


def test_folders_and_files_of_another_kind_are_named(routh_command, tmp_path):
    (tmp_path / "robot.sdf").write_text("<sdf/>")
    for name, message in ((".", "is a folder"), ("robot.sdf", "has another suffix")):
        code, _, err = routh_command("impact", name)
        assert code == 2
        assert f"{name}: {message}; wanted a robot (.xml, .mjcf, .urdf) or an .npz file" in err


@pytest.mark.parametrize(
    "arguments", [["rnu"], ["run"], ["run", "rocking-block", "--samples", "0"], ["--nonsense"]]
)
def test_wrong_usage_is_exit_code_2(routh_command, arguments):
    code, _, err = routh_command(*arguments)
    assert code == 2
    assert "Error" in err


@pytest.mark.parametrize("command", [[], ["list"], ["run"], ["impact"], ["simulate"]])
def test_help_teaches(command):
    result = RUNNER.invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 8
    if command not in ([], ["list"]):
        assert "routh " + command[0] in result.output
    assert "Exit codes" in result.output


def test_version_and_module_entry_point():
    run = subprocess.run(
        [sys.executable, "-m", "routh", "--version"], capture_output=True, text=True, check=True
    )
    assert run.stdout == f"routh {routh.__version__}\n"


def test_a_fault_of_ours_keeps_its_traceback():
    assert explain(TypeError("bug")) is None
    assert explain(ValueError("mu: got -1; wanted >= 0")) == "mu: got -1; wanted >= 0"


def test_progress_only_for_people(capsys):
    with Output().busy("working"):
        pass
    with Output(quiet=True).counting(3) as advance:
        advance("one")
    assert capsys.readouterr() == ("", "")


def test_a_log_file_hears_of_long_work_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr("routh.cli.output.LINE_EVERY", 0.01)
    for work in (lambda: Output().busy("drawing [x]"), lambda: Output(json=True).counting(3)):
        with work() as advance:
            if advance is not None:
                advance("one")
            while not (told := capsys.readouterr().err):
                pass
        assert told.startswith(("drawing [x]: 0 s\n", "starting: 0 s\n", "one (0/3): 0 s\n"))


def test_a_bar_that_counts_says_that_something_is_compiled(capsys, monkeypatch):
    monkeypatch.setattr("routh.cli.output.LINE_EVERY", 0.01)
    with Output().counting(3) as advance:
        advance("one")
        with compiling("a kernel", kept=True):
            while "compiling, once for this machine: 0 s\n" not in capsys.readouterr().err:
                pass
        while "one (0/3): 0 s\n" not in capsys.readouterr().err:
            pass


def test_json_has_no_nan():
    assert plain({"a": np.float64("nan"), "b": np.arange(2), "c": (1.5, float("inf"))}) == {
        "a": None,
        "b": [0, 1],
        "c": [1.5, None],
    }


def test_changes_are_numbers_and_lists():
    assert parse_changes(["mu=0.2", "leading-angle=-1", "size=[1, 2]"]) == {
        "mu": 0.2,
        "leading_angle": -1,
        "size": [1, 2],
    }


def test_headings_from_elsewhere_are_shown_as_they_are():
    table = plain_table(">*|*name", "|>|x", "plain")
    assert [column.header for column in table.columns] == ["*name", ">|x", "plain"]
    assert [column.justify for column in table.columns] == ["right", "left", "left"]
