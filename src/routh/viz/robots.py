"""Figures about robots' impacts: ambiguity over landing states, facets against the true cone, audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from routh.sets.audit import Audit
from routh.sets.outcomes import Outcomes
from routh.sets.scan import Scan
from routh.validation import Array
from routh.viz import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_scan(scan: Scan, ax: Any = None) -> Axes:
    """The score over one axis as a curve, over two as a heat map; states without an impact stay grey."""
    ax = _axes(ax, width=style.COLUMN, aspect=0.75)
    names, values = list(scan.axes), list(scan.axes.values())
    if len(names) == 1:
        ax.plot(values[0], scan.score, color=style.SET, marker=".")
        ax.set_xlabel(names[0])
        ax.set_ylabel("ambiguity")
        ax.set_ylim(bottom=0.0)
        return ax
    if len(names) != 2:
        raise ValueError(f"scan: got {len(names)} axes; a picture wants one or two")
    ax.set_facecolor(style.GROUND)
    image = ax.pcolormesh(
        values[0], values[1], np.ma.masked_invalid(scan.score.T), cmap="viridis", vmin=0.0, shading="nearest"
    )
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.figure.colorbar(image, ax=ax, label="ambiguity (diameter / speed before)")
    return ax


def draw_audit(audit: Audit, ax: Any = None, *, name: str = "the audited one") -> Axes:
    """The set in its two most telling directions, with the velocity that was audited, called ``name``."""
    ax = _axes(ax, width=style.COLUMN, aspect=0.8)
    problem = audit.problem
    ends = audit.outcomes.v[audit.outcomes.terminated]
    axes = _telling_axes(audit, ends)
    unit = problem.scaling.speed

    def project(v: Array) -> Array:
        return (v - audit.nearest) @ problem.cholesky @ axes.T / unit

    cloud, after = project(ends), project(audit.v_after)
    ax.scatter(*cloud.T, s=6, color=style.SET, alpha=0.5, linewidths=0, rasterized=True, label="outcomes")
    ax.plot(*np.stack([np.zeros(2), after]).T, color=style.GREY, linewidth=0.8)
    ax.plot(0.0, 0.0, "o", color=style.SET, fillstyle="none", markersize=6, label="nearest")
    ax.plot(*after, "X", color=style.VERMILION, markersize=6, label=name)
    ax.set_xlabel(f"towards {name} / speed before")
    ax.set_ylabel("widest spread of the set / speed before")
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def _telling_axes(audit: Audit, ends: Array) -> Array:
    """Two orthonormal rows, in the kinetic-energy metric: towards the audited one, then the set's axis."""
    points = (ends - ends.mean(axis=0)) @ audit.problem.cholesky
    _, _, principal = np.linalg.svd(points, full_matrices=False)
    towards = (audit.v_after - audit.nearest) @ audit.problem.cholesky
    candidates = [towards, *principal, *np.eye(audit.problem.nv)]
    found: list[Array] = []
    for row in candidates:
        rest = row - sum((row @ axis) * axis for axis in found)
        length = float(np.linalg.norm(rest))
        if length > 1e-9 * max(audit.problem.scaling.speed, float(np.linalg.norm(row))):
            found.append(rest / length)
        if len(found) == 2:
            break
    return np.array(found if len(found) == 2 else [found[0], np.zeros_like(found[0])])


@style.context()
def facet_figure(
    truth: Outcomes,
    polyhedral: Mapping[int, Outcomes],
    errors: Mapping[int, Sequence[float]],
    *,
    contact: int = 0,
) -> Figure:
    """Outcomes with few facets against the true cone, and how the error falls with the number of facets.

    Parameters
    ----------
    truth : outcomes with the true cone; polyhedral : facets -> outcomes of the same draws.
    errors : facets -> distances between samples of the same draw, over the speed before.
    contact : whose tangential velocities are shown.
    """
    shown = sorted(polyhedral)[:2]
    fig, axes = style.figure(1, len(shown) + 1, width=style.TWO_COLUMNS, aspect=0.95)
    for ax, facets in zip(axes, shown, strict=False):
        exact = truth.contact_velocity[:, contact, 1:]
        coarse = polyhedral[facets].contact_velocity[:, contact, 1:]
        ax.plot(*exact.T, ".", color=style.SET, markersize=2, label="true cone")
        ax.plot(*coarse.T, ".", color=style.VERMILION, markersize=2, label="facets")
        ax.set_title(f"{facets} facets")
        ax.set_xlabel("1st tangential velocity, m/s")
        ax.set_aspect("equal", adjustable="datalim")
    axes[0].set_ylabel("2nd tangential velocity, m/s")
    axes[0].legend(loc="best", markerscale=3)
    draw_facet_errors(axes[-1], errors)
    style.letter(axes)
    return fig


def draw_facet_errors(ax: Axes, errors: Mapping[int, Sequence[float]]) -> None:
    """Median and largest error over the number of facets, with the slope of the angle of a facet."""
    facets = np.array(sorted(errors))
    median = np.array([np.median(errors[k]) for k in facets])
    largest = np.array([np.max(errors[k]) for k in facets])
    ax.loglog(facets, largest, marker="o", color=style.VERMILION, label="largest")
    ax.loglog(facets, median, marker="s", color=style.SET, label="median")
    reference = largest[0] * facets[0] / facets
    ax.loglog(facets, reference, color=style.GREY, linewidth=0.8, linestyle="--", label="slope 1")
    ax.set_xticks(facets, [str(k) for k in facets])
    ax.minorticks_off()
    ax.set_xlabel("facets")
    ax.set_ylabel("distance / speed before")
    ax.set_title("error")
    ax.legend(loc="best")


def _axes(ax: Any, *, width: float, aspect: float) -> Any:
    if ax is not None:
        return ax
    with style.context():
        return style.figure(width=width, aspect=aspect)[1][0]
