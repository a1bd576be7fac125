"""Studies from somebody else: does a folder run anything, write outside of itself, or end in a traceback?

A finished study is changed: names of functions that make a file, JSON of other kinds, sizes beyond memory,
broken chunks, links to files that must stay as they are. Then it is opened, read and run again.
"""

import json
import random
import shutil
import tempfile
import time
import zipfile
from pathlib import Path

from attacking.archives import mutated
from attacking.forks import in_forks
from attacking.report import Found
from routh import sweep

KEPT = b"must stay as it is"
JUNK = (None, True, -1, 0, 3, 1e308, "", "x", "\x1b[31m", [], {}, [[]], [1e9] * 3, {"a": 1}, 10**30)


def attack(count, seed):
    """Changed folders, each opened, read and run."""
    found = Found("tampered folders of studies")
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        original = finished(place / "original")
        for first in range(0, count, 50):
            made = [tampered(original, place, f"{seed}-{k}") for k in range(first, min(first + 50, count))]
            for folder, verdict, seconds in in_forks(made, judge, together=50):
                wrong = "" if verdict in ("ran", "refused") else verdict
                if (folder.parent / f"{folder.name}.mark").exists():
                    wrong = "ran what the folder named"
                if (folder.parent / f"{folder.name}.kept").read_bytes() != KEPT:
                    wrong = "wrote outside of the folder"
                found.count(
                    seconds, wrong=f"{folder.name}: {wrong}" if wrong else "", honest=verdict == "refused"
                )
                shutil.rmtree(folder)
    return found


def finished(folder):
    """A small study with all that a folder can hold."""
    study = sweep.study(
        folder,
        problems=sweep.recipe("routh.systems:impact", name="rocking-block"),
        over={"mu": [0.2, 0.4, 0.6]},
        measure=[sweep.ambiguity(n=4)],
    )
    (folder / "chunks.json").write_text(json.dumps({"size": 1}))
    study.run("here")
    return folder


def tampered(original, place, name):
    """A changed copy; beside it a file that must stay, and the name of one that must not appear."""
    rng = random.Random(name)
    folder, mark, kept = (place / f"{name}{suffix}" for suffix in ("", ".mark", ".kept"))
    kept.write_bytes(KEPT)
    shutil.copytree(original, folder)
    for _ in range(rng.randint(1, 3)):
        rng.choice([named, named, other_json, other_chunks, broken, linked])(folder, rng, mark, kept)
    return folder


def named(folder, rng, mark, kept):
    """Another function, one that would make a file if it were called."""
    shell = {"args": f"touch {mark}", "shell": True}
    function, arguments = rng.choice(
        [
            ("subprocess:run", shell),
            ("subprocess:call", shell),
            ("routh.base.processes:os.mknod", {"path": str(mark)}),
            ("routh.base.storage:write_text", {"path": str(mark), "content": "x"}),
            ("routh.sweep.measures:measure_own", {"function": "subprocess:run", "arguments": shell}),
            (
                "routh.sweep.measures:measure_audits",
                {"answer": "subprocess:run", "arguments": shell, "n": 4},
            ),
        ]
    )
    change = {"function": function, "arguments": arguments}

    def edit(data):
        target = data["problems"] if rng.random() < 0.5 else data["measures"][0]
        target.update(change)
        if rng.random() < 0.3:
            data["over"] = {"check": [0.0]}

    rewritten(folder / "manifest.json", edit)


def other_json(folder, rng, mark, kept):
    """Something else at a random place of the manifest."""

    def edit(data):
        here = data
        while True:
            key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
            deeper = isinstance(here[key], (dict, list)) and len(here[key])
            if not deeper or rng.random() < 0.3:
                here[key] = rng.choice(JUNK)
                return
            here = here[key]

    rewritten(folder / "manifest.json", edit)


def rewritten(path, edit):
    """A JSON file with an edit, where it is still one that can be edited."""
    try:
        data = json.loads(path.read_text())
        edit(data)
        path.unlink()
        path.write_text(json.dumps(data))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return


def other_chunks(folder, rng, mark, kept):
    """Another size of chunks."""
    (folder / "chunks.json").unlink(missing_ok=True)  # it may be a link by now
    (folder / "chunks.json").write_text(json.dumps(rng.choice([*JUNK, *({"size": junk} for junk in JUNK)])))


def broken(folder, rng, mark, kept):
    """Broken chunks, or a broken manifest."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    victim = rng.choice(files)
    data = victim.read_bytes()
    try:
        changed = mutated(data, rng) if victim.suffix == ".npz" else b""
    except zipfile.BadZipFile:  # it was broken before
        changed = b""
    victim.write_bytes(changed or data[: rng.randrange(len(data) + 1)] + b"\xff")


def linked(folder, rng, mark, kept):
    """A link in the place of a file or of the folder of chunks: to the file that must stay, or to nothing."""
    files = [path for path in folder.rglob("*") if path.name != "manifest.json"]
    if not files:
        return
    victim = rng.choice(files)
    shutil.rmtree(victim) if victim.is_dir() and not victim.is_symlink() else victim.unlink()
    victim.symlink_to(rng.choice([kept, mark, "/dev/zero", folder.parent, folder]))


def judge(folder):
    """In the fork: "ran" or "refused", or the exception."""
    start = time.perf_counter()
    try:
        study = sweep.open_study(folder)
        study.status_counts()
        study.messages()
        study.run("here", progress=False, budget=5.0)
        study.columns()
    except (ValueError, OSError) as error:
        return "refused" if "\x1b" not in str(error) else "an escape sequence in an error"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200].replace("\n", " ")
    return "ran" if time.perf_counter() - start < 60.0 else "took too long"
