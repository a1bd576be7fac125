"""``routh simulate``: a motion, or a fan of futures: its events, why it ended, and a picture or a film."""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from routh import laws, systems
from routh.base.status import InputError
from routh.base.text import by_body, for_rich
from routh.base.validation import Array, Options, choice, deadline_of, real, seconds_left
from routh.cli import options, robots
from routh.cli.exits import Exit
from routh.cli.landings import Landed, tell_place
from routh.cli.output import Output, notes_shown, plain_table
from routh.cli.requests import MotionRequest
from routh.cli.robots import Standing
from routh.models import UnrepresentedWarning
from routh.models.base import Model, State
from routh.problem.impact import soon_sentence
from routh.sim.event_driven import Event, Trajectory
from routh.sim.futures import Bundle, simulate_many

if TYPE_CHECKING:
    from mujoco import MjModel

    from routh.models.planar import PlanarModel
    from routh.models.spatial import SpatialModel
    from routh.sim.verification import Verdict
    from routh.systems.d19 import ConstrainedMotion
    from routh.viz.robot_film import Film

_MOST_NAMES = 6  # contacts of an event; more are told by body
_MOST_ROWS = 24  # of a table; of more the first and the last are shown
_ROBOT_PACE = 0.2  # s of a robot's motion per second of film
#: Share of the largest kinetic energy below which it is rounding: a velocity of 3e-8 of the fastest.
_NO_ENERGY = 1e-15


@dataclass(frozen=True, eq=False)
class Start:
    """What is simulated."""

    name: str
    model: Model
    state: State
    duration: float  # s
    motion: ConstrainedMotion | None = None  # a system that moves by constraint forces
    window: float | None = None  # s
    robot: MjModel | None = None

    @property
    def drawn(self) -> PlanarModel | SpatialModel:
        """The model of a system, whose bodies have shapes."""
        from routh.models.planar import PlanarModel
        from routh.models.spatial import SpatialModel

        if not isinstance(self.model, (PlanarModel, SpatialModel)):
            raise InputError("name", got=f"{self.name!r}, which cannot be drawn", wanted="--out with a .png")
        return self.model


def run_simulate(
    source: str, landed: Landed, placed: Standing, request: MotionRequest, output: Output
) -> int:
    """Simulate a system or a robot, show what happened; the exit code."""
    law = None if request.law is None else laws.LAWS[choice("--law", request.law, tuple(laws.LAWS))]()
    place = request.place(Path(source).stem)
    if place is not None and place.suffix.lower() not in options.PICTURES:
        from routh.viz.films import film_kind

        film_kind(place)  # before the work, not after it
    if robots.is_robot(source):
        robots.refuse_changes(source, request.change)
        with output.console.capture() as notes:  # the answer and the events stand above them
            start = robot_start(Path(source), landed, placed, request, output)
        said = notes.get().rstrip("\n")
    else:
        robots.refuse_without_robot(source, landed, placed)
        if request.self_contacts:
            raise InputError("--self-contacts", wrong=f"{source} is not a robot file", wanted="a robot file")
        start, said = system_start(source, request), ""
    begun = time.perf_counter()
    with (
        output.busy(f"simulating {start.duration:g} s of {start.name}"),
        warnings.catch_warnings(),
        nullcontext() if start.robot is None else robots.advising(start.robot, placed, lands=landed.lands),
    ):
        warnings.simplefilter("ignore", UnrepresentedWarning)  # told below
        bundle = futures_of(start, law, request)
    seconds = time.perf_counter() - begun
    verdicts = _verdicts(start.model, bundle, request, output)
    _tell(start, bundle, verdicts, output)
    output.show(*notes_shown(said))
    written = _picture(start, bundle, place, request, output)
    told: Options = {"name": start.name, "duration": start.duration, "seed": request.seed, "seconds": seconds}
    told |= {"law": request.law, "dt": request.dt, "picture": written}
    told["verified"] = None if verdicts is None else [one.ok for one in verdicts]
    told["broken"] = (
        None if verdicts is None else [list(map(str, one.worst_violations())) for one in verdicts]
    )
    output.emit(**told, futures=list(map(_as_data, bundle)), soon=bundle.soon)
    return Exit.DONE if bundle.ok and all(one.ok for one in verdicts or ()) else Exit.WITHOUT_RESULT


def system_start(name: str, request: MotionRequest) -> Start:
    """A system of `routh list`: every one that has a model."""
    from routh.cli.changes import parse_changes
    from routh.systems.d19 import ConstrainedMotion  # brings time stepping, which robots do without

    system = systems.motion(name, **parse_changes(request.change or [], name))
    motion = system if isinstance(system, ConstrainedMotion) else None
    own = 2.0 if motion is None else motion.duration
    duration = own if request.duration is None else real("--duration", request.duration, above=0.0)
    return Start(system.name, system.model, system.state, duration, motion)


