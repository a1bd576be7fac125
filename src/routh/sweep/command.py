"""The command ``routh sweep``."""

from __future__ import annotations

from routh.base.status import InputError
from routh.cli import landings, options, robots
from routh.cli.output import Output
from routh.sweep.request import SweepRequest


def sweep(
    landed: landings.Landed,
    robot: robots.RobotFile,
    output: Output,
    request: SweepRequest,
    source: options.OptionalSource = None,
) -> int:
    """Measure the ambiguity of an impact over a grid of parameters, on all cores or on many machines.

    The study is a folder. Whatever ends the command (a crash, a kill, a lost machine), the same command or
    [bold]--resume FOLDER[/bold] resumes where it stopped.

    [bold]Examples:[/bold]

      routh sweep rocking-block --over mu=0:1:41 --over speed=0.5,1,2 --out study
      routh sweep anymal.urdf --down 1.0 --over roll=-20deg:20deg:99 --over pitch=-20deg:20deg:99 --out land
      routh sweep --resume study --executor tcp://127.0.0.1:8786
    """
    from routh.sweep.running import compute, run_sweep
    from routh.sweep.studies import open_study

    if request.resume is not None:
        if source is not None or request.over or request.out is not None:
            raise InputError(
                "--resume",
                wrong=("continues a study as it was made; leave out the options that describe a new one"),
            )
        return compute(open_study(request.resume, functions=request.function or ()), request, output)
    if request.function:
        raise InputError(
            "--function",
            wrong="only applies with --resume; a new study from the command line uses routh's own",
        )
    if source is None or request.out is None:
        raise InputError("sweep", wanted="a system, --over and --out FOLDER, or --resume FOLDER")
    return run_sweep(source, landed, robot, request, options.output_folder(request.out), output)
