"""Figures of two-body impacts: hodographs with their invariant directions, impulse curves, bundles."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from routh.base.validation import Array
from routh.problem.impact import HYPOTHESES, ImpactProblem
from routh.two_body import Hodograph, InvariantDirections, hodograph, invariant_directions
from routh.two_body.curve import EVENT_TOLERANCE
from routh.two_body.law import contact_space
from routh.viz import style

CURVE, CENTRIPETAL, CENTRIFUGAL = style.BLACK, style.BLUE, style.VERMILION
PLANE, MARK = style.SKY, style.GREEN
#: events off the origin: marker, size, colour, what happens; at one place all can be seen within each other
EVENTS: dict[str, tuple[str, float, str, str]] = {
    "r": ("s", 7.5, style.PURPLE, "$g_r$: the impact ends"),
    "c": ("o", 5.5, style.GREEN, "$g_c$: compression ends"),
    "k": ("o", 5.5, style.SKY, "$g_k$: compression begins again"),
    "l": ("^", 6.0, style.ORANGE, "$g_l$: slides straight from here"),
}


@style.context()
def restitution_figure(problem: ImpactProblem) -> style.Figure:
    """One contact that rebounds: its hodograph (in space), and its velocities over the normal impulse.

    The path of an impact is the same by every hypothesis of restitution; they differ in where it ends.
    """
    W, v = contact_space(problem)
    mu, e = float(problem.mu[0]), float(problem.restitution[0])
    courses = {name: hodograph(W, v, mu, e, hypothesis=name) for name in HYPOTHESES}
    if problem.nt == 2:
        fig, (plane, ax) = style.figure(1, 2, width=style.TWO_COLUMNS, aspect=0.85)
        directions = invariant_directions(W, mu) if mu > 0.0 else None
        draw_hodograph(plane, courses["energetic"], directions)
        plane.set_title("slip")
    else:
        fig, (ax,) = style.figure(1, 1, aspect=0.85)
    draw_course(ax, courses)
    return fig


def draw_course(ax: style.Axes, courses: dict[str, Hodograph]) -> None:
    """Normal velocity and speed of slip over the normal impulse, and where each hypothesis ends it."""
    longest = max(courses.values(), key=lambda course: course.impulse[-1, 2])
    press = longest.impulse[:, 2]
    ax.axhline(0.0, color=style.GREY, linewidth=0.8)
    ax.plot(press, longest.normal_velocity, color=CURVE, label="normal velocity")
    ax.plot(press, np.hypot(*longest.sliding.T), color=style.BLUE, label="speed of slip")
    ends: list[tuple[float, str]] = []
    for end, name in sorted((float(course.impulse[-1, 2]), name) for name, course in courses.items()):
        word = name if name == "energetic" else name.capitalize()
        if ends and abs(ends[-1][0] - end) < 0.02 * press[-1]:
            ends[-1] = (ends[-1][0], f"{ends[-1][1]}, {word}")
        else:
            ends.append((end, word))
    for end, words in ends:
        ax.axvline(end, color=MARK, linestyle=(0, (4, 2)), linewidth=1.0)
        look: style.Look = {"rotation": 90, "ha": "right", "va": "bottom", "fontsize": 7}
        where = ("data", "axes fraction")
        ax.annotate(words, (end, 0.03), (-3, 0), xycoords=where, textcoords="offset points", **look)
    ax.set(xlim=(0.0, 1.04 * press[-1]), xlabel="normal impulse (N s)", ylabel="m/s")
    ax.set_title("course of the impact")
    ax.legend(loc="best", fontsize=7)


def draw_directions(ax: style.Axes, directions: InvariantDirections, reach: float) -> None:
    """Dashed lines from the origin along the invariant directions; arrows show where speed goes."""
    for angle, out in zip(directions.angles, directions.centrifugal, strict=True):
        tip = reach * np.array([np.cos(angle), np.sin(angle)])
        color = CENTRIFUGAL if out else CENTRIPETAL
        label = f"{'centrifugal' if out else 'centripetal'} invariant direction"
        line: style.Look = {"linestyle": (0, (5, 3)), "color": color, "linewidth": 1.0, "label": label}
        ax.plot([0.0, tip[0]], [0.0, tip[1]], **line)
        near, far = (0.62, 0.74) if out else (0.74, 0.62)
        style.arrow(ax, near * tip, far * tip, color, linewidth=1.0, mutation_scale=9)


def draw_hodograph(
    ax: style.Axes,
    course: Hodograph,
    directions: InvariantDirections | None = None,
    *,
    event_tolerance: float = EVENT_TOLERANCE,
) -> None:
    """The sliding velocity's path with its start, its events and, where given, the invariant directions."""
    path = course.sliding
    reach = 1.1 * float(np.hypot(path[:, 0], path[:, 1]).max())
    marks = list(course.marks)
    if directions is not None:
        draw_directions(ax, directions, reach)
        marks += _straight_from(course, directions, event_tolerance)
    ax.plot(path[:, 0], path[:, 1], color=CURVE, linewidth=1.6, zorder=3)
    _mark(ax, path[0], "o", 4.5, CURVE, "$γ^-$: start", zorder=4)
    rises_right = path[1, 0] > path[0, 0] and path[1, 1] > path[0, 1]
    _label(ax, path[0], "$γ^-$", (0, 10) if rises_right else (6, 8))
    groups: list[tuple[int, list[str]]] = []
    for letter, row in sorted(marks, key=lambda mark: mark[1]):
        if letter == "s":
            continue  # the origin
        marker, size, color, words = EVENTS[letter]
        edge: style.Look = {"markeredgecolor": "white", "markeredgewidth": 0.5}
        _mark(ax, path[row], marker, size, color, words, zorder=6.0 - 0.1 * size, **edge)
        if groups and np.hypot(*(path[row] - path[groups[-1][0]])) < 0.05 * reach:
            groups[-1][1].append(f"$g_{letter}$")
        else:
            groups.append((row, [f"$g_{letter}$"]))
    for k, (row, names) in enumerate(groups):  # neighbours on different sides of the path
        _label(ax, path[row], ", ".join(names), (-1) ** k * 11.0 * _right_of(path[: row + 1]))
    _finish_plane(ax)
    ax.plot(path[0, 0], path[0, 1] + 0.2 * reach, alpha=0.0)  # room for the label


