"""The commands of ``routh`` and what becomes of their errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import routh
from routh.cli import options, robots
from routh.cli.output import Output

GUIDE = """Every outcome that a rigid-body impact can have.

When a body hits at several places at once, mechanics does not say which contact pushes first, and the outcome
depends on it. routh samples every order and every overlap, and shows the set of outcomes.

[bold]Start here:[/bold]

  routh list                   the systems that come with routh
  routh run rocking-block      sample one: a table and a picture
  routh impact problem.npz     the same for your own matrices
  routh reproduce --quick      the papers' figures, with a report
"""
Command = TypeVar("Command", bound=Callable[..., Any])
EXITS = "Exit codes: 0 done, 1 ran but without the result asked for, 2 bad input, 130 interrupted."


def unwrapped(text: str) -> str:
    """Join the lines of paragraphs, which the terminal wraps itself; indented lines stay as they are."""
    joined: list[str] = []
    for line in cleandoc(text).splitlines():
        runs_on = (
            joined and joined[-1] and line and not line.startswith(" ") and not joined[-1].startswith(" ")
        )
        if runs_on:
            joined[-1] += " " + line
        else:
            joined.append(line)
    return "\n".join(joined)


def command(name: str) -> Callable[[Command], Command]:
    """A command whose help is its docstring."""

    def add(function: Command) -> Command:
        app.command(name, help=unwrapped(function.__doc__ or ""), epilog=EXITS)(function)
        return function

    return add


app = typer.Typer(
    name="routh",
    help=unwrapped(GUIDE),
    epilog=EXITS,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"routh {routh.__version__}")
        raise typer.Exit


@app.callback()
def before_commands(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


@command("list")
def list_systems(json: options.Json = False) -> None:
    """List the systems that come with routh, with a line each.

    Run one with [bold]routh run NAME[/bold]. Systems of kind "impact" have a set of outcomes; those of kind
    "motion" start somewhere and move.
    """
    from routh.cli.listing import show_systems

    show_systems(Output(json=json))


@command("run")
def run(
    name: Annotated[str, typer.Argument(help="A system of [bold]routh list[/bold].", show_default=False)],
    samples: options.Samples = None,
    change: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a parameter of the system, e.g. --set mu=0.2; repeatable.",
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Compute the set exactly instead of sampling it (extra: exact)."),
    ] = False,
    step: options.Step = None,
    max_steps: options.MaxSteps = None,
    points: options.Points = options.PointKind.random,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    out: options.Picture = None,
    no_picture: options.NoPicture = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Sample the outcomes of a system's impact: a table by contact mode, and a picture.

    Each sample lets the impulses of the contacts grow at random relative rates until no contact approaches
    (HP23, Algorithm 1). The table says how often the contacts separate, stick or slide afterwards; the
    picture shows the velocities. By default the step is that of the paper.

    [bold]Examples:[/bold]

      routh run rocking-block
      routh run compass-gait --samples 1048576 --out gait.png
      routh run rocking-block --set mu=0.2 --set speed=1.5
      routh run box-wall --json | jq '.modes[0]'
      routh run compass-gait --exact
    """
    from routh.cli.run import Request, run_system

    request = Request(samples, step, max_steps, points.value, seed, device, threads)
    output = Output(json=json, quiet=quiet)
    if exact:
        from routh.cli.exact import run_exact

        options.refuse(request, "given together with --exact, which does not sample; wanted one of them")
        place = _picture(out, no_picture, f"{name}-exact.png")
        raise typer.Exit(run_exact(name, change or [], place, output))
    place = _picture(out, no_picture, f"{name}.png")
    raise typer.Exit(run_system(name, change or [], request, place, output))


