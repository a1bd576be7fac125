"""The runs of the experiment as folders, and a queue of them that many processes share."""

from __future__ import annotations

import argparse
import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CONDITIONS = ("nominal", "outcomes", "noise", "parameters")


@dataclass(frozen=True)
class Run:
    """One training."""

    task: str
    condition: str
    seed: int
    folder: Path

    @property
    def place(self) -> Path:
        """Where its files are."""
        return self.folder / self.task / self.condition / str(self.seed)

    def state(self) -> dict:
        """Steps done so far, and how long they took."""
        return read(self.place / "state.json") or {"steps": 0, "seconds": 0.0, "curve": []}

    def __str__(self) -> str:
        return f"{self.task} {self.condition} {self.seed}"


def runs(given: argparse.Namespace) -> list[Run]:
    """All runs that were asked for: one task after the other and seed by seed, so that a study that was
    interrupted is whole for some tasks or balanced.
    """
    return [
        Run(task, condition, seed, Path(given.folder))
        for task in given.tasks
        for seed in range(given.seeds)
        for condition in CONDITIONS
    ]


def work_off(
    every: list[Run], seconds: float, left: Callable[[Run], bool], work: Callable[[Run, float], None]
) -> None:
    """Do what is left of each run, unless another process is at it, until the time is over.

    ``work`` gets a run and the moment (of `time.monotonic`) at which it has to be back.
    """
    end = time.monotonic() + seconds
    for run in every:
        if time.monotonic() >= end:
            return
        if not left(run):
            continue
        with alone(run) as mine:
            if mine and left(run):
                work(run, end)


@contextmanager
def alone(run: Run) -> Iterator[bool]:
    """Whether this process has the run for itself. A lock ends with its process, however that ends."""
    run.place.mkdir(parents=True, exist_ok=True)
    with (run.place / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def read(file: Path) -> dict:
    """Of a JSON file; empty where there is none."""
    return json.loads(file.read_text()) if file.exists() else {}


def write(file: Path, content: dict, indent: int | None = 1) -> None:
    """Whole or not at all."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content, indent=indent))
    part.replace(file)