def _right_of(path: Array) -> Array:
    """The unit vector to the right of where a path (k, 2) went last."""
    steps = np.diff(path, axis=0)
    moving = steps[np.hypot(*steps.T) > 1e-6 * np.hypot(*path[0])]
    ahead = moving[-3:].sum(axis=0) if len(moving) else np.array([0.0, -1.0])
    return np.array([ahead[1], -ahead[0]]) / np.hypot(*ahead)


def _straight_from(
    course: Hodograph, directions: InvariantDirections, tolerance: float
) -> list[tuple[str, int]]:
    """Mark of event l: from its row on, slip is within an angle of an invariant direction."""
    if "l" not in course.events or not len(directions.angles):  # in a central impact all are invariant
        return []
    moving = np.hypot(*course.sliding.T) > 1e-9 * np.hypot(*course.sliding[0])
    angle = np.arctan2(course.sliding[:, 1], course.sliding[:, 0])
    off = np.abs(np.angle(np.exp(1j * (angle[:, None] - directions.angles)))).min(axis=1)
    near = np.flatnonzero(moving & (off <= tolerance))
    return [("l", int(near[0]))] if len(near) else []


def _finish_plane(ax: style.Axes) -> None:
    """The origin, where sliding vanishes (event s), and the axes of sliding velocities."""
    _mark(ax, np.zeros(2), "+", 7, CURVE, "origin: sliding vanishes", zorder=4)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xlabel="$v_x$ (m/s)", ylabel="$v_y$ (m/s)")