@command("impact")
def impact(
    file: Annotated[
        Path,
        typer.Argument(
            help="A robot (.xml MJCF, .urdf), or an .npz file with M, Jn, Jt, mu, v (restitution, names).",
            show_default=False,
        ),
    ],
    samples: options.Samples = None,
    keyframe: robots.Keyframe = None,
    qpos: robots.Qpos = None,
    qvel: robots.Qvel = None,
    gap: robots.Gap = None,
    window: robots.Window = None,
    floating: robots.Floating = False,
    ground: robots.Ground = None,
    friction: robots.Friction = None,
    step: options.Step = None,
    max_steps: options.MaxSteps = None,
    points: options.Points = options.PointKind.random,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    out: options.Picture = None,
    no_picture: options.NoPicture = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Sample the outcomes of a robot's impact, or of your own, given by its matrices.

    A robot is an MJCF or URDF file that MuJoCo can read. All its contacts within --gap take part, named after
    their geoms; friction is Coulomb's true cone.

      routh impact robot.xml --keyframe land --qvel "2:-1.0" --samples 65536
      routh impact robot.urdf --floating --ground 0 --qpos "2:0.31" --qvel "2:-1" --gap 0.005

    An .npz file holds the mass matrix M (nv, nv), the contact Jacobians Jn (nc, nv) and Jt (nc, nt, nv),
    friction mu (nc) and the velocity before v (nv); Jn v < 0 means approach. In Python:

      routh.ImpactProblem(M, Jn, Jt, mu, v).save("problem.npz")
      numpy.savez("problem.npz", M=M, Jn=Jn, Jt=Jt, mu=mu, v=v)      # the same

    Then: routh impact problem.npz --samples 65536
    """
    from routh.cli.run import Request, run_file

    request = Request(samples, step, max_steps, points.value, seed, device, threads, friction)
    placed = robots.Placed(keyframe, qpos, qvel, gap, window, floating, ground)
    place, output = _picture(out, no_picture, f"{file.stem}.png"), Output(json=json, quiet=quiet)
    if robots.is_robot(file):
        raise typer.Exit(robots.run_robot(file, placed, request, place, output))
    placed.refuse_for(file)
    raise typer.Exit(run_file(file, request, place, output))


@command("audit")
def audit(
    file: Annotated[Path, typer.Argument(help="A robot (.xml MJCF, .urdf).", show_default=False)],
    duration: Annotated[float, typer.Option(min=1e-6, help="How long to simulate, s.")] = 3.0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the report goes.")] = Path("audit.html"),
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Outcomes of each set.")] = 256,
    keyframe: robots.Keyframe = None,
    qpos: robots.Qpos = None,
    qvel: robots.Qvel = None,
    gap: robots.Gap = None,
    floating: robots.Floating = False,
    ground: robots.Ground = None,
    friction: robots.Friction = None,
    max_impacts: Annotated[int, typer.Option(min=1, help="Further impacts are only counted.")] = 50,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Roll a robot out in MuJoCo and ask of each of its impacts whether rigid bodies could do that.

    For each impact the set of all outcomes is sampled, and the distance of MuJoCo's own outcome from it is
    told, with the law that is broken if one is: energy gained, still approaching, impulse outside the cone.
    The report is one HTML page with pictures.

    [bold]Example:[/bold]

      routh audit robot.xml --duration 3 --out audit.html
    """
    placed = robots.Placed(keyframe, qpos, qvel, gap, None, floating, ground)
    settings = robots.AuditRequest(duration, samples, seed, friction or "cone", max_impacts)
    raise typer.Exit(robots.run_audit(file, placed, settings, out, Output(json=json, quiet=quiet)))


@command("reproduce")
def reproduce(
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the figures, the numbers and the report.")
    ] = Path("results"),
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Only this exhibit, or all of a paper (hp23); repeatable, see --list.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer samples: minutes instead of half an hour.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Compute again what the folder already has.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="Only list the exhibits.")] = False,
    seed: options.Seed = 0,
    device: options.Device = "cpu",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw the papers' figures and tables again, and compare every published number with ours.

    Writes one picture per figure and [bold]report.html[/bold], a single page with the pictures inside: for
    each published number the paper's, ours, the difference and why. What the folder already holds, computed
    by the same version with the same settings, is kept: an interrupted run goes on where it stopped.

    [bold]Examples:[/bold]

      routh reproduce --quick --out results
      routh reproduce --only hp23-table-3 --only hp23-fig-12
    """
    from routh.cli.reproduce import list_exhibits, reproduce_all
    from routh.reproduce import Settings

    output = Output(json=json, quiet=quiet)
    if listing:
        list_exhibits(output)
        return
    code = reproduce_all(out, only or [], Settings(quick=quick, seed=seed, device=device), fresh, output)
    raise typer.Exit(code)


@command("sweep")
def sweep(
    source: Annotated[
        str | None,
        typer.Argument(help="A system of [bold]routh list[/bold].", show_default=False),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over", metavar="NAME=A:B:N", help="An axis: N values from A to B, or NAME=V,V,...; repeatable."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the study.")] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on with the study in this folder.")
    ] = None,
    executor: Annotated[
        str, typer.Option(help="local, here, or the address of a Dask scheduler (tcp://...).")
    ] = "local",
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: all cores.")] = None,
    samples: Annotated[int, typer.Option("--samples", "-n", min=1, help="Outcomes at each point.")] = 4096,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure the ambiguity of an impact over a grid of parameters, on all cores or on many machines.

    The study is a folder. Whatever ends the command, a crash, a kill or a lost machine, the same command or
    [bold]--resume FOLDER[/bold] goes on where it was.

    [bold]Examples:[/bold]

      routh sweep rocking-block --over mu=0:1:41 --over speed=0.5,1,2 --out study
      routh sweep --resume study --executor tcp://127.0.0.1:8786
    """
    from routh.cli.sweep import SweepRequest, run_sweep
    from routh.cli.sweep import resume as resume_study

    request = SweepRequest(executor, workers, samples, seed)
    output = Output(json=json, quiet=quiet)
    if resume is not None:
        if source is not None or over or out is not None:
            raise ValueError("--resume: takes the study as it was made; leave out all that describes one")
        raise typer.Exit(resume_study(resume, request, output))
    if source is None or out is None:
        raise ValueError("sweep: wanted a system, --over and --out FOLDER, or --resume FOLDER")
    raise typer.Exit(run_sweep(source, over or [], out, request, output))


