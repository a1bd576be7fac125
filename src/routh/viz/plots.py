"""``plot(result)``: the sensible picture of any result, by its type."""

from __future__ import annotations

import importlib
import inspect
import itertools
from collections.abc import Callable
from contextlib import nullcontext
from functools import singledispatch, wraps
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.auditing.comparison import Comparison, LawAudit, compare
from routh.auditing.membership import Audit
from routh.auditing.scans import Scan
from routh.base import features
from routh.base.results import Drawable
from routh.base.status import InputError, MissingExtraError
from routh.base.validation import real_array
from routh.exact.polytopes import PolytopeUnion
from routh.exact.result import ExactSet
from routh.laws import ImpactResult
from routh.models.planar import PlanarModel
from routh.problem.impact import ImpactProblem
from routh.sampling.outcomes import Outcomes
from routh.systems import System
from routh.viz import style
from routh.viz.panels import MOST_PANELS, Axis, row_label, telling_panel
from routh.viz.robots import draw_audit, draw_scan
from routh.viz.snapshots import draw_before, futures_figure
from routh.viz.velocity import (
    cheap_exact,
    draw_exact,
    draw_laws,
    draw_path,
    draw_velocities,
    known,
    prepare,
    velocity_figure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THUMBNAIL = 130  # dots per inch of the pictures in notebooks

#: Modules that register what a room's results look like, loaded with the first one that is drawn: these rooms
#: bring SciPy's integrators and optimisers, which a picture of outcomes does not wait for.
_BY_ROOM = {
    "routh.robust": ("routh.viz.designs",),
    "routh.sim": ("routh.viz.motions",),
    "routh.to_rest": ("routh.viz.landings",),
    **{room: (module,) for room, module in features.entries("plots").items()},
}


def outcomes_figure(
    outcomes: Outcomes, *, view: str = "ends", shown: Comparison | None = None
) -> style.Figure:
    """Figure of where an impact can end, in its contact velocities, beside what the classical laws say.

    Two contacts are shown with their normal velocities between them; of more than six contacts, those whose
    outcomes vary most. ``shown`` is the comparison with these laws, where there is one already.
    """
    _check_solved(outcomes)
    shown, exact = _beside(outcomes, view, shown)
    return velocity_figure(shown, exact=exact, view=view)


def _beside(
    outcomes: Outcomes, view: str, shown: Comparison | None = None
) -> tuple[Comparison, PolytopeUnion | None]:
    """The laws' answers and the exact set, computed once: plots and notebooks ask for the same."""
    ways, kept = view != "ends", outcomes.pictured
    if shown is None and ways not in kept:
        kept[ways] = compare(outcomes, ways=ways)
    return shown or kept[ways], cheap_exact(outcomes.problem)


def _check_solved(outcomes: Outcomes) -> None:
    if not np.any(outcomes.solved):
        raise InputError("outcomes", wrong="no sample is solved, so there is no post-impact set to draw")


def system_figure(system: System, outcomes: Outcomes, *, shown: Comparison | None = None) -> style.Figure:
    """A system's set: in the velocities of its contacts, or where its bodies go if these are too many."""
    if outcomes.problem.nc > MOST_PANELS and isinstance(system.model, PlanarModel):
        return futures_figure(system, outcomes)
    return outcomes_figure(outcomes, shown=shown)


@singledispatch
def plot(result: object, axes: Axes | None = None, **options: object) -> Figure:
    """Draw a result into Matplotlib ``axes``, or into a figure of its own; returns the figure.

    ================  ==========================================================  ========================
    `Outcomes`        where the contacts' velocities end, beside classical laws   ``view`` "ends" or "way"
    `ImpactProblem`   each contact's velocity before, and its friction cone
    `ExactSet`        its projection onto two rows                                ``rows`` (2, nv)
    `ImpactResult`    the contacts' velocities from before to after
    `Audit`           the set, the audited velocity and the nearest outcome       ``name`` of the audited
    `LawAudit`        the set, and the answers of laws; hollow marks are outside  ``contact`` to show
    `Scan`            a curve over one axis, a heat map over two
    `Trajectory`      one coordinate over time                                    ``coordinate``, ``rate``
    `Bundle`          the same for every future                                   ``coordinate``, ``rate``
    `Design`          the scores of all designs that were tried
    `Tipping`         the worst outcome turning over its edge, seen along it
    `SafeRegion`      safe touch-down speeds, down and sideways                   ``down``, ``sideways``
    ================  ==========================================================  ========================

    Features add what their results look like.
    """
    room = ".".join(type(result).__module__.split(".")[:2])
    for module in _BY_ROOM.get(room, ()):
        importlib.import_module(module)
    if plot.dispatch(type(result)) is not plot.dispatch(object):
        return plot(result, axes, **options)
    for module in itertools.chain(*_BY_ROOM.values()):  # so that all that can be drawn is named
        importlib.import_module(module)
    known = ", ".join(sorted(kind.__name__ for kind in plot.registry if kind is not object))
    raise InputError("result", got=type(result).__name__, wanted=f"one of {known}")


def drawn_by(draw: Callable[..., object], *, aspect: float = 0.8, legend: str = "") -> Callable[..., Figure]:
    """What `plot` does with a result that ``draw(result, ax, **options)`` draws.

    In axes of the caller it has their style, in a figure of its own that of this package. ``legend`` is
    "inside", or "below" the axes of an own figure.
    """

    @wraps(draw)
    def drawn(result: object, axes: Axes | None = None, **options: object) -> Figure:
        with nullcontext() if axes is not None else style.context():
            ax = axes if axes is not None else style.figure(aspect=aspect)[1][0]
            draw(result, ax, **options)
            if legend == "inside":
                ax.legend()
            elif legend == "below" and axes is None:
                style.legend_below(style.figure_of(ax), [ax])
            return style.figure_of(ax)

    first, ax, *further = inspect.signature(draw).parameters.values()
    shown = [first, ax.replace(name="axes", default=None), *further]  # how `plot` can be called with it
    drawn.__signature__ = inspect.Signature(shown, return_annotation="Figure")  # type: ignore[attr-defined]
    return drawn


@plot.register(Outcomes)
def _plot_outcomes(outcomes: Outcomes, axes: Axes | None = None, *, view: str = "ends") -> Figure:
    if axes is None:
        return outcomes_figure(outcomes, view=view)
    shown, exact = _beside(outcomes, view)
    panel = telling_panel(outcomes.problem, known(shown, exact))
    prepare(axes, shown, panel, view=view, exact=exact)
    figure = style.figure_of(axes)
    figure.draw_without_rendering()  # so that densities are binned for the axes' size
    draw_velocities(axes, shown, panel, view=view, exact=exact)
    return figure


def thumbnail(result: Drawable) -> bytes | None:
    """A small picture of a result for a notebook; None where it has none. Of outcomes the telling panel.

    Every panel takes as long as all the numbers beside it; `plot` has them all.
    """
    try:
        figure = _telling_figure(result) if isinstance(result, Outcomes) else result.plot()
    except (MissingExtraError, ValueError):
        return None
    found = style.png(figure, dpi=THUMBNAIL)
    style.close(figure)
    return found


def _telling_figure(outcomes: Outcomes) -> style.Figure:
    _check_solved(outcomes)
    shown, exact = _beside(outcomes, "ends")
    panel = telling_panel(outcomes.problem, known(shown, exact))
    return velocity_figure(shown, [panel], exact=exact, view="ends", dpi=THUMBNAIL)


def _draw_exact_set(exact: ExactSet, ax: Axes, *, rows: ArrayLike | None = None) -> None:
    problem = exact.problem
    if rows is None:
        panel = telling_panel(problem, np.concatenate([piece.points for piece in exact.inner]))
        if problem.nt == 2:  # tangential speeds are no projection
            panel = (Axis(0), Axis(1)) if problem.nc > 1 else (Axis(0), Axis(0, "1"))
        rows = [axis.row(problem) for axis in panel]
    matrix = real_array("rows", rows, [(2, problem.nv)])
    draw_exact(ax, exact.inner, matrix)
    x, y = matrix
    ax.set(xlabel=row_label(problem, x, "rows[0]"), ylabel=row_label(problem, y, "rows[1]"))
    style.plain_ticks(ax)


plot.register(ExactSet, drawn_by(_draw_exact_set))
plot.register(ImpactProblem, drawn_by(draw_before, aspect=0.5, legend="below"))
plot.register(ImpactResult, drawn_by(draw_path, legend="inside"))
plot.register(LawAudit, drawn_by(draw_laws, aspect=0.75, legend="below"))
plot.register(Audit, drawn_by(draw_audit, legend="inside"))
plot.register(Scan, drawn_by(draw_scan, aspect=0.75))
