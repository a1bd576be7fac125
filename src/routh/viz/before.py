"""An impact problem before anything is computed: how each contact moves, and where friction can push."""

from __future__ import annotations

import numpy as np

from routh.problem import ImpactProblem
from routh.validation import Array
from routh.viz import style
from routh.viz.panels import Axis, has_tangent, short_name

MOST_CONTACTS = 6  # those that approach fastest; more would not be told apart
_ARM = 0.42  # of the distance between two contacts: the longest arrow, and the sides of a cone
_LONGEST_NAME = 12
CONE, COMES, GOES = "friction cone", "approaches", "does not"


def draw_before(problem: ImpactProblem, ax: style.Axes) -> None:
    """Contacts side by side, each with its friction cone and its velocity before the impact.

    Arrows show the tangential (in space: the speed of slip, to the right) and the normal velocity, all to one
    scale; those of joints' limits have their own, as their unit is another. Angles are true.
    """
    from matplotlib.patches import Polygon

    shown = _fastest(problem)
    arrows = _arrows(problem, shown)
    for place, (k, arrow) in enumerate(zip(shown, arrows, strict=True)):
        cone = _cone(float(problem.mu[k]) if has_tangent(problem, k) else 0.0)
        look: style.Look = {"facecolor": style.BODY, "edgecolor": style.BODY_EDGE, "linewidth": 0.7}
        ax.add_patch(Polygon(np.add(cone, (place, 0.0)), **look, label=None if place else CONE))
        comes = bool(problem.approaching[k])
        _draw_arrow(ax, place, arrow, style.SIMULTANEOUS if comes else style.GREY)
    for colour, label, some in ((style.SIMULTANEOUS, COMES, True), (style.GREY, GOES, False)):
        if np.any(problem.approaching[shown] == some):
            ax.plot([], [], color=colour, label=label)
    ax.axhline(0.0, color=style.GREY, linewidth=0.8, zorder=0.5)
    _label(ax, problem, shown)


def _fastest(problem: ImpactProblem) -> list[int]:
    """The contacts to show, in their own order."""
    closing = -(problem.Jn @ problem.v) / problem.scaling.velocity
    return sorted(np.argsort(-closing, kind="stable")[:MOST_CONTACTS].tolist())


def _arrows(problem: ImpactProblem, shown: list[int]) -> Array:
    """Tangential and normal velocities (k, 2) as lengths in the picture."""
    found = np.zeros((len(shown), 2))
    for row, k in zip(found, shown, strict=True):
        row[0] = Axis(k, "t").values(problem, problem.v) if has_tangent(problem, k) else 0.0
        row[1] = Axis(k).values(problem, problem.v)
    units = np.array([Axis(k).unit(problem) for k in shown])
    for unit in np.unique(units):
        longest = np.linalg.norm(found[units == unit], axis=1).max()
        found[units == unit] *= _ARM / longest if longest > 0.0 else 0.0
    return found


def _cone(mu: float) -> Array:
    """Corners (3, 2) of a friction cone of a fixed size, its tip at the origin."""
    side = _ARM * np.array([mu, 1.0]) / np.hypot(mu, 1.0)
    return np.array([[0.0, 0.0], side, side * (-1.0, 1.0)])


def _draw_arrow(ax: style.Axes, place: int, arrow: Array, colour: str) -> None:
    """A velocity whose arrow ends at the contact where it comes towards it, and begins there elsewhere."""
    tip = np.array([place, 0.0])
    if not np.any(arrow):
        ax.plot(*tip, "o", color=colour)
        return
    end = tip + np.where(arrow[1] > 0.0, arrow, 0.0)
    style.arrow(ax, end - arrow, end, colour, linewidth=1.4)


def _label(ax: style.Axes, problem: ImpactProblem, shown: list[int]) -> None:
    names = []
    for k in shown:
        name = short_name(problem, k)
        name = name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}"
        speed = f"{Axis(k).values(problem, problem.v):.3g}"
        names.append(f"{name}\n{style.signed(speed)} {Axis(k).unit(problem)}")
    ax.set_xticks(range(len(shown)), names)
    ax.set(yticks=[], xlim=(-0.6, len(shown) - 0.4), ylim=(-0.08, 0.5), aspect="equal")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    of = f"{len(shown)} of {problem.nc} contacts" if len(shown) < problem.nc else "contact"
    ax.set_xlabel(f"{of}, with the normal velocity before")
