"""``routh view``: the viewer, until Ctrl-C."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from routh.base.status import InputError
from routh.base.validation import Options
from routh.cli import options
from routh.cli.changes import parse_changes
from routh.cli.exits import when_interrupted
from routh.cli.landings import NUMBERS, Landed
from routh.cli.output import Output
from routh.cli.robots import RobotFile, advising, is_robot, refuse_changes, refuse_without_robot

if TYPE_CHECKING:
    from routh.view.mechanism import ShownMechanism


def start_of(
    source: str, landed: Landed, changes: list[str], further: dict[str, float | None], robot: RobotFile
) -> dict[str, float]:
    """Start of the viewer: a landing's angles, joints and speeds, or a system's parameters."""
    if not is_robot(source):
        refuse_without_robot(source, landed, robot)
        given = [name for name, value in further.items() if value is not None]
        if given:
            raise InputError(
                f"--{given[0]}", wrong=f"{source} is not a robot file", wanted=".xml or .urdf, or --set"
            )
        return {name: float(value) for name, value in parse_changes(changes).items()}
    refuse_changes(source, changes)
    found = {name: getattr(landed, name) for name in NUMBERS if getattr(landed, name)}
    moving = {f"{name} velocity": value for name, value in landed.joint_velocities().items()}
    return {**found, **landed.joints(), **moving, **options.given(**further)}


def run_view(
    source: str,
    start: dict[str, float],
    robot: RobotFile,
    serving: Options,
    output: Output,
    body: str | None = None,
) -> int:
    """Serve the viewer; the exit code."""
    from routh.view import show

    when_interrupted(lambda: "the viewer has ended")
    mechanism = mechanism_of(source, start, robot, body)
    viewer = show(mechanism, **serving)
    try:
        print(viewer.address, flush=True)  # alone on its line: terminals make it a link, scripts read it
        if mechanism.keyframes and not robot.poses:
            output.say("[dim]keyframes of the file are buttons in the viewer (--keyframe)[/dim]")
        output.say("[dim]open this address in a browser; Ctrl-C ends it[/dim]")
        while True:
            time.sleep(0.2)
    finally:
        viewer.close()


def mechanism_of(
    source: str, start: dict[str, float], robot: RobotFile, body: str | None = None
) -> ShownMechanism:
    """What the command line asks to be shown."""
    from routh.view.session import as_mechanism

    if not is_robot(source):
        return as_mechanism(source, start)
    from routh.view.robot import RobotMechanism

    file = Path(source)
    model = robot.load(file)
    words = (source, *(word for folder in robot.root or () for word in ("--root", str(folder))))
    words += ("--ground", f"{robot.ground:.12g}") if robot.ground is not None else ()
    words += ("--body", body) if body is not None else ()
    given = options.given(**{"--state": robot.state, "--keyframe": robot.keyframe})
    posture = tuple(str(word) for pair in given.items() for word in pair)
    more = {**robot.posture(model), "body": body}
    with advising(model, robot):
        found = RobotMechanism(model, name=file.stem, start=start, source=words, posture=posture, **more)
        found.place(found.start_from(None))
    return found
