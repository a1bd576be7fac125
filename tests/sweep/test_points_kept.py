"""What ``routh sweep`` says that it has kept when it is interrupted."""

import re
import signal
import subprocess
import sys
import time

from routh.sweep.studies import open_study


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
