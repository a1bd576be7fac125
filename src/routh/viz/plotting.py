"""``plot(result)``: the sensible picture of any result, by its type."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from functools import singledispatch, wraps
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.auditing.comparison import compare
from routh.auditing.membership import Audit
from routh.auditing.scans import Scan
from routh.exact.result import ExactSet
from routh.laws import ImpactResult
from routh.problem import ImpactProblem
from routh.sampling.outcomes import Outcomes
from routh.viz import style
from routh.viz.before import draw_before
from routh.viz.exact import cheap_exact, draw_exact
from routh.viz.outcomes import outcomes_figure
from routh.viz.panels import Axis, row_label, telling_panel
from routh.viz.robots import draw_audit, draw_scan
from routh.viz.velocity import draw_path, draw_velocities, known, prepare

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Modules that register what a room's results look like, loaded with the first one that is drawn: these rooms
#: bring SciPy's integrators and optimisers, which a picture of outcomes does not wait for.
_BY_ROOM = {
    "routh.robust": ("designs", "gaits"),
    "routh.sim": ("simulation",),
    "routh.sweep": ("sweeps",),
}


@singledispatch
def plot(result: object, axes: Axes | None = None, **options: object) -> Figure:
    """Draw a result into Matplotlib ``axes``, or into a figure of its own; returns the figure.

    ================  ==========================================================  ========================
    `Outcomes`        where the contacts' velocities end, beside classical laws   ``view`` "ends" or "way"
    `ImpactProblem`   each contact's velocity before, and its friction cone
    `ExactSet`        its projection onto two rows                                ``rows`` (2, nv)
    `ImpactResult`    the contacts' velocities from before to after
    `Audit`           the set, the audited velocity and the nearest outcome       ``name`` of the audited
    `Scan`            a curve over one axis, a heat map over two
    `Study`           what is stored by now: a curve or a heat map of its first column
    `Trajectory`      one coordinate over time                                    ``coordinate``, ``rate``
    `Bundle`          the same for every future                                   ``coordinate``, ``rate``
    `Design`          the scores of all designs that were tried
    `ReturnMap`       the states after a step, as a set
    `Rolling`         a wheel's rate at the next landing over that at this one
    ================  ==========================================================  ========================
    """
    room = ".".join(type(result).__module__.split(".")[:2])
    for module in _BY_ROOM.get(room, ()):
        importlib.import_module(f"routh.viz.{module}")
    if plot.dispatch(type(result)) is not plot.dispatch(object):
        return plot(result, axes, **options)
    for module in itertools.chain(*_BY_ROOM.values()):  # so that all that can be drawn is named
        importlib.import_module(f"routh.viz.{module}")
    known = ", ".join(sorted(kind.__name__ for kind in plot.registry if kind is not object))
    raise ValueError(f"result: got {type(result).__name__}; wanted one of {known}")


def in_style(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """In the style of this package where the figure is its own, in that of the caller in given axes."""

    @wraps(draw)
    def drawn(result: object, axes: Axes | None = None, **options: object) -> Figure:
        with nullcontext() if axes is not None else style.context():
            return draw(result, axes, **options)

    return drawn


@plot.register(Outcomes)
def _plot_outcomes(outcomes: Outcomes, axes: Axes | None = None, *, view: str = "ends") -> Figure:
    if axes is None:
        return outcomes_figure(outcomes, view=view)
    shown, exact = compare(outcomes, ways=view != "ends"), cheap_exact(outcomes.problem)
    panel = telling_panel(outcomes.problem, known(shown, exact))
    prepare(axes, shown, panel, view=view, exact=exact)
    figure = figure_of(axes)
    figure.draw_without_rendering()  # so that the axes have their size when densities are binned
    draw_velocities(axes, shown, panel, view=view, exact=exact)
    return figure


@plot.register(ImpactProblem)
@in_style
def _plot_problem(problem: ImpactProblem, axes: Axes | None = None) -> Figure:
    own = axes is None
    axes = own_axes(axes, aspect=0.5)
    draw_before(axes, problem)
    if own:
        style.legend_below(figure_of(axes), [axes])
    return figure_of(axes)


@plot.register(ExactSet)
@in_style
def _plot_exact(exact: ExactSet, axes: Axes | None = None, *, rows: ArrayLike | None = None) -> Figure:
    axes, problem = own_axes(axes), exact.problem
    if rows is None:
        panel = telling_panel(problem, np.concatenate([piece.points for piece in exact.inner]))
        if problem.nt == 2:  # tangential speeds are no projection
            panel = (Axis(0), Axis(1)) if problem.nc > 1 else (Axis(0), Axis(0, "1"))
        rows = [axis.row(problem) for axis in panel]
    draw_exact(axes, exact, rows)
    x, y = np.asarray(rows, dtype=float)
    axes.set_xlabel(row_label(problem, x, "rows[0]"))
    axes.set_ylabel(row_label(problem, y, "rows[1]"))
    style.plain_ticks(axes)
    return figure_of(axes)


@plot.register(ImpactResult)
@in_style
def _plot_impact(result: ImpactResult, axes: Axes | None = None) -> Figure:
    axes = own_axes(axes)
    draw_path(axes, result)
    axes.legend()
    return figure_of(axes)


@plot.register(Audit)
@in_style
def _plot_audit(audit: Audit, axes: Axes | None = None, *, name: str = "the audited one") -> Figure:
    axes = own_axes(axes)
    draw_audit(audit, axes, name=name)
    axes.legend()
    return figure_of(axes)


@plot.register(Scan)
@in_style
def _plot_scan(scan: Scan, axes: Axes | None = None) -> Figure:
    return figure_of(draw_scan(scan, own_axes(axes, aspect=0.75)))


def own_axes(axes: Axes | None, *, aspect: float = 0.8) -> Axes:
    """The axes given, or those of a new figure."""
    if axes is not None:
        return axes
    found: Axes = style.figure(aspect=aspect)[1][0]
    return found


def figure_of(axes: Axes) -> Figure:
    """The figure that axes stand in, through subfigures."""
    found: Figure = axes.figure.figure  # of a figure: itself
    return found
