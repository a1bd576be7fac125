"""The options of ``routh sweep``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from routh.cli import options, robots
from routh.cli.requests import MeasureName, Samples


@dataclass(frozen=True)
class SweepRequest:
    """How to compute a study."""

    over: options.Over = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the study.")] = None
    window: robots.Window = None
    restitution: robots.Restitution = None
    measure: MeasureName = "ambiguity"
    resume: Annotated[Path | None, typer.Option("--resume", help="Resume the study in this folder.")] = None
    function: Annotated[
        list[str] | None,
        typer.Option(
            "--function", help="Your own module:function that a resumed study may call; repeatable."
        ),
    ] = None
    executor: Annotated[
        str, typer.Option(help="local, here, or the address of a Dask scheduler (tcp://...).")
    ] = "local"
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: all cores.")] = None
    samples: Samples = 256
    seed: options.Seed = 0
    budget: options.Budget = None
