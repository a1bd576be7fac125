"""The command ``routh view``."""

from __future__ import annotations

from typing import Annotated

import typer

from routh.cli import landings, options, robots
from routh.cli.output import Output


def view(
    source: options.PlanarSource,
    landed: landings.Landed,
    robot: robots.RobotFile,
    grip: Annotated[
        float | None, typer.Option("--friction", min=0.0, help="Scale the model's friction by this.")
    ] = None,
    restitution: robots.Restitution = None,
    window: robots.Window = None,
    change: options.Change = None,
    ghosts: Annotated[int, typer.Option(min=1, max=128, help="Outcomes drawn as ghosts.")] = 32,
    host: Annotated[
        str, typer.Option(help="Where to listen. By default only this machine can connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")] = 0,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> int:
    """Show a robot or a planar system in a browser: drag its state, see every outcome of its impact.

    Prints the address to open. Only requests with the whole address, token included, are answered.

    [bold]Examples:[/bold]

      routh view anymal.urdf --down 1.0
      routh view rocking-block
    """
    from routh.view.serving import run_view, start_of

    further = {"friction": grip, "restitution": restitution, "window": window}
    start = start_of(source, landed, change or [], further, robot)
    serving = {"host": host, "port": port, "ghosts": ghosts, "seed": seed}
    return run_view(source, start, robot, serving, Output(quiet=quiet), landed.body)
