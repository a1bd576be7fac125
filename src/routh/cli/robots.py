"""Robots on the command line: which file, in what state, and the impact there.

First the options: `RobotFile` and `Standing` (with `Placement`, which may land). Then ``routh impact
robot.xml``, the impact in a state or of a landing, and what is said where a state cannot be.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from routh.base.status import InputError
from routh.base.text import for_rich, for_terminal, listed
from routh.cli import options
from routh.cli.landings import Landed, make_landing, tell_place, tell_restitution, window_line
from routh.cli.output import Output

if TYPE_CHECKING:
    from mujoco import MjData, MjModel

    from routh.base.validation import Options
    from routh.models.landings import Landing
    from routh.models.robot import RobotProblem


SUFFIXES = (".xml", ".mjcf", ".urdf")
_LATER = 1.0  # s: contacts that close later are not named
DEEPEST, PAST_LIMIT = 0.02, 0.1  # `routh.models.simultaneity`'s, which would load NumPy for every command
option = partial(typer.Option, show_default=False, rich_help_panel="Robots")
not_negative = partial(option, min=0.0)


def is_robot(file: str | Path) -> bool:
    """Whether a file is a robot's, by its suffix, or is no file and a robot's name, and not a system's."""
    if Path(file).suffix:
        return Path(file).suffix.lower() in SUFFIXES
    from routh.models.zoo import is_robot_name  # brings the robots' packages
    from routh.systems.catalogue import CATALOGUE

    return str(file) not in CATALOGUE and is_robot_name(file)


def refuse_other_files(file: Path) -> None:
    """A folder, or a file that is there and neither a robot's nor an .npz file by its name."""
    if file.is_dir() or (file.suffix.lower() not in (*SUFFIXES, ".npz") and file.is_file()):
        what = "is a folder" if file.is_dir() else "has another suffix"
        raise InputError(
            for_terminal(file), wrong=what, wanted=f"a robot ({', '.join(SUFFIXES)}) or an .npz file"
        )


def refuse_without_robot(source: str | Path, *groups: object) -> None:
    """An option that only robots can honour is an error for a system and for a file of matrices."""
    for group in groups:
        options.refuse(group, f"{source} is not a robot file; wanted {', '.join(SUFFIXES)}")


def refuse_changes(source: str, changes: object) -> None:
    """Parameters are a system's."""
    if changes:
        raise InputError(
            "--set", wrong=f"{source} is a robot file; use --joint, --roll, --pitch, --yaw or --down"
        )


@dataclass(frozen=True)
class RobotFile:
    """How a robot's file is read."""

    root: Annotated[
        list[Path] | None,
        option(
            "--root",
            metavar="FOLDER",
            help="Another folder that the model may read files from and that holds its packages; repeatable.",
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
    ground: Annotated[float | None, option(help="Add level ground at this height, m.")] = None

    def load(self, file: Path, *, lands: bool = True, **further: object) -> MjModel:
        """The MjModel; a URDF that lands floats, over level ground. ``further`` is told the loader."""
        from routh.models import mujoco
        from routh.models.robots import landing

        load = landing.load_landing if lands else mujoco.load
        return load(file, roots=self.root or (), **options.given(ground=self.ground, **further))

    @property
    def poses(self) -> bool:
        """Whether a posture to start from was given."""
        return self.state is not None or self.keyframe is not None

    def posture(self, model: MjModel) -> Options:
        """Posture in which a landing starts: ``keyframe`` or ``qpos`` of `routh.models.landing`."""
        if self.state is None:
            return {"keyframe": self.keyframe}
        if self.keyframe is not None:
            raise InputError("--state", wrong="given together with --keyframe", wanted="only one of them")
        from routh.models.files import read_state

        return {"qpos": read_state(self.state, int(model.nq), int(model.nv)).qpos}


Window = Annotated[
    float | None,
    not_negative(
        help="Contacts that touch, or close within this time at the approach speed, are simultaneous, s. "
        "Default: 0.005."
    ),
]
Deepest = Annotated[
    float, not_negative(help="Refuse states where bodies overlap by more than this, m.", show_default=True)
]
PastLimit = Annotated[
    float,
    option(
        parser=options.angle,
        metavar="ANGLE",
        help="Refuse states with a joint past its limit by more than this, rad, or such as 3deg.",
        show_default=True,
    ),
]
Restitution = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        show_default=False,
        help="Restitution coefficient of all contacts. Default: from the contacts' springs.",
    ),
]
Friction = Annotated[
    str, typer.Option(metavar="cone|polyhedral", help="In space: the true cone, or eight facets.")
]


