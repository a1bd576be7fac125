"""What a command says that it has kept when it is interrupted."""

import re
import signal
import subprocess
import sys
import time

import pytest

from routh import storage
from routh.cli import exits, precompile
from routh.reproduce.base import Entry, Exhibit
from routh.sweep.studies import open_study


@pytest.fixture
def nothing_told(monkeypatch):
    monkeypatch.setattr(exits, "_tellers", [])
    monkeypatch.setattr(storage, "REMEMBERED", 5)
    monkeypatch.setattr(storage, "_written", type(storage._written)(maxlen=5))


@pytest.mark.usefixtures("nothing_told")
def test_files_that_were_written_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exits.what_is_kept() == "no result was written"
    storage.write_text("a.txt", "one")
    storage.write_text("a.txt", "two")
    storage.write_text("b\x1b.txt", "three")
    assert exits.what_is_kept() == r"kept: a.txt, b\x1b.txt"
    (tmp_path / "a.txt").unlink()
    assert exits.what_is_kept() == r"kept: b\x1b.txt"
    for k in range(3):
        storage.write_text(f"{k}.txt", "")
    assert exits.what_is_kept() == "kept: 4 files, the last of them 2.txt"
    for k in range(8):
        storage.write_text(f"{k}.txt", "")
    assert exits.what_is_kept() == "kept: at least 5 files, the last of them 7.txt"


@pytest.mark.usefixtures("nothing_told")
def test_a_file_that_did_not_take_its_place_is_not_told(tmp_path, monkeypatch):
    storage.write_text(tmp_path / "a.txt", "old")

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "_take_place", interrupted)
    for name in ("a.txt", "b.txt"):
        with pytest.raises(KeyboardInterrupt):
            storage.write_text(tmp_path / name, "new")
    assert exits.what_is_kept() == f"kept: {tmp_path / 'a.txt'}"


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.usefixtures("nothing_told")
def test_families_compiled_are_counted(routh_command, monkeypatch):
    monkeypatch.setattr(precompile, "FAMILIES", {"first": lambda: 0, "second": interrupt, "third": interrupt})
    code, _, err = routh_command("precompile")
    assert code == 130
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # this process goes on
    assert err == f"interrupted; 1 of 3 families were done, and their kernels are kept; {exits.GO_ON}\n"


@pytest.mark.usefixtures("nothing_told")
@pytest.mark.parametrize(
    ("more", "then"), [([], "command resumes"), (["--fresh"], "command without --fresh resumes")]
)
def test_exhibits_made_are_counted(routh_command, tmp_path, monkeypatch, more, then):
    exhibits = [Entry("first", "", "", lambda _: Exhibit({}, ())), Entry("second", "", "", interrupt)]
    monkeypatch.setattr("routh.cli.reproduce.load", lambda: exhibits)
    code, _, err = routh_command("reproduce", "--out", tmp_path / "results", *more)
    assert code == 130
    assert (
        f"interrupted; 1 of 2 exhibits were done, and are kept in {tmp_path / 'results'}; the same {then}"
        in err
    )


def test_points_stored_are_counted(tmp_path):
    """Every one of them is there for the next run."""
    over = "mu=0:1:30000"
    command = [sys.executable, "-m", "routh", "sweep", "rocking-block", "--over", over, "--out", "study"]
    run = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    while run.poll() is None and not list(tmp_path.glob("study/chunks/*.npz")):
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate()
    assert run.returncode == 130
    told = re.search(r"interrupted; (\d+) of 30000 points are kept in study; the same command resumes", err)
    assert told, err
    study = open_study(tmp_path / "study")
    assert 0 < int(told[1]) == study.stored_points() == 30000 - study.status_counts()["PENDING"]
