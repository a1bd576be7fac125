"""``routh audit --engine`` and ``--after``: velocities after that come from elsewhere, beside the set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np

from routh.auditing.membership import Audit, audit
from routh.base import features
from routh.base.features import MissingFeatureError
from routh.base.status import InputError, Status
from routh.base.text import for_rich
from routh.base.validation import Array, real_array
from routh.cli import options, robots
from routh.cli.audit import SAMPLES, asked_problem
from routh.cli.exits import Exit
from routh.cli.landings import Landed, tell_place
from routh.cli.output import Output, plain_table
from routh.cli.requests import AuditRequest
from routh.cli.tables import tell_nothing_approaches
from routh.problem.impact import ImpactProblem
from routh.sampling.sampler import sample
from routh.viz import plot

REFINE = 1024
LAWFUL = 0.03  # share of the speed before up to which laws count as kept; contacts elsewhere may be soft


def run_answer_audit(
    source: str,
    landed: Landed,
    placed: robots.Standing,
    request: AuditRequest,
    changes: list[str],
    output: Output,
) -> int:
    """Audit answers that were asked of an engine, or that stand in a file; the exit code."""
    if request.engine is not None and request.after is not None:
        raise InputError("--after", got="it with --engine", wanted="one of them")
    place = None if request.out is None else options.output_file(request.out, options.PICTURES)
    if request.engine is not None:
        problem, rows = _asked(source, request.engine, landed, placed, output)
    else:
        options.refuse(landed, "only applies to rollouts of robots and to --engine")
        problem = asked_problem(source, placed, changes)
        rows = _read(cast(Path, request.after), problem.nv)
    if request.restitution is not None:
        problem = problem.replace(restitution=request.restitution)
    title = f"[bold cyan]{for_rich(source)}[/bold cyan]"
    if not problem.approaching.any():
        return tell_nothing_approaches(problem, title, output, "")
    drawing = {name: getattr(request, name) for name in ("seed", "friction", "budget")}
    with output.busy("drawing outcomes and comparing"):
        outcomes = sample(problem, request.samples or SAMPLES, **drawing)
        found = [
            audit(problem, v, outcomes=outcomes, refine=REFINE, tolerance=LAWFUL, budget=request.budget)
            for v in rows
        ]
    _tell(request.engine, found, title, output)
    written = output.picture(place, lambda: plot(found[0]))
    told = [{"word": one.word, "distance": one.distance, "v": one.v, "verdict": one.verdict} for one in found]
    output.emit(engine=request.engine, contacts=list(problem.names), answers=told, picture=written)
    return Exit.DONE if np.any(outcomes.status == Status.SOLVED) else Exit.WITHOUT_RESULT


def _tell(engine: str | None, found: list[Audit], title: str, output: Output) -> None:
    who = "The answer" if engine is None else f"The answer of {engine}"
    if len(found) == 1:
        output.answer([f"{who}: {found[0].verdict}."])
        return
    words = [one.word for one in found]
    counted = "; ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    output.answer([f"{len(found)} answers: {counted}."])
    table = plain_table(">row", ">distance", "answer")
    for k, one in enumerate(found):
        table.add_row(str(k), f"{one.distance:.3f}", for_rich(one.verdict))
    output.show("", title, table)


def _asked(
    source: str, engine: str, landed: Landed, placed: robots.Standing, output: Output
) -> tuple[ImpactProblem, Array]:
    """The touch-down of a robot, and what the engine makes of it."""
    if not robots.is_robot(source):
        raise InputError("--engine", got=repr(source), wanted="a robot, or --after with the velocities")
    places = features.entries("engines")
    if "audit" not in places:
        raise MissingFeatureError("testkit")
    model, data = robots.load_state(Path(source), placed, lands=landed.lands)
    if landed.lands:
        found = robots.landing_of(model, data, landed, placed)
        data.qpos[:], data.qvel[:] = found.qpos, found.qvel
        tell_place(found, output)
    near = options.given(window=placed.window, gap=placed.gap)
    touching = robots.state_problem(model, data, placed, **near)
    problem = touching.replace(restitution=0.0)  # as engines are asked
    ask = cast("Callable[..., Array]", features.resolve(places["audit"]))
    with output.busy(f"asking {engine}"):
        return problem, touching.allowed(ask(engine, model, data))[None]


def _read(file: Path, nv: int) -> Array:
    """The velocities of a file, (k, nv)."""
    if not file.is_file():
        raise InputError(
            "--after", got=f"{str(file)!r}, which is no file", wanted="an .npz with v, or an .npy"
        )
    stored = np.load(file, allow_pickle=False)
    if not isinstance(stored, np.ndarray):
        with stored:
            if "v" not in stored:
                raise InputError("--after", wrong=f"{str(file)!r} holds {', '.join(stored)}", wanted="v")
            v = stored["v"]
    else:
        v = stored
    shapes = [(nv,), (len(v), nv)] if np.ndim(v) else [(nv,)]
    return np.atleast_2d(real_array("--after: v", v, shapes, f"shape ({nv},) or (k, {nv})"))
