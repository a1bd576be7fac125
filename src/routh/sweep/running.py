"""``routh sweep``: a study over a grid, resumable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.table import Table

from routh.auditing.scans import grid_from_text
from routh.base.status import InputError
from routh.base.text import for_rich
from routh.base.validation import Array, Options, choice
from routh.cli import options
from routh.cli.exits import GO_ON, when_interrupted
from routh.cli.landings import NUMBERS, Landed, tell_restitution
from routh.cli.output import Output
from routh.cli.requests import MEASURES
from routh.cli.robots import RobotFile, advising, is_robot, refuse_without_robot, tell_keyframes
from routh.cli.tables import exit_of_points, tell_unsolved
from routh.models.regime import regimes_line
from routh.models.robots.landing import landing_of
from routh.models.zoo import robot_file
from routh.sweep.measures import ambiguity, tipping
from routh.sweep.recipes import Recipe, recipe
from routh.sweep.request import SweepRequest
from routh.sweep.studies import RunReport, Study, study

LANDING, TOUCHDOWN = "routh.models.robots.landing:landing_problem", "routh.robust.feet:touchdown_problem"
_LOOKED_AT = 32  # landings of a study whose regime is told; each takes some milliseconds


def source_of(
    source: str,
    landed: Landed,
    robot: RobotFile,
    request: SweepRequest,
    axes: Mapping[str, Array],
    output: Output,
) -> Recipe:
    """Source of the problems: a robot's landing, or a system by name; ``axes`` are told by points."""
    if not is_robot(source):
        refuse_without_robot(source, landed, robot)
        if request.measure == "tipping":
            raise InputError("--measure", wrong=f"{source} is not a robot file, which tipping needs")
        if request.window is not None:
            raise InputError("--window", wrong=f"{source} is not a robot file", wanted=".xml or .urdf")
        if request.restitution is not None:
            raise InputError("--restitution", wrong=f"{source} is not a robot file", wanted=".xml or .urdf")
        return recipe("routh.systems:impact", name=source)
    landed.demand_speed(axes)
    file = robot_file(source).resolve()
    further: dict[str, object] = {"window": request.window, "keyframe": robot.keyframe}
    further["joint_velocities"] = landed.joint_velocities()
    further["roots"] = [str(folder.resolve()) for folder in robot.root or ()]
    model = robot.load(file)
    if robot.state is not None:
        further["qpos"] = robot.posture(model)["qpos"].tolist()
    tell_keyframes(model, robot, output)
    fixed = {name: getattr(landed, name) for name in NUMBERS if name not in axes}
    given = {name: value for name, value in {**fixed, **further}.items() if value}
    given |= options.given(ground=robot.ground, body=landed.body, restitution=request.restitution)
    tips = request.measure == "tipping"
    made = recipe(TOUCHDOWN if tips else LANDING, file=str(file), joints=landed.joints(), **given)
    first: Options = {**made.arguments, **{name: float(values[0]) for name, values in axes.items()}}
    with advising(model, robot):  # what no point can be without is said before the work
        found = landing_of(**first)
    if found is not None:
        tell_restitution(found.problem, request.restitution, output)
    return replace(made, files=(str(file),))


def run_sweep(
    source: str, landed: Landed, robot: RobotFile, request: SweepRequest, folder: Path, output: Output
) -> int:
    """Make the study of a system or a robot and compute it; the exit code."""
    if not request.over:
        raise InputError("--over", got="none", wanted="at least one axis, e.g. --over mu=0:1:21")
    axes = grid_from_text(request.over).axes
    tips = choice("--measure", request.measure, MEASURES) == "tipping"
    measure = [tipping(request.samples) if tips else ambiguity(request.samples)]
    problems = source_of(source, landed, robot, request, axes, output)
    made = study(folder, problems=problems, over=axes, measure=measure, seed=request.seed)
    return compute(made, request, output)


def compute(made: Study, request: SweepRequest, output: Output) -> int:
    """Compute what a study still lacks; the exit code."""
    points = len(made.plan.grid)
    when_interrupted(lambda: f"{made.stored_points()} of {points} points are kept in {made.folder}; {GO_ON}")
    watched = None if output.watched else False
    report = made.run(request.executor, workers=request.workers, progress=watched, budget=request.budget)
    columns = made.columns()
    # measures of your own need not say which samples are solved: then their points count
    solved = columns.get("share_solved", np.ones(columns["status"].shape))
    tell_unsolved(columns["status"], solved, output)
    output.show(_table(made))
    regimes = regimes_of(made)
    if regimes:
        output.say(f"[dim]{for_rich(regimes_line(regimes))}[/dim]")
    output.say(_sentence(made, report))
    told = {"computed": report.computed, "mended": report.mended, "seconds": report.seconds}
    output.emit(
        folder=str(made.folder),
        points=points,
        statuses=made.status_counts(),
        **told,
        regimes=dict(Counter(regimes)),
    )
    return exit_of_points(columns["status"], solved)


def regimes_of(made: Study) -> list[str]:
    """Regimes of landings at some points of the grid; none for what does not land."""
    from routh.models.mujoco.landings import landing_regime

    grid, problems = made.plan.grid, made.plan.problems
    if problems.function not in (LANDING, TOUCHDOWN):
        return []
    rows = np.random.default_rng(0).permutation(len(grid))[:_LOOKED_AT]
    points: list[Options] = [{**problems.arguments, **grid.point(int(row))} for row in rows]
    landings = (landing_of(**point) for point in points)
    return [landing_regime(found).kind for found in landings if found is not None]


def _table(made: Study) -> Table:
    table = Table(title=f"{len(made.plan.grid)} points", title_justify="left")
    table.add_column("status")
    table.add_column("points", justify="right")
    for name, count in made.status_counts().items():
        table.add_row(name, str(count))
    return table


def _sentence(made: Study, report: RunReport) -> str:
    if not report.computed:
        return "Everything was there already."
    pace = report.computed / max(report.seconds, 1e-9)
    mended = f" {report.mended} chunks could not be read and were computed again." if report.mended else ""
    return f"{report.computed} points in {report.seconds:.1f} s ({pace:.0f} a second).{mended}"
