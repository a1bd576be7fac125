"""Robots on the command line: ``routh impact robot.xml`` and ``routh audit robot.xml``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from routh.cli import options
from routh.cli.exits import Exit
from routh.cli.landings import Landed, make_landing, tell_place, window_line
from routh.cli.output import Output, plain_table
from routh.status import Status
from routh.text import for_rich

if TYPE_CHECKING:
    from mujoco import MjData, MjModel
    from rich.table import Table

    from routh.auditing.rollout import RolloutAudit
    from routh.models.landings import Landing
    from routh.models.robot import RobotProblem
    from routh.validation import Options


# Which robot a command is given: its file, the folders it may read, and the posture that it starts from.


SUFFIXES = (".xml", ".mjcf", ".urdf")
option = partial(typer.Option, show_default=False, rich_help_panel="Robots")


def is_robot(file: str | Path) -> bool:
    """Whether a file is a robot's, by its name."""
    return Path(file).suffix.lower() in SUFFIXES


def refuse_without_robot(source: str | Path, *groups: object) -> None:
    """An option that only robots can honour is an error for a system and for a file of matrices."""
    for group in groups:
        options.refuse(group, f"{source} is no robot file; wanted one with it: {', '.join(SUFFIXES)}")


def refuse_changes(source: str, changes: object) -> None:
    """Parameters are a system's."""
    if changes:
        raise ValueError(f"--set: {source} is a robot; wanted --joint, --roll, --pitch, --yaw or --drop")


@dataclass(frozen=True)
class RobotFile:
    """How a robot's file is read."""

    root: Annotated[
        list[Path] | None,
        option(
            "--root",
            metavar="FOLDER",
            help="A further folder whose files the model may use, and that holds its packages; repeatable.",
        ),
    ] = None
    state: Annotated[
        Path | None,
        option(
            "--state",
            metavar="FILE",
            help="Posture and velocity from a file: qpos and qvel in .npz or .json.",
        ),
    ] = None
    keyframe: Annotated[str | None, option(help="Keyframe to start from, by name or number.")] = None

    def load(self, file: Path, *, lands: bool = True, **further: object) -> MjModel:
        """The MjModel; a URDF that lands floats, over level ground. ``further`` is told the loader."""
        from routh.models import drop, mujoco

        load = drop.load_landing if lands else mujoco.load
        return load(file, roots=self.root or (), **options.given(**further))

    def posture(self, model: MjModel) -> Options:
        """Where a landing starts: ``keyframe`` or ``qpos`` of `routh.models.landing`."""
        if self.state is None:
            return {"keyframe": self.keyframe}
        if self.keyframe is not None:
            raise ValueError("--state: given together with --keyframe; wanted one of them")
        from routh.models.files import read_state

        return {"qpos": read_state(self.state, int(model.nq), int(model.nv)).qpos}


DEEPEST, PAST_LIMIT = 0.005, 0.05  # m, rad: what is typed by hand is meant

_robot = partial(option, min=0.0)
Window = Annotated[
    float | None,
    _robot(
        help="Contacts that touch, or close within this time at the approach speed, are simultaneous, s. "
        "Default: 0.005."
    ),
]
Deepest = Annotated[
    float, _robot(help="Refuse states where bodies overlap by more than this, m.", show_default=True)
]
PastLimit = Annotated[
    float, _robot(help="Refuse states with a joint farther past its limit, rad.", show_default=True)
]
Restitution = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        show_default=False,
        help="Of every contact. Default: 0; routh tip: from the contacts' own springs.",
    ),
]
Friction = Annotated[
    str, typer.Option(metavar="cone|polyhedral", help="In space: the true cone, or eight facets.")
]


@dataclass(frozen=True)
class Standing(RobotFile):
    """Where the robot is and how it moves, as given on the command line."""

    qpos: Annotated[
        str | None,
        option(help='Positions, "2:0.3,7:0.1" by index or all of them "0 0 0.3 1 0 0 0".'),
    ] = None
    qvel: Annotated[str | None, option(help='Velocities, likewise: "2:-1.0".')] = None
    window: Window = None
    gap: Annotated[
        float | None, _robot(help="Instead of --window: contacts within this distance are simultaneous, m.")
    ] = None
    floating: Annotated[bool, option("--floating", help="Let the root of a URDF float.")] = False
    ground: Annotated[float | None, option(help="Add level ground at this height, m.")] = None
    deepest: Deepest = DEEPEST
    past_limit: PastLimit = PAST_LIMIT


