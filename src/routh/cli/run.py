"""``routh run`` and ``routh impact``: sample, tabulate, draw.

`run_system` and `run_file` say what is sampled, `sample_and_show` does it. What has no samples comes after:
the set itself (`run_exact`), a motion (`run_motion`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from rich.table import Table

from routh import systems
from routh.auditing.comparison import Comparison, compare
from routh.base import features
from routh.base.status import InputError, Status
from routh.base.storage import MAX_BYTES
from routh.base.text import for_rich
from routh.base.validation import Array, Options
from routh.cli import options, tables
from routh.cli.changes import parse_changes
from routh.cli.exits import Exit
from routh.cli.options import SampleRequest
from routh.cli.output import Output, notes_shown, plain_table
from routh.cli.tables import tell_nothing_approaches, terminal_picture
from routh.compiling import compile_seconds
from routh.models.base import Model
from routh.models.planar import PlanarModel
from routh.models.robot import RobotProblem
from routh.problem.impact import ImpactProblem
from routh.sampling import Outcomes, sample, sample_by_steps
from routh.sampling.sampler import check_count
from routh.systems import System
from routh.viz import style

if TYPE_CHECKING:
    from routh.exact.result import ExactSet

SAMPLES = {1: 2**14, 2: 2**12}  # by the number of tangents: in space a sample costs ten times as much
CHEAP_CONTACTS = {1: 8, 2: 4}
AMBIGUITY = "Ambiguity: how far apart two outcomes can be, as a share of the speed before; 0 is none."
SECONDS = 60.0  # for drawing, where neither samples nor a budget are asked for
EXACT_SECONDS = 60.0  # for the exact set
_MOST_COLUMNS = 6  # of velocities in a table of vertices: more would be cut off in 80 characters


def run_system(
    name: str, changes: list[str], request: SampleRequest, place: Path | None, output: Output
) -> int:
    """Sample a named system; the exit code."""
    if name not in systems.names() and Path(name).is_file():
        raise InputError(
            "name", got="a file", wanted=f"the name of a system (for a file: routh impact {name!r})"
        )
    system = systems.get(name, **parse_changes(changes, name))
    if system.kind == "motion":
        options.refuse(
            request,
            f"{name} is a motion, which has no single impact to sample; wanted a system of kind impact",
        )
        return run_motion(system, place, output)
    assert system.problem is not None
    title = f"[bold cyan]{system.name}[/bold cyan]  {system.summary}"
    source = system.paper.source
    return sample_and_show(system.problem, title, source, request, place, output, system=system)


def run_file(
    file: Path, request: SampleRequest, place: Path | None, output: Output, max_bytes: int | None = None
) -> int:
    """Sample the impact in a file, of ``max_bytes`` at most; the exit code."""
    title = f"[bold cyan]{for_rich(file)}[/bold cyan]"
    problem = ImpactProblem.load(file, max_bytes=MAX_BYTES if max_bytes is None else max_bytes)
    return sample_and_show(problem, title, "your own", request, place, output)


def default_samples(problem: ImpactProblem) -> int:
    """Number of samples, fewer where a step costs more: by the cube of its contacts, and in space by ten."""
    share = min(1.0, (CHEAP_CONTACTS[problem.nt] / problem.nc) ** 3)
    return max(int(SAMPLES[problem.nt] * share), 256)


def sample_and_show(
    problem: ImpactProblem,
    title: str,
    source: str,
    request: SampleRequest,
    place: Path | None,
    output: Output,
    *,
    system: System | None = None,
    notes: str = "",
    note: Callable[[], str] | None = None,
) -> int:
    """Draw outcomes; show the answer, the tables and the picture; the exit code.

    One contact that rebounds follows one path: it has no set, but an outcome by each hypothesis, which the
    feature of two bodies shows. A robot's is sampled as any: how elastic it is may be its file's to say.
    ``notes``: what was said while the problem was made, which stands after the answer; then what ``note``
    says.
    """
    elastic = features.entries("runs").get("one elastic contact") if problem.nc == 1 else None
    elastic = elastic if not isinstance(problem, RobotProblem) and np.any(problem.restitution > 0.0) else None
    if elastic:
        why = "one contact with restitution has one outcome per hypothesis, which is not sampled"
        options.refuse(request, why)
    if not problem.approaching.any():
        return tell_nothing_approaches(problem, title, output, notes)
    if elastic:
        run_elastic = cast("Callable[..., int]", features.resolve(elastic))
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
            said = note()
        output.say(f"[dim]{said}[/dim]")
    output.show("")
    _show(shown, request, output)

    def figure() -> style.Figure:
        from routh.viz.plots import outcomes_figure, system_figure  # only with a picture

        if system is None:
            return outcomes_figure(outcomes, shown=shown)
        return system_figure(system, outcomes, shown=shown)

    written = output.picture(place if outcomes.solved.any() else None, figure)
    output.emit(**tables.as_data(shown, answer, seconds, request.merge), picture=written)
    if answer.between is None:
        return Exit.WITHOUT_RESULT
    return Exit.DONE if answer.enough else Exit.TOO_FEW_SOLVED


def _drawn(problem: ImpactProblem, request: SampleRequest, output: Output) -> tuple[Outcomes, float]:
    """The samples, and how long drawing them took, s: without what is compiled or loaded for it before."""
    n = default_samples(problem) if request.samples is None else request.samples
    shared = ("seed", "friction", "device", "threads", "budget")
    told: Options = {name: getattr(request, name) for name in shared}
    if request.samples is None and request.budget is None:
        told["budget"] = SECONDS
    points = None if request.points == "random" else request.points
    steps = options.given(step=request.step, max_steps=request.max_steps, points=points)
    # with steps it is the paper's Algorithm 1, whose options these are
    made: Callable[..., Outcomes] = partial(sample_by_steps, **steps) if steps else sample
    with output.busy(f"drawing {n} outcomes"):
        check_count(problem, n)
        made(problem, 1, **told)  # loads the kernels
        start, compiled = time.perf_counter(), compile_seconds()
        outcomes = made(problem, n, **told)
        return outcomes, time.perf_counter() - start - (compile_seconds() - compiled)


def _show(shown: Comparison, request: SampleRequest, output: Output) -> None:
    """The tables, and the picture in the terminal."""
    if shown.outcomes.solved.any():
        output.show(tables.mode_table(shown.outcomes, request.merge))
        names = shown.problem.names
        for i, name in enumerate(names if tables.numbered(names) else (), start=1):
            output.show(f"[dim]contact {i}: {for_rich(name)}[/dim]")
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


def run_exact(
    name: str, changes: list[str], place: Path | None, output: Output, budget: float | None = None
) -> int:
    """Compute a system's exact set, print its vertices and draw it; the exit code."""
    from routh.exact.build import exact_set
    from routh.sampling.fill import fill
    from routh.viz.velocity import velocity_figure

    system = systems.get(name, **parse_changes(changes, name))
    rational = system.rational
    friction = "cone" if rational.nt == 1 else "polyhedral"
    with output.busy("computing the exact set"):
        exact = exact_set(rational, friction=friction, budget=EXACT_SECONDS if budget is None else budget)
    answer = exact.answer()
    output.answer(answer.lines())
    output.show("", f"[bold cyan]{system.name}[/bold cyan]  {system.summary}")
    output.say(f"[dim]{system.paper.source} · {exact.status.name} in {1e3 * exact.seconds:.1f} ms[/dim]\n")
    output.show(_vertex_table(exact))
    output.say(
        f"{len(exact.inner)} inner and {len(exact.outer)} outer pieces ({exact.outer_from}); "
        f"gap {exact.gap:.1e} of the speed before"
    )
    if exact.facets is not None:
        output.say(
            f"Friction: polygons of {exact.facets} facets inside the true cones, which have no exact set."
        )

    def figure() -> style.Figure:  # the set over samples that fill it
        shown = compare(fill(exact.problem, max_samples=1024).outcomes, ways=False)
        return velocity_figure(shown, exact=exact.whole, view="ends")

    drawn = exact.rational.nt == 1 and len(exact.inner) > 0
    written = output.picture(place if drawn else None, figure)
    output.emit(
        ambiguity=answer.as_data(),
        status=exact.status.name,
        gap=exact.gap if exact.gap < float("inf") else None,
        eta=exact.eta,
        friction=exact.friction,
        facets=exact.facets,
        seconds=exact.seconds,
        pieces=[
            {"dimension": piece.dimension, "vertices": [[str(x) for x in v] for v in piece.vertices]}
            for piece in exact.inner
        ],
        system=name,
        picture=written,
    )
    return Exit.DONE if exact.status is not Status.INCOMPLETE else Exit.WITHOUT_RESULT


