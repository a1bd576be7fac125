"""The commands of ``routh``, in the order in which its help lists them; those of features come last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import routh
from routh.base.status import InputError
from routh.cli import landings, options, robots
from routh.cli.land import LandRequest
from routh.cli.output import Output
from routh.cli.program import app, command
from routh.cli.requests import AuditRequest, FilmRequest, MotionRequest, ScanRequest, TipRequest


def _version(wanted: bool) -> None:
    if wanted:
        print(f"routh {routh.__version__}")
        raise typer.Exit


@app.callback()
def before_commands(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command."""


@command("list")
def list_systems(output: Output, name: options.SystemName = None) -> int:
    """List the systems that come with routh, or the parameters of one, with units and defaults.

    Run one with [bold]routh run NAME[/bold], and change its parameters with --set. Systems of kind "impact"
    have a set of outcomes; those of kind "motion" have a start state and move.

    [bold]Examples:[/bold]

      routh list
      routh list rocking-block
    """
    from routh.cli.systems import show_system, show_systems

    return show_systems(output) if name is None else show_system(name, output)


@command("run")
def run(
    name: options.System,
    request: options.SampleRequest,
    picture: options.PictureFile,
    output: Output,
    change: options.Change = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Compute the set exactly instead of sampling it (extra: exact)."),
    ] = False,
) -> int:
    """How ambiguous a system's impact is: the answer, a table by contact mode, and a picture.

    The first line says how far apart its outcomes are, and which two are farthest apart; the second which
    contact is least certain. The table says how often the contacts separate, stick or slide afterwards; the
    picture shows the velocities. Each sample lets the contact impulses grow at random relative rates until no
    contact approaches, event by event; --step, --max-steps or --points select HP23's Algorithm 1.

    [bold]Examples:[/bold]

      routh run rocking-block
      routh run compass-gait --samples 1048576 --out gait.png
      routh run rocking-block --set mu=0.2 --set speed=1.5
      routh run box-wall --json | jq '.ambiguity.score'
      routh run compass-gait --exact
    """
    from routh.cli.run import run_exact, run_system

    if exact:
        why = "given together with --exact, which does not sample; wanted only one of them"
        options.refuse(replace(request, budget=None), why)
        return run_exact(name, change or [], picture.place(f"{name}-exact.png"), output, request.budget)
    return run_system(name, change or [], request, picture.place(f"{name}.png"), output)


@command("example")
def example(
    output: Output,
    name: Annotated[
        str | None, typer.Argument(help="Print where this example is.", metavar="[NAME]", show_default=False)
    ] = None,
    copy: Annotated[
        bool, typer.Option("--copy", help="Copy it into this folder; a file that is there stays.")
    ] = False,
) -> int:
    """List the examples that come with routh, or print the path of one.

    [bold]Examples:[/bold]

      routh example
      routh tip "$(routh example lander)"
      routh example 1_why_outcomes_are_sets --copy
    """
    from routh.cli.examples import show_example, show_examples

    if name is None and copy:
        raise InputError("--copy", wrong="needs the name of an example; routh example lists them")
    return show_examples(output) if name is None else show_example(name, output, copy)


@command("impact")
def impact(
    file: Annotated[
        Path,
        typer.Argument(
            help="A robot (.xml MJCF, .urdf, or its name), or an .npz file with M, Jn, Jt, mu, v "
            "(restitution, names).",
            show_default=False,
        ),
    ],
    request: options.SampleRequest,
    placed: robots.Placement,
    picture: options.PictureFile,
    output: Output,
    friction: robots.Friction = "cone",
    max_bytes: options.MaxBytes = None,
) -> int:
    """How ambiguous an impact is: a robot's, or your own given by its matrices.

    The first line says how far apart its outcomes are, and which two are farthest apart; the second which
    contact is least certain; then a table by contact mode.

    A robot is an MJCF or URDF file that MuJoCo can read. All contacts that touch, or close within --window,
    take part; they are named after their geoms. Friction is Coulomb's true cone.

      routh impact walker2d.xml --down 1.0
      routh impact robot.urdf --down 1.0 --roll 5deg --joint knee=0.5
      routh impact robot.xml --keyframe land --qvel "2:-1.0" --samples 65536
      routh impact robot.urdf --floating --ground 0 --qpos "2:0.31" --qvel "2:-1" --gap 0.005

    An .npz file holds the mass matrix M (nv, nv), the contact Jacobians Jn (nc, nv) and Jt (nc, nt, nv),
    friction mu (nc) and the velocity before v (nv); Jn v < 0 means approach. In Python:

      routh.ImpactProblem(M, Jn, Jt, mu, v).save("problem.npz")
      numpy.savez("problem.npz", M=M, Jn=Jn, Jt=Jt, mu=mu, v=v)      # the same

    Then: routh impact problem.npz --samples 65536
    """
    from routh.cli.run import run_file

    robots.refuse_other_files(file)
    request, place = replace(request, friction=friction), picture.place(f"{file.stem}.png")
    if robots.is_robot(file) or not file.suffix:  # a name that nobody has, too, is a robot's
        if max_bytes is not None:
            raise InputError("--max-bytes", wrong=f"{file} is a robot file", wanted="an .npz file")
        return robots.run_robot(file, placed, request, place, output)
    robots.refuse_without_robot(file, placed)
    return run_file(file, request, place, output, max_bytes)