@dataclass(frozen=True)
class Placed(Standing):
    """The same, or how it lands."""

    compare_windows: Annotated[
        bool,
        option(
            "--compare-windows",
            help="Say what a third of the window and three windows would change; draws outcomes for both.",
        ),
    ] = False
    landed: Landed = field(default_factory=Landed)


def _law_names(incomplete: str) -> list[str]:
    """Completion of ``--law``."""
    from routh.laws import LAWS

    return [name for name in LAWS if name.startswith(incomplete)]


@dataclass(frozen=True)
class AuditRequest:
    """How to audit."""

    duration: Annotated[float, typer.Option(min=1e-6, help="How long to simulate, s.")] = 3.0
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Where the report goes (default: audit.html), or the picture of laws (.png, .pdf, .svg).",
        ),
    ] = None
    samples: Annotated[
        int | None,
        typer.Option("--samples", "-n", min=1, help="Outcomes of each set. Default: 256, for laws 4096."),
    ] = None
    law: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Audit the answer of this law to the impact; repeatable. Default for systems: all that have "
            "one answer.",
            autocompletion=_law_names,
        ),
    ] = None
    restitution: Restitution = None
    friction: Friction = "cone"
    max_impacts: Annotated[int, typer.Option(min=1, help="Further impacts are only counted.")] = 50
    impact_deepest: Annotated[
        float | None,
        _robot(
            help="Leave out impacts of the rollout that begin deeper, m. Default: 0.1, soft contacts overlap."
        ),
    ] = None
    impact_past_limit: Annotated[
        float | None,
        _robot(help="Leave out impacts that begin with a joint farther past its limit, rad. Default: 0.4."),
    ] = None
    budget: options.Budget = None
    seed: options.Seed = 0


def run_robot(
    file: Path, placed: Placed, request: options.Request, place: Path | None, output: Output
) -> int:
    """Sample the impact of a robot; the exit code."""
    from routh.cli.run import sample_and_show

    with output.console.capture() as notes:  # the answer stands above them
        problem, wider = robot_problem(file, placed, output)
    note = None
    if wider is not None:
        from routh.models.simultaneity import WINDOW

        window = WINDOW if placed.window is None else placed.window
        note = partial(window_line, wider, window=window, friction=request.friction, seed=request.seed)
    title = f"[bold cyan]{for_rich(file)}[/bold cyan]"
    source = "the true friction cone" if request.friction == "cone" else "polyhedral friction"
    said = notes.get().rstrip("\n")
    return sample_and_show(problem, title, source, request, place, output, notes=said, note=note)


def run_audit(
    file: Path, landed: Landed, placed: Standing, request: AuditRequest, report: Path, output: Output
) -> int:
    """Roll out, audit, and write the report; the exit code."""
    from routh.auditing.rollout import audit as audit_rollout
    from routh.models.robot import NoContactError
    from routh.viz.pages import write_report

    lands = landed.drop is not None
    if not lands:
        options.refuse(landed, "is for landings; wanted --drop SPEED with it")
    model, data = load_state(file, placed, lands=lands)
    with advising(model, placed, lands=lands):
        if lands:
            found = landing_of(model, data, landed, placed)
            data.qpos[:], data.qvel[:] = found.qpos, found.qvel
            tell_place(found, output)
        else:
            with suppress(NoContactError):  # a state without contacts can be
                state_problem(model, data, placed)
    tell_keyframes(model, placed, output)
    soft = options.given(deepest=request.impact_deepest, past_limit=request.impact_past_limit)
    soft |= options.given(window=placed.window, gap=placed.gap)
    for name in ("duration", "seed", "friction", "max_impacts", "budget"):
        soft[name] = getattr(request, name)
    with output.busy(f"simulating {request.duration:g} s and sampling every impact"):
        audited = audit_rollout(model, data, n=request.samples or 256, **soft)
    many = f"{len(audited.impacts)} impact{'s' * (len(audited.impacts) != 1)}"
    output.show(f"[bold cyan]{for_rich(file)}[/bold cyan]  {many} in {audited.duration:g} s")
    output.show(audit_table(audited))
    if audited.status is Status.OUT_OF_TIME:
        output.show(f"[yellow]cut off:[/yellow] {for_rich(audited.status.sentence)}")
    for what, notes in (("left out", audited.refused), ("not represented", audited.unrepresented)):
        for note in notes:
            output.show(f"[yellow]{what}:[/yellow] {for_rich(note)}")
    if not audited.impacts:
        output.show("No impact in this time: try a longer --duration, or --drop 1.0 to begin with a landing.")
    write_report(audited, report)
    output.say(f"\nreport: [bold]{for_rich(report)}[/bold]")
    output.emit(**audit_data(audited), report=str(report))
    return Exit.DONE if audited.impacts else Exit.WITHOUT_RESULT


