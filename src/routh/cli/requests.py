"""What ``tip``, ``scan``, ``sweep``, ``audit``, ``animate``, ``simulate`` are asked: options in groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from routh.cli import options, robots

Futures = Annotated[
    int | None, options.option(min=1, help="How many futures to draw from the set. [1; routh animate: 8]")
]
FramesPerSecond = Annotated[int, typer.Option(min=1, help="Frames per second of a film.")]
Samples = Annotated[int, typer.Option("--samples", "-n", min=1, help="Outcomes per point.")]


MEASURES = ("ambiguity", "tipping")
MeasureName = Annotated[
    str,
    typer.Option(
        metavar="ambiguity|tipping",
        help="What to compute: how far apart outcomes are, or (robots) how close the worst is to tipping.",
    ),
]


@dataclass(frozen=True)
class Nearness:
    """Which contacts of a landing count, and which states are refused."""

    window: robots.Window = None
    deepest: robots.Deepest = robots.DEEPEST
    past_limit: robots.PastLimit = robots.PAST_LIMIT


@dataclass(frozen=True)
class ScanRequest:
    """How to scan."""

    over: options.Over = None
    near: Nearness = field(default_factory=Nearness)
    restitution: robots.Restitution = None
    measure: MeasureName = "ambiguity"
    samples: Samples = 256
    seed: options.Seed = 0
    budget: options.Budget = None


@dataclass(frozen=True)
class TipRequest:
    """How to answer."""

    near: Nearness = field(default_factory=Nearness)
    restitution: robots.Restitution = None
    stiffness: Annotated[
        float | None,
        options.option(
            min=0.0, help="Stiffness of one contact, N/m. Default: the model's own (MuJoCo's solref)."
        ),
    ] = None
    unevenness: Annotated[
        float | None,
        options.option(
            min=0.0,
            help="How much the height of each foot may differ from the model at most, m; two feet differ by "
            "up to twice that, and the body leans by it. "
            "Default: none; 2 mm for the line about the model.",
        ),
    ] = None
    samples: Annotated[
        int,
        typer.Option(
            "--samples",
            "-n",
            min=1,
            help="Outcomes per landing to begin with; near the limit up to 4096 are drawn.",
        ),
    ] = 256  # routh.robust.verdicts.SAMPLES
    smallest: Annotated[
        str | None,
        options.option(
            metavar="NAME=LOW:HIGH",
            help="Look for the smallest value from which on it is a go: of span, by which the feet's "
            "distances across from the body's centre of mass are multiplied, or of a joint, rad or m.",
        ),
    ] = None
    budget: options.Budget = None
    seed: options.Seed = 0


def _law_names(incomplete: str) -> list[str]:
    """Completion of ``--law``."""
    from routh.laws import LAWS

    return [name for name in LAWS if name.startswith(incomplete)]


@dataclass(frozen=True)
class AuditRequest:
    """How to audit."""

    duration: Annotated[float, typer.Option(min=1e-6, help="How long to simulate, s.")] = 3.0
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Report file (default: audit.html), or picture of the laws (.png, .pdf, .svg).",
        ),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option("--samples", "-n", min=1, help="Outcomes per set. Default: 256; for laws 4096."),
    ] = None
    law: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Audit this law's answer to the impact; repeatable. Default for systems: all laws with one "
            "answer.",
            autocompletion=_law_names,
        ),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Audit another engine's answer to the touch-down instead of MuJoCo's rollout: drake, "
            "bullet, dart, ... Robots that are free bodies only.",
        ),
    ] = None
    after: Annotated[
        Path | None,
        typer.Option(help="Audit these velocities after: an .npz with v (nv,) or (k, nv), or an .npy."),
    ] = None
    restitution: robots.Restitution = None
    friction: robots.Friction = "cone"
    max_impacts: Annotated[
        int, typer.Option(min=1, help="Audit at most this many impacts; the rest are counted.")
    ] = 50
    impact_deepest: Annotated[
        float | None,
        robots.not_negative(
            help="Skip impacts that begin with a deeper overlap, m. Default: 0.1; soft contacts overlap."
        ),
    ] = None
    impact_past_limit: Annotated[
        float | None,
        robots.option(
            parser=options.angle,
            metavar="ANGLE",
            help="Skip impacts that begin with a joint farther past its limit, rad, or such as 20deg. "
            "Default: 0.4.",
        ),
    ] = None
    budget: options.Budget = None
    seed: options.Seed = 0


@dataclass(frozen=True)
class Rigid:
    """What of a film is for robots only."""

    window: robots.Window = None
    restitution: robots.Restitution = None
    rigid: Annotated[
        bool,
        typer.Option(
            "--rigid",
            help="Simulate the ghosts with rigid contacts throughout; slow.",
            rich_help_panel="Robots",
        ),
    ] = False


@dataclass(frozen=True)
class FilmRequest:
    """What to film."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .gif, an .mp4 (needs ffmpeg) or a folder of frames. [NAME.gif]"),
    ] = None
    futures: Futures = None
    duration: Annotated[float | None, options.option(help="How long to simulate, s. [2; robots: 0.4]")] = None
    pace: Annotated[
        float | None, options.option(help="Seconds of motion per second of film. [1; robots: 0.2]")
    ] = None
    fps: FramesPerSecond = 25
    change: options.Change = None
    robot: Rigid = field(default_factory=Rigid)
    seed: options.Seed = 0
    budget: options.Budget = None


@dataclass(frozen=True)
class MotionRequest:
    """What to simulate."""

    duration: Annotated[
        float | None, options.option(help="How long to simulate, s. [the system's own, or 2; robots: 0.5]")
    ] = None
    law: Annotated[
        str | None,
        options.option(
            "--law",
            metavar="LAW",
            help="The law that resolves impacts, by its name in routh.laws.LAWS: set-valued, simultaneous, "
            "moreau... [set-valued; motions by constraint forces have none]",
        ),
    ] = None
    futures: Futures = None
    dt: Annotated[
        float | None,
        options.option(help="Use time steps of this length, s, instead of events."),
    ] = None
    change: options.Change = None
    out: Annotated[
        Path | None,
        options.option(
            "--out",
            "-o",
            help="A picture (.png, .pdf, .svg), or a film: .gif, .mp4 (needs ffmpeg) or a folder of frames. "
            "[NAME-motion.png]",
        ),
    ] = None
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Write no picture file.")] = False
    pace: Annotated[
        float | None, options.option(help="Film: seconds of motion per second. [1; robots: 0.2]")
    ] = None
    fps: FramesPerSecond = 25
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check every future against HP23 (53); takes about as long again."),
    ] = False
    self_contacts: Annotated[
        bool,
        typer.Option(
            "--self-contacts",
            help="Include contacts between the robot's own links; their collision shapes must not overlap.",
            rich_help_panel="Robots",
        ),
    ] = False
    seed: options.Seed = 0
    budget: options.Budget = None

    def place(self, name: str) -> Path | None:
        """Path of the picture or the film, checked before the work; None if none is wanted."""
        kinds = (*options.PICTURES, *options.FILMS)
        return options.place(self.out, self.no_picture, f"{name}-motion.png", kinds)
