"""Which outcomes each choice of rates draws, beside HP23's Algorithm 1: docs/images/distributions.png.

python benchmarks/events_distributions.py [--output docs/images/distributions.png]

Shade is the logarithm of how many of 2^14 samples end there; the outline is the exact set. Printed: the share
of the exact width that is missed, of samples at the set's vertices, and how far samples lie outside.
"""

from __future__ import annotations

import numpy as np

import routh
from events_plane import missing
from measure import Table, command_line
from routh import systems
from routh.viz import style
from routh.viz.density import draw_density, limits
from routh.viz.panels import Axis

COUNT = 2**14
SYSTEMS = {"compass-gait": (Axis(1, "t"), Axis(1, "n")), "box-wall": (Axis(0, "t"), Axis(1, "t"))}


def drawn(system):
    """Outcomes by name of how they were drawn."""
    problem = system.rational.problem
    found = {name: routh.sample(problem, COUNT, rates=name) for name in ("mixed", "uniform", "extreme")}
    found["uniform, persistence 0.1"] = routh.sample(problem, COUNT, rates="uniform", persistence=0.1)
    paper = {"step": system.paper.step, "max_steps": system.paper.max_steps}
    found["Algorithm 1, HP23's step"] = routh.sampling.sample_by_steps(problem, COUNT, **paper)
    return found


def panel(ax, exact, axes, v):
    """A cloud of velocities over the outline of the exact set."""
    rows = np.array([exact.problem.J[axis.contact, int(axis.component == "t")] for axis in axes])
    pieces = exact.project(rows)
    corners = np.concatenate(pieces)
    for set_limits, values in ((ax.set_xlim, corners[:, 0]), (ax.set_ylim, corners[:, 1])):
        set_limits(limits(values))
    draw_density(ax, *(v @ rows.T).T, bins=160)
    for piece in pieces:
        ax.plot(*np.vstack([piece, piece[:1]]).T, color=style.VERMILION, linewidth=0.8, zorder=3)
    ax.tick_params(labelsize=5)


@style.context()
def figure():
    """The figure; prints the table on the way."""
    numbers = {"missed %": ".2f", "at vertices %": ".1f", "outside": ".1e"}
    table = Table({"system": "<14", "drawn by": "<25", **numbers})
    fig, grid = style.figure(len(SYSTEMS), 5, width=style.TWO_COLUMNS, aspect=1.0)
    for row, (name, axes) in zip(grid.reshape(len(SYSTEMS), -1), SYSTEMS.items(), strict=True):
        system = systems.get(name)
        exact = routh.exact_set(system.rational)
        vertices = np.array(exact.vertices(), dtype=float)
        for ax, (how, outcomes) in zip(row, drawn(system).items(), strict=True):
            v = outcomes.v[outcomes.terminated]
            panel(ax, exact, axes, v)
            near = np.linalg.norm((v[:, None] - vertices) @ exact.problem.cholesky, axis=2).min(axis=1)
            at = np.mean(near <= 1e-6 * exact.problem.speed)
            outside = max(exact.outer.violation(v).max(), 0.0)
            table.row(name, how, 100 * missing(v, exact), 100 * at, outside)
            ax.set_title(how.replace(", ", "\n"), fontsize=6)
            ax.set_xlabel(axes[0].label(exact.problem), fontsize=5)
        row[0].set_ylabel(axes[1].label(exact.problem), fontsize=5)
    return fig


def main():
    parser = command_line(__doc__)
    parser.add_argument("--output", default="docs/images/distributions.png")
    figure().savefig(parser.parse_args().output, dpi=200)


if __name__ == "__main__":
    main()
