"""Figures of constrained motions: D19's examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from routh.base.validation import Array
from routh.viz import style

Line = tuple[str, Array, Array]  # label, time, value


def draw_lines(ax: style.Axes, lines: Sequence[Line], *, ylabel: str, xlabel: str = "time (s)") -> None:
    """Curves over time, told apart by colour and dash."""
    for index, (label, t, value) in enumerate(lines):
        ax.plot(t, value, label=label or None, linestyle=style.DASHES[index % len(style.DASHES)])
    ax.axhline(0.0, color=style.GREY, linewidth=0.5, zorder=0.5)
    ax.set(xlabel=xlabel, ylabel=ylabel, xmargin=0.0)
    ax.locator_params(axis="x", nbins=4)


@style.context()
def oscillation_figure(panels: Sequence[tuple[str, Sequence[Line]]]) -> style.Figure:
    """Displacements of the spring-mass-damper, one panel per setting (D19 Figs. 1 to 3)."""
    width = style.COLUMN if len(panels) == 1 else style.TWO_COLUMNS
    fig, axes = style.figure(1, len(panels), width=width, aspect=0.75)
    for ax, (title, lines) in zip(axes, panels, strict=True):
        thousandths = [(label, 1e3 * t, x) for label, t, x in lines]
        draw_lines(ax, thousandths, ylabel="displacement (m)", xlabel="time (ms)")
        style.plain_ticks(ax)
        ax.set_title(title)
    if any(label for _, lines in panels for label, _, _ in lines):
        style.legend_below(fig, axes)
    return fig


@style.context()
def drift_figure(runs: Mapping[float, tuple[Array, Array]], worst: Mapping[float, float]) -> style.Figure:
    """Deviation of a pin over time for a few steps, and its largest value against the step (D19 Fig. 4)."""
    fig, axes = style.figure(1, len(runs) + 1, width=style.TWO_COLUMNS, aspect=0.85)
    for ax, (dt, (t, phi)) in zip(axes, runs.items(), strict=False):
        draw_lines(ax, [("x", t, phi[:, 0]), ("y", t, phi[:, 1])], ylabel="deviation of the pin (m)")
        style.plain_ticks(ax)
        ax.set_title(f"h = {dt:g} s")
        ax.legend(loc="best")
    ax, steps = axes[-1], np.array(sorted(worst))
    values = np.array([worst[step] for step in steps])
    ax.loglog(steps, values, "o", color=style.BLUE, label="largest deviation")
    ax.loglog(steps, values[0] * (steps / steps[0]) ** 2, color=style.GREY, linewidth=0.8, label="slope 2")
    ax.set(xlabel="step (s)", ylabel="deviation (m)", title="drift against step")
    ax.legend(loc="upper left")
    style.letter(axes)
    return fig


@style.context()
def limit_figure(
    runs: Mapping[float, tuple[Array, Array]], closeup: Mapping[float, tuple[Array, Array]]
) -> style.Figure:
    """Angle of a pendulum with a limit: the whole motion, and the impact itself (D19 Fig. 6)."""
    fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS, aspect=0.6)
    draw_lines(axes[0], [(f"h = {dt:g} s", *run) for dt, run in runs.items()], ylabel="angle (rad)")
    axes[0].set_title("after the impact the step decides")
    lines = [(f"h = {dt:g} s", 1e6 * t, 1e6 * angle) for dt, (t, angle) in closeup.items()]
    draw_lines(axes[1], lines, ylabel="angle (µrad)", xlabel="time since contact (µs)")
    axes[1].set_title("the impact")
    style.letter(axes)
    style.legend_below(fig, axes)
    return fig


@style.context()
def pressure_figure(
    points: Array, forces: Mapping[str, Array], loads: Mapping[str, Array], area: float
) -> style.Figure:
    """Pressure under a cube on a foundation, one panel per case; a dot marks the load (D19 Fig. 7).

    ``points`` (n, 3) and forces (n,) of a square grid; ``loads`` the points (2,) where the load acts.
    """
    fig, axes = style.figure(1, len(forces), width=style.TWO_COLUMNS, aspect=0.95)
    side = round(len(points) ** 0.5)
    half = abs(points[:, 0]).max() + 0.5 * (points[side, 0] - points[0, 0])
    for ax, (title, force) in zip(axes, forces.items(), strict=True):
        pressure = force.reshape(side, side).T / area
        image = ax.imshow(
            np.where(pressure > 0.0, pressure, np.nan), origin="lower", extent=(-half, half, -half, half),
            cmap=style.density_map(style.PURPLE), vmin=0.0,
        )  # fmt: skip
        ax.set_facecolor("white")
        x, y = loads[title]
        ax.plot(x, y, "o", color=style.BLACK, markersize=6, markerfacecolor="white", clip_on=False)
        fig.colorbar(image, ax=ax, shrink=0.85, label="pressure (Pa)")
        ax.set(title=title, xlabel="x (m)", ylabel="y (m)")
    return fig


@style.context()
def sliding_figure(runs: Mapping[float, tuple[Array, Array]]) -> style.Figure:
    """Distance that a block slides, by its friction (D19 Fig. 9)."""
    fig, (ax,) = style.figure(1, 1, aspect=0.7)
    for index, (mu, (t, distance)) in enumerate(runs.items()):
        ax.plot(t, distance, linestyle=style.DASHES[index % 4], label=f"µ = {mu:g}")
    ax.set(xlabel="time (s)", ylabel="distance down the ramp (m)", xmargin=0.0)
    ax.legend(loc="upper left")
    return fig


@style.context()
def stack_figure(counts: Sequence[int], seconds: Sequence[float], heights: Array, t: Array) -> style.Figure:
    """Time to simulate a stack against its size, and the heights of its spheres (D19 Fig. 10)."""
    fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS, aspect=0.6)
    cost, motion = axes
    cost.plot(counts, seconds, "o-", color=style.BLUE)
    cost.set(xlabel="spheres", ylabel="computing time of 1 s (s)", title="cost")
    motion.plot(t, heights, color=style.BLUE, linewidth=0.6)
    title = f"{heights.shape[1]} spheres fall onto each other"
    motion.set(xlabel="time (s)", ylabel="height (m)", title=title, xmargin=0.0)
    for ax in axes:
        ax.set_ylim(bottom=0.0)
    style.letter(axes)
    return fig
