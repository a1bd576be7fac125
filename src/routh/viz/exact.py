"""Exact sets over samples, in any two velocity components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from routh.problem import ImpactProblem
from routh.validation import Array, real_array

if TYPE_CHECKING:
    from routh.sets.exact.result import ExactSet
    from routh.sets.outcomes import Outcomes

SET_COLOUR = "#2a6f97"
SAMPLE_COLOUR = "#8d99ae"
_LAW_MARKERS = {"simultaneous": ("s", "#1d4e89"), "A first": ("^", "#d1495b"), "B first": ("v", "#edae49")}


def draw_exact(axes: Any, exact: ExactSet, rows: ArrayLike, *, label: str = "exact set", **style: Any) -> Any:
    """Draw every inner piece projected onto ``rows`` (2, nv): polygons filled, segments as lines."""
    from matplotlib.patches import Polygon

    colour = style.pop("color", SET_COLOUR)
    matrix = real_array("rows", rows, [(2, exact.rational.nv)], f"shape (2, {exact.rational.nv})")
    name: str | None = label
    for image in exact.project(matrix):
        if len(image) > 2:
            options = {"closed": True, "facecolor": colour, "edgecolor": colour, "alpha": 0.35, **style}
            axes.add_patch(Polygon(image, label=name, zorder=2, **options))
            axes.plot(*np.vstack([image, image[:1]]).T, color=colour, lw=1.2, zorder=3)
        else:
            marker = "o" if len(image) == 1 else None
            line = {"lw": 2.5, "solid_capstyle": "round", **style}
            axes.plot(*image.T, color=colour, marker=marker, ms=5, label=name, zorder=3, **line)
        name = None
    axes.autoscale_view()
    return axes


def draw_samples(axes: Any, outcomes: Outcomes, rows: ArrayLike, *, label: str = "samples") -> Any:
    """Draw the terminated samples projected onto ``rows`` (2, nv)."""
    points = outcomes.v[outcomes.terminated] @ np.asarray(rows, dtype=np.float64).T
    axes.plot(*points.T, ".", ms=1.5, color=SAMPLE_COLOUR, alpha=0.5, label=label, zorder=1, rasterized=True)
    return axes


def draw_laws(axes: Any, velocities: dict[str, Array], rows: ArrayLike) -> Any:
    """Mark single outcomes by name: label -> velocity (nv,)."""
    matrix = np.asarray(rows, dtype=np.float64)
    style: dict[str, Any] = {"ms": 7, "mec": "white", "mew": 0.8, "ls": "none", "zorder": 5, "clip_on": False}
    for name, velocity in velocities.items():
        marker, colour = _LAW_MARKERS.get(name, ("D", "#333333"))
        x, y = matrix @ velocity
        axes.plot([x], [y], marker, color=colour, label=name, **style)
    return axes


def contact_rows(
    problem: ImpactProblem, first: tuple[int, int], second: tuple[int, int]
) -> tuple[Array, tuple[str, str]]:
    """Rows (2, nv) and axis labels of two contact velocity components, each (contact, component)."""
    words = ["normal", "tangential", "second tangential"]
    chosen = (first, second)
    rows = np.array([problem.J[contact, component] for contact, component in chosen])
    labels = [f"{words[component]} velocity of {problem.names[i]} (m/s)" for i, component in chosen]
    return rows, (labels[0], labels[1])