@dataclass(frozen=True)
class Standing(RobotFile):
    """Options that say where the robot is and how it moves."""

    qpos: Annotated[
        str | None,
        option(help='Positions by index, "2:0.3,7:0.1", or all of them, "0 0 0.3 1 0 0 0".'),
    ] = None
    qvel: Annotated[str | None, option(help='Velocities, likewise: "2:-1.0".')] = None
    window: Window = None
    gap: Annotated[
        float | None,
        not_negative(help="Instead of --window: contacts within this distance are simultaneous, m."),
    ] = None
    floating: Annotated[bool, option("--floating", help="Give a URDF a floating base.")] = False
    deepest: Deepest = DEEPEST
    past_limit: PastLimit = PAST_LIMIT

    @property
    def poses(self) -> bool:
        """Whether a posture to start from was given."""
        return super().poses or self.qpos is not None


@dataclass(frozen=True)
class Placement(Standing):
    """The same, or how it lands."""

    compare_windows: Annotated[
        bool,
        option(
            "--compare-windows",
            help="Also sample with a third and with three times the window, and say what changes.",
        ),
    ] = False
    restitution: Restitution = None
    landed: Landed = field(default_factory=Landed)


def run_robot(
    file: Path, placed: Placement, request: options.SampleRequest, place: Path | None, output: Output
) -> int:
    """Sample the impact of a robot; the exit code."""
    from routh.cli.run import sample_and_show

    with output.console.capture() as notes:  # the answer stands above them
        problem, wider = robot_problem(file, placed, output)
    note = None
    if wider is not None:
        note = partial(window_line, wider, _window(placed), request.friction, request.seed)
    title = f"[bold cyan]{for_rich(file)}[/bold cyan]"
    source = "the true friction cone" if request.friction == "cone" else "polyhedral friction"
    said = notes.get().rstrip("\n")
    return sample_and_show(problem, title, source, request, place, output, notes=said, note=note)


@contextmanager
def advising(model: MjModel, placed: RobotFile, *, lands: bool = True) -> Iterator[None]:
    """What is wrong with a state is told with what to try, as the command line spells it."""
    from routh.base.status import ModelError, Option, StateError
    from routh.models.mujoco.files import keyframe_names
    from routh.models.robot import NoContactError

    try:
        yield
    except (ModelError, NoContactError) as error:
        advice: list[Option] = []
        named = keyframe_names(model)
        if isinstance(error, StateError) and isinstance(placed, Standing) and not lands:
            working = _working_keyframe(model, placed)
            advice += [Option("keyframe", working)] if working else []
            down = Option("down", "1.0", "moves the robot until it just touches")
            if named and not working and placed.keyframe is None:
                down = Option("keyframe", f"{named[0]} {down.spelt('--down')}")
            advice.append(down)
        elif isinstance(error, StateError):
            advice += [Option("keyframe", named[0])] if named and placed.keyframe is None else []
        elif isinstance(error, NoContactError) and not has_ground(model):
            advice.append(Option("ground", "0", "adds level ground"))
        elif isinstance(error, NoContactError) and not lands:
            advice.append(Option("down", "1.0", "lowers the robot until it touches"))
        error.advice = (*error.advice, *advice)
        raise


def has_ground(model: MjModel) -> bool:
    """Whether anything that does not move can be touched."""
    still = model.body_weldid[model.geom_bodyid] == 0
    return bool((still & ((model.geom_contype > 0) | (model.geom_conaffinity > 0))).any())


def _working_keyframe(model: MjModel, placed: Standing) -> str | None:
    """The first keyframe whose state is possible."""
    from routh.base.status import StateError
    from routh.models import mujoco
    from routh.models.mujoco.files import keyframe_names
    from routh.models.robot import NoContactError

    for name in keyframe_names(model):
        try:
            state_problem(model, mujoco.state(model, keyframe=name), placed)
        except StateError:
            continue
        except NoContactError:
            pass
        return name
    return None


def tell_keyframes(model: MjModel, placed: RobotFile, output: Output) -> None:
    """Which postures the file has, where none was asked for."""
    from routh.models.mujoco.files import keyframe_names

    named = keyframe_names(model)
    if named and not placed.poses:
        told = for_rich(listed(named, 8))
        output.say(f"[dim]from the file's reference pose; its keyframes (--keyframe): {told}[/dim]")


def state_problem(model: MjModel, data: MjData, placed: Standing, **further: float | None) -> RobotProblem:
    """The impact in a state, or a `StateError` where that cannot be; nothing is warned of."""
    from routh.models import UnrepresentedWarning, mujoco
    from routh.models.simultaneity import RESTITUTION

    limits = options.given(deepest=placed.deepest, past_limit=placed.past_limit, **further)
    elastic = placed.restitution if isinstance(placed, Placement) else None
    limits["restitution"] = RESTITUTION if elastic is None else elastic
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnrepresentedWarning)
        return mujoco.problem(model, data, **limits)


