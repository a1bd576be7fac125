"""Ctrl-C at random moments of random commands: how long until they end, and what they leave."""

import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attacking.report import Found
from routh.sweep.studies import open_study

WITHIN = 1.0  # s
PATIENCE = 30.0  # s, until a command is killed
COMMANDS = [
    ["list"],
    ["run", "rocking-block", "--samples", "100000", "--out", "a.png"],
    ["run", "disk-stack", "--samples", "1000000", "--out", "a.png"],
    ["run", "compass-gait", "--exact", "--out", "a.png"],
    ["run", "ramone", "--exact", "--out", "a.png"],
    ["animate", "rocking-block", "--futures", "100", "--out", "a.gif"],
    ["animate", "rocking-block", "--futures", "4", "--out", "frames"],
    ["scan", "rocking-block", "--over", "mu=0:1:500", "--out", "a.png"],
    ["reproduce", "--quick", "--out", "results"],
    ["sweep", "rocking-block", "--over", "mu=0:1:20000", "--out", "study"],
    ["precompile"],
    ["impact", "robot.xml", "--qvel", "2:-1", "--samples", "100000", "--out", "a.png"],
    ["audit", "robot.xml", "--duration", "20", "--out", "a.html"],
]
ON_A_GPU = [
    ["run", "rocking-block", "--samples", "1000000", "--out", "a.png"],
    ["run", "disk-stack", "--samples", "3000000", "--out", "a.png"],
    ["run", "box-drop", "--samples", "200000", "--out", "a.png"],
    ["precompile", "--contacts", "3"],
]
ROBOT = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><freejoint/>
  <geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


def attack(count, seed, device="cpu"):
    """Interrupt ``count`` commands."""
    commands = COMMANDS if device == "cpu" else [[*command, "--device", device] for command in ON_A_GPU]
    # a shell's background jobs ignore Ctrl-C, and so would every command that is started from here
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = Found("interrupts of commands", limit=WITHIN)
    for k in range(count):
        rng = random.Random(f"{seed}-{k}")
        command, after = rng.choice(commands), rng.uniform(0.3, 8.0)
        with tempfile.TemporaryDirectory() as folder:
            seconds, wrong = interrupted(Path(folder), command, after)
        case = f"routh {' '.join(command)} after {after:.2f} s"
        found.count(seconds, wrong=wrong and f"{case}: {wrong}", case=case)
    return found


def interrupted(folder, command, after):
    """Seconds from the signal to the end, and what is wrong."""
    (folder / "robot.xml").write_text(ROBOT)
    (folder / "a.png").write_bytes(b"old")
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    run = subprocess.Popen([sys.executable, "-m", "routh", *command], cwd=folder, text=True, **pipes)
    time.sleep(after)
    early = run.poll() is not None
    run.send_signal(signal.SIGINT)
    start = time.monotonic()
    try:
        _, errors = run.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        run.kill()
        run.communicate()
        return PATIENCE, f"did not end within {PATIENCE:g} s"
    seconds = 0.0 if early else time.monotonic() - start
    if not early and run.returncode not in (0, 130, -signal.SIGINT):
        return seconds, f"exit code {run.returncode}: {errors.strip()[-200:]}"
    if "Traceback" in errors and run.returncode != -signal.SIGINT:  # before Python had started
        return seconds, f"a traceback: {errors.strip()[-200:]}"
    if seconds > WITHIN:
        return seconds, f"took {seconds:.2f} s"
    return seconds, damage(folder) or (untrue(folder, errors) if run.returncode == 130 else "")


def untrue(folder, errors):
    """What is not true of what the command says that it kept, in words."""
    told = errors.strip().splitlines()[-1]
    if not told.startswith("interrupted; "):
        return f"does not say what was kept: {errors.strip()[-200:]}"
    results = [path for path in folder.rglob("*") if path.is_file() and path.name != "robot.xml"]
    results = [path for path in results if path.read_bytes() != b"old"]
    if "no result was written" in told and results:
        return f"says {told!r} and left {results[0].name}"
    if "kept: " in told and not (folder / told.split()[-1]).is_file():
        return f"says {told!r}, which is not there"
    counted = re.search(r"(\d+) of \d+ (points|exhibits)", told)
    if counted:
        there = points(folder / "study") if counted[2] == "points" else exhibits(folder / "results")
        if int(counted[1]) > there:  # one more may have come while it was told
            return f"says {told!r}, and {there} are there"
    return ""


def points(study):
    """How many points of a study can be read."""
    return sum(count for name, count in open_study(study).status_counts().items() if name != "PENDING")


def exhibits(folder):
    """How many exhibits of a folder are done."""
    return sum(json.loads(path.read_text())["status"] == "done" for path in folder.glob("data/*.json"))


def damage(folder):
    """Half-written files, in words."""
    for path in folder.rglob("*"):
        if path.suffix == ".part":
            return f"left {path.name}"
        if path.suffix == ".png" and path.read_bytes() != b"old" and path.read_bytes()[-8:-4] != b"IEND":
            return f"half of {path.name}"
        if path.suffix == ".html" and not path.read_text().rstrip().endswith("</html>"):
            return f"half of {path.name}"
    return ""