@contextmanager
def advising(model: MjModel, placed: Standing, *, lands: bool) -> Iterator[None]:
    """What is wrong with a state is told with what to try, as the command line spells it."""
    from routh.models.robot import NoContactError
    from routh.status import ModelError, StateError

    try:
        yield
    except (ModelError, NoContactError) as error:
        told, advice = str(error), []
        if isinstance(error, StateError) and not lands:
            working = _working_keyframe(model, placed)
            advice += [f"--keyframe {working}"] if working else []
            advice.append("--drop 1.0, which moves the robot until it just touches")
        elif isinstance(error, StateError):
            named = keyframes(model)
            advice += [f"--keyframe {named[0]}"] if named and placed.keyframe is None else []
        elif isinstance(error, NoContactError):
            advice.append("--drop 1.0, which lowers the robot until it touches")
        if not _has_ground(model) and (lands or isinstance(error, NoContactError)):
            told, advice = told.partition(", which routh.models")[0], ["--ground 0, which adds level ground"]
        if advice:
            error.args = (f"{told}. Try {' or '.join(advice)}.",)
        raise


def _has_ground(model: MjModel) -> bool:
    """Whether anything that does not move can be touched."""
    still = model.body_weldid[model.geom_bodyid] == 0
    return bool((still & ((model.geom_contype > 0) | (model.geom_conaffinity > 0))).any())


def keyframes(model: MjModel) -> list[str]:
    """Their names, or numbers where they have none."""
    return [model.key(i).name or str(i) for i in range(model.nkey)]


def _working_keyframe(model: MjModel, placed: Standing) -> str | None:
    """The first keyframe whose state is possible."""
    from routh.models import mujoco
    from routh.models.robot import NoContactError
    from routh.status import StateError

    for name in keyframes(model):
        try:
            state_problem(model, mujoco.state(model, keyframe=name), placed)
        except StateError:
            continue
        except NoContactError:
            pass
        return name
    return None


def tell_keyframes(model: MjModel, placed: Standing, output: Output) -> None:
    """Which postures the file has, where none was asked for."""
    named = keyframes(model)
    if named and placed.keyframe is None and placed.state is None and placed.qpos is None:
        more = f" and {len(named) - 8} more" if len(named) > 8 else ""
        told = for_rich(", ".join(named[:8]) + more)
        output.say(f"[dim]from the file's reference pose; its keyframes (--keyframe): {told}[/dim]")


def state_problem(model: MjModel, data: MjData, placed: Standing, **further: float | None) -> RobotProblem:
    """The impact in a state, or a `routh.status.StateError` where that cannot be; nothing is warned of."""
    from routh.models import UnrepresentedWarning, mujoco

    limits = options.given(deepest=placed.deepest, past_limit=placed.past_limit, **further)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        return mujoco.problem(model, data, **limits)


def load_state(
    file: Path, placed: Standing, *, lands: bool = False, sky: bool | None = None
) -> tuple[MjModel, MjData]:
    """The MjModel of a file, with a sky for films, and the MjData of the state that was asked for."""
    from routh.models import mujoco
    from routh.models.files import read_state

    model = placed.load(file, lands=lands, floating=placed.floating or None, ground=placed.ground, sky=sky)
    qpos, qvel = parse_values("--qpos", placed.qpos), parse_values("--qvel", placed.qvel)
    if placed.state is None:
        return model, mujoco.state(model, keyframe=placed.keyframe, qpos=qpos, qvel=qvel)
    if placed.keyframe is not None or qpos is not None:
        raise ValueError("--state: given together with --keyframe or --qpos; wanted one of them")
    found = read_state(placed.state, int(model.nq), int(model.nv))
    return model, mujoco.state(model, qpos=found.qpos, qvel=found.qvel if qvel is None else qvel)