def draw_bundle(
    ax: style.Axes,
    W: ArrayLike,
    mu: float,
    e: float,
    v: ArrayLike,
    *,
    event_tolerance: float = EVENT_TOLERANCE,
) -> int:
    """Hodographs from several velocities (n, 3), numbered; returns how many of them reach the origin."""
    starts = np.asarray(v, dtype=np.float64)
    reach = 1.15 * float(np.hypot(*starts[:, :2].T).max())
    directions = invariant_directions(W, mu)
    draw_directions(ax, directions, reach)
    reached = 0
    for number, start in enumerate(starts, start=1):
        course = hodograph(W, start, mu, e, event_tolerance=event_tolerance)
        path = course.sliding
        ax.plot(path[:, 0], path[:, 1], color=CURVE, linewidth=1.0, zorder=3)
        _mark(ax, path[0], "o", 3.0, CURVE, "$γ_i$: start" if number == 1 else None, zorder=4)
        _label(ax, path[0], f"$γ_{{{number}}}$", 11.0 * path[0] / np.hypot(*path[0]), ha="center", fontsize=7)
        reached += "s" in course.events
        if "s" not in course.events or not directions.sticks:
            marker, size, color, words = EVENTS["r"]
            _mark(ax, path[-1], marker, 0.6 * size, color, words, zorder=5)
    _finish_plane(ax)
    ax.margins(0.12)
    return reached


def draw_impulse(ax: style.Axes3D, course: Hodograph, W: ArrayLike, v: ArrayLike) -> None:
    """The impulse curve in 3D axes, with the plane of compression and the line of sticking (JW17 Fig. 5)."""
    w, before = np.asarray(W, dtype=np.float64), np.asarray(v, dtype=np.float64)
    path = course.impulse
    low, high = path.min(axis=0), path.max(axis=0)
    pad = 0.12 * (high - low).max()
    grid_x, grid_y = np.meshgrid(*np.stack([low - pad, high + pad], axis=1)[:2])
    plane = -(before[2] + w[2, 0] * grid_x + w[2, 1] * grid_y) / w[2, 2]  # v_z = 0
    ax.plot_surface(grid_x, grid_y, plane, color=PLANE, alpha=0.25, linewidth=0.0)
    press = np.linspace(0.0, 1.05 * high[2], 2)
    line = -np.linalg.solve(w[:2, :2], before[:2, None] + w[:2, 2:3] * press)  # JW17 (25)
    ax.plot(line[0], line[1], press, linestyle=(0, (5, 3)), color=CENTRIPETAL, linewidth=1.2)
    ax.plot(path[:, 0], path[:, 1], path[:, 2], color=CURVE, linewidth=1.8)
    for letter, row in course.marks:
        ax.plot(*path[row], marker="o", color=MARK, markersize=4.5)
        ax.text(*(path[row] + [0.25 * pad, 0.0, 0.1 * pad]), f"$I_{letter}$", fontsize=9)
    ax.text(line[0, 1], line[1, 1], press[1], r"$\mathcal{L}_s$ ", color=CENTRIPETAL, fontsize=9, ha="right")
    ax.text(grid_x[1, 0], grid_y[1, 0], plane[1, 0], r"$\mathcal{P}_c$", color=CENTRIPETAL, fontsize=9)
    for name in "xyz":
        getattr(ax, f"set_{name}label")(f"$I_{name}$ (N s)", fontsize=8, labelpad=4)
    ax.tick_params(labelsize=6, pad=1)
    ax.set_zlim(0.0, 1.1 * high[2])
    ax.locator_params(nbins=5)
    ax.set_box_aspect((1.0, 1.0, 1.1), zoom=0.85)
    ax.view_init(elev=16.0, azim=-62.0)


def _mark(
    ax: style.Axes, at: Array, marker: str, size: float, color: str, label: str | None, **more: float | str
) -> None:
    look: style.Look = {"marker": marker, "markersize": size, "color": color, **more}
    ax.plot(*at, linestyle="none", label=label, **look)


def _label(ax: style.Axes, at: Array, text: str, offset: ArrayLike, **look: float | str) -> None:
    """Words beside a mark, so many points on paper away from it; white around them, where lines pass."""
    from matplotlib.patheffects import withStroke

    right, up = (float(x) for x in np.asarray(offset))
    side = "center" if abs(right) < 3.0 else "left" if right > 0.0 else "right"
    words: style.Look = {"fontsize": 9, "zorder": 7, "ha": side, "va": "center", **look}
    halo = [withStroke(linewidth=2.5, foreground="white")]
    ax.annotate(text, tuple(at), (right, up), textcoords="offset points", path_effects=halo, **words)