def load_state(
    file: Path, placed: Standing, *, lands: bool = False, sky: bool | None = None
) -> tuple[MjModel, MjData]:
    """The MjModel of a file, with a sky for films, and the MjData of the state that was asked for."""
    from routh.models import mujoco
    from routh.models.files import read_state

    model = placed.load(file, lands=lands, floating=placed.floating or None, sky=sky)
    qpos, qvel = parse_values("--qpos", placed.qpos), parse_values("--qvel", placed.qvel)
    if placed.state is None:
        return model, mujoco.state(model, keyframe=placed.keyframe, qpos=qpos, qvel=qvel)
    if placed.keyframe is not None or qpos is not None:
        raise InputError("--state", wrong="given together with --keyframe or --qpos", wanted="one of them")
    found = read_state(placed.state, int(model.nq), int(model.nv))
    return model, mujoco.state(model, qpos=found.qpos, qvel=found.qvel if qvel is None else qvel)


def robot_problem(file: Path, placed: Placement, output: Output) -> tuple[RobotProblem, RobotProblem | None]:
    """The impact of a robot; what it cannot represent is told. If asked for, with three windows, too."""
    from routh.models import simultaneity
    from routh.problem.impact import soon_sentence

    lands = placed.landed.lands
    if placed.compare_windows and placed.gap is not None:
        raise InputError("--compare-windows", wrong="given together with --gap", wanted="one of them")
    model, data = load_state(file, placed, lands=lands)
    wider: RobotProblem | None = None
    with advising(model, placed, lands=lands):
        three_windows = 3.0 * _window(placed)
        if lands:
            found = landing_of(model, data, placed.landed, placed)
            tell_place(found, output)
            problem = found.problem
            if placed.compare_windows:
                wider = landing_of(model, data, placed.landed, placed, window=three_windows).problem
        else:
            problem = state_problem(model, data, placed, gap=placed.gap, window=placed.window)
            if placed.compare_windows:
                wider = state_problem(model, data, placed, window=three_windows)
    if not lands and not problem.approaching.any():
        for line in _later(model, data, placed):
            output.show(f"[yellow]{for_rich(line)}[/yellow]")
    tell_restitution(problem, placed.restitution, output)
    tell_keyframes(model, placed, output)
    for note in problem.unrepresented:
        output.show(f"[yellow]not represented:[/yellow] {for_rich(note)}")
    for line in soon_sentence(problem.soon):
        output.show(f"[yellow]{for_rich(line)}[/yellow] (--window, --compare-windows)")
    redundant = simultaneity.redundancy(problem)
    if redundant:
        many = len(redundant) > 3
        which = f"{len(redundant)} of {problem.nc}" if many else for_rich(", ".join(redundant))
        output.say(f"[dim]redundant contacts, like a table's fourth leg (kept): {which}[/dim]")
    return problem, wider


def _later(model: MjModel, data: MjData, placed: Placement) -> list[str]:
    """What of a state in which nothing approaches yet closes within a second, in one line."""
    later = state_problem(model, data, placed, window=_LATER)
    closing = zip(later.names, later.approaching, later.time_to_contact.tolist(), strict=True)
    times = {name: time for name, approaches, time in closing if approaches and time > 0.0}
    if not times:
        return []
    first = min(times, key=lambda name: times[name])
    told = f"{first} closes in {1e3 * times[first]:.3g} ms"
    return [f"{told}: --window {1.1 * times[first]:.2g} counts it."]


def _window(placed: Placement) -> float:
    from routh.models.simultaneity import WINDOW

    return WINDOW if placed.window is None else placed.window


def landing_of(
    model: MjModel, data: MjData, landed: Landed, placed: Standing, window: float | None = None
) -> Landing:
    """The landing from the posture that was asked for; with another ``window``, where it is given."""
    for name in ("gap", "qvel"):
        if getattr(placed, name) is not None:
            raise InputError(
                f"--{name}",
                wrong="given together with --down or --height, which set it",
                wanted="one of them",
            )
    limits: Options = {"deepest": placed.deepest, "past_limit": placed.past_limit}
    limits["restitution"] = placed.restitution if isinstance(placed, Placement) else None
    qpos, window = data.qpos if placed.poses else None, placed.window if window is None else window
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
        raise InputError(option, got=repr(text), wanted='"2:-1.0,5:0.3" or all values') from None
