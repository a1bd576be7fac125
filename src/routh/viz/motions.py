"""Figures of motions, of one future or a fan of them.

`motion_figure` shows where any motion goes, the gaps of its contacts and its energy; `draw_motions` one
coordinate over time; the others are HP23's figures of the rocking block, over time and over augmented time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.base.text import for_matplotlib
from routh.base.validation import Array, choice, integer
from routh.models.base import Model
from routh.models.planar import PlanarModel
from routh.sim import Bundle, Trajectory
from routh.viz import style
from routh.viz.bodies import Drawn, draw_bodies, draw_planes, frame
from routh.viz.films import MARGIN, MOST_GHOSTS, draw_gaps, touching
from routh.viz.plots import drawn_by, plot

_BETWEEN = 3  # poses of the first future that are shown between its first and its last
_MOST_LINES = 12  # coordinates that are drawn where there is no contact
_ANGLE = 2  # of the rocking block, among its coordinates


@style.context()
def motion_figure(
    model: Model, futures: Sequence[Trajectory], *, title: str = "", image: np.ndarray | None = None
) -> style.Figure:
    """Bodies from start to end, gaps (or coordinates) and energy over time; the first future stands out.

    ``image`` (h, w, 3) stands for the bodies of a model that is not drawn by Matplotlib; None: no picture.
    """
    shown = list(futures)[:MOST_GHOSTS]
    first = int(isinstance(model, Drawn) or image is not None)
    fig, axes = style.figure(1, 2 + first, width=style.TWO_COLUMNS, height=2.8)
    if isinstance(model, Drawn):
        _draw_poses(axes[0], model, shown)
    elif image is not None:
        axes[0].imshow(image)
        axes[0].set_axis_off()
    over_time, energy = axes[first:]
    gaps, touched = touching(model, shown)
    if touched:
        draw_gaps(over_time, model, shown, gaps, touched, columns=2)
    else:
        _draw_coordinates(over_time, shown)
    _draw_energy(energy, shown)
    fig.suptitle(for_matplotlib(title), fontsize=9)
    return fig


def _draw_poses(ax: style.Axes, model: Drawn, futures: Sequence[Trajectory]) -> None:
    """The first future's first poses as grey dashes, its last in full, and the ends of the others dashed."""
    first, *others = futures
    times = np.linspace(first.t[0], first.t[-1], _BETWEEN + 2)[:-1]
    before = [first.q[int(np.searchsorted(first.t, t))] for t in times]
    frame(ax, model, [*before, *(one.q[-1] for one in futures)], pad=MARGIN)
    if isinstance(model, PlanarModel):
        draw_planes(ax, model)
    for q in before:
        draw_bodies(ax, model, q, ghost=True)
    draw_bodies(ax, model, first.q[-1])
    for one in others:
        draw_bodies(ax, model, one.q[-1], ghost=True, color=style.SET, zorder=4.0)
    ax.set_title(f"from {first.t[0]:g} s (dashed) to {first.t[-1]:.4g} s", fontsize=7)


def _draw_coordinates(ax: style.Axes, futures: Sequence[Trajectory]) -> None:
    for k in range(min(futures[0].q.shape[1], _MOST_LINES)):
        for j, one in enumerate(futures):
            look: style.Look = {"color": style.CYCLE[k % len(style.CYCLE)], "linewidth": 0.8 if j else 1.4}
            ax.plot(one.t, one.q[:, k], **look, label=None if j else f"q[{k}]")
    ax.set(xlabel="time (s)", ylabel="coordinates (m, rad)")
    ax.legend(fontsize=6)


def _draw_energy(ax: style.Axes, futures: Sequence[Trajectory]) -> None:
    """Kinetic energy, and potential energy with it; each impact is a drop. Stiff springs would hide both."""
    known = [name for name in ("kinetic", "potential") if name in futures[0].energies]
    lines = [(("kinetic",), style.BLUE), (tuple(known), style.VERMILION)][: min(len(known), 2)]
    for names, color in lines:
        for j, one in enumerate(futures):
            energy = np.sum([one.energies[name] for name in names], axis=0)
            width, alpha = (0.7, 0.4) if j else (1.3, 1.0)
            label = None if j else " + ".join(names)
            ax.plot(one.t, energy, color=color, linewidth=width, alpha=alpha, label=label)
    ax.set(xlabel="time (s)", ylabel="energy (J)")
    ax.legend(fontsize=6)


@style.context()
def half_cycle_figure(model: PlanarModel, trajectory: Trajectory) -> style.Figure:
    """HP23 Fig. 7: a rocking half-cycle in four pictures: start, apex, before and after the impact."""
    impact = next(event for event in trajectory.events if event.kind == "impact")
    after = int(np.flatnonzero(trajectory.t == impact.t)[-1])
    apex = int(np.argmax(trajectory.q[: impact.index + 1, _ANGLE]))
    indices = [0, apex, impact.index, after]
    titles = ["start", f"apex, {trajectory.q[apex, _ANGLE]:.4f} rad", "impact begins", "impact has ended"]
    fig, axes = style.figure(1, 4, width=style.TWO_COLUMNS, height=2.2)
    everything = [trajectory.q[i] for i in indices]
    for ax, i, title in zip(axes, indices, titles, strict=True):
        frame(ax, model, everything)
        draw_planes(ax, model)
        draw_bodies(ax, model, trajectory.q[i])
        _turning(ax, model, trajectory, i)
        ax.set_title(title)
    style.letter(axes)
    return fig


