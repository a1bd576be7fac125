"""``routh scan``: how ambiguous an impact is over a grid of landings or parameters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.table import Table

from routh.auditing.grids import grid_from_text
from routh.auditing.scans import Scan, scan
from routh.cli.landings import ANGLES, Landed, make_landing
from routh.cli.output import Output, plain_table
from routh.cli.robot_files import RobotFile, is_robot
from routh.cli.robots import DEEPEST, PAST_LIMIT
from routh.problem import ImpactProblem
from routh.status import Status
from routh.text import for_rich


@dataclass(frozen=True)
class ScanRequest:
    """How to scan."""

    over: tuple[str, ...]
    samples: int
    seed: int
    window: float | None = None
    source: RobotFile = field(default_factory=RobotFile)
    deepest: float = DEEPEST  # m
    past_limit: float = PAST_LIMIT  # rad
    budget: float | None = None  # s


def run_scan(source: str, landed: Landed, request: ScanRequest, place: Path | None, output: Output) -> int:
    """Scan a robot's landings or a system's parameters; the exit code."""
    if not request.over:
        raise ValueError("--over: got none; wanted at least one axis, e.g. --over roll=-0.3:0.3:41")
    grid = grid_from_text(request.over)
    robot = is_robot(source)
    if not robot and (landed != Landed() or request.source != RobotFile()):
        raise ValueError(f"--drop: {source} is no robot file; wanted .xml or .urdf with it")
    for name, usual in (("deepest", DEEPEST), ("past_limit", PAST_LIMIT)):
        if not robot and getattr(request, name) != usual:
            option = name.replace("_", "-")
            raise ValueError(f"--{option}: {source} is no robot file; wanted .xml or .urdf with it")
    problem_at = Landings(source, landed, request) if robot else Parameters(source)
    with output.busy(f"{len(grid)} impacts"):
        found = scan(problem_at, grid.axes, n=request.samples, seed=request.seed, budget=request.budget)
    output.show(worst_table(found))
    late = int((found.status == Status.OUT_OF_TIME).sum())
    if late:
        output.show(f"[yellow]{late} of {len(grid)} points were not reached in time[/yellow]")
    if isinstance(problem_at, Landings) and problem_at.refused:
        count, why = len(problem_at.refused), for_rich(problem_at.refused[0])
        output.show(f"[yellow]{count} points left out, states that cannot be:[/yellow] {why}")
    written = None
    if place is not None and len(grid.axes) <= 2:
        written = output.picture(place, lambda: found.plot())
    output.emit({**as_data(found), "picture": written})
    return 0 if (found.score == found.score).any() else 3


class Landings:
    """The impact with which a robot lands, by angles, drop and joints."""

    def __init__(self, source: str, landed: Landed, request: ScanRequest) -> None:
        from routh.models.simultaneity import LANDING_WINDOW

        self.landed = replace(landed, drop=1.0 if landed.drop is None else landed.drop)
        self.model = request.source.load(Path(source), lands=True)
        window = LANDING_WINDOW if request.window is None else request.window
        limits = {"deepest": request.deepest, "past_limit": request.past_limit}
        self.options = {**request.source.posture(self.model), "window": window, **limits}
        self.refused: list[str] = []  # why, for each point at which the robot cannot be

    def __call__(self, **point: float) -> ImpactProblem | None:
        """The problem at a point; None where nothing is hit."""
        from routh.status import StateError

        known = {name: value for name, value in point.items() if name in (*ANGLES, "drop")}
        joints = tuple(f"{name}={value!r}" for name, value in point.items() if name not in known)
        landed = replace(self.landed, **known, joint=(*self.landed.joint, *joints))
        try:
            return make_landing(self.model, landed, **self.options).problem
        except StateError as error:
            self.refused.append(str(error))
            raise


class Parameters:
    """The impact of a named system, by its parameters."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, **point: float) -> ImpactProblem | None:
        """The problem at a point."""
        from routh import systems

        return systems.get(self.name, **point).problem


def worst_table(found: Scan) -> Table:
    """The most ambiguous points."""
    names = (*found.axes, "ambiguity", "contacts")
    table = plain_table(*(f">{for_rich(name)}" for name in names), title="most ambiguous")
    for row in found.worst():
        numbers = [f"{row[name]:.4g}" for name in found.axes]
        table.add_row(*numbers, f"{row['score']:.3g}", f"{row['contacts']:.0f}")
    return table


def as_data(found: Scan) -> dict[str, object]:
    """The scan for machines."""
    return {
        "axes": found.axes,
        "ambiguity": found.score,
        "contacts": found.contacts,
        "status": [Status(int(code)).name for code in found.status.ravel()],
        "ended": found.terminated,
        "worst": found.worst(),
    }
