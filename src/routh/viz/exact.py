"""Exact sets in any two velocity components, and below samples where they cost little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.problem import ImpactProblem
from routh.status import CapacityError, MissingExtraError, Status
from routh.validation import real_array
from routh.viz import style

if TYPE_CHECKING:
    from routh.exact.result import ExactSet

TINT = "#BFDDEF"  # lighter than any sample
CHEAP_CONTACTS = 4  # in the plane: beyond this nothing is known to be cheap
CHEAP_PIECES, CHEAP_SECONDS = 200, 2.0  # of work, alike on every machine; of patience, with loading it all


def cheap_exact(
    problem: ImpactProblem, *, contacts: int = CHEAP_CONTACTS, seconds: float = CHEAP_SECONDS
) -> ExactSet | None:
    """The exact set of a few planar contacts, where it is complete after little work."""
    if problem.nt != 1 or problem.nc > contacts or np.any(problem.restitution > 0.0):
        return None
    from routh.exact.build import exact_set  # only pictures need it

    try:
        found = exact_set(problem, budget=seconds, pieces=CHEAP_PIECES)
    except (MissingExtraError, CapacityError):
        return None
    return found if found.status is Status.SOLVED else None


def draw_exact(axes: style.Axes, exact: ExactSet, rows: ArrayLike, *, label: str = "exact set") -> None:
    """Draw every inner piece projected onto ``rows`` (2, nv): polygons filled, segments as broad lines."""
    from matplotlib.patches import Polygon

    matrix = real_array("rows", rows, [(2, exact.rational.nv)])
    name: str | None = label
    for image in exact.project(matrix):
        if len(image) > 2:
            fill: style.Look = {"facecolor": TINT, "edgecolor": style.SET, "linewidth": 0.6}
            axes.add_patch(Polygon(image, closed=True, label=name, zorder=1.5, **fill))
        else:
            line: style.Look = {"color": TINT, "linewidth": 5.0, "solid_capstyle": "round", "zorder": 1.5}
            axes.plot(*image.T, marker="o" if len(image) == 1 else None, markersize=5, label=name, **line)
        name = None
    axes.autoscale_view()
