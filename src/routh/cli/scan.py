"""``routh scan``: how ambiguous an impact is over a grid of landings or parameters."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from rich.table import Table

from routh import systems
from routh.auditing.scans import Scan, grid_from_text, scan
from routh.base.status import InputError, StateError, Status
from routh.base.text import for_rich
from routh.base.validation import Options, choice
from routh.cli.landings import NUMBERS, Landed, make_landing, tell_restitution
from routh.cli.options import given
from routh.cli.output import Output, plain_table
from routh.cli.requests import MEASURES, ScanRequest
from routh.cli.robots import RobotFile, advising, is_robot, refuse_without_robot, tell_keyframes
from routh.cli.tables import exit_of_points, tell_unsolved
from routh.models.landings import Landing
from routh.models.mujoco.landings import landing_regime
from routh.models.regime import regimes_line
from routh.problem.impact import ImpactProblem


def run_scan(
    source: str, landed: Landed, robot: RobotFile, request: ScanRequest, place: Path | None, output: Output
) -> int:
    """Scan a robot's landings or a system's parameters; the exit code."""
    if not request.over:
        raise InputError("--over", got="none", wanted="at least one axis, e.g. --over roll=-0.3:0.3:41")
    grid = grid_from_text(request.over)
    if is_robot(source):
        landed.demand_speed(grid.axes)
    tips = choice("--measure", request.measure, MEASURES) == "tipping"
    landings = Landings(source, landed, robot, request) if is_robot(source) else None
    if landings is None:
        refuse_without_robot(source, landed, robot, request.near)
        if request.restitution is not None:
            raise InputError("--restitution", wrong=f"{source} is not a robot file; try --set")
        if tips:
            raise InputError("--measure", wrong=f"{source} is not a robot file, which tipping needs")
    with output.busy(f"{len(grid)} impacts"):
        drawing: Options = {"n": request.samples, "seed": request.seed, "budget": request.budget}
        if tips:
            from routh.robust.feet import tipping_ratio

            drawing |= {"measure": tipping_ratio, "rates": "extreme"}
        with nullcontext() if landings is None else advising(landings.model, robot):
            found = scan(landings or partial(systems.impact, source), grid.axes, **drawing)
    tell_unsolved(found.status, found.share_solved, output)
    output.show(worst_table(found))
    late = int((found.status == Status.OUT_OF_TIME).sum())
    if late:
        output.show(f"[yellow]{late} of {len(grid)} points were not reached in time[/yellow]")
    told = {}
    if landings is not None:
        if landings.refused:
            count, why = len(landings.refused), for_rich(landings.refused[0])
            output.show(f"[yellow]{count} points left out, impossible states:[/yellow] {why}")
        tell_keyframes(landings.model, robot, output)
        if landings.regimes:
            output.say(f"[dim]{for_rich(regimes_line(landings.regimes))}[/dim]")
            told["regimes"] = dict(Counter(landings.regimes))
        if landings.last is not None:
            tell_restitution(landings.last, request.restitution, output)
    written = output.picture(place if len(grid.axes) <= 2 else None, lambda: found.plot())
    output.emit(**as_data(found), **told, picture=written)
    return exit_of_points(found.status, found.share_solved)


class Landings:
    """The impact with which a robot lands, by angles, speeds and joints."""

    def __init__(self, source: str, landed: Landed, robot: RobotFile, request: ScanRequest) -> None:
        self.landed, self.tips = landed, request.measure == "tipping"
        self.model = robot.load(Path(source))
        self.options: Options = {**robot.posture(self.model), **asdict(request.near)}
        self.elastic = given(restitution=request.restitution)
        self.refused: list[str] = []  # why, for each point at which the robot cannot be
        self.last: ImpactProblem | None = None
        self.regimes: list[str] = []  # of each point at which it lands

    def __call__(self, **point: float) -> ImpactProblem | None:
        """The problem at a point; None where nothing is hit."""
        known: Options = {name: value for name, value in point.items() if name in NUMBERS}
        joints = tuple(f"{name}={value!r}" for name, value in point.items() if name not in known)
        landed = replace(self.landed, **known, joint=[*(self.landed.joint or ()), *joints])
        try:
            found = make_landing(self.model, landed, **self.options, **self.elastic)
            self.regimes.append(landing_regime(found).kind)
            self.last = found.problem
            return found.problem if not self.tips else self._standing(found)
        except StateError as error:
            self.refused.append(str(error))
            raise

    def _standing(self, found: Landing) -> ImpactProblem | None:
        """The touch-down, which knows its support; None where it has none."""
        from routh.robust.feet import standing_problem

        try:
            return standing_problem(found, **self.elastic)
        except StateError:
            raise
        except ValueError as error:
            self.refused.append(str(error))
            return None


def worst_table(found: Scan) -> Table:
    """The most ambiguous points."""
    of = found.measure.replace("_", " ")
    names = (*found.axes, of, "contacts")
    title = "most ambiguous" if of == "ambiguity" else f"largest {of}"
    table = plain_table(*(f">|{for_rich(name)}" for name in names), title=title)
    for row in found.worst():
        numbers = [f"{row[name]:.4g}" for name in found.axes]
        table.add_row(*numbers, f"{row['score']:.3g}", f"{row['contacts']:.0f}")
    return table


def as_data(found: Scan) -> dict[str, object]:
    """The scan for machines."""
    return {
        "axes": found.axes,
        found.measure: found.score,
        "contacts": found.contacts,
        "status": [Status(int(code)).name for code in found.status.ravel()],
        "share_solved": found.share_solved,
        "worst": found.worst(),
    }
