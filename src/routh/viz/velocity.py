"""Contact-velocity figures: where an impact can end, how it gets there, and what single answers miss.

First the exact set, drawn below samples where it costs little; then one projection of a sampled set
(`prepare`, `draw_velocities`) and the figure of several; then one impact's path (`draw_path`), and the
answers of all laws in one set (`draw_laws`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from routh.auditing.comparison import Comparison, LawAudit
from routh.base.status import CapacityError, MissingExtraError
from routh.base.text import for_matplotlib
from routh.base.validation import Array, choice
from routh.laws.base import ImpactResult
from routh.problem.impact import ImpactProblem
from routh.sampling.answers import combinations
from routh.viz import style
from routh.viz.density import draw_density
from routh.viz.law_answers import agree, draw_answers, grouped
from routh.viz.panels import (
    MOST_PANELS,
    Axis,
    Panel,
    contact_panel,
    extent,
    has_tangent,
    is_still,
    panels_of_most_interest,
    short_name,
    telling_panel,
)

if TYPE_CHECKING:
    from routh.exact.polytopes import PolytopeUnion

TINT = "#BFDDEF"  # of exact sets: lighter than any sample
CHEAP_CONTACTS = 4  # in the plane: beyond this nothing is known to be cheap
CHEAP_PIECES, CHEAP_SECONDS = 200, 2.0  # of work, alike on every machine; of patience, with loading it all
RARE = 0.01  # share of the samples below which a mode of the contacts is drawn on top of the others
SAMPLES, EXACT = "where it can end: samples", "where it can end: the exact set"
STEPPED, WAY = "samples of Algorithm 1, in steps", "velocities on the way"
APPROACH = "still approaching: no end here"
RARE_SAMPLES = "samples of rare modes, below 1 % each"
_RARE = "rare samples"  # their place in `Comparison.projected`
_LONGEST_NAME = 9  # characters of a contact's name in a label; longer ones become the panel's title
_MARKS = ("D", "s", "^", "v", "P", "X", "h", "<", ">", "p", "*")
_COLOURS = (style.VERMILION, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.BLACK, style.GREY)


@lru_cache(maxsize=32)
def cheap_exact(
    problem: ImpactProblem, *, contacts: int = CHEAP_CONTACTS, seconds: float = CHEAP_SECONDS
) -> PolytopeUnion | None:
    """The exact set of a few planar contacts, where it is whole after little work; kept for next time."""
    if problem.nt != 1 or problem.nc > contacts or np.any(problem.restitution > 0.0):
        return None
    from routh.exact.build import whole_set  # only pictures need it

    try:
        return whole_set(problem, budget=seconds, pieces=CHEAP_PIECES)
    except (MissingExtraError, CapacityError):
        return None


def draw_exact(axes: style.Axes, exact: PolytopeUnion, rows: ArrayLike, *, label: str = "exact set") -> None:
    """Draw every piece projected onto ``rows`` (2, nv): polygons filled, segments as broad lines."""
    from matplotlib.patches import Polygon

    name: str | None = label
    for image in exact.project(rows):
        if len(image) > 2:
            fill: style.Look = {"facecolor": TINT, "edgecolor": style.SET, "linewidth": 0.6}
            axes.add_patch(Polygon(image, closed=True, label=name, zorder=1.5, **fill))
        else:
            line: style.Look = {"color": TINT, "linewidth": 5.0, "solid_capstyle": "round", "zorder": 1.5}
            axes.plot(*image.T, marker="o" if len(image) == 1 else None, markersize=5, label=name, **line)
        name = None
    axes.autoscale_view()


def known(shown: Comparison, exact: PolytopeUnion | None = None) -> Array:
    """Velocities of the set that are known, (n, nv): samples, single answers, vertices of the exact set."""
    return np.concatenate([shown.ends, _beside(shown, exact)])


def _beside(shown: Comparison, exact: PolytopeUnion | None) -> Array:
    """The few among `known` that are no samples."""
    results = [*shown.sequential.values(), *shown.simultaneous]
    parts = [np.empty((0, shown.problem.nv)), *(result.v[None] for result in results)]
    return np.concatenate([*parts, *([] if exact is None else [piece.points for piece in exact])])


def _ends(shown: Comparison, axis: Axis) -> Array:
    """The values of the solved samples along an axis, (k,)."""
    if axis not in shown.projected:
        shown.projected[axis] = axis.values(shown.problem, shown.ends)
    return shown.projected[axis]


def prepare(
    ax: style.Axes, shown: Comparison, panel: Panel, *, view: str = "way", exact: PolytopeUnion | None = None
) -> None:
    """Limits, labels and shading of one projection, before anything is drawn into it."""
    problem = shown.problem
    v = _beside(shown, exact)
    if choice("view", view, ("way", "ends")) == "way":
        results = [*shown.sequential.values(), *shown.simultaneous]
        v = np.concatenate([v, shown.intermediate, problem.v[None], *(r.path.v for r in results)])
    values = [np.concatenate([axis.values(problem, v), _range(_ends(shown, axis))]) for axis in panel]
    ranges = [extent(problem, axis, one) for axis, one in zip(panel, values, strict=True)]
    still = [is_still(problem, axis, one) for axis, one in zip(panel, values, strict=True)]
    shares = [(high - low) / a.size(problem) for a, (low, high) in zip(panel, ranges, strict=True)]
    for axis, name, (low, high), constant in zip(panel, "xy", ranges, still, strict=True):
        # what does not vary gets a part of the other axis' length, or of what it could be
        air = 0.15 * (1.0 if all(still) else max(shares)) * axis.size(problem) if constant else 0.0
        ax.set(**{f"{name}lim": (low - air, high + air), f"{name}label": axis.label(problem)})
    name = short_name(problem, panel[0].contact)
    if panel[0].contact == panel[1].contact and len(name) > _LONGEST_NAME and panel[1].component != "e":
        ax.set(title=name, xlabel=panel[0].quantity(problem), ylabel=panel[1].quantity(problem))
    style.plain_ticks(ax)


def _range(values: Array) -> Array:
    """The smallest and the largest, (2,)."""
    return np.array([values.min(), values.max()])


def draw_velocities(
    ax: style.Axes, shown: Comparison, panel: Panel, *, view: str = "way", exact: PolytopeUnion | None = None
) -> None:
    """One projection of the set, the velocities on the way, and the outcomes of the classical laws.

    The axes are to be prepared with `prepare` and to have their size; the view "ends" leaves out how they
    got there. The exact set, where it is given, is drawn below its samples; rare modes are drawn above.
    """
    problem, outcomes = shown.problem, shown.outcomes

    def project(v: Array) -> tuple[Array, Array]:
        return panel[0].values(problem, v), panel[1].values(problem, v)

    if len(shown.intermediate) and view == "way":
        look: style.Look = {"color": style.GREY, "lightest": 0.93, "zorder": 1.0, "alpha": 0.55}
        draw_density(ax, *project(shown.intermediate), **look, label=WAY)
    if exact is not None and all(axis.component != "e" for axis in panel):
        draw_exact(ax, exact, [axis.row(problem) for axis in panel], label=EXACT)
    stepped = "step" in outcomes.settings  # of Algorithm 1, which can end outside of the set
    draw_density(ax, *(_ends(shown, axis) for axis in panel), label=STEPPED if stepped else SAMPLES)
    if _RARE not in shown.projected:
        shown.projected[_RARE] = outcomes.v[rare_samples(shown)]
    rare = shown.projected[_RARE]
    if len(rare):
        dots: style.Look = {"markersize": 2.6, "markeredgewidth": 0.0, "color": style.RARE}
        ax.plot(*project(rare), "o", **dots, zorder=2.6, rasterized=True, label=RARE_SAMPLES)
    draw_answers(ax, shown, project, ways=view == "way", exact=exact)
    if view == "way":
        before: style.Look = {"markerfacecolor": "white", "color": style.BEFORE, "linestyle": "none"}
        ax.plot(*project(problem.v[None]), "o", **before, zorder=5.5, label="before")
    mark_approach(ax, panel)


def rare_samples(shown: Comparison) -> np.ndarray:
    """Rows of the solved samples whose combination of contact modes has less than `RARE` of them."""
    outcomes = shown.outcomes
    rows = np.flatnonzero(outcomes.solved)
    _, which = combinations(outcomes.modes if len(rows) == len(outcomes) else outcomes.modes[rows])
    return rows[(np.bincount(which) < RARE * len(rows))[which]]


def mark_approach(ax: style.Axes, panel: Panel) -> None:
    """Shade the velocities at which a contact still approaches: there no impact can end."""
    from matplotlib.patches import Rectangle

    style.zero_lines(ax)
    left, bottom = ax.get_xlim()[0], ax.get_ylim()[0]
    shade: style.Look = {"facecolor": "#FBEFE9", "edgecolor": "none", "zorder": 0.1}
    both = panel[0].component == panel[1].component == "n"
    if panel[0].component == "n":
        label = None if both else APPROACH
        along = ax.get_xaxis_transform(which="grid")
        ax.add_artist(Rectangle((left, 0.0), -left, 1.0, transform=along, label=label, **shade))
    if panel[1].component == "n":
        along = ax.get_yaxis_transform(which="grid")
        ax.add_artist(Rectangle((0.0, bottom), 1.0, -bottom, transform=along, label=APPROACH, **shade))


@style.context()
def velocity_figure(
    shown: Comparison,
    panels: Sequence[Panel] | None = None,
    *,
    exact: PolytopeUnion | None = None,
    titles: Sequence[str] = (),
    view: str = "way",
    dpi: float | None = None,
) -> style.Figure:
    """A figure of projections, by default those of `panels_of_most_interest`.

    ``view`` "way" shows the whole impact, "ends" only where it ends, "both" the one above the other. With the
    ``dpi`` that it is written with, texts are measured once.
    """
    problem = shown.problem
    chosen = panels_of_most_interest(problem, known(shown, exact)) if panels is None else list(panels)
    views = ("way", "ends") if choice("view", view, ("way", "ends", "both")) == "both" else (view,)
    across = min(len(chosen), 2 if len(chosen) == 4 else 3)
    rows = -(-len(chosen) // across)
    width = (1.25 * style.COLUMN, 0.85 * style.TWO_COLUMNS, style.TWO_COLUMNS)[min(across, 3) - 1]
    height = len(views) * rows * (width / across * 0.72 + 0.3) + 0.45
    fig, axes = style.figure(len(views) * rows, across, width=width, height=height, dpi=dpi)
    drawn = []
    for number, wanted in enumerate(views):
        block = axes[number * rows * across :][: rows * across]
        for ax, panel in zip(block, chosen, strict=False):
            prepare(ax, shown, panel, view=wanted, exact=exact)
            drawn.append((ax, panel, wanted))
        for ax in block[len(chosen) :]:
            ax.set_visible(False)
        for ax, title in zip(block, titles, strict=False):
            ax.set_title(for_matplotlib(title))
    if len(drawn) > 1:
        style.letter([ax for ax, _, _ in drawn])
    contacts = {axis.contact for panel in chosen for axis in panel}
    # so that the panels have their size when densities are binned
    if panels is None and len(chosen) == MOST_PANELS and len(contacts) < problem.nc:
        fig.suptitle(f"{len(contacts)} of {problem.nc} contacts: those whose outcomes vary most", fontsize=8)
        style.lay_out(fig)
    else:
        style.lay_out_grid(fig, axes.reshape(-1, across))
    for ax, panel, wanted in drawn:
        draw_velocities(ax, shown, panel, view=wanted, exact=exact)
    style.legend_below(fig, [ax for ax, _, _ in drawn], columns=min(across, 3))
    return fig


def draw_path(result: ImpactResult, ax: style.Axes) -> None:
    """Every contact's velocity along one outcome's path: tangential (the speed of slip in space), normal.

    Limits of joints do not slip: they are at zero, in their own unit.
    """
    problem = result.problem
    style.zero_lines(ax)
    for i in range(problem.nc):
        across = Axis(i, "t").values(problem, result.path.v)
        x = across if has_tangent(problem, i) else np.zeros(len(across))
        y = Axis(i).values(problem, result.path.v)
        unit = Axis(i).unit(problem)
        name = short_name(problem, i) + ("" if unit == "m/s" else f" ({unit})")
        (line,) = ax.plot(x, y, linewidth=1.0, label=name)
        ax.plot(x[0], y[0], "o", markerfacecolor="white", color=line.get_color())
        ax.plot(x[-1], y[-1], "o", color=line.get_color())
    if any(has_tangent(problem, i) for i in range(problem.nc)):
        ax.set_xlabel("tangential velocity (m/s)" if problem.nt == 1 else "speed of slip (m/s)")
    else:
        ax.set_xticks([])
    units = {Axis(i).unit(problem) for i in range(problem.nc)}
    ax.set_ylabel(f"normal velocity ({', '.join(sorted(units))})")


def distinct_answers(found: LawAudit) -> list[tuple[Array, str]]:
    """The velocities after and the names of the laws that give them, with a word where one leaves the set."""
    given = [(one.result.v, one) for one in found.answers if one.result is not None and one.audit is not None]
    groups = grouped(given, lambda a, b: agree(found.problem, a[0], b[0]))
    names = [" = ".join(one.law for _, one in group) for group in groups]
    places = [group[0] for group in groups]
    return [(v, f"{name}{' (outside)' * one.outside}") for (v, one), name in zip(places, names, strict=True)]


def draw_laws(found: LawAudit, ax: style.Axes, *, contact: int | str | None = None) -> None:
    """The set and a mark for each answer, hollow where that is outside.

    In the velocities of a ``contact``, tangential and normal; by default in the set's most telling ones.
    """
    problem = found.problem
    ends = found.outcomes.v[found.outcomes.solved]
    answers = distinct_answers(found)
    every = np.concatenate([ends, *(v[None] for v, _ in answers)])
    if not len(every):
        return
    if contact is None:
        panel = telling_panel(problem, ends if len(ends) else every)
    else:
        panel = contact_panel(problem.index(contact))
    values = [axis.values(problem, every) for axis in panel]
    for name, axis, one in zip("xy", panel, values, strict=True):
        low, high = float(one.min()), float(one.max())
        air = 0.08 * max(high - low, 0.1 * axis.size(problem))
        ax.set(**{f"{name}lim": (low - air, high + air), f"{name}label": axis.label(problem)})
    style.plain_ticks(ax)
    if len(ends):
        style.figure_of(ax).draw_without_rendering()  # so that densities are binned for the axes' size
        draw_density(ax, *(axis.values(problem, ends) for axis in panel), label=SAMPLES)
    for i, (v, label) in enumerate(answers):
        colour = _COLOURS[i % len(_COLOURS)]
        inside: style.Look = {"markerfacecolor": colour, "markeredgecolor": "white", "markeredgewidth": 0.6}
        outside: style.Look = {"markerfacecolor": "white", "markeredgecolor": colour, "markeredgewidth": 1.3}
        look = outside if label.endswith("(outside)") else inside
        at = [axis.values(problem, v[None]) for axis in panel]
        shape: style.Look = {"marker": _MARKS[i % len(_MARKS)], "linestyle": "none", "markersize": 6.5}
        ax.plot(*at, **shape, **look, label=label, zorder=4.5, clip_on=False)
    if any(axis.component == "n" and one.min() < 0.0 for axis, one in zip(panel, values, strict=True)):
        mark_approach(ax, panel)
    else:
        style.zero_lines(ax)
