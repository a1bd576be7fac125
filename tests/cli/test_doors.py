"""What the command line refuses, before it works; what it prints of hostile names; how it ends."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import routh
from feature_marks import needs
from routh import systems
from routh.cli import options

FEW = ["--samples", "40"]
ESCAPES = "\x1b]0;owned\x07[/red]foot[left]$x$\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "rocking-block", "--samples", 10**12], "samples: got 1000000000000, whose results need"),
        (["run", "rocking-block", *FEW, "--max-steps", 10**20], "max-steps: got 100000000000000000000"),
        (["run", "rocking-block", *FEW, "--step", "1e308"], "step: got 1e+308 N s; wanted at most"),
        (["run", "rocking-block", "--set", "weight=3"], "no parameter 'weight'; wanted width (1.0), "),
        (["run", "rocking-block", "--set", "mu=[1,2,3]"], "mu: got shape (3,)"),
        (["run", "rocking-block", "--out", "a.bmp"], "wanted one of .png, .pdf, .svg"),
        (["run", "rocking-block", "--out", "no/a.png"], "there is no folder 'no'"),
        (["run", "rocking-block", "--out", "folder.png"], "which is a folder"),
        (["animate", "rocking-block", "--out", "a.webm"], "one of .gif, .mp4, a folder"),
        (["animate", "rocking-block", "--out", "no/a.gif"], "there is no folder 'no'"),
        (["audit", "robot.xml", "--out", "a.txt"], "one of .html"),
        (["audit", "robot.xml", "--out", "no/a.html"], "there is no folder 'no'"),
        pytest.param(
            ["sweep", "rocking-block", "--over", "mu=0,1", "--out", "no/study"],
            "there is no folder 'no'",
            marks=needs("sweep"),
        ),
        pytest.param(
            ["sweep", "rocking-block", "--over", "mu=0,1", "--out", "file"],
            "is a file; wanted a folder",
            marks=needs("sweep"),
        ),
        pytest.param(
            ["reproduce", "--quick", "--out", "no/results"],
            "there is no folder 'no'",
            marks=needs("reproduce"),
        ),
        pytest.param(
            ["reproduce", "--quick", "--out", "file"], "is a file; wanted a folder", marks=needs("reproduce")
        ),
        (["scan", "rocking-block", "--over", "weight=0:1:3", "--no-picture"], "wanted width (1.0), "),
        (["run", "\x1b[31m"], r"\x1b[31m"),
    ],
)  # fmt: skip
def test_refused_before_anything_is_computed(routh_command, tmp_path, monkeypatch, arguments, words):
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("routh.cli.output.Output.busy", lambda *_: pytest.fail("it began to work"))
    if {"--samples", "--step", "--max-steps", "scan"} & set(arguments):
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
    code, _, err = routh_command(*arguments)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.png"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root can write anywhere")
    tmp_path.chmod(0o500)
    with pytest.raises(ValueError, match="which is not writable; wanted a writable place"):
        options.output_file(tmp_path / "a.png", options.PICTURES)


def test_names_show_what_they_hold(routh_command, tmp_path):
    block = systems.get("rocking-block").problem
    for names in ([ESCAPES, "_b"], ["[bold]x[/bold]", "foot[left]"]):
        block.replace(names=names).save(tmp_path / "evil.npz")
        code, out, err = routh_command("impact", "evil.npz", *FEW, "--out", "evil.png")
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        assert "\x07" not in out
        assert names[0].replace("\x1b", r"\x1b").replace("\x07", r"\x07").replace("\n", r"\n") in out
        assert (tmp_path / "evil.png").exists()


def test_hostile_file_names(routh_command, tmp_path):
    name = "[red]\x1b[5m.npz"
    systems.get("rocking-block").problem.save(tmp_path / name)
    code, out, _ = routh_command("impact", name, *FEW, "--no-picture")
    assert code == 0
    assert r"[red]\x1b[5m.npz" in out


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_nothing_approaches(routh_command, tmp_path, restitution):
    problem = routh.ImpactProblem(
        np.eye(3), [[0.0, 1.0, 0.3]], [[[1.0, 0.0, 0.5]]], 0.2, [0.5, 1.0, 0.0], restitution=restitution
    )
    problem.save(tmp_path / "apart.npz")
    code, out, _ = routh_command("impact", "apart.npz", "--out", "apart.png")
    assert code == 3
    assert out.startswith("Nothing approaches: no contact has a normal velocity below zero (the smallest: ")
    assert "nothing is drawn" in out
    assert "Jn @ v < 0 means approach" in out
    assert not (tmp_path / "apart.png").exists()
    code, out, _ = routh_command("impact", "apart.npz", "--json")
    assert code == 3
    data = json.loads(out)
    assert data["approaching"] == []
    assert data["ambiguity"] is None
    assert "look at the signs" in data["propose"]


CRATE = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="crate" pos="0 0 {}">
  <freejoint/><geom name="crate" type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("height", "depth"), [(-0.5, "0.6"), (0.07, "0.03")])
def test_states_that_cannot_be_are_refused(routh_command, tmp_path, height, depth):
    pytest.importorskip("mujoco")
    (tmp_path / "crate.xml").write_text(CRATE.format(height))
    arguments = ["impact", "crate.xml", "--qvel", "2:-1", *FEW, "--no-picture"]
    code, _, err = routh_command(*arguments)
    assert code == 2
    assert "crate/floor" in err
    assert depth in err
    assert "deepest" in err
    assert routh_command(*arguments, "--deepest", "1")[0] == 0


def test_numbers_that_are_none_are_refused(routh_command, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "crate.xml").write_text(CRATE.format(0.1))
    code, _, err = routh_command("impact", "crate.xml", "--qpos", "2:nan", "--no-picture")
    assert code == 2
    assert "qpos[2]: got nan" in err


def start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "routh", *map(str, arguments)], text=True, **options)


@pytest.mark.parametrize("arguments", [["list"], ["run", "zeno-block", "--no-picture"], ["--help"]])
def test_a_reader_who_leaves_is_no_error(tmp_path, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    run = start(*arguments, stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(writer)
    _, err = run.communicate()
    assert err == ""
    assert run.returncode == 0


def test_a_terminal_without_unicode_gets_its_table(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    run = start("run", "zeno-block", "--no-picture", cwd=tmp_path, env=environment, **pipes)
    out, err = run.communicate()
    assert (run.returncode, err) == (0, "")
    assert r"\xb7 a motion" in out


def test_a_home_that_is_missing(tmp_path):
    """Matplotlib, numba and the rest must do without."""
    hidden = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["HOME"] = "/nonexistent"
    run = start(
        "run", "rocking-block", *FEW, "--out", "a.png", cwd=tmp_path, env=environment, stderr=subprocess.PIPE
    )
    _, err = run.communicate()
    assert run.returncode == 0, err
    assert "Traceback" not in err
    assert (tmp_path / "a.png").exists()


LONG = {
    "exact": ["run", "compass-gait", "--exact", "--out", "a.png"],
    "sampling": ["run", "disk-stack", "--samples", 10**7, "--out", "a.png"],
    "film": ["animate", "rocking-block", "--futures", 500, "--out", "a.gif"],
    "scan": ["scan", "rocking-block", "--over", "mu=0:1:2000", "--out", "a.png"],
    "reproduce": ["reproduce", "--quick", "--only", "hp23", "--out", "results"],
}


LONG_AFTER = [
    pytest.param(name, 0.7 + 0.5 * i, marks=needs(name) if name == "reproduce" else ())
    for i, name in enumerate(LONG)
]


@pytest.mark.parametrize(
    ("command", "after"),
    LONG_AFTER,
)
def test_an_interrupt_ends_a_command(tmp_path, command, after):
    """Wherever it is: importing, compiling, in compiled code, drawing."""
    (tmp_path / "a.png").write_bytes(b"old")
    run = start(*LONG[command], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(after)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=600)  # a second, on a machine that does nothing else
    assert run.returncode in (130, -signal.SIGINT, 0)  # it may have been quicker than we
    assert "Traceback" not in err or run.returncode == -signal.SIGINT
    if run.returncode == 130:
        assert err.splitlines()[-1].startswith("interrupted; ")  # and then what was kept
        assert err.count("interrupted") == 1
    assert not list(tmp_path.rglob("*.part"))
    for picture in tmp_path.rglob("*.png"):
        assert picture.read_bytes() == b"old" or picture.read_bytes()[-8:-4] == b"IEND"


def test_an_interrupt_inside_a_callback_says_nothing():
    """Python prints a traceback of what a weak reference's callback raises, and goes on."""
    code = (
        "import signal, sys, time, weakref\n"
        "from routh.cli.exits import stop_promptly\n"
        "stop_promptly()\n"
        "class Thing: pass\n"
        "thing = Thing()\n"
        "def raised(_): raise KeyboardInterrupt\n"
        "seen = weakref.ref(thing, raised)\n"
        "del thing\n"
        "print('on')\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "on\n"
    assert found.stderr == ""


ROBOT = """<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 {height}"><freejoint/>
  <geom name="crate" type="box" size="0.1 0.1 0.1"/><body pos="0 0 0.2"><joint name="lid" type="hinge"
  range="-0.1 0.1" limited="true"/><geom type="box" size="0.05 0.05 0.02" contype="0" conaffinity="0"/>
  </body></body></worldbody></mujoco>"""


@pytest.fixture
def crate(tmp_path):
    pytest.importorskip("mujoco")

    def written(height):
        (tmp_path / "crate.xml").write_text(ROBOT.format(height=height))
        return "crate.xml"

    return written


def test_an_audit_begins_where_a_robot_can_be(routh_command, crate):
    """30 mm under the floor is refused; what soft contacts do later has limits of its own."""
    audit = ["audit", crate(0.07), "--duration", "0.004", *FEW, "--json"]
    code, _, err = routh_command(*audit)
    assert code == 2
    assert "deepest" in err
    assert "0.03" in err
    _, _, err = routh_command(*audit, "--deepest", "0.05")
    assert "deepest" not in err
    audit = ["audit", crate(0.3), "--duration", "0.004", "--qpos", "7:0.3", *FEW, "--json"]
    code, _, err = routh_command(*audit)
    assert code == 2
    assert "--past-limit" in err
    assert routh_command(*audit, "--past-limit", "0.4")[0] != 2


def test_an_audit_without_ground_says_so(routh_command, tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "alone.xml").write_text(
        CRATE.format(0.5).replace('<geom name="floor" type="plane" size="1 1 1"/>', "")
    )
    _, out, _ = routh_command("audit", "alone.xml", "--duration", "0.01")
    assert "--ground 0: it has no ground" in " ".join(out.split())
    _, out, _ = routh_command("audit", "alone.xml", "--duration", "0.01", "--ground", "0")
    assert "No impact in this time" in out
    assert "--ground" not in out


def test_the_impacts_of_a_rollout_have_limits_of_their_own(routh_command, crate):
    audit = ["audit", crate(0.101), "--qvel", "2:-1", "--duration", "0.05", *FEW, "--json"]
    _, out, _ = routh_command(*audit)
    assert json.loads(out)["impacts"]
    _, out, _ = routh_command(*audit, "--impact-deepest", "0")
    assert json.loads(out)["refused"]
    _, out, _ = routh_command(*audit, "--budget", "0.001")
    assert json.loads(out)["status"] in ("OUT_OF_TIME", "SOLVED")


@pytest.mark.parametrize("command", ["impact", "scan"])
def test_landings_are_refused_as_other_states_are(routh_command, crate, command):
    """A joint 0.15 rad past its limit."""
    landing = [command, crate(0.3), "--down", "1", "--joint", "lid=0.25", *FEW, "--no-picture"]
    if command == "scan":
        landing += ["--over", "roll=0,0.1", "--json"]
    code, out, err = routh_command(*landing)
    assert code == (2 if command == "impact" else 1), out + err
    if command == "impact":
        assert "--past-limit" in err
    else:
        assert set(json.loads(out)["status"]) == {"REFUSED"}
    assert routh_command(*landing, "--past-limit", "0.2")[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "rocking-block", "--samples", "2000000", "--no-picture"],
        ["run", "rocking-block", "--exact", "--no-picture"],
        ["scan", "rocking-block", "--over", "mu=0:1:2000", "--no-picture"],
    ],
    ids=lambda a: " ".join(a[:3]),
)
def test_a_budget_ends_commands_that_are_long(routh_command, arguments):
    _, out, err = routh_command(*arguments, "--json", "--budget", "0.001")
    assert err == ""
    assert "OUT_OF_TIME" in out or "INCOMPLETE" in out or "SOLVED" in out


def test_the_size_of_archives_can_be_limited(routh_command, tmp_path):
    systems.get("rocking-block").problem.save(tmp_path / "p.npz")
    impact = ["impact", tmp_path / "p.npz", *FEW, "--no-picture"]
    assert routh_command(*impact)[0] == 0
    code, _, err = routh_command(*impact, "--max-bytes", "100")
    assert code == 2
    assert "max_bytes" in err
    code, _, err = routh_command("impact", "robot.xml", "--max-bytes", "100")
    assert code == 2
    assert "--max-bytes" in err


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-", "2>&-"])
def test_closed_streams_are_no_error(closed):
    """What is printed goes nowhere, and no file that is opened takes the place of the output."""
    line = f"{shlex.quote(sys.executable)} -m routh list {closed}"
    told = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True)
    assert (told.returncode, told.stderr) == (0, "")
