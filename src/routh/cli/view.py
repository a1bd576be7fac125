"""``routh view``: the viewer, until Ctrl-C."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from routh.cli.landings import ANGLES, Landed
from routh.cli.output import Output
from routh.cli.robots import is_robot
from routh.cli.run import parse_changes


def start_of(
    source: str, landed: Landed, changes: list[str], further: dict[str, float | None]
) -> dict[str, float]:
    """Where the viewer starts: a landing's angles, joints and speeds, or a system's parameters."""
    if not is_robot(Path(source)):
        if landed != Landed() or any(value is not None for value in further.values()):
            raise ValueError(f"--drop: {source} is no robot file; wanted .xml or .urdf with it, or --set")
        return {name: float(value) for name, value in parse_changes(changes).items()}
    if changes:
        raise ValueError(f"--set: {source} is a robot; wanted --joint, --roll, --pitch, --yaw or --drop")
    found = {name: getattr(landed, name) for name in ANGLES if getattr(landed, name) != 0.0}
    if landed.drop is not None:
        found["drop"] = landed.drop
    return {**found, **landed.joints(), **{k: v for k, v in further.items() if v is not None}}


def run_view(source: str, start: dict[str, float], options: dict[str, Any], output: Output) -> int:
    """Serve the viewer; the exit code."""
    from routh.view import show

    viewer = show(source, state=start, **options)
    try:
        print(viewer.address, flush=True)  # alone on its line: terminals make it a link, scripts read it
        output.say("[dim]open this address in a browser; Ctrl-C ends it[/dim]")
        while True:
            time.sleep(0.2)
    finally:
        viewer.close()
