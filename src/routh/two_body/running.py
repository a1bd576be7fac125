"""``routh run`` and ``routh impact`` of one contact with restitution: the outcome by each hypothesis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from routh.cli.output import Output, plain_table
from routh.problem.impact import ImpactProblem
from routh.sampling.answers import Answer, contact_modes, make_answer
from routh.two_body.law import TwoBody

_MEANINGS = {"energetic": "energy (Stronge)", "poisson": "impulse (Poisson)", "newton": "velocity (Newton)"}


def run_elastic(problem: ImpactProblem, title: str, source: str, place: Path | None, output: Output) -> int:
    """The outcome by each hypothesis of restitution, and its picture; the exit code."""
    from routh.two_body.pictures import restitution_figure

    before = float(problem.kinetic_energy())
    headings = (">normal (m/s)", ">slip (m/s)", ">impulse (N s)", ">energy left (%)")
    table = plain_table("restitution of", *headings)
    rows, results = [], {hypothesis: TwoBody(hypothesis)(problem) for hypothesis in _MEANINGS}
    v = np.array([result.v for result in results.values()])
    answer = make_answer(problem, v, contact_modes(problem, v), whole=True)  # how far hypotheses are apart
    for hypothesis, meaning in _MEANINGS.items():
        result = results[hypothesis]
        normal, *slip = result.contact_velocity[0]
        left = 100.0 * result.kinetic_energy / before if before > 0.0 else 0.0
        noise = 1e-12 * float(problem.scaling.velocity[0])
        words = ", ".join("0" if abs(value) < noise else f"{value:.4g}" for value in slip)
        cells = [f"{normal:.4g}", words, f"{result.impulse[0, 0]:.4g}"]
        table.add_row(meaning, *cells, f"{left:.1f}")
        row = {"v": result.v, "contact_velocity": result.contact_velocity[0], "impulse": result.impulse[0]}
        told = {"hypothesis": hypothesis, "status": result.status.name}
        rows.append({**told, **row, "kinetic_energy": result.kinetic_energy})
    output.answer([_sentence(answer)])
    output.show("", title)
    mu, e = float(problem.mu[0]), float(problem.restitution[0])
    output.say(f"[dim]{source} · one contact, friction {mu:g}, restitution {e:g}[/dim]\n")
    output.show(table)
    written = output.picture(place, lambda: restitution_figure(problem))
    ambiguity = {**answer.as_data(), "sentences": [_sentence(answer)]}
    output.emit(
        ambiguity=ambiguity,
        contacts=list(problem.names),
        kinetic_energy_before=before,
        hypotheses=rows,
        picture=written,
    )
    return 0


def _sentence(answer: Answer) -> str:
    if not answer.ambiguous or answer.between is None:
        return "Not ambiguous: one contact follows one path, and the hypotheses of restitution agree."
    first, second = (list(_MEANINGS.values())[one.index] for one in answer.between)
    return (
        f"Ambiguity {answer.score:.2g} of the speed before: one contact follows one path, and hypotheses of "
        f'restitution differ, from "{first}" to "{second}".'
    )
