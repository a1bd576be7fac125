"""``routh audit``: which impacts of a robot's rollout in MuJoCo leave the set of outcomes; which laws do."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from routh import systems
from routh.auditing.comparison import LawAudit, audit_laws
from routh.auditing.membership import IN, NOT_FOUND, OUTSIDE
from routh.base.status import InputError, Status
from routh.base.text import for_rich
from routh.cli import options, robots
from routh.cli.changes import parse_changes
from routh.cli.exits import Exit
from routh.cli.landings import Landed, tell_place
from routh.cli.output import Output, notes_shown, plain_table
from routh.cli.requests import AuditRequest
from routh.cli.run import SECONDS
from routh.cli.tables import tell_nothing_approaches
from routh.models.robot import NoContactError
from routh.problem.impact import ImpactProblem
from routh.viz import plot

if TYPE_CHECKING:
    from routh.auditing.rollout import RolloutAudit

SAMPLES, IMPACT_SAMPLES = 4096, 256  # of the set that laws are held against, and of each impact


def run_audit(
    file: Path, landed: Landed, placed: robots.Standing, request: AuditRequest, report: Path, output: Output
) -> int:
    """Roll out, audit, and write the report; the exit code."""
    from routh.auditing.rollout import audit as audit_rollout
    from routh.viz.pages import write_report

    lands = landed.lands
    model, data = robots.load_state(file, placed, lands=lands)
    with output.console.capture() as said:  # the answer stands above it
        with robots.advising(model, placed, lands=lands):
            if lands:
                found = robots.landing_of(model, data, landed, placed)
                data.qpos[:], data.qvel[:] = found.qpos, found.qvel
                tell_place(found, output)
            else:
                with suppress(NoContactError):  # a state without contacts can be
                    robots.state_problem(model, data, placed)
        robots.tell_keyframes(model, placed, output)
    soft = options.given(deepest=request.impact_deepest, past_limit=request.impact_past_limit)
    soft |= options.given(window=placed.window, gap=placed.gap)
    for name in ("duration", "seed", "friction", "max_impacts", "budget"):
        soft[name] = getattr(request, name)
    if request.samples is None and request.budget is None:
        soft["budget"] = SECONDS
    with output.busy(f"simulating {request.duration:g} s and sampling every impact"):
        audited = audit_rollout(model, data, n=request.samples or IMPACT_SAMPLES, **soft)
    output.answer([_impact_sentence(audited)])
    output.show("", f"[bold cyan]{for_rich(file)}[/bold cyan]", _impact_table(audited))
    output.show(*notes_shown(said.get().rstrip("\n")))
    if audited.status is Status.OUT_OF_TIME:
        output.show(
            f"[yellow]cut off at {audited.duration:.3g} s:[/yellow] the time allowed by --budget ran out"
        )
    for what, notes in (("left out", audited.refused), ("not represented", audited.unrepresented)):
        for note in notes:
            output.show(f"[yellow]{what}:[/yellow] {for_rich(note)}")
    output.say("[dim]restitution 0 in the sets, whatever the contacts' springs return[/dim]")
    if not audited.impacts:
        floor = "" if robots.has_ground(model) else " (with --ground 0: it has no ground)"
        output.show(
            f"No impact in this time: try a longer --duration, or --down 1.0 to begin with a landing{floor}."
        )
    write_report(audited, report)
    output.say(f"\nreport: [bold]{for_rich(report)}[/bold]")
    output.emit(**_impact_data(audited), report=str(report))
    return Exit.DONE if audited.impacts else Exit.WITHOUT_RESULT


def _impact_sentence(found: RolloutAudit) -> str:
    """How many impacts there are, and where MuJoCo's outcomes lie."""
    counts = Counter(impact.audit.word for impact in found.impacts)
    told = "; ".join(f"{counts[word]} {word}" for word in (IN, OUTSIDE, NOT_FOUND) if counts[word])
    many = f"{len(found.impacts)} impact{'s' * (len(found.impacts) != 1)} in {found.duration:g} s"
    return f"{many}. MuJoCo's outcome: {told}." if told else f"{many}."


