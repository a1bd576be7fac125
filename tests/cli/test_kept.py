"""What a command says that it has kept when it is interrupted."""

import signal

import pytest

from routh.base import storage
from routh.cli import exits, precompile


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
    monkeypatch.setattr(precompile, "calls_of_features", lambda table: {})
    monkeypatch.setattr(precompile, "FAMILIES", {"first": lambda: 0, "second": interrupt, "third": interrupt})
    code, _, err = routh_command("precompile")
    assert code == 130
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN  # this process goes on
    assert err == f"interrupted; 1 of 3 families were done, and their kernels are kept; {exits.GO_ON}\n"