@command("tip")
def tip(
    file: Annotated[
        Path, typer.Argument(help="A robot (.xml MJCF, .urdf, or its name).", show_default=False)
    ],
    landed: landings.Landed,
    robot: robots.RobotFile,
    request: TipRequest,
    picture: options.PictureFile,
    output: Output,
) -> int:
    """Can it touch down like this? Go, or no-go because some outcome tips it over.

    The first line is the answer, and so is the exit code: 0 go, 4 no-go; 5 partial (too few outcomes are
    solved in the time of --budget), 6 undecided (too near the limit), 7 tilted so far that later impacts
    decide. It searches for the worst outcome of the touch-down about every edge of the support polygon, over
    all headings unless one is given, with the joints locked. The second line says whether the set of outcomes
    is the right model here: the contacts are stiff (it is) or soft (the answer is conservative). The picture
    shows the worst outcome tipping over its edge, and the map of safe speeds.

    [bold]Examples:[/bold]

      routh tip lander.xml --down 1.5 --sideways 0.8
      routh tip quadruped.urdf --height 0.05 --sideways 0.5 --heading 90deg --restitution 0
      routh tip lander.xml --down 1.5 --sideways 0.8 --smallest span=0.5:2
      routh tip lander.xml --down 1.5 --json | jq '.safe.sideways'
    """
    from routh.cli.tip import run_tip

    return run_tip(file, landed, robot, request, picture.place(f"{file.stem}-tip.png"), output)


@command("land")
def land(
    file: Annotated[Path, typer.Argument(help="A robot (.xml MJCF, .urdf).", show_default=False)],
    landed: landings.Landed,
    robot: robots.RobotFile,
    request: LandRequest,
    picture: options.PictureFile,
    output: Output,
) -> int:
    """How likely is it to tip over, and where does it come to rest? Whole landings, many at once.

    Each landing goes from the touch to rest, with what is not known drawn for it: orders of simultaneous
    contacts, and what --heights, --tilt, --friction, ... say. Joints are locked; the ground is a plane. With
    --allow the first line and the exit code are an answer: 0 safe, 4 not safe, 6 undecided (more landings
    needed), 5 partial (more than 1 % without an answer).

    [bold]Examples:[/bold]

      routh land lander.xml --down 1.5 --sideways 0.8 --heights 2mm
      routh land lander.xml --height 0.1 --tilt 3deg --slope 5deg -n 5000 --allow 1%
      routh land lander.xml --down 1.5 --sideways 0.8 --friction 0.5..0.8 --check 100
    """
    from routh.cli.land import run_land

    return run_land(file, landed, robot, request, picture.place(f"{file.stem}-land.png"), output)


@command("scan")
def scan(
    source: options.Source,
    landed: landings.Landed,
    robot: robots.RobotFile,
    picture: options.PictureFile,
    output: Output,
    request: ScanRequest,
) -> int:
    """How ambiguous the impact is over a grid: a heat map, and the worst points.

    Impossible states (overlapping limbs, joints past their limits) stay grey.

    [bold]Examples:[/bold]

      routh scan solo12.urdf --down 1.0 --over roll=-20deg:20deg:41 --over pitch=-20deg:20deg:41
      routh scan rocking-block --over mu=0:1:21
    """
    from routh.cli.scan import run_scan

    return run_scan(source, landed, robot, request, picture.place(f"{Path(source).stem}-scan.png"), output)


