"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from routh.base.status import InputError
from routh.base.text import for_terminal, quantity

if TYPE_CHECKING:
    from routh.base.validation import Options


def angle(text: object) -> float:
    """An angle as it is typed; see `routh.base.text.quantity`."""
    try:
        return quantity(str(text))
    except ValueError:
        raise typer.BadParameter(f"got {text!r}; wanted radians, or degrees such as 20deg") from None


class PointKind(StrEnum):
    """How samples are drawn."""

    random = "random"
    sobol = "sobol"


def _system_names(incomplete: str) -> list[tuple[str, str]]:
    """What a shell offers for the name of a system, with a line each."""
    from routh.systems.catalogue import CATALOGUE

    return [(name, entry.summary) for name, entry in CATALOGUE.items() if name.startswith(incomplete)]


def _parameter_names(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """What a shell offers after --set: the parameters of the system that is named before."""
    from routh.systems.base import parameters
    from routh.systems.catalogue import CATALOGUE

    words = [ctx.params.get("name"), ctx.params.get("source"), *ctx.args]  # not all are parsed by then
    name = next((str(word) for word in words if word in CATALOGUE), None)
    found = [] if name is None else parameters(name)
    return [(f"{one.name}=", one.meaning) for one in found if one.name.startswith(incomplete)]


_argument = partial(typer.Argument, show_default=False, autocompletion=_system_names)
option = partial(typer.Option, show_default=False)  # defaults that are not in the help's own words

SystemName = Annotated[str | None, _argument(help="List the parameters of this system.", metavar="[NAME]")]
System = Annotated[str, _argument(help="A system of [bold]routh list[/bold].")]
_SOURCE = _argument(help="A robot (.xml, .urdf, or its name), or a system of [bold]routh list[/bold].")
Source = Annotated[str, _SOURCE]
OptionalSource = Annotated[str | None, _SOURCE]
PlanarSource = Annotated[
    str, _argument(help="A robot (.xml, .urdf, or its name), or a planar system of [bold]routh list[/bold].")
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        metavar="NAME=A:B:N",
        help="An axis: N values from A to B, or NAME=V,V,... NAME is roll, pitch, yaw (rad, or "
        "-20deg:20deg:9), down, height, sideways, heading, a joint, or a system's parameter; repeatable.",
    ),
]
Change = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a parameter of the system, e.g. --set mu=0.2; repeatable. [bold]routh list NAME[/bold] "
        "lists them.",
        autocompletion=_parameter_names,
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Equal seeds give equal results.")]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, or cuda for an NVIDIA GPU.")]
Budget = Annotated[
    float | None,
    option(
        min=1e-3,
        help="Stop after this many seconds and show what is finished; the rest is counted. Default: none; "
        "60 of routh tip, of --exact, and when routh run, impact or audit (of a robot) sample without "
        "--samples.",
    ),
]
MaxBytes = Annotated[
    int | None,
    option(min=1, help="Refuse .npz files whose arrays are larger than this, unpacked. Default: 1 GiB."),
]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print only the answer and the tables: no progress, no explanations."),
]


PICTURES = (".png", ".pdf", ".svg")
FILMS = (".gif", ".mp4", "")  # without a suffix: a folder of frames


def output_file(path: Path, kinds: Sequence[str]) -> Path:
    """The path, if a file of one of these kinds can be written there: better said before the work than after.

    ``kinds`` are suffixes; "" stands for a folder.
    """
    shown = for_terminal(path)
    if path.suffix.lower() not in kinds:
        known = ", ".join(kind or "a folder" for kind in kinds)
        raise InputError("--out", got=repr(shown), wanted=f"one of {known}")
    if path.suffix and path.is_dir():
        raise InputError("--out", got=f"{shown!r}, which is a folder", wanted="a file")
    return _writable(path)


def place(out: Path | None, nowhere: bool, default: str, kinds: Sequence[str]) -> Path | None:
    """Path of a picture, checked by `output_file`; None if none is wanted."""
    if out is not None and nowhere:
        raise InputError("--out", wrong="given together with --no-picture", wanted="only one of them")
    return None if nowhere else output_file(out or Path(default), kinds)


def output_folder(path: Path) -> Path:
    """The path, if a folder is there or can be made there: likewise."""
    if path.exists() and not path.is_dir():
        raise InputError("--out", got=f"{for_terminal(path)!r}, which is a file", wanted="a folder")
    return _writable(path)


def _writable(path: Path) -> Path:
    shown, folder = for_terminal(path), path.parent
    if not folder.is_dir():
        raise InputError(
            "--out", got=f"{shown!r}, but there is no folder {for_terminal(folder)!r}; create it first"
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError("--out", got=f"{shown!r}, which is not writable", wanted="a writable place")
    return path


def given(**values: object) -> Options:
    """The options that were given; what the library does without the others is its own to say."""
    return {name: value for name, value in values.items() if value is not None}


def refuse(settings: object, why: str) -> None:
    """Raise for the first option of a dataclass that is not at its default: none is ignored in silence."""
    for field in fields(settings):  # type: ignore[arg-type]
        value = getattr(settings, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            refuse(value, why)
        elif value != field.default:
            raise InputError(f"--{field.name.replace('_', '-')}", wrong=why)


@dataclass(frozen=True)
class SampleRequest:
    """How to sample."""

    samples: Annotated[
        int | None,
        option(
            "--samples",
            "-n",
            min=1,
            help="How many outcomes to draw. Default: 16384; in space 4096; fewer with many contacts.",
        ),
    ] = None
    merge: Annotated[
        float,
        option(
            "--merge",
            metavar="SHARE",
            min=0.0,
            help="Merge combinations of contact modes that differ by less than this share of the speed "
            "before the impact into one row. Default: 0.001; 0 shows all.",
        ),
    ] = 1e-3  # routh.sampling.answers.SAME_MODE
    step: Annotated[
        float | None,
        option(
            help="Largest normal impulse per increment, N s. Default: the paper's, or else the momentum "
            "scale."
        ),
    ] = None
    max_steps: Annotated[
        int | None, option(min=1, help="Give up on a sample after this many increments. Default: 1000.")
    ] = None
    points: Annotated[PointKind, typer.Option(help="Draw random numbers, or a scrambled Sobol sequence.")] = (
        PointKind.random
    )
    seed: Seed = 0
    device: Device = "cpu"
    threads: Annotated[int | None, option(min=1, help="CPU threads. Default: all cores.")] = None
    budget: Budget = None
    friction: str = "cone"  # an option of robots only


@dataclass(frozen=True)
class PictureFile:
    """Options that say where the picture goes."""

    out: Annotated[
        Path | None,
        option("--out", "-o", help="Picture file (.png, .pdf or .svg). Default: ./NAME.png"),
    ] = None
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Write no picture file.")] = False

    def place(self, default: str) -> Path | None:
        """The file, checked before the work; None where none is wanted."""
        return place(self.out, self.no_picture, default, PICTURES)
