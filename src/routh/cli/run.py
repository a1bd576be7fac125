"""``routh run`` and ``routh impact``: sample, tabulate, draw."""

from __future__ import annotations

import ast
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.markup import escape

from routh import systems
from routh.cli import tables
from routh.cli.elastic import has_single_elastic_contact, run_elastic
from routh.cli.motion import run_motion
from routh.cli.output import Output
from routh.cli.picture import terminal_picture
from routh.problem import ImpactProblem
from routh.sets import Outcomes, sample
from routh.status import MissingExtraError
from routh.viz.comparison import Comparison, friction_of, sequences, simultaneous_solutions

SAMPLES = 2**14
CHEAP_CONTACTS = 8


@dataclass(frozen=True)
class Request:
    """How to sample."""

    samples: int | None
    step: float | None
    max_steps: int | None
    points: str
    seed: int
    device: str
    threads: int | None
    friction: str | None = None  # None: polyhedral, or the true cone for robots


def run_system(name: str, changes: list[str], request: Request, picture: Path | bool, output: Output) -> int:
    """Sample a named system; the exit code."""
    system = systems.get(name, **parse_changes(changes))
    place = Path(f"{name}.png") if picture is True else picture
    if system.kind == "motion":
        return run_motion(system, place, output)
    assert system.problem is not None
    step = system.paper.step if request.step is None and not changes else request.step
    title = f"[bold cyan]{system.name}[/bold cyan]  {system.summary}"
    if has_single_elastic_contact(system.problem):
        return run_elastic(system.problem, title, system.paper.source, output)
    return sample_and_show(system.problem, title, system.paper.source, step, request, place, output)


def run_file(file: Path, request: Request, picture: Path | bool, output: Output) -> int:
    """Sample the impact in a file; the exit code."""
    place = Path(f"{file.stem}.png") if picture is True else picture
    title = f"[bold cyan]{file}[/bold cyan]"
    problem = load_problem(file)
    if has_single_elastic_contact(problem):
        return run_elastic(problem, title, "your own", output)
    return sample_and_show(problem, title, "your own", request.step, request, place, output)


def default_samples(problem: ImpactProblem) -> int:
    """16384, and fewer where a step costs more: a step's cost grows with the cube of its contacts."""
    return max(int(SAMPLES * min(1.0, (CHEAP_CONTACTS / problem.nc) ** 3)), 256)


def load_problem(file: Path) -> ImpactProblem:
    """Read an ``.npz`` file, with an error that names the file whatever is wrong with it."""
    try:
        return ImpactProblem.load(file)
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, TypeError, AttributeError) as error:
        raise ValueError(f"{file}: is not an .npz file ({error})") from None
    except ValueError as error:
        text = str(error)
        if "pickle" in text:
            raise ValueError(f"{file}: is not an .npz file of plain arrays") from None
        raise ValueError(text if text.startswith(str(file)) else f"{file}: {text}") from None


def parse_changes(changes: list[str]) -> dict[str, Any]:
    """``KEY=VALUE`` pairs as keyword arguments: numbers, or lists such as [1, 0.5]."""
    found = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--set: got {change!r}; wanted KEY=VALUE, for example mu=0.2")
        try:
            found[key.strip().replace("-", "_")] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            raise ValueError(
                f"--set: got {change!r}; wanted a number or a list of numbers after the ="
            ) from None
    return found


def sample_and_show(
    problem: ImpactProblem,
    title: str,
    source: str,
    step: float | None,
    request: Request,
    place: Path | bool,
    output: Output,
) -> int:
    """Draw outcomes, and show the tables and the picture of them; the exit code."""
    start = time.perf_counter()
    n = default_samples(problem) if request.samples is None else request.samples
    with output.busy(f"drawing {n} outcomes"):
        outcomes = sample(
            problem,
            n,
            step=step,
            max_steps=request.max_steps,
            seed=request.seed,
            points=request.points,
            friction=request.friction or "polyhedral",
            device=request.device,
            threads=request.threads,
        )
    seconds = time.perf_counter() - start
    with output.busy("solving with the classical laws"):
        friction = friction_of(outcomes)
        solutions, complete = simultaneous_solutions(
            problem, enumerated=tables.ENUMERATED_CONTACTS, friction=friction
        )
        one_by_one = sequences(problem, friction=friction)
        laws = Comparison(outcomes, problem.v[None][:0], one_by_one, solutions, complete)
    output.show(title)
    output.say(f"[dim]{source} · {tables.describe(outcomes, seconds)}[/dim]\n")
    output.show(tables.mode_table(outcomes))
    for line in tables.contact_key(problem.names):
        output.show(f"[dim]{escape(line)}[/dim]")
    for line in tables.remarks(outcomes):
        output.show(line)
    output.say()
    output.show(tables.law_table(laws))
    if len(solutions) > 1:
        output.say(
            "Steps of this impact can have several solutions. Each sample takes one of them by a fixed"
        )
        output.say("rule (Lemke's), so the set may be larger than what the samples show.")
    if outcomes.terminated.any():
        output.say()
        if not output.quiet:
            output.show(terminal_picture(laws, output.console))
    written = _write_picture(laws.outcomes, place, output)
    output.emit({**tables.as_data(laws, seconds), "picture": None if written is None else str(written)})
    return 0 if outcomes.terminated.any() else 1


def _write_picture(outcomes: Outcomes, place: Path | bool, output: Output) -> Path | None:
    if place is False or not outcomes.terminated.any():
        return None
    assert isinstance(place, Path)
    try:
        with output.busy("drawing the picture"):
            from routh.viz import style
            from routh.viz.outcomes import outcomes_figure

            style.save(outcomes_figure(outcomes), place)
    except MissingExtraError as error:
        output.say(f"\n[yellow]no picture file:[/yellow] {error}".replace("[viz]", r"\[viz]"))
        return None
    output.say(f"\npicture: [bold]{place}[/bold]")
    return place