def robot_start(
    file: Path, landed: Landed, placed: Standing, request: MotionRequest, output: Output
) -> Start:
    """A robot in the state that was asked for, or about to land."""
    from routh.models.mujoco.model import MujocoModel

    lands = landed.lands
    if placed.gap is not None:
        raise InputError("--gap", wrong="does not apply to motions; use --window")
    model, data = robots.load_state(file, placed, lands=lands, sky=True)
    state = State(data.qpos, data.qvel)
    if lands:
        with robots.advising(model, placed):
            found = robots.landing_of(model, data, landed, placed)
        tell_place(found, output)
        output.say("[dim]restitution 0: impacts of motions are inelastic[/dim]")
        state = State(found.qpos, found.qvel)
    robots.tell_keyframes(model, placed, output)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UnrepresentedWarning)
        robot = MujocoModel(model, self_contacts=request.self_contacts)
        if request.dt is None:
            robot.check_events()
    for note in notes:
        output.show(f"[yellow]{for_rich(note.message)}[/yellow]")
    duration = 0.5 if request.duration is None else real("--duration", request.duration, above=0.0)
    return Start(file.stem, robot, state, duration, window=placed.window, robot=model)


def futures_of(start: Start, law: laws.ImpactLaw | None, request: MotionRequest) -> Bundle:
    """The futures: event by event, or by time steps where these are asked for or the system's own."""
    many: Options = {"n": request.futures or 1, "seed": request.seed, "budget": request.budget}
    if start.motion is None and request.dt is None:
        return simulate_many(
            start.model, start.state, law=law, duration=start.duration, window=start.window, **many
        )
    if start.motion is not None and law is None:
        if (request.futures or 1) > 1:
            raise InputError(
                "--futures",
                wrong=f"{start.name} moves by constraint forces and has one future",
                wanted="--law with it",
            )
        step = options.given(dt=request.dt, budget=request.budget)
        return Bundle((start.motion.run(duration=start.duration, **step),))
    step = options.given(dt=request.dt, window=start.window)
    from routh.sim.time_stepping import step_through

    run = partial(step_through, start.model, start.state) if start.motion is None else start.motion.run
    step |= {"duration": start.duration, "law": law or laws.SetValued(), "seed": request.seed}
    deadline = deadline_of(request.budget)
    streams = range(request.futures or 1)
    return Bundle(tuple(run(**step, stream=number, budget=seconds_left(deadline)) for number in streams))


def _verdicts(model: Model, bundle: Bundle, request: MotionRequest, output: Output) -> list[Verdict] | None:
    if not request.verify:
        return None
    if any(one.s is None for one in bundle):
        raise InputError(
            "--verify", wrong="only checks motions that go from event to event; time steps are approximations"
        )
    from routh.sim.verification import verify

    with output.busy("verifying"):
        return [verify(model, one) for one in bundle]


def _tell(start: Start, bundle: Bundle, verdicts: list[Verdict] | None, output: Output) -> None:
    """The answer, then the events of one future or a table of all."""
    early = [one for one in bundle if not one.ok]
    few, many = int(bundle.impacts.min()), int(bundle.impacts.max())
    impacts = f"{few} to {many} impacts" if many > few else f"{many} impact{'' if many == 1 else 's'}"
    futures = "1 future" if len(bundle) == 1 else f"{len(bundle)} futures"
    until = "" if early else f", to the end at {max(one.t[-1] for one in bundle):.4g} s"
    lines = [f"{start.name}: {futures}, {impacts}{until}."]
    if early:
        lines.append(f"{len(early)} of {len(bundle)} ended early: {_end(early[0])}.")
    if verdicts is not None:
        lines.append(f"Solutions of HP23 (53): {sum(one.ok for one in verdicts)} of {len(verdicts)}.")
        for number, one in enumerate(verdicts):
            count = len({fault.index for fault in one.violations})
            lines += [
                f"Future {number} is none at {count} of {len(bundle[number])} samples: {worst}."
                for worst in one.worst_violations()[:1]
            ]
    output.answer(lines)
    output.show("", _event_table(bundle[0]) if len(bundle) == 1 else _future_table(bundle))
    for line in soon_sentence(bundle.soon):
        output.say(for_rich(line))


def _end(one: Trajectory) -> str:
    """Time at which a motion ended, and why."""
    last = one.events[-1] if one.events else None
    if one.ok:
        return f"{one.t[-1]:.4g} s, the end"
    why = last.data["reason"] if last is not None and last.kind == "stop" else one.failures()[-1][1].sentence
    return f"{one.t[-1]:.4g} s, {why}"


def _event_table(one: Trajectory) -> Table:
    """One row an event; kinetic energy before and after an impact."""
    table = plain_table(">t (s)", "|event", ">|energy (J)", "contacts")
    rows = [(f"{e.t:.6g}", e.kind, _energies(one, e), _words(e)) for e in one.events]
    rows.append((f"{one.t[-1]:.6g}", "end" if one.ok else "ended early", _energy(one, -1), ""))
    if len(rows) > _MOST_ROWS:
        half = _MOST_ROWS // 2
        between = ("", f"{len(rows) - _MOST_ROWS} more", "", "(--json has all)")
        rows = [*rows[:half], between, *rows[-half:]]
    for row in rows:
        table.add_row(*map(for_rich, row))
    return table


