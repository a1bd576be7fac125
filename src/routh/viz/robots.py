"""Figures about robots' impacts: ambiguity over landing states, audits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from routh.auditing.membership import Audit
from routh.auditing.scans import Scan
from routh.base.status import InputError
from routh.base.text import for_matplotlib
from routh.base.validation import Array
from routh.viz import style


def draw_scan(scan: Scan, ax: style.Axes) -> None:
    """The score over one axis as a curve, over two as a heat map; states without an impact stay grey."""
    if len(scan.axes) > 2:
        raise InputError("scan", got=f"{len(scan.axes)} axes; a picture wants one or two")
    axes = {_with_unit(name): values for name, values in scan.axes.items()}
    draw_map(ax, axes, scan.score, for_matplotlib(scan.measure.replace("_", " ")), least=0.0)


def draw_map(
    ax: style.Axes, axes: Mapping[str, Array], values: Array, label: str, *, least: float | None = None
) -> None:
    """Values over one axis as a curve, over two as a heat map, which stays grey where there are none.

    ``axes`` by the words for them; ``least``: where the scale begins.
    """
    first, *others = axes
    ax.set_xlabel(first)
    if not others:
        ax.plot(axes[first], values, color=style.SET, marker=".")
        ax.set(ylabel=label, ylim=(least, None))
        return
    ax.set_facecolor(style.GROUND)
    shown = np.ma.masked_invalid(values.T)
    image = ax.pcolormesh(*axes.values(), shown, cmap="viridis", vmin=least, shading="nearest")
    ax.set_ylabel(others[0])
    style.colour_bar(ax, image, label)


def _with_unit(name: str) -> str:
    """A scan's axis with its unit, where it is one that every robot has."""
    angles = dict.fromkeys(("roll", "pitch", "yaw", "heading"), " (rad)")
    rates = dict.fromkeys(("roll_rate", "pitch_rate", "yaw_rate"), " (rad/s)")
    unit = {**angles, **rates, "down": " (m/s)", "sideways": " (m/s)", "height": " (m)"}.get(name, "")
    return f"{for_matplotlib(name)}{unit}"


def draw_audit(audit: Audit, ax: style.Axes, *, name: str = "the audited one") -> None:
    """The set in its two most telling directions, with the velocity that was audited, called ``name``."""
    problem = audit.problem
    ends = audit.outcomes.v[audit.outcomes.solved]
    if not len(ends):
        ax.plot([], [], "o", color=style.SET, label="outcomes: no sample is solved")
        return
    axes = _telling_axes(audit, ends)
    unit = problem.scaling.speed

    def project(v: Array) -> Array:
        return (v - audit.nearest) @ problem.cholesky @ axes.T / unit

    cloud, after = project(ends), project(audit.v)
    dots: style.Look = {"s": 6, "color": style.SET, "alpha": 0.5, "linewidths": 0, "rasterized": True}
    ax.scatter(*cloud.T, **dots, label="outcomes")
    ax.plot(*np.stack([np.zeros(2), after]).T, color=style.GREY, linewidth=0.8)
    ax.plot(0.0, 0.0, "o", color=style.SET, fillstyle="none", markersize=6, label="nearest")
    ax.plot(*after, "X", color=style.VERMILION, markersize=6, label=name)
    ax.set(xlabel=f"towards {name} / speed before", ylabel="widest spread of the set / speed before")
    ax.set_aspect("equal", adjustable="datalim")


def _telling_axes(audit: Audit, ends: Array) -> Array:
    """Two orthonormal rows, in the kinetic-energy metric: towards the audited one, then the set's axis."""
    points = (ends - ends.mean(axis=0)) @ audit.problem.cholesky
    _, _, principal = np.linalg.svd(points, full_matrices=False)
    towards = (audit.v - audit.nearest) @ audit.problem.cholesky
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
