"""One picture of a motion, or of a fan of futures: where it goes, the gaps of its contacts, its energy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routh.models.base import Model
from routh.models.planar import PlanarModel
from routh.models.spatial import SpatialModel
from routh.sim import Trajectory
from routh.text import for_matplotlib
from routh.viz import style
from routh.viz.animate import MOST_GHOSTS, draw_at, draw_gaps, frame_bodies, touching
from routh.viz.bodies import draw_planes

_BETWEEN = 3  # poses of the first future that are shown between its first and its last
_MOST_LINES = 12  # coordinates that are drawn where there is no contact


@style.context()
def motion_figure(
    model: Model, futures: Sequence[Trajectory], *, title: str = "", image: np.ndarray | None = None
) -> style.Figure:
    """Bodies from start to end, gaps (or coordinates) and energy over time; the first future stands out.

    ``image`` (h, w, 3) stands for the bodies of a model that is not drawn by Matplotlib; None: no picture.
    """
    shown = list(futures)[:MOST_GHOSTS]
    drawn = isinstance(model, (PlanarModel, SpatialModel))
    first = int(drawn or image is not None)
    fig, axes = style.figure(1, 2 + first, width=style.TWO_COLUMNS, height=2.8)
    if isinstance(model, (PlanarModel, SpatialModel)):
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


def _draw_poses(ax: style.Axes, model: PlanarModel | SpatialModel, futures: Sequence[Trajectory]) -> None:
    """The first future's first poses as grey dashes, its last in full, and the ends of the others dashed."""
    first, *others = futures
    times = np.linspace(first.t[0], first.t[-1], _BETWEEN + 2)[:-1]
    before = [first.q[int(np.searchsorted(first.t, t))] for t in times]
    frame_bodies(ax, model, [*before, *(one.q[-1] for one in futures)])
    if isinstance(model, PlanarModel):
        draw_planes(ax, model)
    for q in before:
        draw_at(ax, model, q, ghost=True)
    draw_at(ax, model, first.q[-1])
    for one in others:
        draw_at(ax, model, one.q[-1], ghost=True, color=style.SET, zorder=4.0)
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
