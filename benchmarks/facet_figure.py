"""What facets of a friction cone cost: the picture that `benchmarks/robots.py` draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from routh.sampling.outcomes import Outcomes
from routh.validation import Array
from routh.viz import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@style.context()
def facet_figure(
    truth: Outcomes,
    polyhedral: Mapping[int, Outcomes],
    headings: Array,
    errors: Mapping[int, Array],
    *,
    contact: int = 0,
) -> Figure:
    """Where facets take one landing; how far off they are for every direction of slip; and the worst of it.

    Parameters
    ----------
    truth : outcomes with the true cone; polyhedral : facets -> outcomes of the same draws.
    headings : directions of slip, (k,) degrees; errors : facets -> (k,) median distances between samples of
        the same draw, over the speed before.
    contact : whose tangential velocities are shown.
    """
    fig, axes = style.figure(1, 3, width=style.TWO_COLUMNS, aspect=0.95)
    colors = dict(
        zip(sorted(polyhedral), (style.VERMILION, style.ORANGE, style.PURPLE, style.GREEN), strict=False)
    )
    for facets, outcomes in sorted(polyhedral.items()):
        _draw_slip(axes[0], outcomes, contact, colors[facets], "s", f"{facets} facets")
    _draw_slip(axes[0], truth, contact, style.SET, "o", "true cone")
    axes[0].set_title("slip of one foot after")
    axes[0].set_xlabel("1st tangent, m/s")
    axes[0].set_ylabel("2nd tangent, m/s")
    axes[0].set_aspect("equal", adjustable="datalim")
    for facets, error in sorted(errors.items()):
        axes[1].plot(headings, 100.0 * np.asarray(error), color=colors[facets])
    axes[1].set_xlabel("direction of slip, degrees")
    axes[1].set_ylabel("error, % of speed")
    axes[1].set_xlim(headings[0], headings[-1])
    axes[1].set_ylim(bottom=0.0)
    axes[1].set_title("error by direction")
    draw_facet_errors(axes[2], errors)
    style.letter(axes)
    style.legend_below(fig, axes[:1], columns=5)
    return fig


def _draw_slip(ax: Axes, outcomes: Outcomes, contact: int, color: str, marker: str, label: str) -> None:
    slip = outcomes.contact_velocity[outcomes.terminated, contact, 1:]
    ax.plot(*slip.T, marker, color=color, markersize=3, markeredgewidth=0, label=label)


def draw_facet_errors(ax: Axes, errors: Mapping[int, Array]) -> None:
    """The largest and the mean error over all directions, with the slope of the angle of a facet."""
    facets = np.array(sorted(errors))
    for take, marker, label in ((np.max, "o", "worst direction"), (np.mean, "s", "mean")):
        values = 100.0 * np.array([float(take(errors[k])) for k in facets])
        ax.loglog(facets, values, marker=marker, color=style.BLACK, linewidth=0.9, label=label)
        if label == "worst direction":
            ax.loglog(
                facets, values[0] * facets[0] / facets, color=style.GREY, linestyle="--", label="1 / facets"
            )
    ax.set_xticks(facets, [str(k) for k in facets])
    low, high = ax.get_ylim()
    ticks = [tick for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if low <= tick <= high]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel("facets")
    ax.set_ylabel("error, % of speed")
    ax.set_title("error by facets")
    ax.legend(loc="lower left")
