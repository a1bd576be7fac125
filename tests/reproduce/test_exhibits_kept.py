"""What ``routh reproduce`` says that it has kept when it is interrupted."""

import pytest

from routh.reproduce.base import Entry, Exhibit


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.usefixtures("nothing_told")
@pytest.mark.parametrize(
    ("more", "then"), [([], "command resumes"), (["--fresh"], "command without --fresh resumes")]
)
def test_exhibits_made_are_counted(routh_command, tmp_path, monkeypatch, more, then):
    exhibits = [Entry("first", "", "", lambda _: Exhibit({}, ())), Entry("second", "", "", interrupt)]
    monkeypatch.setattr("routh.reproduce.reporting.load", lambda: exhibits)
    code, _, err = routh_command("reproduce", "--out", tmp_path / "results", *more)
    assert code == 130
    assert (
        f"interrupted; 1 of 2 exhibits were done, and are kept in {tmp_path / 'results'}; the same {then}"
        in err
    )