def _impact_table(found: RolloutAudit) -> Table:
    """One row per impact."""
    table = plain_table(">time, s", ">contacts", ">ambiguity", ">distance", "MuJoCo's outcome")
    for impact in found.impacts:
        audit = impact.audit
        numbers = (f"{impact.time:.3f}", str(impact.problem.nc), f"{audit.outcomes.ambiguity:.3f}")
        table.add_row(*numbers, f"{audit.distance:.3f}", for_rich(audit.verdict))
    return table


def _impact_data(found: RolloutAudit) -> dict[str, object]:
    """The audit for machines."""
    impacts = [
        {
            "time": impact.time,
            "contacts": list(impact.problem.names),
            "ambiguity": impact.audit.outcomes.ambiguity,
            "distance": impact.audit.distance,
            "inside": impact.audit.inside,
            "word": impact.audit.word,
            "broken": [str(broken) for broken in impact.audit.broken],
        }
        for impact in found.impacts
    ]
    told = {name: getattr(found, name) for name in ("duration", "refused", "skipped", "unrepresented")}
    return {**told, "status": found.status.name, "impacts": impacts}


def run_law_audit(
    source: str, placed: robots.Standing, request: AuditRequest, changes: list[str], output: Output
) -> int:
    """Ask the laws, print where their answers lie, and draw them in the set; the exit code."""
    names = ("duration", "max_impacts", "impact_deepest", "impact_past_limit")
    of_rollouts = {name: getattr(request, name) for name in names}
    options.refuse(
        AuditRequest(**of_rollouts), "only applies to rollouts of robots; laws are asked about one impact"
    )
    place = None if request.out is None else options.output_file(request.out, options.PICTURES)
    problem = asked_problem(source, placed, changes)
    if request.restitution is not None:
        problem = problem.replace(restitution=request.restitution)
    title = f"[bold cyan]{for_rich(source)}[/bold cyan]"
    if not problem.approaching.any():
        return tell_nothing_approaches(problem, title, output, "")
    with output.busy("drawing outcomes and asking the laws"):
        drawing = {name: getattr(request, name) for name in ("seed", "friction", "budget")}
        found = audit_laws(problem, request.law, n=request.samples or SAMPLES, **drawing)
    answered = [one for one in found.answers if one.audit is not None]
    output.answer([_law_sentence(found)])
    output.show("", title, _law_table(found))
    written = output.picture(place, lambda: plot(found))
    output.emit(**_law_data(found), picture=written)
    return Exit.DONE if answered else Exit.WITHOUT_RESULT


def _law_sentence(found: LawAudit) -> str:
    """Which laws' answers lie where."""
    names = {
        word: [one.law for one in found.answers if one.word == word] for word in (IN, OUTSIDE, NOT_FOUND)
    }
    told = "; ".join(f"{len(laws)} {word} ({', '.join(laws)})" for word, laws in names.items() if laws)
    asked = sum(map(len, names.values()))
    return f"{asked} law{'s' * (asked != 1)}: {told}." if told else "No law has an answer."


def asked_problem(source: str, placed: robots.Standing, changes: list[str]) -> ImpactProblem:
    """The impact of a robot's state, of a file, or of a system."""
    if robots.is_robot(source):
        robots.refuse_changes(source, changes or None)
        model, data = robots.load_state(Path(source), placed)
        near = options.given(window=placed.window, gap=placed.gap)
        return robots.state_problem(model, data, placed, **near)
    robots.refuse_without_robot(source, placed)
    if Path(source).suffix == ".npz":
        if changes:
            raise InputError(
                "--set", wrong="only applies to systems; change the matrices in the file instead"
            )
        return ImpactProblem.load(source)
    return systems.impact(source, **parse_changes(changes, source))


def _law_table(found: LawAudit) -> Table:
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


def _law_data(found: LawAudit) -> dict[str, object]:
    """The audit for machines."""
    rows = [
        {
            "law": one.law,
            "status": None if one.result is None else one.result.status.name,
            "v": None if one.result is None else one.result.v,
            "distance": None if one.audit is None else one.audit.distance,
            "outside": one.outside,
            "broken": [] if one.audit is None else [str(broken) for broken in one.audit.broken],
            "word": one.word,
            "verdict": one.verdict,
        }
        for one in found.answers
    ]
    return {"contacts": list(found.problem.names), "n": len(found.outcomes), "laws": rows}
