"""Exact sets over samples, in any two velocity components."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.problem import ImpactProblem
from routh.text import for_matplotlib
from routh.validation import Array, real_array
from routh.viz import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from routh.exact.result import ExactSet
    from routh.sampling.outcomes import Outcomes

_LAW_STYLES = (
    ("s", style.SIMULTANEOUS),
    ("^", style.SEQUENTIAL[0]),
    ("v", style.SEQUENTIAL[1]),
    ("D", style.BLACK),
)


def draw_exact(
    axes: Axes,
    exact: ExactSet,
    rows: ArrayLike,
    *,
    label: str = "exact set",
    color: str = style.SET,
    **options: object,
) -> Axes:
    """Draw every inner piece projected onto ``rows`` (2, nv): polygons filled, segments as lines."""
    from matplotlib.patches import Polygon

    matrix = real_array("rows", rows, [(2, exact.rational.nv)], f"shape (2, {exact.rational.nv})")
    name: str | None = label
    for image in exact.project(matrix):
        if len(image) > 2:
            fill: style.Look = {
                "closed": True,
                "facecolor": color,
                "edgecolor": color,
                "alpha": 0.3,
                **options,
            }
            axes.add_patch(Polygon(image, label=name, zorder=2, **fill))
            axes.plot(*np.vstack([image, image[:1]]).T, color=color, lw=1.2, zorder=3)
        else:
            marker = "o" if len(image) == 1 else None
            line: style.Look = {"lw": 2.5, "solid_capstyle": "round", **options}
            axes.plot(*image.T, color=color, marker=marker, ms=5, label=name, zorder=3, **line)
        name = None
    axes.autoscale_view()
    return axes


def draw_samples(axes: Axes, outcomes: Outcomes, rows: ArrayLike, *, label: str = "samples") -> Axes:
    """Draw the terminated samples projected onto ``rows`` (2, nv)."""
    points = outcomes.v[outcomes.terminated] @ np.asarray(rows, dtype=np.float64).T
    axes.plot(
        *points.T, ".", ms=2.0, mew=0, color=style.BLACK, alpha=0.45, label=label, zorder=4, rasterized=True
    )
    return axes


def draw_laws(axes: Axes, velocities: dict[str, Array], rows: ArrayLike) -> Axes:
    """Mark single outcomes by name: label -> velocity (nv,)."""
    matrix = np.asarray(rows, dtype=np.float64)
    look: style.Look = {"ms": 6, "mec": "white", "mew": 0.7, "ls": "none", "zorder": 5, "clip_on": False}
    for k, (name, velocity) in enumerate(velocities.items()):
        marker, colour = _LAW_STYLES[min(k, len(_LAW_STYLES) - 1)]
        x, y = matrix @ velocity
        axes.plot([x], [y], marker, color=colour, label=name, **look)
    return axes


@style.context()
def exact_figure(exact: ExactSet, outcomes: Outcomes, laws: dict[str, Array]) -> Figure:
    """The set over samples and single outcomes: normal velocities, each contact, generalized velocities."""
    problem = exact.problem
    contacts = min(problem.nc, 2)
    fig, axes = style.figure(2, 2, width=style.TWO_COLUMNS, aspect=0.62)
    views = [contact_rows(problem, (0, 0), (contacts - 1, 0) if contacts > 1 else (0, 1))]
    views += [contact_rows(problem, (i, 1), (i, 0)) for i in range(contacts)]
    first, last = np.eye(problem.nv)[[0, -1]]
    views.append((np.array([first, last]), ("generalized velocity 1", f"generalized velocity {problem.nv}")))
    for panel, (rows, (x_label, y_label)) in zip(axes, views, strict=False):
        draw_samples(panel, outcomes, rows)
        draw_exact(panel, exact, rows)
        draw_laws(panel, laws, rows)
        panel.set_xlabel(x_label)
        panel.set_ylabel(y_label)
        panel.grid(True)
        panel.margins(0.08)
        panel.ticklabel_format(useOffset=False)
        panel.locator_params(axis="x", nbins=5)
        _hide_rounding(panel, rows, problem)
    axes[0].legend(loc="best")
    return fig


def _hide_rounding(axes: Axes, rows: Array, problem: ImpactProblem) -> None:
    """Where all that is drawn differs by rounding only, widen the axis to 2 % of what impacts can change."""
    scales = problem.speed * np.linalg.norm(np.linalg.solve(problem.cholesky, rows.T), axis=0)
    setters: tuple[Callable[[float, float], object], ...] = (axes.set_xlim, axes.set_ylim)
    for scale, limits, widen in zip(scales, (axes.get_xlim(), axes.get_ylim()), setters, strict=True):
        if limits[1] - limits[0] < 1e-9 * scale:
            centre = 0.5 * (limits[0] + limits[1])
            widen(centre - 0.01 * scale, centre + 0.01 * scale)


def contact_rows(
    problem: ImpactProblem, first: tuple[int, int], second: tuple[int, int]
) -> tuple[Array, tuple[str, str]]:
    """Rows (2, nv) and axis labels of two contact velocity components, each (contact, component)."""
    words = ["normal", "tangential", "second tangential"]
    chosen = (first, second)
    rows = np.array([problem.J[contact, component] for contact, component in chosen])
    labels = [
        f"{words[component]} velocity of {for_matplotlib(problem.names[i])} (m/s)" for i, component in chosen
    ]
    return rows, (labels[0], labels[1])
