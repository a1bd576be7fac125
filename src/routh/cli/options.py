"""Options that several commands share."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class PointKind(StrEnum):
    """How samples are drawn."""

    random = "random"
    sobol = "sobol"


Samples = Annotated[
    int | None,
    typer.Option(
        "--samples",
        "-n",
        min=1,
        help="How many outcomes to draw. Default: 16384, fewer where there are more than 8 contacts.",
        show_default=False,
    ),
]
Step = Annotated[
    float | None,
    typer.Option(
        help="Largest normal impulse of one increment, N s. Default: the paper's, else the momentum scale.",
        show_default=False,
    ),
]
MaxSteps = Annotated[
    int | None,
    typer.Option(min=1, help="Increments before a sample gives up. Default: 1000.", show_default=False),
]
Points = Annotated[PointKind, typer.Option(help="Random numbers, or a scrambled Sobol sequence.")]
Seed = Annotated[int, typer.Option(min=0, help="Equal seeds give equal results.")]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, or cuda for an NVIDIA GPU.")]
Threads = Annotated[
    int | None, typer.Option(min=1, help="CPU threads. Default: all cores.", show_default=False)
]
Picture = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Where the picture goes (.png, .pdf or .svg). Default: ./NAME.png",
        show_default=False,
    ),
]
NoPicture = Annotated[bool, typer.Option("--no-picture", help="Write no picture file.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only the table: no progress, no explanations.")]


def refuse(settings: Any, why: str) -> None:
    """Raise for the first option of a dataclass that is not at its default: none is ignored in silence."""
    for field in fields(settings):
        if getattr(settings, field.name) != field.default:
            raise ValueError(f"--{field.name.replace('_', '-')}: {why}")
