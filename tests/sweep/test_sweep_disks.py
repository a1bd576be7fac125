"""Real disks that are full or read-only: file systems of a few megabytes in a namespace of the test's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("xarray")
HERE = Path(__file__).parent


def in_namespace(script, tmp_path):
    """Run a shell script where it may mount; what it printed."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed")
    probe = f"mount -t tmpfs -o size=1m none {tmp_path}"
    if subprocess.run([unshare, "-rm", "sh", "-c", probe], capture_output=True).returncode:
        pytest.skip("this user may not mount in a namespace of its own")
    path = os.pathsep.join([str(HERE), *sys.path])
    run = subprocess.run(
        [unshare, "-rm", "sh", "-e", "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": path, "PYTHON": sys.executable, "DISK": str(tmp_path)},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


MAKE = """
from routh import sweep
import os, json, sweep_points
disk = os.environ["DISK"]
study = sweep.study(disk + "/s", problems=sweep_points.block, over={"mu": [0.01 * k for k in range(1, 101)]},
                    measure=[sweep.own(sweep_points.wide, {"wide": (20000,)})])
open(disk + "/s/chunks.json", "w").write(json.dumps({"size": 10}))
"""
OWN = "--function sweep_points:block --function sweep_points:wide"
COMMAND = f"$PYTHON -c 'from routh.cli import main; main()' sweep --resume $DISK/s --executor here {OWN}"


def test_a_disk_of_ten_megabytes(tmp_path):
    told = in_namespace(
        f"""
        mount -t tmpfs -o size=10m none $DISK
        $PYTHON -c '{MAKE}'
        {COMMAND} 2>&1 && echo it-ended || echo code $?
        ls -A $DISK/s/chunks | grep -v npz$ | wc -l
        ls $DISK/s/chunks | wc -l
        mount -o remount,size=40m $DISK
        {COMMAND} 2>&1 && echo whole
        """,
        tmp_path,
    )
    assert "Traceback" not in told
    assert "No space left" in told
    lines = told.split()
    code = lines.index("code")
    assert lines[code + 1 : code + 4] == ["2", "0", "6"]  # no stub; 1.6 MB a chunk: six of ten are kept
    assert "40 points" in told
    assert told.rstrip().endswith("whole")


def test_a_read_only_folder(tmp_path):
    told = in_namespace(
        f"""
        mount -t tmpfs -o size=40m none $DISK
        $PYTHON -c '{MAKE}'
        mount -o remount,ro $DISK
        {COMMAND} 2>&1 && echo it-ended || echo code $?
        """,
        tmp_path,
    )
    assert "Traceback" not in told
    assert "Read-only file system" in told
    assert told.rstrip().endswith("code 2")
