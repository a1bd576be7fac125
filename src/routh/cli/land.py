"""``routh land robot.xml``: how likely is it to tip over, and where does it come to rest?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from routh.base.status import InputError
from routh.base.text import for_rich, listed
from routh.cli import options
from routh.cli.exits import Exit
from routh.cli.landings import Landed, make_landing
from routh.cli.output import Output, plain_table
from routh.cli.robots import Restitution, RobotFile, advising, tell_keyframes

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.base.validation import Options
    from routh.models.landings import Landing
    from routh.to_rest import LandingRuns, Uncertainty

_SECONDS = 120.0  # of --budget where it is not given
_MOST_LOST = 0.01  # share of runs that may be without an answer
_ROWS = 8  # rest poses that are shown


@dataclass(frozen=True)
class LandRequest:
    """The ground, what is not known of the landing, and how often it is tried."""

    slope: Annotated[str, typer.Option(help="By which the ground rises, 5deg or rad.")] = "0"
    uphill: Annotated[str, typer.Option(help="Where it rises to, from the world's x axis.")] = "0"
    heights: Annotated[
        str | None,
        options.option(help="Foot heights: 2mm is uniform within +-2 mm, normal(2mm) has that sigma."),
    ] = None
    tilt: Annotated[str | None, options.option(help="Tilt about both level axes: 3deg or normal(3deg).")] = (
        None
    )
    friction: Annotated[
        str | None, options.option(help="Coefficient of each contact, 0.5..0.8, or its share, 10%.")
    ] = None
    stiffness: Annotated[
        float | None,
        options.option(
            "--stiffness-factor", min=1.0, help="Factor within which the contacts' stiffness lies, e.g. 2."
        ),
    ] = None
    speed_error: Annotated[
        str | None, options.option("--speed-error", help="Share by which both speeds may differ, 5%.")
    ] = None
    unknown: Annotated[
        Path | None,
        options.option(
            "--unknown",
            metavar="FILE",
            help="A TOML file with heights, tilt, friction, ... instead of options.",
        ),
    ] = None
    restitution: Restitution = None
    runs: Annotated[int, typer.Option("--runs", "-n", min=1, help="How many landings.")] = 1000
    allow: Annotated[
        str | None,
        options.option(help="The probability of tipping that is allowed, 1%: decides the exit code."),
    ] = None
    check: Annotated[
        int | None, options.option(min=1, help="Put so many of the same landings to MuJoCo, beside.")
    ] = None
    budget: options.Budget = None
    seed: options.Seed = 0


def run_land(
    file: Path, landed: Landed, robot: RobotFile, request: LandRequest, place: Path | None, output: Output
) -> int:
    """Land many times, tell how it ends; the exit code."""
    from routh.models import UnrepresentedWarning
    from routh.to_rest import landings

    allowed = None if request.allow is None else _number("allow", request.allow, "share")
    told = uncertainty_of(request)
    landed.demand_speed()
    model = robot.load(file)
    with output.busy("landing"), advising(model, robot), warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UnrepresentedWarning)
        stood = make_landing(model, landed, **robot.posture(model))
        found = landings(
            model,
            stood.qpos,
            stood.qvel,
            n=request.runs,
            uncertainty=told,
            slope=_number("slope", request.slope, "angle"),
            uphill=_number("uphill", request.uphill, "angle"),
            restitution="contact" if request.restitution is None else request.restitution,
            seed=request.seed,
            budget=_SECONDS if request.budget is None else request.budget,
        )
    verdict, code = judge(found, allowed)
    output.answer([f"{verdict}{found.sentence}."])
    for note in dict.fromkeys(str(one.message) for one in notes):
        output.say(f"[dim]{for_rich(note)}[/dim]")
    output.show("", f"[bold cyan]{for_rich(file)}[/bold cyan]", rest_table(found))
    output.say(f"[dim]{for_rich(_how(found, stood))}[/dim]")
    tell_keyframes(model, robot, output)
    compared = None
    if request.check is not None:
        compared = _compare(model, found, request.check, output)
    written = None
    if place is not None:

        def figure() -> object:
            from routh.viz.landings import landings_figure

            return landings_figure(found)

        written = output.picture(place, figure)  # type: ignore[arg-type]
    output.emit(**found.as_data(), verdict=verdict.rstrip(": ").lower(), check=compared, picture=written)
    return int(code)


def uncertainty_of(request: LandRequest) -> Uncertainty:
    """What is not known, from the file and the options."""
    import tomllib

    from routh.to_rest import Uncertainty

    options_given: Options = {
        "heights": request.heights,
        "tilt": request.tilt,
        "friction": request.friction,
        "stiffness": request.stiffness,
        "down": request.speed_error,
        "sideways": request.speed_error,
    }
    told = options.given(**options_given)
    if request.unknown is not None:
        read = tomllib.loads(request.unknown.read_text())
        known = [field.name for field in fields(Uncertainty)]
        wrong = [name for name in read if name not in known]
        if wrong:
            raise InputError("--unknown", got=f"{wrong[0]!r} in {request.unknown}", wanted=listed(known, 10))
        told = {**{name: tuple(v) if isinstance(v, list) else v for name, v in read.items()}, **told}
    return Uncertainty(**told)


def judge(found: LandingRuns, allowed: float | None) -> tuple[str, Exit]:
    """A word and the exit code; what has no answer counts as tipping where safety is asked for."""
    from routh.to_rest.many import interval_of

    solved = found.solved
    lost = 1.0 - float(solved.mean())
    few = lost > _MOST_LOST
    if allowed is None:
        return "", Exit.TOO_FEW_SOLVED if few else Exit.DONE
    tipped = int((found.tipped & solved).sum())
    if interval_of(tipped, int(solved.sum()))[0] > allowed:
        return "NOT SAFE: ", Exit.NO_GO
    if few:
        return "PARTIAL: ", Exit.TOO_FEW_SOLVED
    if interval_of(tipped + int((~solved).sum()), found.status.size)[1] <= allowed:
        return "SAFE: ", Exit.DONE
    return "UNDECIDED: ", Exit.UNDECIDED


def rest_table(found: LandingRuns) -> Table:
    """What the runs came to: rest on which contacts, and how the others ended."""
    from routh.to_rest.many import STATUSES

    table = plain_table("comes to rest on", ">|landings", ">|share")
    rows = [(listed(list(feet), 4) or "its points", count) for feet, count in found.faces().items()]
    others = len(rows) - _ROWS
    ends = [(name, int((found.status == k).sum())) for k, name in enumerate(STATUSES) if k]
    shown = [
        *rows[:_ROWS],
        *([(f"{others} other sides", sum(n for _, n in rows[_ROWS:]))] if others > 0 else []),
    ]
    for name, count in [*shown, *((f"({name})", count) for name, count in ends if count)]:
        table.add_row(for_rich(name), str(count), f"{100.0 * count / found.status.size:.1f} %")
    return table


def _compare(model: MjModel, found: LandingRuns, count: int, output: Output) -> dict[str, float]:
    from routh.to_rest.beside import tips_in_mujoco

    with output.busy("the same in MuJoCo"):
        theirs = tips_in_mujoco(model, found, count)
    ours = found.tipped.ravel()[:count]
    table = plain_table("the same landings", ">|routh", ">|MuJoCo")
    table.add_row("tip", f"{100.0 * ours.mean():.1f} %", f"{100.0 * theirs.mean():.1f} %")
    table.add_row("of", str(len(ours)), str(len(theirs)))
    output.show(table)
    return {"routh": float(ours.mean()), "mujoco": float(theirs.mean()), "runs": len(theirs)}


def _how(found: LandingRuns, stood: Landing) -> str:
    contacts = "soft: springs, no impacts" if found.soft else "stiff: impacts, orders drawn"
    held = f"; joints locked: {listed(found.body.held, 4)}" if found.body.held else ""
    return (
        f"{stood.down:.3g} m/s down, {stood.motion.sideways:g} m/s sideways; contacts are {contacts}; "
        f"steps of {1e3 * found.dt:.2g} ms in contact{held}"
    )


def _number(field: str, text: str, kind: str) -> float:
    """An angle or a share, which may be negative."""
    from routh.to_rest.uncertainty import number_of

    return number_of(f"--{field}", text, kind)
