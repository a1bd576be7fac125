"""Landings on the command line: how a robot comes down, as options; the landing; what is said of it."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from routh.base.status import InputError
from routh.base.text import for_rich, listed, quantity
from routh.cli import options
from routh.cli.output import Output

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.base.validation import Options
    from routh.models.landings import Landing
    from routh.models.robot import RobotProblem
    from routh.problem.impact import ImpactProblem

_MOST_DRAWN = 16  # contacts of which a line of the answer still draws outcomes
ANGLES = ("roll", "pitch", "yaw")
# `routh.models.landings.MOTION`, which would load NumPy for every command
MOTION = ("sideways", "heading", "roll_rate", "pitch_rate", "yaw_rate")
NUMBERS = (
    "down",
    "height",
    *ANGLES,
    *MOTION,
)  # what of a landing is a number that a grid may have as an axis
TYPE_A_SPEED = "type --down 1.5 (m/s), or --height 0.3 (m of free fall)"

_landing = partial(typer.Option, rich_help_panel="Landings")
_angle = partial(_landing, parser=options.angle, metavar="ANGLE")


@dataclass(frozen=True)
class Landed:
    """How a robot comes down, as given on the command line."""

    down: Annotated[
        float | None,
        _landing(
            min=0.0,
            help="Move the robot along gravity until it touches, with this speed, m/s. A URDF gets a "
            "floating base and level ground.",
            show_default=False,
        ),
    ] = None
    height: Annotated[
        float | None,
        _landing(
            min=0.0,
            help="Instead of --down: the height of a free fall, m; the speed is sqrt(2 g height).",
            show_default=False,
        ),
    ] = None
    body: Annotated[
        str | None,
        _landing(metavar="NAME", help="Which body comes down, where several can.", show_default=False),
    ] = None
    roll: Annotated[
        float,
        _angle(help="Turn about the body's x axis, first: [bold]10deg[/bold]; a bare number is radians."),
    ] = 0.0
    pitch: Annotated[float, _angle(help="... then about its y axis.")] = 0.0
    yaw: Annotated[float, _angle(help="... then about its z axis.")] = 0.0
    joint: Annotated[
        list[str] | None,
        _landing(
            "--joint",
            metavar="NAME=VALUE",
            help="A joint's position by name: rad, or [bold]30deg[/bold]; m for slides; repeatable.",
        ),
    ] = None

    sideways: Annotated[float, _landing(min=0.0, help="Speed along the ground at touch-down, m/s.")] = 0.0
    heading: Annotated[
        float | None,
        _angle(
            help="Direction of --sideways, from the body's x axis to its left: [bold]20deg[/bold]. "
            "Default: 0; routh tip: all.",
            show_default=False,
        ),
    ] = None
    roll_rate: Annotated[
        float, _angle(help="Rate about the body's x axis, rad/s; [bold]20deg[/bold] is degrees a second.")
    ] = 0.0
    pitch_rate: Annotated[float, _angle(help="... about its y axis.")] = 0.0
    yaw_rate: Annotated[float, _angle(help="... about its z axis.")] = 0.0
    joint_velocity: Annotated[
        list[str] | None,
        _landing(
            "--joint-velocity",
            metavar="NAME=VALUE",
            help="A joint's velocity by name: rad/s, or [bold]30deg[/bold]; m/s for slides; repeatable.",
        ),
    ] = None

    @property
    def lands(self) -> bool:
        """Whether the robot is to land; what is for landings only is refused where it is not."""
        found = self.down is not None or self.height is not None
        if not found:
            options.refuse(self, f"only applies to landings; with it {TYPE_A_SPEED}")
        return found

    def demand_speed(self, also: Collection[str] = ()) -> None:
        """Refuse a touchdown without a speed, which axes of a grid (``also``) may give."""
        if self.down is None and self.height is None and not {"down", "height"} & set(also):
            raise InputError("--down", wrong=f"how fast does it come down? {TYPE_A_SPEED.capitalize()}")

    def joints(self) -> dict[str, float]:
        """Joint values by name."""
        return _by_name("--joint", self.joint)

    def joint_velocities(self) -> dict[str, float]:
        """Velocities of joints by name."""
        return _by_name("--joint-velocity", self.joint_velocity)


def _by_name(option: str, texts: list[str] | None) -> dict[str, float]:
    """``NAME=VALUE`` as name -> value."""
    found = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        try:
            found[name] = quantity(value)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise InputError(option, got=repr(text), wanted="NAME=VALUE, for example knee=0.5 or knee=30deg")
    return found


def make_landing(model: MjModel, landed: Landed, **further: Any) -> Landing:
    """The landing of an MjModel that the command line asked for; what it lacks each command tells itself."""
    from routh.models import UnrepresentedWarning, landing

    told: Options = {name: getattr(landed, name) for name in NUMBERS}
    told["heading"] = landed.heading or 0.0
    told |= {"joints": landed.joints(), "joint_velocities": landed.joint_velocities()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        return landing(model, **told, **options.given(body=landed.body, **further))


def window_line(wider: RobotProblem, window: float, friction: str, seed: int) -> str:
    """How the answer depends on which contacts count, in one line; where these are many, their number.

    ``wider``: the problem with three windows.
    """
    from routh.auditing.scans import growth

    times, windows = wider.time_to_contact, (window / 3.0, window, 3.0 * window)
    counts = {window: int((times <= window).sum()) for window in windows}
    few = [window for window in windows if 0 < counts[window] <= _MOST_DRAWN]
    share = min(1.0, (4.0 / max((counts[w] for w in few), default=1)) ** 3)  # a sample costs nc cubed
    n = max(int(1024 * share), 64)
    rows = growth(wider, windows=few, n=n, seed=seed, friction=friction)
    scores = {row.threshold: f" ({row.ambiguity:.3g})" for row in rows}
    parts = [f"{window * 1e3:.3g} ms {counts[window]}{scores.get(window, '')}" for window in windows]
    return f"contacts that close within the window, and the ambiguity with them: {', '.join(parts)}"


def tell_place(found: Landing, output: Output, *, regime: bool = True) -> None:
    """Tell how the robot was placed, if the set is the right model there, and which joints were moved."""
    word = "raised" if found.lifted > 0.0 else "lowered"
    body = f"{for_rich(found.body)} was " if found.body else ""
    output.say(
        f"[dim]{body}{word} by {abs(found.lifted):.4g} m until it touches, {found.down:g} m/s down"
        f"{_sideways(found)}; contacts that close "
        f"within {found.window * 1e3:g} ms count (--window)[/dim]"
    )
    if regime:
        from routh.models.mujoco.landings import landing_regime

        output.say(f"[dim]{for_rich(landing_regime(found).sentence)}[/dim]")
    if found.moved:
        shown = listed([f"{name}={value:.3g}" for name, value in found.moved.items()], 4)
        output.say(
            f"[dim]joints that the file has past their limits were moved inside: {for_rich(shown)} "
            "(--joint)[/dim]"
        )


def tell_restitution(problem: ImpactProblem, given: float | None, output: Output) -> None:
    """Tell how elastic the contacts are, and where that is from."""
    low, high = float(problem.restitution.min()), float(problem.restitution.max())
    size = f"{low:.3g}" if high - low < 5e-4 else f"{low:.3g} to {high:.3g}"
    source = "from the contacts' springs; --restitution for another" if given is None else "as given"
    output.say(f"[dim]restitution {size} ({source})[/dim]")


def _sideways(found: Landing) -> str:
    """How it moves besides coming down, in words."""
    motion = found.motion
    parts = [f"{motion.sideways:g} m/s sideways"] if motion.sideways else []
    parts += [f"turning at {float(abs(motion.rates).max()):g} rad/s"] if motion.rates.any() else []
    parts += [f"{len(motion.joints)} joints moving"] if motion.joints else []
    return "".join(f", {part}" for part in parts)
