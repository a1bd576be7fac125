"""Pictures of where landings end: in red where the body tipped, and how often it lies on each side."""

from __future__ import annotations

import numpy as np

from routh.base.text import for_matplotlib
from routh.to_rest.many import AT_REST, LandingRuns
from routh.viz import style
from routh.viz.plots import drawn_by, plot

_SIDES = 6  # that are named


def draw_places(runs: LandingRuns, ax: style.Axes) -> None:
    """Seen from above: where the body ends, green at rest upright, red where it tipped."""
    q, tipped = runs.qpos.reshape(-1, 7), runs.tipped.ravel()
    solved = runs.solved.ravel()
    for which, colour, label in ((~tipped, style.GREEN, "stands"), (tipped, style.VERMILION, "tipped")):
        shown = which & solved
        if shown.any():
            text = f"{label}: {int(shown.sum())}"
            ax.plot(q[shown, 0], q[shown, 1], ".", color=colour, markersize=4, alpha=0.6, label=text)
    ax.set(xlabel="x at the end (m)", ylabel="y at the end (m)")
    ax.set_aspect("equal", adjustable="datalim")
    ax.legend(loc="best")
    ax.set_title(for_matplotlib(runs.sentence.split(";")[0]))


def draw_sides(runs: LandingRuns, ax: style.Axes) -> None:
    """How often it rests on which contacts."""
    found = list(runs.faces().items())[:_SIDES]
    total = runs.status.size
    names = ["\n".join(map(for_matplotlib, feet[:4])) or "its points" for feet, _ in found]
    shares = [100.0 * count / total for _, count in found]
    others = 100.0 * float((runs.status != AT_REST).sum()) / total
    place = np.arange(len(found) + 1)
    ax.barh(place, [*shares, others], color=[*([style.BODY_EDGE] * len(found)), style.VERMILION])
    ax.set_yticks(place, [*names, "not at rest on a side"], fontsize=6)
    ax.invert_yaxis()
    ax.set(xlabel="share of the landings (%)")
    ax.set_title("comes to rest on")


@style.context()
def landings_figure(runs: LandingRuns) -> style.Figure:
    """Both pictures side by side."""
    fig, axes = style.figure(1, 2, width=style.TWO_COLUMNS, aspect=0.8)
    draw_places(runs, axes[0])
    draw_sides(runs, axes[1])
    return fig


plot.register(LandingRuns, drawn_by(draw_places, aspect=0.9))
