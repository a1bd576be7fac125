"""Many points together: how many of their samples are solved, said in a line and by the exit code."""

from __future__ import annotations

import numpy as np

from routh.cli.exits import Exit
from routh.cli.output import Output
from routh.sampling.answers import ENOUGH
from routh.status import Status
from routh.text import percent
from routh.validation import Array


def tell_unsolved(status: np.ndarray, solved: Array, output: Output) -> None:
    """A line where fewer than 99 % of the samples of all points are solved; see `exit_of_points`."""
    sampled = solved[status == Status.SOLVED]
    if sampled.size and sampled.mean() < ENOUGH:
        few = int((sampled < ENOUGH).sum())
        output.show(
            f"[yellow]Only {percent(float(sampled.mean()))} of the samples are solved[/yellow], fewer than "
            f"{ENOUGH:.0%} at {few} of {len(sampled)} points; the scores are made of the solved ones alone. "
            "routh impact on such a point says why not and what to try."
        )


def exit_of_points(status: np.ndarray, solved: Array) -> Exit:
    """What a command over many points ends with.

    ``status`` (grid) says SOLVED where there is an impact that was sampled; ``solved`` (grid) is the share of
    its samples that are solved.
    """
    sampled = status == Status.SOLVED
    if not sampled.any():
        nothing = np.isin(status, (Status.NO_IMPACT, Status.NO_CONTACT)).all()
        return Exit.NOTHING_APPROACHES if nothing else Exit.WITHOUT_RESULT
    share = float(solved[sampled].mean())
    if share == 0.0:
        return Exit.WITHOUT_RESULT
    return Exit.DONE if share >= ENOUGH else Exit.TOO_FEW_SOLVED