def _turning(ax: style.Axes, model: PlanarModel, trajectory: Trajectory, i: int) -> None:
    """The pivot as a dot and the turning rate in words with an arc in its direction."""
    rate = float(trajectory.v[i, _ANGLE])
    gaps = model.gaps(trajectory.q[i])
    Jn, Jt = model.jacobians(trajectory.q[i])
    speed = np.abs(Jn @ trajectory.v[i]) + np.abs(Jt[:, 0] @ trajectory.v[i])
    for c in np.flatnonzero((gaps < 1e-6) & (speed < 1e-6)):
        at = model.contact_points(trajectory.q[i])[c]
        ax.plot(*at, "o", color=style.BLACK, markersize=4, zorder=7)
        words: style.Look = {"textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 7}
        ax.annotate(model.contacts[c].name, at, (0, -5), **words)
    x, y = trajectory.q[i, :2]
    fastest = float(np.abs(trajectory.v[:, _ANGLE]).max())
    turning = abs(rate) > 0.02 * fastest  # an apex lies between two samples
    told = style.signed(f"{rate:+.2f} rad/s") if turning else "at rest,\nturns back"
    ax.text(x, y - 0.25, told, ha="center", va="center", fontsize=7, zorder=8)
    if turning:
        turn = np.linspace(0.25 * np.pi, 0.75 * np.pi, 20)[:: 1 if rate > 0 else -1]
        arc = np.array([x + 0.3 * np.cos(turn), y + 0.3 * np.sin(turn)])
        ax.plot(*arc[:, :-2], color=style.BLUE, zorder=8)
        style.arrow(ax, arc[:, -4], arc[:, -1], style.BLUE, zorder=8)


@style.context()
def augmented_figure(trajectory: Trajectory) -> style.Figure:
    """HP23 Fig. 8: the block's angle and its rate over time, over augmented time, and the rates of both."""
    fig, axes = style.figure(1, 3, width=style.TWO_COLUMNS, height=2.35)
    over_time, over_s, rates = axes
    view = trajectory.in_s()
    for ax, x, label in ((over_time, view.t, "$t$ (s)"), (over_s, view.s, "$s$ (s + N s)")):
        ax.plot(x, view.q[:, _ANGLE], color=style.BLUE, label=r"$\theta$ (rad)")
        ax.plot(x, view.v[:, _ANGLE], color=style.VERMILION, label=r"$\dot{\theta}$ (rad/s)")
        ax.set(xlabel=label, ylabel=r"$\theta$ (rad), $\dot{\theta}$ (rad/s)")
        ax.legend(loc="upper right")
    _mark_zeno(over_time, trajectory, view.t, "t^*")
    _mark_zeno(over_s, trajectory, view.s, "s^*")
    draw_rates(rates, trajectory)
    for ax, title in zip(axes, ("over time", "over augmented time", "rates"), strict=True):
        ax.set_title(title)
    style.letter(axes)
    return fig


def draw_rates(ax: style.Axes, trajectory: Trajectory) -> None:
    """How fast time and the normal impulses of the contacts that push grow with ``s``; they add up to one."""
    view = trajectory.in_s()
    ax.stairs(view.time_rate, view.s, color=style.BLUE, linewidth=0.9, label=r"$\dot t$", baseline=None)
    used = np.flatnonzero(view.normal_rate.max(axis=0) > 0.0)
    for c, colour in zip(used, style.CYCLE[1:-1], strict=False):
        look: style.Look = {"color": colour, "linewidth": 0.9, "baseline": None}
        ax.stairs(view.normal_rate[:, c], view.s, **look, label=_impulse_label(view.contacts[c]))
    ax.set(xlabel="$s$ (s + N s)", ylabel=r"share of $ds$", ylim=(-0.03, 1.05))
    ax.legend(loc=(0.04, 0.4))


def _mark_zeno(ax: style.Axes, trajectory: Trajectory, x: Array, symbol: str) -> None:
    for event in trajectory.events:
        if event.kind == "zeno":
            at = x[event.index]
            ax.axvline(at, color=style.GREY, linewidth=0.7, linestyle=(0, (4, 2)), zorder=0.6)
            words = f"${symbol} = {at:.{2 if at < 10 else 1}f}$"
            look: style.Look = {"ha": "right", "fontsize": 7, "color": style.GREY}
            ax.annotate(words, (at, ax.get_ylim()[0]), (-3, 4), textcoords="offset points", **look)


def draw_motions(
    motions: Trajectory | Bundle | Sequence[Trajectory],
    ax: style.Axes,
    *,
    coordinate: int | str = 0,
    rate: bool = False,
) -> None:
    """One coordinate (or its rate) of every motion over time; each impact is a jump of the rate.

    ``coordinate``: its number, or its name where the model has names for them: "trunk.angle", and of robots
    in MJCF "root.z" or a joint's name.
    """
    every = [motions] if isinstance(motions, Trajectory) else list(motions)
    width = min((trajectory.v if rate else trajectory.q).shape[1] for trajectory in every)
    names = every[0].rates if rate else every[0].coordinates
    if isinstance(coordinate, str) and names:
        column = names.index(choice("coordinate", coordinate, names))
    else:
        column = integer("coordinate", coordinate, at_least=0, at_most=width - 1)
    alpha = max(0.12, min(0.8, 6.0 / len(every)))
    for trajectory in every:
        values = trajectory.v if rate else trajectory.q
        ax.plot(trajectory.t, values[:, column], color=style.BLUE, linewidth=0.7, alpha=alpha)
    word = for_matplotlib(names[column]) if names else f"coordinate {column}"
    ax.set(xlabel="$t$ (s)", ylabel=f"rate of {word}" if rate else word)


for _kind in (Trajectory, Bundle):
    plot.register(_kind, drawn_by(draw_motions))


def _impulse_label(contact: str) -> str:
    """Lambda with a contact's name below it, where the name is a word."""
    short = contact.isascii() and contact.isalnum()
    return rf"$\lambda_{{{contact}}}$" if short else f"impulse of {for_matplotlib(contact)}"
