"""Contact-velocity figures: where an impact can end, how it gets there, and what single answers miss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.comparison import Comparison
from routh.laws.base import ImpactResult
from routh.problem import ImpactProblem
from routh.text import for_matplotlib
from routh.validation import Array, choice
from routh.viz import style
from routh.viz.density import draw_density, limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORDS = {"n": "normal", "t": "tangential"}
_LONGEST_NAME = 9  # characters of a contact's name in a label; longer ones become the panel's title
_LONGEST_ORDER = 30  # characters of an order of contacts in the legend


@dataclass(frozen=True)
class Axis:
    """One contact velocity: the normal ("n") or the tangential ("t") one of a contact.

    In space "t" is the tangential speed, which has no sign.
    """

    contact: int
    component: str = "n"

    def values(self, problem: ImpactProblem, v: Array) -> Array:
        """This contact velocity of velocities (..., nv), m/s."""
        contact = problem.contact_velocity(v)[..., self.contact, :]
        if self.component == "n":
            return contact[..., 0]
        return contact[..., 1] if problem.nt == 1 else np.linalg.norm(contact[..., 1:], axis=-1)

    def label(self, problem: ImpactProblem) -> str:
        """The label of the axis, with its unit."""
        word = _WORDS[self.component]
        kind = "speed" if self.component == "t" and problem.nt == 2 else "velocity"
        return f"{problem.names[self.contact]} {word} {kind} (m/s)"


Panel = tuple[Axis, Axis]


def contact_panel(contact: int) -> Panel:
    """Tangential (x) against normal (y) velocity of one contact."""
    return Axis(contact, "t"), Axis(contact, "n")


def normal_panel(first: int, second: int) -> Panel:
    """Normal velocities of two contacts."""
    return Axis(first, "n"), Axis(second, "n")


def default_panels(problem: ImpactProblem) -> list[Panel]:
    """As in HP23: one contact alone; two with their normals between them; more: the contacts."""
    if problem.nc == 2:
        return [contact_panel(0), normal_panel(0, 1), contact_panel(1)]
    return [contact_panel(i) for i in range(problem.nc)]


def prepare(ax: Axes, shown: Comparison, panel: Panel, *, view: str = "way") -> None:
    """Limits, labels and shading of one projection, before anything is drawn into it."""
    problem, x, y = shown.problem, *panel
    v = _visible(shown, view)
    spread = max(float(np.ptp(axis.values(problem, v))) for axis in panel)
    for axis, values, name in ((x, x.values(problem, v), "x"), (y, y.values(problem, v), "y")):
        noise = 1e-4 * float(problem.scaling.velocity[axis.contact])  # rounding is not worth a picture
        still = np.abs(values).max() < noise
        getattr(ax, f"set_{name}lim")(limits(values, smallest=max(0.15 * spread, noise) if still else noise))
        getattr(ax, f"set_{name}label")(for_matplotlib(axis.label(problem)))
    names = [for_matplotlib(problem.names[axis.contact]) for axis in panel]
    if len(names[0]) > _LONGEST_NAME and names[0] == names[1]:
        ax.set_title(names[0])
        for name in "xy":
            label = getattr(ax, f"get_{name}label")()
            getattr(ax, f"set_{name}label")(label.removeprefix(f"{names[0]} "))
    mark_approach(ax, panel)


def _visible(shown: Comparison, view: str) -> Array:
    """The velocities that must be inside the panel."""
    problem, outcomes = shown.problem, shown.outcomes
    results = [*shown.sequential.values(), *shown.simultaneous]
    ends = [outcomes.v[outcomes.terminated], *(result.v[None] for result in results)]
    if choice("view", view, ("way", "ends")) == "ends":
        return np.concatenate(ends)
    return np.concatenate([*ends, shown.intermediate, problem.v[None], *(r.path.v for r in results)])


def draw_velocities(ax: Axes, shown: Comparison, panel: Panel, *, view: str = "way") -> None:
    """One projection of the set, the velocities on the way, and the outcomes of the classical laws.

    The axes are to be prepared with `prepare`; the view "ends" leaves out how they got there.
    """
    problem, outcomes = shown.problem, shown.outcomes
    x, y = panel

    def project(v: Array) -> tuple[Array, Array]:
        return x.values(problem, v), y.values(problem, v)

    if len(shown.intermediate) and view == "way":
        draw_density(
            ax,
            *project(shown.intermediate),
            color=style.GREY,
            lightest=0.93,
            zorder=1.0,
            alpha=0.55,
            label="velocities on the way",
        )
    draw_density(ax, *project(outcomes.v[outcomes.terminated]), label="where it ends: the post-impact set")
    _draw_classical(ax, shown, project, ways=view == "way")
    if view == "way":
        before = project(problem.v[None])
        ax.plot(*before, "o", markerfacecolor="white", color=style.BEFORE, zorder=5.5, label="before")


def draw_path(ax: Axes, result: ImpactResult) -> None:
    """Every contact's velocity along one outcome's path: tangential (the speed of slip in space), normal."""
    along = result.problem.contact_velocity(result.path.v)  # (k + 1, nc, 1 + nt)
    plane = result.problem.nt == 1
    slip = along[..., 1] if plane else np.linalg.norm(along[..., 1:], axis=2)
    style.zero_lines(ax)
    for name, x, y in zip(result.problem.names, slip.T, along[..., 0].T, strict=True):
        (line,) = ax.plot(x, y, linewidth=1.0, label=for_matplotlib(name))
        ax.plot(x[0], y[0], "o", markerfacecolor="white", color=line.get_color())
        ax.plot(x[-1], y[-1], "o", color=line.get_color())
    ax.set_xlabel("tangential velocity (m/s)" if plane else "speed of slip (m/s)")
    ax.set_ylabel("normal velocity (m/s)")


def mark_approach(ax: Axes, panel: Panel) -> None:
    """Shade the velocities at which a contact still approaches: there no impact can end."""
    style.zero_lines(ax)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    shade: style.Look = {"facecolor": "#FBEFE9", "edgecolor": "none", "zorder": 0.1}
    if panel[0].component == "n":
        ax.axvspan(left, 0.0, **shade)
    if panel[1].component == "n":
        ax.axhspan(bottom, 0.0, **shade)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)


def _draw_classical(
    ax: Axes, shown: Comparison, project: Callable[[Array], tuple[Array, Array]], *, ways: bool
) -> None:
    """Ends of sequences as squares and simultaneous solutions as diamonds, with their ways if wanted."""
    marks: list[tuple[str, ImpactResult, str, style.Dashes, str | None]] = []
    styles = zip(shown.sequential.items(), style.SEQUENTIAL, style.DASHES[1:], strict=False)
    for (order, result), color, dashes in styles:
        short = order if len(order) <= _LONGEST_ORDER else f"{order.split(', ')[0]} first"
        marks.append(("s", result, color, dashes, f"one at a time: {for_matplotlib(short)}"))
    word = "all at once" if shown.all_simultaneous else "all at once (one solution)"
    for i, result in enumerate(shown.simultaneous):
        marks.append(("D", result, style.SIMULTANEOUS, "-", None if i else word))
    for marker, result, color, dashes, label in marks:
        px, py = project(result.path.v)
        ends: style.Look = {"color": color, "markeredgecolor": "white", "markeredgewidth": 0.6}
        is_line = ways and marker == "s"
        ax.plot(px[-1:], py[-1:], marker, **ends, zorder=4.5, label=None if is_line else label)
        if ways:
            width = 0.9 if marker == "D" else 1.2
            drawn: style.Look = {"color": color, "linestyle": dashes, "linewidth": width}
            ax.plot(px, py, **drawn, zorder=3.0, label=label if is_line else None)


@style.context()
def velocity_figure(
    shown: Comparison,
    panels: Sequence[Panel] | None = None,
    *,
    columns: int | None = None,
    width: float | None = None,
    titles: Sequence[str] = (),
    view: str = "way",
) -> Figure:
    """A figure of projections, by default those of `default_panels`.

    ``view`` "way" shows the whole impact, "ends" only where it ends.
    """
    chosen = default_panels(shown.problem) if panels is None else list(panels)
    across = (2 if len(chosen) == 4 else min(len(chosen), 3)) if columns is None else columns
    rows = -(-len(chosen) // across)
    size = (style.COLUMN if across == 1 else style.TWO_COLUMNS) if width is None else width
    fig, axes = style.figure(rows, across, width=size, height=rows * size / across * 0.85 + 0.35)
    for ax, panel in zip(axes, chosen, strict=False):
        prepare(ax, shown, panel, view=view)
    fig.draw_without_rendering()  # so that the panels have their size when densities are binned
    for ax, panel in zip(axes, chosen, strict=False):
        draw_velocities(ax, shown, panel, view=view)
    for ax in axes[len(chosen) :]:
        ax.set_visible(False)
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(title)
    if len(chosen) > 1:
        style.letter(axes[: len(chosen)])
    style.legend_below(fig, axes, columns=3 if across > 1 else 2)
    return fig
