"""Where an impact can take a mechanism: a density of places for every body, a moment later."""

from __future__ import annotations

import numpy as np

from routh.auditing.comparison import compare
from routh.sampling import Outcomes
from routh.systems import System
from routh.validation import Array, real
from routh.viz import style
from routh.viz.bodies import draw_bodies, draw_body_velocities, draw_planes, frame
from routh.viz.density import draw_density
from routh.viz.law_answers import labelled_answers
from routh.viz.snapshots import planar

BINS = 900  # finer than elsewhere: the figure is one large panel
REACH = 0.5  # the fastest centre is shown to have moved by this share of the system's size


@style.context()
def futures_figure(system: System, outcomes: Outcomes, *, after: float | None = None) -> style.Figure:
    """The bodies at the impact, and where their centres of mass are ``after`` seconds, over all samples."""
    model, state = planar(system)
    centres, maps = model.centres_of_mass(state.q), model.centre_jacobians(state.q)
    v = outcomes.v[outcomes.solved]
    size = float(np.ptp(np.concatenate([line for _, line in model.outlines(state.q)]), axis=0).max())
    speeds = np.linalg.norm(np.einsum("kcj,nj->nkc", maps, v), axis=2)
    dt = REACH * size / float(speeds.max()) if after is None else real("after", after, above=0.0)
    later = centres + dt * np.einsum("kcj,nj->nkc", maps, v)  # (n, bodies, 2)
    fig, axes = style.figure(1, 1, width=style.TWO_COLUMNS)
    ax = axes[0]
    frame(ax, model, [state.q], more=[later.reshape(-1, 2)], pad=0.04)
    width, height = np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())
    fig.set_size_inches(style.TWO_COLUMNS, style.TWO_COLUMNS * height / width + 0.35)
    fig.draw_without_rendering()
    draw_planes(ax, model)
    draw_bodies(ax, model, state.q, zorder=1.0)
    fastest = float(np.linalg.norm(np.einsum("kcj,j->kc", maps, state.v), axis=1).max())
    if fastest > 0.0:
        draw_body_velocities(ax, model, state, scale=0.2 * size / fastest)
    for start, end in zip(centres, later.mean(axis=0), strict=True):
        ax.plot(*np.stack([start, end]).T, color=style.GREY, linewidth=0.5, zorder=1.8)
    points = later.reshape(-1, 2)
    time = f"{1e3 * dt:.3g} ms" if dt < 1.0 else f"{dt:.3g} s"
    label = f"where the centres may be {time} later"
    draw_density(ax, points[:, 0], points[:, 1], label=label, bins=BINS)
    _draw_classical(ax, outcomes, centres, dt * maps)
    ax.set_aspect("equal")
    style.legend_below(fig, axes, columns=2)
    return fig


def _draw_classical(ax: style.Axes, outcomes: Outcomes, centres: Array, moves: Array) -> None:
    """Where single answers put the centres."""
    for answer, label, looks in labelled_answers(compare(outcomes, ways=False, enumerated=4)):
        places = centres + moves @ answer.v
        ax.plot(*places.T, **{**looks, "markersize": 3.5, "markeredgewidth": 0.5}, zorder=6, label=label)