def _vertex_table(exact: ExactSet) -> Table:
    """Contact velocities at the vertices of every inner piece: a row each, or a row per contact."""
    table = Table(title="vertices of the set: contact velocities, m/s", title_justify="left")
    table.add_column("piece", justify="right")
    parts = ("normal", "tangent") if exact.rational.nt == 1 else ("normal", "tangent 1", "tangent 2")
    names = [for_rich(name) for name in exact.rational.names]
    wide = len(names) * len(parts) <= _MOST_COLUMNS
    for column in [f"{name} {part}" for name in names for part in parts] if wide else ("contact", *parts):
        table.add_column(column, justify="right")
    for index, piece in enumerate(exact.inner, start=1):
        for velocity in np.round(exact.problem.contact_velocity(piece.points), 9) + 0.0:
            if wide:
                table.add_row(str(index), *(f"{x:.6f}" for x in velocity.ravel()))
                continue
            for name, row in zip(names, velocity, strict=True):
                table.add_row(str(index), name, *(f"{x:.6f}" for x in row), end_section=name == names[-1])
    return table


def run_motion(system: System, place: Path | None, output: Output) -> int:
    """Show where a motion starts and say how to simulate it; the exit code."""
    from routh.systems.d19 import ConstrainedMotion  # brings the simulators, which impacts do not wait for
    from routh.viz.snapshots import state_figure

    assert system.model is not None
    assert system.state is not None
    model, state = system.model, system.state
    gaps = model.gaps(state.q)
    Jn, _ = model.jacobians(state.q)
    output.show(f"[bold cyan]{system.name}[/bold cyan]  {system.summary}")
    output.say(f"[dim]{system.paper.source} · a motion, shown in its first state[/dim]\n")
    if isinstance(model, PlanarModel):
        table = plain_table("coordinate (m, rad)", ">value", ">rate")
        for name, q, v in zip(model.coordinates, state.q, state.v, strict=True):
            table.add_row(for_rich(name), f"{q:.4g}", f"{v:.4g}")
        output.show(table, "")
    if model.contacts:
        output.show(_contact_table(model, gaps, Jn @ state.v))
    output.say(f"\nWhat happens next: [bold]routh simulate {system.name}[/bold]; in Python:")
    how = (
        "system.run()"
        if isinstance(system, ConstrainedMotion)
        else "routh.simulate(system.model, system.state, duration=2.0)"
    )
    output.say(f"  system = routh.systems.get({system.name!r})\n  trajectory = {how}")
    written = output.picture(place, lambda: state_figure(system))
    contacts = [info.name for info in model.contacts]
    told = {"q": state.q, "v": state.v, "contacts": contacts, "gaps": gaps, "picture": written}
    output.emit(system=system.name, kind=system.kind, **told)
    return 0


def _contact_table(model: Model, gaps: Array, approach: Array) -> Table:
    table = plain_table("contact", ">gap (m)", ">normal velocity (m/s)", ">friction", ">restitution")
    for info, gap, normal in zip(model.contacts, gaps, approach, strict=True):
        numbers = f"{gap:.4g}", f"{normal:.4g}", f"{info.mu:g}", f"{info.restitution:g}"
        table.add_row(for_rich(info.name), *numbers)
    return table