def robot_problem(file: Path, placed: Placed, output: Output) -> tuple[RobotProblem, RobotProblem | None]:
    """The impact of a robot; what it cannot represent is told. If asked for, with three windows, too."""
    from routh.models import simultaneity

    if placed.landed.drop is None:
        options.refuse(placed.landed, "is for landings; wanted --drop SPEED with it")
    if placed.compare_windows and placed.gap is not None:
        raise ValueError("--compare-windows: given together with --gap; wanted one of them")
    lands = placed.landed.drop is not None
    model, data = load_state(file, placed, lands=lands)
    with advising(model, placed, lands=lands):
        if lands:
            problem, wider = _landing_problem(model, data, placed, output)
        else:
            problem, wider = state_problem(model, data, placed, gap=placed.gap, window=placed.window), None
            if placed.compare_windows:
                wider = state_problem(model, data, placed, window=_three_windows(placed))
    tell_keyframes(model, placed, output)
    for note in problem.unrepresented:
        output.show(f"[yellow]not represented:[/yellow] {for_rich(note)}")
    from routh.problem import soon_sentence

    for line in soon_sentence(problem.soon):
        output.show(f"[yellow]{for_rich(line)}[/yellow] (--window, --compare-windows)")
    redundant = simultaneity.redundancy(problem).redundant
    if redundant:
        many = len(redundant) > 3
        which = f"{len(redundant)} of {problem.nc}" if many else for_rich(", ".join(redundant))
        output.say(f"[dim]redundant contacts, like a table's fourth leg (kept): {which}[/dim]")
    return problem, wider


def _three_windows(placed: Placed) -> float:
    from routh.models.simultaneity import WINDOW

    return 3.0 * (WINDOW if placed.window is None else placed.window)


def _landing_problem(
    model: MjModel, data: MjData, placed: Placed, output: Output
) -> tuple[RobotProblem, RobotProblem | None]:
    """The impact with which the robot lands, a line says where it was put; the same with three windows."""
    found = landing_of(model, data, placed.landed, placed)
    tell_place(found, output)
    if not placed.compare_windows:
        return found.problem, None
    wider = landing_of(model, data, placed.landed, placed, window=_three_windows(placed))
    return found.problem, wider.problem


def landing_of(
    model: MjModel, data: MjData, landed: Landed, placed: Standing, window: float | None = None
) -> Landing:
    """The landing from the posture that was asked for; with another ``window``, where it is given."""
    for name in ("gap", "qvel"):
        if getattr(placed, name) is not None:
            raise ValueError(f"--{name}: given together with --drop, which sets it; wanted one of them")
    given = any(value is not None for value in (placed.qpos, placed.keyframe, placed.state))
    limits = {"deepest": placed.deepest, "past_limit": placed.past_limit}
    qpos, window = data.qpos if given else None, placed.window if window is None else window
    return make_landing(model, landed, window=window, qpos=qpos, **limits)


def parse_values(option: str, text: str | None) -> dict[int | str, float] | list[float] | None:
    """``"2:-1.0,5:0.3"`` as index -> value, ``"0 0 1"`` as a list."""
    if text is None:
        return None
    parts = text.replace(",", " ").split()
    try:
        if any(":" in part for part in parts):
            pairs = (part.split(":") for part in parts)
            return {int(index): float(value) for index, value in pairs}
        return [float(part) for part in parts]
    except ValueError:
        raise ValueError(f'{option}: got {text!r}; wanted "2:-1.0,5:0.3" or all values') from None


def audit_table(found: RolloutAudit) -> Table:
    """One row per impact."""
    table = plain_table(">time, s", ">contacts", ">ambiguity", ">distance", "MuJoCo's outcome")
    for impact in found.impacts:
        audit = impact.audit
        numbers = (f"{impact.time:.3f}", str(impact.problem.nc), f"{audit.outcomes.ambiguity:.3f}")
        table.add_row(*numbers, f"{audit.distance:.3f}", for_rich(audit.verdict))
    return table


def audit_data(found: RolloutAudit) -> dict[str, object]:
    """The audit for machines."""
    impacts = [
        {
            "time": impact.time,
            "contacts": list(impact.problem.names),
            "ambiguity": impact.audit.outcomes.ambiguity,
            "distance": impact.audit.distance,
            "inside": impact.audit.inside,
            "broken": [str(broken) for broken in impact.audit.broken],
        }
        for impact in found.impacts
    ]
    told = {name: getattr(found, name) for name in ("duration", "refused", "skipped", "unrepresented")}
    return {**told, "status": found.status.name, "impacts": impacts}
