"""The commands of ``routh`` that look at many impacts: ``scan``, ``sweep`` and ``view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from routh.cli import landings, options, robot_files, robots
from routh.cli.base import command
from routh.cli.output import Output
from routh.cli.requests import ScanRequest, SweepRequest


@command("scan")
def scan(
    source: options.Source,
    landed: landings.Landed,
    robot: robot_files.RobotFile,
    picture: options.PictureFile,
    output: Output,
    request: ScanRequest,
) -> int:
    """How ambiguous the impact is over a grid: a heat map, and the worst points.

    Points where the robot cannot be (limbs that overlap, joints past their limits) stay grey.

    [bold]Examples:[/bold]

      routh scan solo12.urdf --drop 1.0 --over roll=-0.3:0.3:41 --over pitch=-0.3:0.3:41 --out heat.png
      routh scan rocking-block --over mu=0:1:21
    """
    from routh.cli.scan import run_scan

    return run_scan(source, landed, robot, request, picture.place(f"{Path(source).stem}-scan.png"), output)


@command("sweep")
def sweep(
    landed: landings.Landed,
    robot: robot_files.RobotFile,
    output: Output,
    request: SweepRequest,
    source: options.OptionalSource = None,
) -> int:
    """Measure the ambiguity of an impact over a grid of parameters, on all cores or on many machines.

    The study is a folder. Whatever ends the command, a crash, a kill or a lost machine, the same command or
    [bold]--resume FOLDER[/bold] goes on where it was.

    [bold]Examples:[/bold]

      routh sweep rocking-block --over mu=0:1:41 --over speed=0.5,1,2 --out study
      routh sweep anymal.urdf --drop 1.0 --over roll=-0.3:0.3:101 --over pitch=-0.3:0.3:101 --out landings
      routh sweep --resume study --executor tcp://127.0.0.1:8786
    """
    from routh.cli.sweep import resume, run_sweep

    if request.resume is not None:
        if source is not None or request.over or request.out is not None:
            raise ValueError("--resume: takes the study as it was made; leave out all that describes one")
        return resume(request.resume, request, output)
    if source is None or request.out is None:
        raise ValueError("sweep: wanted a system, --over and --out FOLDER, or --resume FOLDER")
    return run_sweep(source, landed, robot, request, options.output_folder(request.out), output)


@command("view")
def view(
    source: options.PlanarSource,
    landed: landings.Landed,
    robot: robot_files.RobotFile,
    grip: Annotated[float | None, typer.Option("--friction", min=0.0, help="Times the model's.")] = None,
    restitution: Annotated[float | None, typer.Option(min=0.0, max=1.0, help="Of every contact.")] = None,
    window: robots.Window = None,
    change: options.Change = None,
    ghosts: Annotated[int, typer.Option(min=1, max=128, help="Outcomes drawn as ghosts.")] = 32,
    host: Annotated[
        str, typer.Option(help="Where to listen; others can come in only if you change this.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> int:
    """Show a robot or a planar system in a browser: drag its state, see every outcome of its impact.

    Prints the address to open. Only who knows the whole address, with its token, is answered.

    [bold]Examples:[/bold]

      routh view anymal.urdf --drop 1.0
      routh view rocking-block
    """
    from routh.cli.view import run_view, start_of

    further = {"friction": grip, "restitution": restitution, "window": window}
    start = start_of(source, landed, change or [], further, robot)
    serving = {"host": host, "port": port, "ghosts": ghosts, "seed": seed}
    return run_view(source, start, robot, serving, Output(quiet=quiet))
