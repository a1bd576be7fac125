"""Figures about robots' impacts: ambiguity over landing states, audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from routh.auditing.membership import Audit
from routh.auditing.scans import Scan
from routh.text import for_matplotlib
from routh.validation import Array
from routh.viz import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_scan(scan: Scan, ax: Axes) -> Axes:
    """The score over one axis as a curve, over two as a heat map; states without an impact stay grey."""
    names, values = [_with_unit(name) for name in scan.axes], list(scan.axes.values())
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
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("ambiguity", size=ax.xaxis.label.get_fontsize())  # its own sizes are not those of the axes
    bar.ax.tick_params(labelsize=ax.xaxis.get_ticklabels()[0].get_fontsize())
    return ax


def _with_unit(name: str) -> str:
    """A scan's axis with its unit, where it is one that every robot has."""
    unit = {"roll": " (rad)", "pitch": " (rad)", "yaw": " (rad)", "drop": " (m/s)"}.get(name, "")
    return f"{for_matplotlib(name)}{unit}"


def draw_audit(audit: Audit, ax: Axes, *, name: str = "the audited one") -> Axes:
    """The set in its two most telling directions, with the velocity that was audited, called ``name``."""
    problem = audit.problem
    ends = audit.outcomes.v[audit.outcomes.terminated]
    if not len(ends):
        ax.plot([], [], "o", color=style.SET, label="outcomes: no sample ended")
        return ax
    axes = _telling_axes(audit, ends)
    unit = problem.scaling.speed

    def project(v: Array) -> Array:
        return (v - audit.nearest) @ problem.cholesky @ axes.T / unit

    cloud, after = project(ends), project(audit.v_after)
    ax.scatter(
        cloud[:, 0],
        cloud[:, 1],
        s=6,
        color=style.SET,
        alpha=0.5,
        linewidths=0,
        rasterized=True,
        label="outcomes",
    )
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
