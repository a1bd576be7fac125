"""``routh audit`` of impact laws: which of them leave the set of outcomes."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from routh import systems
from routh.auditing.comparison import LawAudit, audit_laws
from routh.cli import options, robots
from routh.cli.exits import Exit
from routh.cli.output import Output, plain_table
from routh.cli.run import parse_changes
from routh.cli.tables import tell_nothing_approaches
from routh.problem import ImpactProblem
from routh.text import for_rich
from routh.viz import plot

SAMPLES = 4096


def run_law_audit(
    source: str, placed: robots.Standing, request: robots.AuditRequest, changes: list[str], output: Output
) -> int:
    """Ask the laws, print where their answers lie, and draw them in the set; the exit code."""
    of_rollouts = robots.AuditRequest(
        duration=request.duration,
        max_impacts=request.max_impacts,
        impact_deepest=request.impact_deepest,
        impact_past_limit=request.impact_past_limit,
    )
    options.refuse(of_rollouts, "is for rollouts of robots; laws are asked about one impact")
    place = None if request.out is None else options.output_file(request.out, options.PICTURES)
    problem = _problem(source, placed, changes)
    if request.restitution is not None:
        problem = problem.replace(restitution=request.restitution)
    title = f"[bold cyan]{for_rich(source)}[/bold cyan]"
    if not problem.approaching.any():
        return tell_nothing_approaches(problem, title, output, "")
    with output.busy("drawing outcomes and asking the laws"):
        found = audit_laws(
            problem,
            request.law,
            n=request.samples or SAMPLES,
            seed=request.seed,
            friction=request.friction,
            budget=request.budget,
        )
    answered = [one for one in found.answers if one.audit is not None]
    words = ", ".join(found.outside) if found.outside else "none"
    output.answer([f"{len(found.outside)} of {len(answered)} laws leave the set: {words}."])
    output.show("", title, _table(found))
    written = output.picture(place, lambda: plot(found))
    output.emit(**_data(found), picture=written)
    return Exit.DONE if answered else Exit.WITHOUT_RESULT


def _problem(source: str, placed: robots.Standing, changes: list[str]) -> ImpactProblem:
    if robots.is_robot(source):
        robots.refuse_changes(source, changes or None)
        model, data = robots.load_state(Path(source), placed)
        near = options.given(window=placed.window, gap=placed.gap)
        return robots.state_problem(model, data, placed, **near)
    robots.refuse_without_robot(source, placed)
    if Path(source).suffix == ".npz":
        if changes:
            raise ValueError("--set: is for systems; wanted other matrices in the file")
        return ImpactProblem.load(source)
    return systems.impact(source, **parse_changes(changes, source))


def _table(found: LawAudit) -> Table:
    """One row per law."""
    before = max(float(found.problem.kinetic_energy()), 1e-300)
    table = plain_table("law", ">energy (%)", ">distance", "its answer")
    for one in found.answers:
        if one.result is None or one.audit is None:
            table.add_row(one.law, "", "", for_rich(one.verdict))
            continue
        left = f"{100.0 * one.result.kinetic_energy / before:.1f}"
        table.add_row(one.law, left, f"{one.audit.distance:.2g}", for_rich(one.verdict))
    return table


def _data(found: LawAudit) -> dict[str, object]:
    """The audit for machines."""
    rows = [
        {
            "law": one.law,
            "status": None if one.result is None else one.result.status.name,
            "v": None if one.result is None else one.result.v,
            "distance": None if one.audit is None else one.audit.distance,
            "outside": one.outside,
            "broken": [] if one.audit is None else [str(broken) for broken in one.audit.broken],
            "verdict": one.verdict,
        }
        for one in found.answers
    ]
    return {"contacts": list(found.problem.names), "samples": len(found.outcomes), "laws": rows}
