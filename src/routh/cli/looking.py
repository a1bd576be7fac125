"""The commands of ``routh`` that look at many impacts: ``scan``, ``sweep`` and ``view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from routh.cli import landings, options, robot_files, robots
from routh.cli.base import command
from routh.cli.output import Output


@command("scan")
def scan(
    source: options.Source,
    landed: landings.Landed,
    robot: robot_files.RobotFile,
    picture: options.PictureFile,
    output: Output,
    over: options.Over = None,
    window: robots.Window = None,
    deepest: robots.Deepest = robots.DEEPEST,
    past_limit: robots.PastLimit = robots.PAST_LIMIT,
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Outcomes at each point.")] = 256,
    seed: options.Seed = 0,
    budget: options.Budget = None,
) -> None:
    """How ambiguous the impact is over a grid: a heat map, and the worst points.

    Points where the robot cannot be (limbs that overlap, joints past their limits) stay grey.

    [bold]Examples:[/bold]

      routh scan solo12.urdf --drop 1.0 --over roll=-0.3:0.3:41 --over pitch=-0.3:0.3:41 --out heat.png
      routh scan rocking-block --over mu=0:1:21
    """
    from routh.cli.scan import ScanRequest, run_scan

    request = ScanRequest(tuple(over or ()), samples, seed, window, robot, deepest, past_limit, budget)
    place = picture.place(f"{Path(source).stem}-scan.png")
    raise typer.Exit(run_scan(source, landed, request, place, output))


@command("sweep")
def sweep(
    landed: landings.Landed,
    robot: robot_files.RobotFile,
    output: Output,
    source: options.OptionalSource = None,
    over: options.Over = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the study.")] = None,
    window: robots.Window = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on with the study in this folder.")
    ] = None,
    executor: Annotated[
        str, typer.Option(help="local, here, or the address of a Dask scheduler (tcp://...).")
    ] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: all cores.")] = None,
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Outcomes at each point.")] = 4096,
    seed: options.Seed = 0,
    budget: options.Budget = None,
) -> None:
    """Measure the ambiguity of an impact over a grid of parameters, on all cores or on many machines.

    The study is a folder. Whatever ends the command, a crash, a kill or a lost machine, the same command or
    [bold]--resume FOLDER[/bold] goes on where it was.

    [bold]Examples:[/bold]

      routh sweep rocking-block --over mu=0:1:41 --over speed=0.5,1,2 --out study
      routh sweep anymal.urdf --drop 1.0 --over roll=-0.3:0.3:101 --over pitch=-0.3:0.3:101 --out landings
      routh sweep --resume study --executor tcp://127.0.0.1:8786
    """
    from routh.cli.sweep import SweepRequest, run_sweep, source_of
    from routh.cli.sweep import resume as resume_study

    request = SweepRequest(executor, workers, samples, seed, budget)
    if resume is not None:
        if source is not None or over or out is not None:
            raise ValueError("--resume: takes the study as it was made; leave out all that describes one")
        raise typer.Exit(resume_study(resume, request, output))
    if source is None or out is None:
        raise ValueError("sweep: wanted a system, --over and --out FOLDER, or --resume FOLDER")
    options.output_folder(out)
    problems = source_of(source, landed, over or [], robot, window)
    raise typer.Exit(run_sweep(problems, over or [], out, request, output))


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
) -> None:
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
    raise typer.Exit(run_view(source, start, robot, serving, Output(quiet=quiet)))
