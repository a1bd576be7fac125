"""Kills and full disks while files are saved: is each file the old one or the new one, whole, and alone?"""

import json
import os
import random
import resource
import signal
import tempfile
import time
from pathlib import Path

import routh
from attacking.archives import still_outcomes
from attacking.report import Found
from routh import systems
from routh.base import storage
from routh.viz import style


def attack(kills, seed):
    """Kill a process that saves, at random moments; then the same with disks that fill up."""
    savers = makers()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, save in savers.items():
            save(place / name, 0)
        found = Found("kills while saving")
        for k in range(kills):
            rng = random.Random(f"{seed}-{k}")
            start = time.perf_counter()
            killed_at = kill_while_saving(place, savers, k + 1, rng)
            found.count(time.perf_counter() - start, wrong=damage(place, savers, f"kill {k} {killed_at}"))
        full = Found("full disks while saving")
        for k in range(max(kills // 4, 1)):
            rng = random.Random(f"{seed}-full-{k}")
            start = time.perf_counter()
            refused = save_on_full_disk(place, savers, rng.randrange(60_000))
            wrong = damage(place, savers, f"disk {k}")
            full.count(time.perf_counter() - start, wrong=wrong, honest=refused)
    return [found, full]


def makers():
    """File name -> function that saves version k of it."""
    problem = systems.get("rocking-block").problem
    outcomes = still_outcomes(problem, 2000)
    figure, axes = style.figure()

    def picture(path, k):
        axes[0].set_title(str(k))
        style.save(figure, path, dpi=80)

    return {
        "problem.npz": lambda path, k: problem.replace(v=[float(k), -1.0, 0.0]).save(path),
        "outcomes.npz": lambda path, k: outcomes.save(path),
        "data.json": lambda path, k: storage.write_text(path, json.dumps({"k": k, "x": list(range(20_000))})),
        "picture.png": picture,
    }


def kill_while_saving(place, savers, k, rng):
    """Fork, let it save again and again, kill it; what killed it and when."""
    how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            while True:
                for name, save in savers.items():
                    save(place / name, k)
        finally:
            os._exit(1)
    wait = rng.uniform(0.0, 0.15)
    time.sleep(wait)
    os.kill(child, how)
    os.waitpid(child, 0)
    return f"by {how.name} after {wait:.3f} s"


def save_on_full_disk(place, savers, size):
    """In a fork whose files may have at most ``size`` bytes; whether something was refused."""
    child = os.fork()
    if child == 0:
        code = 0
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            for name, save in savers.items():
                try:
                    save(place / name, 0)
                except OSError:
                    code = 1
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WEXITSTATUS(status) == 1


def damage(place, savers, when):
    """What is wrong in the folder, in words; "" where every file is whole and there is nothing else."""
    extra = sorted({path.name for path in place.iterdir()} - set(savers))
    if extra:
        for name in extra:
            (place / name).unlink()
        return f"{when}: left {extra[0]}"
    try:
        routh.ImpactProblem.load(place / "problem.npz")
        assert len(routh.Outcomes.load(place / "outcomes.npz")) == 2000
        assert json.loads((place / "data.json").read_text())["x"][-1] == 19_999
        assert (place / "picture.png").read_bytes()[-8:-4] == b"IEND"
    except (OSError, ValueError, AssertionError) as error:
        return f"{when}: {type(error).__name__} {error}"
    return ""
