"""``routh run`` and ``routh impact``: sample, tabulate, draw."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from routh import systems
from routh.auditing.comparison import Comparison, compare
from routh.cli import options, tables
from routh.cli.elastic import run_elastic
from routh.cli.exits import Exit
from routh.cli.nothing import notes_shown, tell_nothing_approaches
from routh.cli.options import Request
from routh.cli.output import Output
from routh.cli.picture import terminal_picture
from routh.compiling import compile_seconds
from routh.problem import ImpactProblem
from routh.sampling import Outcomes, sample
from routh.sampling.answers import Answer
from routh.sampling.sampler import check_count
from routh.storage import MAX_BYTES
from routh.systems import System
from routh.text import for_rich
from routh.validation import Options
from routh.viz import style
from routh.viz.outcomes import outcomes_figure, system_figure

SAMPLES = {1: 2**14, 2: 2**12}  # by the number of tangents: in space a sample costs ten times as much
CHEAP_CONTACTS = {1: 8, 2: 4}
AMBIGUITY = "Ambiguity: how far apart two outcomes can be, as a share of the speed before; 0 is none."
SECONDS = 60.0  # for drawing, where neither samples nor a budget are asked for


def run_system(name: str, changes: list[str], request: Request, place: Path | None, output: Output) -> int:
    """Sample a named system; the exit code."""
    if name not in systems.names() and Path(name).is_file():
        raise ValueError(f"name: got a file; wanted a system, or for a file: routh impact {name!r}")
    system = systems.get(name, **parse_changes(changes, name))
    if system.kind == "motion":
        options.refuse(request, f"{name} is a motion, which is not sampled; wanted a system of kind impact")
        from routh.cli.motion import run_motion  # whose models are many

        return run_motion(system, place, output)
    assert system.problem is not None
    title = f"[bold cyan]{system.name}[/bold cyan]  {system.summary}"
    source = system.paper.source
    return sample_and_show(system.problem, title, source, request, place, output, system=system)


def run_file(
    file: Path, request: Request, place: Path | None, output: Output, max_bytes: int | None = None
) -> int:
    """Sample the impact in a file, of ``max_bytes`` at most; the exit code."""
    title = f"[bold cyan]{for_rich(file)}[/bold cyan]"
    problem = ImpactProblem.load(file, max_bytes=MAX_BYTES if max_bytes is None else max_bytes)
    return sample_and_show(problem, title, "your own", request, place, output)


def default_samples(problem: ImpactProblem) -> int:
    """Fewer where a step costs more: its cost grows with the cube of its contacts, and in space by ten."""
    share = min(1.0, (CHEAP_CONTACTS[problem.nt] / problem.nc) ** 3)
    return max(int(SAMPLES[problem.nt] * share), 256)


def parse_changes(changes: Sequence[str], name: str | None = None) -> Options:
    """``KEY=VALUE`` pairs as keyword arguments: numbers, or lists such as [1, 0.5].

    Text is for the parameters of the system ``name`` that are text.
    """
    found: Options = {}
    for change in changes:
        key, equals, value = (part.strip() for part in change.partition("="))
        if not equals or not key:
            raise ValueError(f"--set: got {change!r}; wanted KEY=VALUE, for example mu=0.2")
        key = key.replace("-", "_")
        try:
            found[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            if name is None or not _is_text(name, key):
                raise ValueError(
                    f"--set: got {change!r}; wanted a number or a list of numbers after the ="
                ) from None
            found[key] = value
    return found


def _is_text(name: str, key: str) -> bool:
    return any(one.name == key and isinstance(one.default, str) for one in systems.parameters(name))


def sample_and_show(
    problem: ImpactProblem,
    title: str,
    source: str,
    request: Request,
    place: Path | None,
    output: Output,
    *,
    system: System | None = None,
    notes: str = "",
    note: Callable[[Outcomes], str] | None = None,
) -> int:
    """Draw outcomes; show the answer, the tables and the picture; the exit code.

    One contact that rebounds follows one path: it has no set, but an outcome by each hypothesis.
    ``notes``: what was said while the problem was made, which stands after the answer; then what ``note``
    says of the outcomes.
    """
    elastic = problem.nc == 1 and bool(np.any(problem.restitution > 0.0))
    if elastic:
        why = "one contact with restitution has one outcome per hypothesis, which is not sampled"
        options.refuse(request, why)
    if not problem.approaching.any():
        return tell_nothing_approaches(problem, title, output, notes)
    if elastic:
        return run_elastic(problem, title, source, place, output)
    outcomes, seconds = _drawn(problem, request, output)
    with output.busy("solving with the classical laws"):
        shown = compare(outcomes, ways=False, enumerated=tables.QUICK_CONTACTS)
    answer = outcomes.answer(request.merge)
    output.answer(answer.lines())
    output.show("", title)
    output.say(f"[dim]{source} · {tables.describe(outcomes, seconds)}[/dim]")
    if answer.ambiguous:
        output.say(f"[dim]{AMBIGUITY}[/dim]")
    output.show(*notes_shown(notes))
    if note is not None and not output.quiet:
        with output.busy("looking at other contacts"):
            said = note(outcomes)
        output.say(f"[dim]{said}[/dim]")
    output.show("")
    _show(shown, request, output)
    ended = bool(outcomes.solved.any())
    written = output.picture(place if ended else None, lambda: _figure(outcomes, shown, system))
    output.emit(**tables.as_data(shown, answer, seconds, request.merge), picture=written)
    return exit_of(answer)


def exit_of(answer: Answer) -> Exit:
    """By how many of the samples are solved."""
    if answer.between is None:
        return Exit.WITHOUT_RESULT
    return Exit.DONE if answer.enough else Exit.TOO_FEW_SOLVED


def _figure(outcomes: Outcomes, shown: Comparison, system: System | None) -> style.Figure:
    if system is None:
        return outcomes_figure(outcomes, shown=shown)
    return system_figure(system, outcomes, shown=shown)


def _drawn(problem: ImpactProblem, request: Request, output: Output) -> tuple[Outcomes, float]:
    """The samples, and how long drawing them took, s: without what is compiled or loaded for it before."""
    n = default_samples(problem) if request.samples is None else request.samples
    shared = ("seed", "friction", "device", "threads", "budget")
    options: Options = {**_method_of(request), **{name: getattr(request, name) for name in shared}}
    if request.samples is None and request.budget is None:
        options["budget"] = SECONDS
    with output.busy(f"drawing {n} outcomes"):
        check_count(problem, n)
        sample(problem, 1, **options)  # loads the kernels
        start, compiled = time.perf_counter(), compile_seconds()
        outcomes = sample(problem, n, **options)
        return outcomes, time.perf_counter() - start - (compile_seconds() - compiled)


def _method_of(request: Request) -> Options:
    """Algorithm 1 where one of its options is asked for; else by events."""
    points = None if request.points == "random" else request.points
    asked = options.given(step=request.step, max_steps=request.max_steps, points=points)
    return {"method": "algorithm1", **asked} if asked else {}


def _show(shown: Comparison, request: Request, output: Output) -> None:
    """The tables, and the picture in the terminal."""
    if shown.outcomes.solved.any():
        output.show(tables.mode_table(shown.outcomes, request.merge))
        for line in tables.contact_key(shown.problem.names):
            output.show(f"[dim]{for_rich(line)}[/dim]")
    output.show(*tables.remarks(shown.outcomes, request.merge))
    output.say()
    if shown.simultaneous:
        output.show(tables.law_table(shown))
    else:
        output.say("What laws with one answer and restitution say (Moreau, Poisson, LZB, ...): routh audit.")
    if len(shown.simultaneous) > 1 and shown.outcomes.settings.get("method") != "events":
        output.say(
            "Steps of this impact can have several solutions. Each sample takes one of them by a fixed "
            "rule (Lemke's), so the set may be larger than what the samples show."
        )
    if shown.outcomes.solved.any() and not output.quiet:
        output.show("", terminal_picture(shown, output.console))
