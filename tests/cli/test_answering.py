"""The command line answers the question first: how ambiguous, between what, at which contact."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import routh
from feature_marks import needs
from routh import systems
from routh.base import features
from routh.base.status import Status
from routh.cli import exits
from routh.cli.app import app
from routh.cli.changes import parse_changes
from routh.cli.output import plain
from routh.compiling import compile_seconds

FEW = ["--samples", "400", "--no-picture"]
CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 {}">
  <freejoint/><geom name="crate" type="box" size="0.2 0.15 0.1"/></body></worldbody></mujoco>"""


@pytest.fixture
def crate(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "crate.xml"
    path.write_text(CRATE.format(0.1))
    return path


def test_the_first_lines_are_the_answer(routh_command):
    code, out, _ = routh_command("run", "rocking-block", *FEW)
    first, second, blank, title, *_ = out.splitlines()
    assert code == 0
    assert first.startswith("Ambiguity 0.50 of the speed before: from ")
    assert {'"A separates, B sticks"', '"A sticks, B separates"'} == {
        f'"{words}"' for words in first.split('"')[1::2]
    }
    assert second.startswith("Least certain: A and B (sticks, or separates at up to 0.09")
    assert (blank, title[:13]) == ("", "rocking-block")


def test_the_guide_prints_what_the_command_does(routh_command):
    page = Path(__file__).parents[2] / "docs/guide/command_line.md"
    printed = page.read_text().partition("$ routh run rocking-block\n")[2].partition("```")[0]
    _, out, _ = routh_command("run", "rocking-block", "--no-picture")
    shown = {line.rstrip() for line in out.splitlines()}
    rows = [line for line in printed.splitlines() if "samples in" not in line]  # which has a time
    assert "%" in rows[-1]
    assert [line for line in rows if line not in shown] == []


def test_the_first_line_is_short_however_long_the_names(routh_command, tmp_path):
    names = ["the rear left foot of the robot", "the front right foot of the robot"]
    systems.get("rocking-block").problem.replace(names=names).save(tmp_path / "feet.npz")
    _, out, _ = routh_command("impact", "feet.npz", *FEW, "--quiet")
    first, second, third, *_ = out.splitlines()
    assert first == "Ambiguity 0.50: two outcomes can differ by 0.50 of the speed before the impact."
    assert second.endswith('".')
    assert third.startswith("Least certain: the rear left foot of the robot and the front right foot")


def test_a_robot_s_notes_stand_below_the_answer(routh_command, crate):
    words = ("--down", "1", "--restitution", "0", "--samples", "60", "--no-picture")
    code, out, _ = routh_command("impact", crate, *words)
    lines = out.splitlines()
    assert code == 0
    assert lines[0].startswith("Ambiguity 0.")
    assert re.match(r"Least certain: crate \([34] contacts\) \(", lines[2])
    below = " ".join(" ".join(lines[3:]).split())
    assert "until it touches" in below
    assert "contacts that close within the window" not in below  # only where it is asked for
    _, out, _ = routh_command("impact", crate, "--down", "1", "-n", "8", "--no-picture", "--compare-windows")
    asked = "contacts that close within the window, and the ambiguity with them: 1.67 ms 4 ("
    assert asked in " ".join(out.split())


def test_contacts_that_close_soon_are_named(routh_command, crate):
    landing = ("--down", "1", "--pitch", "0.03", "-n", "8", "--no-picture")
    _, out, _ = routh_command("impact", crate, *landing)
    named = "Closing soon, but not counted: crate (2 contacts, in 12 ms)"
    assert named in " ".join(out.split())
    _, out, _ = routh_command("impact", crate, *landing, "--json")
    assert sorted(json.loads(out)["soon"]) == ["crate/floor#3", "crate/floor#4"]
    _, out, _ = routh_command("impact", crate, *landing, "--window", "0.02")
    assert "Closing soon" not in out


def test_a_robot_that_stands_still_is_told_what_to_do(routh_command, crate, tmp_path):
    code, out, _ = routh_command("impact", crate, "--out", "crate.png")
    assert code == 3
    assert out.startswith("Nothing approaches: ")
    assert "--down 1.0 lets it land" in " ".join(out.split())
    assert not (tmp_path / "crate.png").exists()


def test_json_has_the_answer_of_the_library(routh_command):
    _, out, _ = routh_command("run", "compass-gait", *FEW, "--json")
    data = json.loads(out)
    outcomes = routh.sample(systems.get("compass-gait").problem, 400, seed=0)
    assert data["ambiguity"] == json.loads(json.dumps(plain(outcomes.answer().as_data())))
    assert data["ambiguity"]["score"] == pytest.approx(outcomes.ambiguity, rel=1e-12)
    assert data["ambiguity"]["least_certain"] == ["B"]
    assert sum(row["count"] for row in data["modes"]) == data["n_solved"] == 400


@needs("two_body")
def test_json_of_exact_sets_and_of_one_elastic_contact(routh_command):
    pytest.importorskip("ppl")
    data = json.loads(routh_command("run", "compass-gait", "--exact", "--json", "--no-picture")[1])
    assert data["ambiguity"]["score"] == pytest.approx(0.776, abs=1e-3)
    _, out, _ = routh_command("run", "compass-gait", "--exact", "--no-picture")
    assert out.startswith("Ambiguity 0.78 of the speed before: from ")
    _, out, _ = routh_command("run", "bowling", "--no-picture")
    assert out.startswith("Ambiguity 0.021 of the speed before: one contact follows one path, and hypotheses")
    data = json.loads(routh_command("run", "bowling", "--no-picture", "--json")[1])
    between = {data["hypotheses"][one["sample"]]["hypothesis"] for one in data["ambiguity"]["between"]}
    assert between == {"poisson", "newton"}


def test_modes_that_differ_by_less_than_the_threshold_are_one_row(routh_command):
    words, rows = ["run", "compass-gait", *FEW], {}
    for share in (None, "0", "0.9"):
        more = [] if share is None else ["--merge", share]
        data = json.loads(routh_command(*words, "--json", *more)[1])
        rows[share] = data["modes"]
        assert data["merge"] == (1e-3 if share is None else float(share))
        assert sum(row["count"] for row in data["modes"]) == 400
    assert len(rows["0.9"]) < len(rows[None])
    assert sum(row["combinations"] for row in rows["0.9"]) == len(rows["0"])
    _, out, _ = routh_command(*words, "--merge", "0.9")
    assert "--merge 0 shows all" in " ".join(out.split())
    _, out, _ = routh_command(*words, "--merge", "0")
    assert "shows all" not in out


def test_no_outcome_no_claim(routh_command):
    words = ["run", "rocking-block", "--samples", "5", "--step", "1e-4", "--max-steps", "1", "--no-picture"]
    code, out, _ = routh_command(*words)
    assert code == 1
    assert out.startswith("No sample is solved (")
    assert json.loads(routh_command(*words, "--json")[1])["ambiguity"]["score"] is None
    _, out, _ = routh_command("run", "rocking-block", "--samples", "1", "--no-picture")
    assert out.startswith("Ambiguity unknown: only one outcome is known")


def test_the_time_of_sampling_holds_no_compiling_and_no_loading(routh_command, monkeypatch):
    """The first call, which loads kernels, is not the one that is timed."""
    import routh.cli.run as module

    clock, drawn = [0.0], []

    def slow_at_first(problem, n, **options):
        clock[0] += 0.25 if drawn else 100.0
        drawn.append(n)
        return routh.sample(problem, n, **options)

    monkeypatch.setattr(module, "sample", slow_at_first)
    monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    before = compile_seconds()
    data = json.loads(routh_command("run", "rocking-block", *FEW, "--json")[1])
    assert data["seconds"] <= 0.25
    assert data["seconds"] == pytest.approx(0.25) or compile_seconds() > before
    assert drawn == [1, 400]


def test_the_parameters_of_a_system(routh_command):
    code, out, _ = routh_command("list", "rocking-block")
    assert code == 0
    assert [line.split()[:3] for line in out.splitlines() if line.startswith(("width", "speed"))] == [
        ["width", "1", "m"],
        ["speed", "0.442945", "m/s"],
    ]
    data = json.loads(routh_command("list", "rocking-block", "--json")[1])
    assert {"name": "mass", "default": 1.0, "unit": "kg", "meaning": "mass of each body"} in data[
        "parameters"
    ]
    code, _, err = routh_command("list", "rocking-blok")
    assert code == 2
    assert "Did you mean 'rocking-block'?" in err


@pytest.mark.parametrize("name", systems.names())
def test_every_parameter_has_a_meaning(routh_command, name):
    found = systems.parameters(name)
    assert found
    assert all(one.meaning for one in found), name
    code, out, _ = routh_command("list", name)
    assert code == 0
    assert all(one.name in out for one in found)


def test_units_and_defaults_are_those_of_the_systems():
    """Every parameter that is a length doubles with the block; a wrong unit would show in its dimension."""
    units = {one.name: one.unit for one in systems.parameters("rocking-block")}
    assert units == {"width": "m", "height": "m", "mass": "kg", "speed": "m/s", "mu": ""}
    small, large = (
        systems.get("rocking-block", **{name: factor * value for name, value in given.items()}).problem
        for factor, given in ((1.0, {"width": 1.0, "height": 2.0}), (2.0, {"width": 1.0, "height": 2.0}))
    )
    assert np.allclose(large.M[2, 2], 4.0 * small.M[2, 2])
    for name in systems.names():
        defaults = {one.name: one.default for one in systems.parameters(name) if one.default is not None}
        assert systems.get(name, **defaults).name == systems.get(name).name


def test_an_unknown_key_lists_the_keys(routh_command):
    code, _, err = routh_command("run", "rocking-block", "--set", "widht=3")
    assert code == 2
    assert "no parameter 'widht'; wanted width (1.0), height (2.0), mass" in err


@needs("two_body")
def test_text_is_for_parameters_that_are_text():
    assert parse_changes(["figure=4b", "mu=0.1"], "icosahedron-tetrahedron") == {"figure": "4b", "mu": 0.1}
    with pytest.raises(ValueError, match="wanted a number"):
        parse_changes(["mu=4b"], "icosahedron-tetrahedron")


COMPLETED = [
    ("run ro", {"rocking-block"}),
    ("list comp", {"compass-gait"}),
    ("scan rim", {"rimless-wheel", "rimless-wheel-slope"}),
    ("run rocking-block --set ", {"width=", "height=", "mass=", "speed=", "mu="}),
    pytest.param("view rocking-block --set m", {"mass=", "mu="}, marks=needs("view")),
    ("ani", {"animate"}),
]


@pytest.mark.parametrize(("typed", "offered"), COMPLETED)
def test_a_shell_completes_commands_systems_and_parameters(typed, offered):
    words = f"routh {typed}"
    environment = {
        **os.environ,
        "_ROUTH_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    run = [sys.executable, "-m", "routh"]
    found = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    assert set(found.stdout.split()) == offered
    assert found.stderr == ""


def test_the_shell_s_script_can_be_shown():
    run = [sys.executable, "-m", "routh", "--show-completion", "zsh"]
    # else the shell is looked for among the parents of this process, where there may be none
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    found = subprocess.run(run, capture_output=True, text=True, env=named)
    assert "compdef" in found.stdout, found.stderr
    assert "_ROUTH_COMPLETE" in found.stdout


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["run", "rocking-block", *FEW]])
def test_head_takes_the_first_line_and_all_is_well(tmp_path, arguments):
    run = subprocess.Popen(
        [sys.executable, "-m", "routh", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    first = run.stdout.readline()
    run.stdout.close()
    error = run.stderr.read()
    assert run.wait() == 0
    assert error == b""
    assert first


def closed_at_once(*arguments, cwd):
    """Run a command into a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        run = [sys.executable, "-m", "routh", *arguments]
        return subprocess.run(run, stdout=writing, stderr=subprocess.PIPE, cwd=cwd, text=True)
    finally:
        os.close(writing)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_picture_is_written_although_nobody_reads_the_tables(tmp_path, form):
    pytest.importorskip("matplotlib")
    done = closed_at_once("run", "rocking-block", "--samples", "400", *form, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "rocking-block.png").read_bytes().startswith(b"\x89PNG")


def test_the_exit_code_is_told_although_nobody_reads(tmp_path, crate):
    done = closed_at_once("impact", str(crate), cwd=tmp_path)  # it touches, at rest
    assert (done.returncode, done.stderr) == (3, "")


def test_that_there_is_no_result_is_told_although_nobody_reads(tmp_path):
    words = ("run", "rocking-block", "--no-picture", "--samples", "20", "--max-steps", "1", "--step", "1e-6")
    done = closed_at_once(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


def test_vertices_of_many_contacts_are_readable_in_eighty_columns(routh_command):
    pytest.importorskip("ppl")
    _, out, _ = routh_command("run", "block-into-wall", "--exact", "--no-picture")
    table = out[out.index("vertices of the set") :]
    assert "…" not in table
    assert "contact ┃   normal ┃   tangent" in table


def test_a_warning_is_a_sentence_without_the_source_that_noticed_it(tmp_path):
    pytest.importorskip("mujoco")
    link = """<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="{}" ixy="0" ixz="0"
      iyz="0"/></inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>"""
    hinge = '<joint name="hip" type="continuous"><parent link="trunk"/><child link="rod"/></joint>'
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r">{link.format("trunk", 1)}{link.format("rod", 0)}{hinge}</robot>'
    )
    words = [sys.executable, "-m", "routh", "impact", "r.urdf", "--down", "1", "--samples", "8"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    assert line.startswith("routh: warning: ")
    assert "made positive" in line
    assert "landing.py" not in line


def test_too_few_solved_samples_are_said_first_and_by_the_exit_code(routh_command):
    words = ("run", "rocking-block", "--no-picture", "--samples", "200")
    code, out, _ = routh_command(*words, "--max-steps", "2")
    assert code == 5
    first, second, third, *rest = out.splitlines()
    assert first.startswith("Only ")
    assert second.startswith("Try more steps (max_steps) or a larger step.")
    assert third.startswith("Ambiguity ")
    solved = int(first.split()[1])
    assert f"{200 - solved} of 200 samples are not solved and in no row above:" in rest
    _, out, _ = routh_command(*words, "--max-steps", "2", "--json")
    assert json.loads(out)["n_solved"] == solved
    code, out, _ = routh_command(*words, "--max-steps", "1", "--step", "1e-6")
    assert code == 1
    assert out.startswith("No sample is solved (200 MAX_STEPS).\nTry ")
    assert "nan" not in out


@needs("sweep")
@pytest.mark.parametrize(("solved", "code"), [(2, 5), (0, 1)])
def test_a_sweep_with_too_few_solved_samples_says_so_too(routh_command, tmp_path, monkeypatch, solved, code):
    """Also when it is opened again; where no sample is solved there is no result."""

    def failing(*given, **options):
        drawn = routh.sample(*given, **options)
        drawn.status[solved:] = Status.NUMERICAL
        return drawn

    words = ("sweep", "rocking-block", "--over", "mu=0.2,0.4,0.6", "--samples", "4", "--executor", "here")
    whole, out, _ = routh_command(*words, "--out", tmp_path / "whole")
    assert (whole, "are solved" in out) == (0, False)
    monkeypatch.setattr("routh.sweep.measures.sample", failing)
    found, out, _ = routh_command(*words, "--out", tmp_path / "half")
    assert found == code
    assert out.startswith(f"Only {100 * solved / 3:.1f} % of the samples are solved, fewer than 99% at ")
    assert routh_command("sweep", "--resume", tmp_path / "half")[0] == code


@needs("sweep")
def test_a_sweep_in_which_nothing_approaches_says_so(routh_command, tmp_path):
    words = ("sweep", "rocking-block", "--over", "speed=0", "--samples", "4", "--executor", "here")
    assert routh_command(*words, "--out", tmp_path / "rest")[0] == 3


def test_the_exit_codes_of_the_documentation_are_those_of_the_code():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "command_line.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", page.partition("## Exit codes")[2], re.MULTILINE)
    codes = [int(code) for code, _ in rows]
    assert codes == sorted(codes)
    assert set(codes) == set(exits.Exit)
    assert all(f" {code:d} " in exits.IN_SHORT for code in exits.Exit)
    named = {words.split()[0] for _, told in rows for words in re.findall("`(.+?)`", told)}
    known = {one.name for one in app.registered_commands} | set(features.entries("commands"))
    assert named - {"reproduce", "sweep", "view"} <= known