def _energy(one: Trajectory, index: int) -> str:
    """Kinetic energy in J; what is rounding beside the motion's largest is none."""
    if "kinetic" not in one.energies:
        return ""
    kinetic = one.energies["kinetic"]
    return f"{kinetic[index]:.4g}" if kinetic[index] > _NO_ENERGY * kinetic.max() else "0"


def _energies(one: Trajectory, event: Event) -> str:
    """Kinetic energies before an impact and after it."""
    index = min(event.index, len(one) - 1)
    if not event.kind.startswith("impact"):
        return _energy(one, index)
    if one.s is None:  # time stepping has the samples at the ends of the step
        return f"{_energy(one, index - 1)} to {_energy(one, index)}" if index else _energy(one, index)
    after = int(np.searchsorted(one.t, event.t, side="right")) - 1
    return f"{_energy(one, index)} to {_energy(one, after)}"


def _words(event: Event) -> str:
    """Who took part, and what there is to say."""
    names = ", ".join(event.contacts if len(event.contacts) <= _MOST_NAMES else by_body(event.contacts))
    if event.kind == "stop":
        return str(event.data["reason"])
    if event.kind == "zeno":
        return f"{names}: {event.data['impacts']} impacts so far, {event.data['skipped']:.1e} s skipped"
    if event.kind == "choice":
        return f"{names}: {len(event.data['solutions'])} modes are possible"
    return names


def _future_table(bundle: Bundle) -> Table:
    """One row a future."""
    table = plain_table(">future", ">impacts", "|events", ">kinetic energy (J)", "ended at")
    shown = list(enumerate(zip(bundle, bundle.impacts, strict=True)))[:_MOST_ROWS]
    for k, (one, impacts) in shown:
        kinds = Counter(e.kind for e in one.events if not e.kind.startswith("impact"))
        words = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        table.add_row(str(k), str(impacts), for_rich(words), _energy(one, -1), for_rich(_end(one)))
    if len(bundle) > _MOST_ROWS:
        table.add_row("", "", f"{len(bundle) - _MOST_ROWS} more", "", "(--json has all)")
    return table


def _as_data(one: Trajectory) -> Options:
    """A future for machines."""
    events = [{"t": e.t, "kind": e.kind, "contacts": list(e.contacts), "data": e.data} for e in one.events]
    failed = one.failures()
    return {
        "ok": one.ok,
        "status": failed[-1][1].name if failed else "SOLVED",
        "ended": _end(one),
        "t": float(one.t[-1]),
        "q": one.q[-1],
        "v": one.v[-1],
        "impacts": sum(e.kind.startswith("impact") for e in one.events),
        "events": events,
    }


def _picture(
    start: Start, bundle: Bundle, place: Path | None, request: MotionRequest, output: Output
) -> str | None:
    """The picture or the film; its path as text."""
    if place is None:
        return None
    if place.suffix.lower() in options.PICTURES:
        from routh.viz.motions import motion_figure

        image = None if start.robot is None else _last_frame(start, bundle, output)
        return output.picture(
            place, lambda: motion_figure(start.model, tuple(bundle), title=start.name, image=image)
        )
    with output.busy(f"drawing {for_rich(place)}"):
        written = _film(start, bundle, place, request)
    output.say(f"\nfilm: [bold]{for_rich(written)}[/bold]")
    return str(written)


def _film(start: Start, bundle: Bundle, place: Path, request: MotionRequest) -> Path:
    if start.robot is None:
        from routh.viz.films import animate

        speed = 1.0 if request.pace is None else request.pace
        return animate(start.drawn, bundle, place, fps=request.fps, speed=speed, title=start.name)
    from routh.viz.films import check_frames, write_frames
    from routh.viz.robot_film import frames

    pace = real("--pace", _ROBOT_PACE if request.pace is None else request.pace, above=0.0)
    last = max(float(one.t[-1]) for one in bundle)
    count = check_frames("--pace", pace, math.ceil(last / pace * request.fps) + 1)
    return write_frames(frames(_robot_film(start, bundle, np.linspace(0.0, last, count))), place, request.fps)


def _robot_film(start: Start, bundle: Bundle, times: Array) -> Film:
    """The first future in full, the others as ghosts."""
    from routh.viz.robot_film import Film, Ghosts

    assert start.robot is not None
    q = np.array([bundle.at(float(t))[0] for t in times])
    ghosts = Ghosts(
        q[:, 1:], np.zeros(len(bundle) - 1, dtype=int), ("other futures",) if len(bundle) > 1 else ()
    )
    return Film(start.robot, times, q[:, 0], ghosts, title=start.name, solid="first future")


def _last_frame(start: Start, bundle: Bundle, output: Output) -> np.ndarray | None:
    """The robot at the end; None, with a word about it, where nothing can draw it."""
    from routh.viz.robot_film import NoRendererError, frames

    times = np.array([0.0, max(float(one.t[-1]) for one in bundle)])
    try:
        return list(frames(_robot_film(start, bundle, times)))[-1]
    except NoRendererError as error:
        output.say(f"[yellow]no picture of the robot:[/yellow] {for_rich(error)}")
        return None