@command("animate")
def animate(
    name: Annotated[str, typer.Argument(help="A system of [bold]routh list[/bold].", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="A .gif, an .mp4 (needs ffmpeg) or a folder of frames. [NAME.gif]"),
    ] = None,
    futures: Annotated[int, typer.Option(min=1, help="How many futures to draw on top of each other.")] = 8,
    duration: Annotated[float, typer.Option(help="How long to simulate, s.")] = 2.0,
    speed: Annotated[float, typer.Option(help="Seconds of motion per second of film.")] = 1.0,
    fps: Annotated[int, typer.Option(min=1, help="Frames per second.")] = 25,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter of the system; repeatable."),
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Simulate a planar system through its impacts and write a film of its futures.

    With the set-valued law one state has many futures: one is drawn in full, the others as ghosts.

    [bold]Examples:[/bold]

      routh animate rocking-block --out block.gif --duration 0.3 --speed 0.1
      routh animate rimless-wheel-slope --out frames --futures 1
    """
    from routh.cli.animate import Film, animate_system
    from routh.cli.run import parse_changes

    film = Film(futures, duration, fps, speed, seed)
    target = Path(f"{name}.gif") if out is None else out
    output = Output(json=json, quiet=quiet)
    raise typer.Exit(animate_system(name, parse_changes(change or []), film, target, output))


def _picture(out: Path | None, without: bool, default: str) -> Path | None:
    """Where the picture goes; None where none is wanted."""
    if out is not None and without:
        raise ValueError("--out: given together with --no-picture; wanted one of them")
    return None if without else out or Path(default)


def main() -> None:
    """Run the command line; errors are one line, not a traceback."""
    try:
        app(prog_name="routh")
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone: nothing to say, and nobody to say it to
        sys.exit(0)
    except Exception as error:
        message = explain(error)
        if message is None:
            raise
        print(f"routh: error: {message}", file=sys.stderr)
        sys.exit(2)


def explain(error: Exception) -> str | None:
    """One line for an error that the user can mend; None for a fault of ours, which keeps its traceback."""
    from routh.status import RouthError

    if isinstance(error, FileNotFoundError):
        return f"there is no file {error.filename!s}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if isinstance(error, (ValueError, RouthError)):
        return str(error)
    return None