@command("audit")
def audit(
    source: Annotated[
        str,
        typer.Argument(
            help="A robot (.xml MJCF, .urdf, or its name), a system of [bold]routh list[/bold], or an .npz "
            "file as for [bold]routh impact[/bold].",
            show_default=False,
        ),
    ],
    landed: landings.Landed,
    placed: robots.Standing,
    output: Output,
    request: AuditRequest,
    change: options.Change = None,
) -> int:
    """Check whether rigid bodies could do what a simulator, or an impact law, says they do.

    A robot is simulated in MuJoCo, and each of its impacts is audited.

    For each impact the set of outcomes is sampled, and the report states how far MuJoCo's own outcome is from
    it, and which law it violates, if any: energy gained, still approaching, impulse outside the cone.
    The report is one HTML page with pictures. With [bold]--down[/bold] the rollout begins with a landing.

    For a system, an .npz file, or a robot's state with [bold]--law[/bold], the laws of routh.laws are audited
    instead, and those whose answer leaves the set are named; [bold]--out[/bold] is then a picture of them.
    [bold]--engine[/bold] audits what another physics engine makes of a touch-down, [bold]--after[/bold] any
    velocities. The answer is one of three words: in; outside, proved; not found within 0.03.

    [bold]Examples:[/bold]

      routh audit robot.xml --duration 3 --out audit.html
      routh audit robot.xml --keyframe home --down 1.0
      routh audit box-wall --restitution 0.5 --out laws.png
      routh audit robot.xml --qvel "2:-1" --law moreau --law lzb
      routh audit robot.xml --down 1.5 --engine drake
      routh audit problem.npz --after velocities.npz
    """
    from routh.cli.audit import run_audit, run_law_audit

    if request.engine is not None or request.after is not None:
        from routh.cli.answers import run_answer_audit

        return run_answer_audit(source, landed, placed, request, change or [], output)
    if robots.is_robot(source) and not request.law:
        if request.restitution is not None:
            raise InputError(
                "--restitution", wrong="only applies to laws", wanted="--law NAME with it, or a system"
            )
        robots.refuse_changes(source, change)
        report = options.output_file(request.out or Path("audit.html"), (".html", ".htm"))
        return run_audit(Path(source), landed, placed, request, report, output)
    options.refuse(landed, "only applies to rollouts of robots; wanted no --law")
    return run_law_audit(source, placed, request, change or [], output)


@command("animate")
def animate(
    source: options.Source,
    landed: landings.Landed,
    robot: robots.RobotFile,
    output: Output,
    request: FilmRequest,
) -> int:
    """Write a film of a system's futures, or of a robot's landing.

    With the set-valued law one state has many futures. For a system, one of them is solid and the others are
    ghosts. For a robot, MuJoCo's own motion is solid, and outcomes of the impact are ghosts, coloured by what
    the contacts do; after it MuJoCo moves them, or rigid impacts throughout with [bold]--rigid[/bold].

    [bold]Examples:[/bold]

      routh animate rocking-block --out block.gif --duration 0.3 --pace 0.1
      routh animate anymal.urdf --down 1.0 --roll 5deg --out landing.gif
    """
    from routh.cli.film import animate_robot, animate_system

    target = options.output_file(request.out or Path(f"{Path(source).stem}.gif"), options.FILMS)
    if robots.is_robot(source):
        robots.refuse_changes(source, request.change)
        if request.budget is not None:
            raise InputError(
                "--budget", wrong="only applies to systems; for a robot, use a shorter --duration"
            )
        return animate_robot(Path(source), landed, robot, request, target, output)
    robots.refuse_without_robot(source, landed, robot, request.robot)
    return animate_system(source, request, target, output)


@command("simulate")
def simulate(
    source: options.Source,
    landed: landings.Landed,
    placed: robots.Standing,
    output: Output,
    request: MotionRequest,
) -> int:
    """What happens next: the motion of a system or a robot through its impacts, event by event.

    A single future is listed event by event: impacts with the kinetic energy before and after, contacts that
    open, close, stick or slip, and why it ended. With the set-valued law one state has many futures, and
    [bold]--futures[/bold] draws several; futures that end early are counted and the exit code is 1. Contacts
    are rigid; [bold]--dt[/bold] uses time steps instead of events.

    [bold]Examples:[/bold]

      routh simulate zeno-block --duration 3 --law simultaneous
      routh simulate rocking-block --futures 8 --duration 0.3 --out block.gif --pace 0.1
      routh simulate robot.xml --down 1.0 --roll 5deg --out landing.gif
      routh simulate robot.xml --keyframe home --duration 0.3 --json | jq '.futures[0].events[].kind'
    """
    from routh.cli.simulate import run_simulate

    return run_simulate(source, landed, placed, request, output)


@command("precompile")
def precompile(
    output: Output,
    device: options.Device = "cpu",
    contacts: Annotated[
        list[int] | None,
        typer.Option(min=1, help="With --device cuda: for how many contacts; repeatable. Default: 4."),
    ] = None,
) -> int:
    """Compile all kernels now, once for this machine, so that no later command has to wait.

    A GPU has kernels of its own, for each number of contacts.

    [bold]Examples:[/bold]

      routh precompile
      routh precompile --device cuda --contacts 2 --contacts 4
    """
    from routh.cli.precompile import precompile as compile_all

    return compile_all(output, device, contacts or [])
