"""What is said where there is no impact: nothing approaches."""

from __future__ import annotations

import numpy as np

from routh import tolerances
from routh.cli.output import Output
from routh.problem import ImpactProblem
from routh.text import for_rich

NOTHING_APPROACHES = 3  # the exit code


def approaching(problem: ImpactProblem) -> list[str]:
    """The contacts that approach, by name."""
    normal = problem.Jn @ problem.v
    limit = -tolerances.APPROACH * problem.scaling.velocity
    return [name for name, v, least in zip(problem.names, normal, limit, strict=True) if v < least]


def tell_nothing_approaches(problem: ImpactProblem, title: str, output: Output) -> int:
    """Say that there is no impact and what to do; the exit code."""
    normal = problem.Jn @ problem.v
    nearest = int(np.argmin(normal))
    output.show(title)
    output.show(
        f"[yellow]nothing approaches:[/yellow] no contact has a normal velocity below zero (the smallest is "
        f"{normal[nearest]:.3g} m/s, at {for_rich(problem.names[nearest])}), so there is no impact and no "
        "picture."
    )
    if hasattr(problem, "qvel"):
        output.say('Give the robot a velocity: --drop 1.0 lets it land, --qvel "2:-1.0" sets one by index.')
    elif not np.any(problem.v):
        output.say("The velocity v is zero; wanted the velocity before the impact.")
    else:
        output.say("Jn @ v < 0 means approach: look at the signs of v, and of the normals in Jn.")
    output.emit(
        {
            "contacts": list(problem.names),
            "approaching": [],
            "normal_velocity": normal,
            "picture": None,
        }
    )
    return NOTHING_APPROACHES
