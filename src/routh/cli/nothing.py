"""What is said where there is no impact: nothing approaches."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from routh.cli.exits import Exit
from routh.cli.output import Output
from routh.problem import ImpactProblem
from routh.sampling.answers import nothing_approaches


def tell_nothing_approaches(problem: ImpactProblem, title: str, output: Output, notes: str = "") -> int:
    """Say that there is no impact and what to do; the exit code.

    ``notes``: what was said while the problem was made.
    """
    normal = problem.Jn @ problem.v
    output.answer(nothing_approaches(problem).lines())
    output.show("There is no impact, so nothing is drawn.", "", title, *notes_shown(notes))
    if hasattr(problem, "qvel"):
        propose = 'Give the robot a velocity: --drop 1.0 lets it land, --qvel "2:-1.0" sets one by index.'
    elif not np.any(problem.v):
        propose = "The velocity v is zero; give the velocity before the impact."
    else:
        propose = "Jn @ v < 0 means approach: look at the signs of v, and of the normals in Jn."
    output.show(propose)
    told = {"ambiguity": None, "contacts": list(problem.names), "approaching": [], "picture": None}
    output.emit(**told, normal_velocity=normal, propose=propose)
    return Exit.NOTHING_APPROACHES


def notes_shown(notes: str) -> list[Text]:
    """What was said before, with its colours, as it is printed later."""
    return [Text.from_ansi(notes)] if notes else []
